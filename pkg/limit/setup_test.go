package limit_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/entity/metering"
	"nexus/pkg/limit"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func keys() limit.Keys {
	return limit.Keys{
		Rate: metering.RateKey, Meta: entity.MetaKey, Count: metering.CountKey,
	}
}

// fixture is a table with the instances that share it.
type fixture struct {
	*testing.T
	store *memory.Store
	now   time.Time
	fault func(memory.Call) error
}

func setup(t *testing.T) *fixture {
	t.Helper()
	b := &fixture{T: t, now: noon}
	b.store = memory.New(b.clock, memory.Options{Fault: func(c memory.Call) error {
		if b.fault == nil {
			return nil
		}
		return b.fault(c)
	}})
	return b
}

func (b *fixture) clock() time.Time { return b.now }

// instance returns an instance of a function, with the numbers in place of the document's.
func (b *fixture) instance(numbers map[string]int) *limit.Limiter {
	b.Helper()
	stage, err := limit.Default().With(numbers)
	require.NoError(b, err)
	return limit.New(limit.Config{
		Store: b.store, Now: b.clock, Draw: func() float64 { return 0 }, Numbers: stage,
	}, keys())
}

func (b *fixture) take(l *limit.Limiter, points int) limit.State {
	b.Helper()
	state, err := l.Take(b.Context(), "ann", limit.User, points)
	require.NoError(b, err)
	return state
}

// refused takes points that there are not, and returns how long to wait.
func (b *fixture) refused(l *limit.Limiter, points int) time.Duration {
	b.Helper()
	_, err := l.Take(b.Context(), "ann", limit.User, points)
	var refused *limit.RateError
	require.ErrorAs(b, err, &refused)
	return refused.RetryAfter
}

// lose makes the next updates of the row come too late: before each, another instance uses a point.
func (b *fixture) lose(times int, l *limit.Limiter) {
	b.fault = func(c memory.Call) error {
		if c.Op != "Update" || c.Stage != memory.Before || times == 0 {
			return nil
		}
		times--
		left := times
		times = 0 // the other instance's own update is not in turn
		_, err := l.Take(b.Context(), "ann", limit.User, 1)
		times = left
		var refused *limit.RateError
		if err != nil && !errors.As(err, &refused) {
			return table.ErrUnavailable
		}
		return nil
	}
}
