package memory_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/schedule"
	"nexus/pkg/schedule/memory"
	"nexus/pkg/schedule/scheduletest"
)

func TestScheduler_conforms(t *testing.T) {
	t.Parallel()
	scheduletest.Run(t, func(*testing.T) scheduletest.Subject {
		s := memory.New(nil)
		return scheduletest.Subject{
			Scheduler: s,
			Pending:   func(*testing.T) []schedule.Schedule { return s.Waiting() },
			Fire: func(_ *testing.T, now time.Time) (called []schedule.Schedule) {
				for one, due := s.Take(now); due; one, due = s.Take(now) {
					called = append(called, one)
				}
				return called
			},
		}
	})
}

func TestScheduler_conformsWhereCallsAreMadeByName(t *testing.T) {
	t.Parallel()
	scheduletest.Run(t, func(*testing.T) scheduletest.Subject {
		s := memory.New(nil)
		return scheduletest.Subject{
			Scheduler: s,
			Pending:   func(*testing.T) []schedule.Schedule { return s.Waiting() },
			Fire: func(t *testing.T, now time.Time) (called []schedule.Schedule) {
				for _, one := range s.Waiting() {
					if !one.At.After(now) {
						begun, waits := s.Call(one.Name)
						require.True(t, waits)
						called = append(called, begun)
						_, waits = s.Call(one.Name)
						require.False(t, waits)
					}
				}
				return called
			},
		}
	})
}

func TestNext_isTheInstantOfTheFirstThatWaits(t *testing.T) {
	t.Parallel()
	s := memory.New(nil)
	put := func(name string, second int64) {
		t.Helper()
		require.NoError(t, s.Put(t.Context(), schedule.Schedule{Name: name, At: time.Unix(second, 0), Payload: []byte("1")}))
	}
	requireNext := func(second int64) {
		t.Helper()
		next, waits := s.Next()
		require.True(t, waits)
		require.Equal(t, time.Unix(second, 0).UTC(), next)
	}
	_, waits := s.Next()
	require.False(t, waits)

	put("replaced", 1)
	put("deleted", 2)
	put("called", 3)
	put("taken", 4)
	requireNext(1)
	put("replaced", 5)
	requireNext(2)
	require.NoError(t, s.Delete(t.Context(), "deleted"))
	requireNext(3)
	_, begun := s.Call("called")
	require.True(t, begun)
	requireNext(4)
	one, due := s.Take(time.Unix(4, 0))
	require.True(t, due)
	require.Equal(t, "taken", one.Name)
	requireNext(5)
	_, due = s.Take(time.Unix(4, 0))
	require.False(t, due)
	_, begun = s.Call("replaced")
	require.True(t, begun)
	_, waits = s.Next()
	require.False(t, waits)
	put("replaced", 1)
	requireNext(1)
}

func TestFault_beforeChangesNothingAndAfterLeavesTheEffect(t *testing.T) {
	t.Parallel()
	crash := errors.New("crash")
	var failOp string
	var failAfter bool
	s := memory.New(func(op, _ string, after bool) error {
		if op == failOp && after == failAfter {
			return crash
		}
		return nil
	})
	in := schedule.Schedule{Name: "a", At: time.Unix(0, 0), Payload: []byte("1")}
	for _, step := range []struct {
		op     string
		after  bool
		exists bool
	}{{"put", false, false}, {"put", true, true}, {"delete", false, true}, {"delete", true, false}} {
		failOp, failAfter = step.op, step.after
		if step.op == "put" {
			require.ErrorIs(t, s.Put(t.Context(), in), crash)
		} else {
			require.ErrorIs(t, s.Delete(t.Context(), "a"), crash)
		}
		_, exists := s.Entry("a")
		require.Equal(t, step.exists, exists, "%+v", step)
	}
	require.NoError(t, s.Put(t.Context(), in))
	for _, failAfter = range []bool{false, true} {
		failOp = "find"
		_, err := s.Find(t.Context(), "a")
		require.ErrorIs(t, err, crash)
		failOp = "each"
		require.ErrorIs(t, s.Each(t.Context(), "", func(string) error {
			require.Fail(t, "visited")
			return nil
		}), crash)
	}
}
