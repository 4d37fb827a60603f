package memory_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/push"
	"nexus/pkg/push/memory"
	"nexus/pkg/push/pushtest"
)

func TestPusher_conformsToThePort(t *testing.T) {
	t.Parallel()
	pushtest.Run(t, func(*testing.T) pushtest.Subject {
		p := memory.New(nil)
		return pushtest.Subject{Pusher: p, Heard: func(_ *testing.T, channel string) []string {
			var events []string
			for _, h := range p.Hints() {
				if h.Channel == channel {
					events = append(events, h.Event)
				}
			}
			return events
		}}
	})
}

func TestPusher_injectsFaultsBeforeAHintIsSent(t *testing.T) {
	t.Parallel()
	p := memory.New(func(_ context.Context, user, _ string) error {
		if user == "bob" {
			return push.ErrThrottled
		}
		return nil
	})
	require.ErrorIs(t, p.Hint(t.Context(), "bob", "t"), push.ErrThrottled)
	require.NoError(t, p.Hint(t.Context(), "ann", "t"))
	require.Equal(t, []memory.Hint{{Channel: "/user/ann", Event: `{"next":"t"}`}}, p.Hints())
}
