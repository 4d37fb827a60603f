package fault_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/fault"
)

var (
	errThrottled = errors.New("throttled")
	errLost      = errors.New("unavailable")
)

type fixture struct {
	*fault.Box
	now    time.Time
	waited time.Duration
	told   []fault.Armed
	calls  int
}

func newFixture() *fixture {
	w := &fixture{now: time.Unix(0, 0)}
	w.Box = fault.New(func() time.Time { return w.now },
		func(_ context.Context, d time.Duration) error { w.waited += d; return nil },
		func(a fault.Armed) { w.told = append(w.told, a) })
	return w
}

func (w *fixture) call(t *testing.T, part, operation string) error {
	t.Helper()
	return w.Call(t.Context(), part, operation, errThrottled, errLost, func() error { w.calls++; return nil })
}

func TestBox_hitsTheCallsThatAreNamedAndNoOther(t *testing.T) {
	t.Parallel()
	w := newFixture()
	require.NoError(t, w.call(t, "stats", "Put"))
	one, err := w.Arm(fault.LoseAnswer, "stats", "Put", 2)
	require.NoError(t, err)
	require.Equal(t, []fault.Armed{one}, w.All())
	require.NoError(t, w.call(t, "links", "Put"))
	require.NoError(t, w.call(t, "stats", "Get"))
	require.ErrorIs(t, w.call(t, "stats", "Put"), errLost)
	require.ErrorIs(t, w.call(t, "stats", "Put"), errLost)
	require.Equal(t, 5, w.calls, "the effect is there")
	require.NoError(t, w.call(t, "stats", "Put"), "it has disarmed itself")
	require.Empty(t, w.All())
	require.Len(t, w.told, 2)
	require.Equal(t, 2, w.told[1].Fired)
}

func TestBox_throttlesAndDelays(t *testing.T) {
	t.Parallel()
	w := newFixture()
	_, err := w.Arm(fault.Throttle, "api", "", 1)
	require.NoError(t, err)
	require.ErrorIs(t, w.call(t, "api", "Get"), errThrottled)
	require.Zero(t, w.calls)
	_, err = w.Arm(fault.Delay, "api", "", 1)
	require.NoError(t, err)
	require.NoError(t, w.call(t, "api", "Get"))
	require.Equal(t, fault.Slow, w.waited)
}

func TestBox_disarmsAfterATimeAndOnRequest(t *testing.T) {
	t.Parallel()
	w := newFixture()
	_, err := w.Arm(fault.Throttle, "api", "", 100)
	require.NoError(t, err)
	w.now = w.now.Add(fault.MostTime)
	require.NoError(t, w.call(t, "api", "Get"))
	require.Empty(t, w.All())
	for range fault.MostArmed {
		_, err = w.Arm(fault.Throttle, "api", "", 1)
		require.NoError(t, err)
	}
	_, err = w.Arm(fault.Throttle, "api", "", 1)
	require.ErrorIs(t, err, fault.ErrFull)
	w.Disarm()
	require.NoError(t, w.call(t, "api", "Get"))
}

func TestBox_killsADeliveryAfterItsEffectsAndDoublesOne(t *testing.T) {
	t.Parallel()
	w := newFixture()
	var handled atomic.Int64
	handle := w.Deliveries(func(context.Context, []byte) ([]byte, error) {
		handled.Add(1)
		return []byte("done"), nil
	}, "projections", "stats")
	answer, err := handle(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, "done", string(answer))
	_, err = w.Arm(fault.Kill, "stats", "", 1)
	require.NoError(t, err)
	_, err = handle(t.Context(), nil)
	require.ErrorIs(t, err, fault.ErrKilled)
	require.EqualValues(t, 2, handled.Load())
	_, err = w.Arm(fault.TwoWorkers, "projections", "", 1)
	require.NoError(t, err)
	_, err = handle(t.Context(), nil)
	require.NoError(t, err)
	require.EqualValues(t, 4, handled.Load())
}
