package memory_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/bus"
	"nexus/pkg/bus/bustest"
	"nexus/pkg/bus/memory"
)

func TestBus_conforms(t *testing.T) {
	t.Parallel()
	bustest.Run(t, func(*testing.T) bustest.Subject {
		b := memory.New(nil)
		return bustest.Subject{Bus: b, Received: func(*testing.T) []bus.Event { return b.Events() }}
	})
}

func TestFault_beforeChangesNothingAndAfterLeavesTheEffect(t *testing.T) {
	t.Parallel()
	crash := errors.New("crash")
	for _, failAfter := range []bool{false, true} {
		b := memory.New(func(_ []bus.Event, after bool) error {
			if after == failAfter {
				return crash
			}
			return nil
		})
		event := bus.Event{Type: "A", Detail: []byte("{}"), Time: time.Unix(0, 0)}
		require.ErrorIs(t, b.Publish(t.Context(), event), crash)
		require.Equal(t, failAfter, len(b.Events()) == 1)
	}
}
