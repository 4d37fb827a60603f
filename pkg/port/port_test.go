package port_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/blob"
	"nexus/pkg/bus"
	"nexus/pkg/port"
	"nexus/pkg/queue"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

func TestError_isOfOneKind(t *testing.T) {
	t.Parallel()
	kinds := []error{port.ErrNotFound, port.ErrThrottled, port.ErrUnavailable, port.ErrInvalid}
	for err, want := range map[error]error{
		table.ErrNotFound: port.ErrNotFound, schedule.ErrNotFound: port.ErrNotFound, blob.ErrNotFound: port.ErrNotFound,
		table.ErrThrottled: port.ErrThrottled, schedule.ErrThrottled: port.ErrThrottled,
		bus.ErrThrottled: port.ErrThrottled, blob.ErrThrottled: port.ErrThrottled,
		table.ErrUnavailable: port.ErrUnavailable, schedule.ErrUnavailable: port.ErrUnavailable,
		bus.ErrUnavailable: port.ErrUnavailable, blob.ErrUnavailable: port.ErrUnavailable,
		table.ErrInvalid: port.ErrInvalid, schedule.ErrInvalid: port.ErrInvalid,
		bus.ErrInvalid: port.ErrInvalid, blob.ErrInvalid: port.ErrInvalid,
		queue.ErrThrottled: port.ErrThrottled, queue.ErrUnavailable: port.ErrUnavailable, queue.ErrInvalid: port.ErrInvalid,
		table.ErrConflict: nil, schedule.ErrQuota: nil,
	} {
		wrapped := fmt.Errorf("put row: %w", err)
		for _, kind := range kinds {
			require.Equal(t, kind == want, errors.Is(wrapped, kind), "%v is %v", err, kind)
		}
		require.Equal(t, want == port.ErrThrottled || want == port.ErrUnavailable, port.IsOutage(wrapped), "%v", err)
	}
}

func TestSleep_endsWithItsTimeOrItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		require.NoError(t, port.Sleep(t.Context(), time.Minute))
		require.Equal(t, time.Minute, time.Since(begun))
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, port.Sleep(short, time.Minute), context.DeadlineExceeded)
		require.Equal(t, time.Minute+time.Second, time.Since(begun))
	})
}

func TestIsOutage_ofTheEndOfTheCallsContext(t *testing.T) {
	t.Parallel()
	for _, err := range []error{context.Canceled, context.DeadlineExceeded} {
		require.True(t, port.IsOutage(fmt.Errorf("get row: %w", err)))
	}
	require.False(t, port.IsOutage(nil))
}

// A refusal that names the broken rule is of the same kind.
func TestErrInvalid_isTheKindOfWhatBreaksARule(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		bus.Check([]bus.Event{{}}), blob.CheckName(""), schedule.Schedule{}.Check(), queue.Message{}.Check(),
	} {
		require.ErrorIs(t, err, port.ErrInvalid)
		require.False(t, port.IsOutage(err))
	}
}
