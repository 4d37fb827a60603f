package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

func TestStory_holdsWheneverItIsPlayed(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]string{
		"clocks go forward in New York":  "2027-03-08T09:00:00Z",
		"clocks go forward in Paris":     "2027-03-23T00:00:00Z",
		"clocks go back in Paris":        "2027-10-26T12:00:00Z",
		"clocks go back in New York":     "2027-11-02T12:00:00Z",
		"over the end of the year":       "2027-12-24T12:00:00Z",
		"the next day is a leap day":     "2028-02-25T23:59:50Z",
		"a second before Monday's start": "2027-06-07T07:59:59Z",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := local.Start(t.Context(), local.Options{Store: local.Memory, Addr: "127.0.0.1:0", PrivateWebhooks: true})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, p.Stop(context.Background())) })
			var out bytes.Buffer
			s := newStory(t.Context(), newClient(p.URL()), &out)
			s.post("/dev/clock", object{"set": start})
			require.NoError(t, s.play(), out.String())
			require.Zero(t, s.wrong, out.String())
		})
	}
}
