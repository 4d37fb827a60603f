package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// synced is a buffer for the goroutines of a platform.
type synced struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *synced) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *synced) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestStory_leavesNoUserAndNoTextInTheLog(t *testing.T) {
	t.Parallel()
	for _, options := range []local.Options{{Store: local.Memory}, {Ephemeral: true}} {
		t.Run(string(options.Store), func(t *testing.T) {
			t.Parallel()
			log := &synced{}
			options.Addr, options.PrivateWebhooks = "127.0.0.1:0", true
			options.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			p, err := local.Start(t.Context(), options)
			require.NoError(t, err)
			client := newClient(p.URL())
			client.user = "planted_user"
			s := newStory(t.Context(), client, io.Discard)
			require.NoError(t, s.play())
			require.NoError(t, p.Stop(context.Background()))
			lines := strings.Split(log.String(), "\n")
			require.Greater(t, len(lines), 100, "every request is logged")
			require.Greater(t, len(s.titles), 10)
			for _, line := range lines {
				require.NotContains(t, line, client.user)
				for _, title := range s.titles {
					require.NotContains(t, line, title)
				}
			}
		})
	}
}
