package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

func TestDevCommand_saysWhereEverythingIs(t *testing.T) {
	t.Parallel()
	platform, err := local.Start(t.Context(), local.Options{
		Store: local.Memory, Addr: "127.0.0.1:0", PrivateWebhooks: true,
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, platform.Stop(t.Context())) }()
	c := &devCommand{Store: string(local.Memory)}
	said := func() string {
		var out bytes.Buffer
		c.welcome(t.Context(), &out, platform)
		return out.String()
	}
	first := said()
	for _, part := range []string{platform.URL() + "/console", platform.URL() + "/docs", "Bearer ann", "nothing is kept"} {
		require.Contains(t, first, part)
	}
	require.NotContains(t, first, "note")

	var out bytes.Buffer
	playDemo(t.Context(), &out, platform.URL())
	require.Contains(t, out.String(), "checks hold")
	require.Contains(t, said(), "the clock is")
	c.NoConsole = true
	require.NotContains(t, said(), "/console")
}
