package interleave_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/interleave"
	"nexus/pkg/table/memory"
)

var (
	counter = entity.SumKey("ann", "counter")
	errLost = errors.New("a count was lost")
)

// adders are workers that each add one to a number, under its version or not.
func adders(n int, guarded bool, reached map[int64]int) func() interleave.World {
	return func() interleave.World {
		store := memory.New(func() time.Time { return time.Unix(0, 0) }, memory.Options{})
		w := interleave.World{Store: store}
		added := 0
		add := func(ctx context.Context, s *interleave.Store) {
			for {
				row, err := s.Get(ctx, counter)
				if err != nil && !errors.Is(err, table.ErrNotFound) {
					return
				}
				next := counter.Item()
				next["n"] = item.Int(row.Int("n") + 1)
				put := table.Put{Item: next}
				if guarded {
					put.If = table.OrNoRow(table.Equal("n", item.Int(row.Int("n"))))
				}
				err = s.Put(ctx, put)
				if failed := (*table.ConditionError)(nil); errors.As(err, &failed) {
					continue
				}
				if err == nil {
					added++
				}
				return
			}
		}
		for i := range n {
			w.Workers = append(w.Workers, interleave.Worker{Name: fmt.Sprint("adder ", i), Run: add})
		}
		w.Judge = func() error {
			row, err := store.Get(context.Background(), counter)
			if err != nil && !errors.Is(err, table.ErrNotFound) {
				return err
			}
			reached[row.Int("n")]++
			if int(row.Int("n")) < added {
				return errLost
			}
			return nil
		}
		return w
	}
}

func TestExplore_findsAnOrderThatLosesACount(t *testing.T) {
	t.Parallel()
	_, err := interleave.Explore(t.Context(), adders(2, false, map[int64]int{}), interleave.Options{})
	var found *interleave.Violation
	require.ErrorAs(t, err, &found)
	require.ErrorIs(t, err, errLost)
	require.Equal(t, []string{
		"adder 0: Get SUM#counter", "adder 1: Get SUM#counter", "adder 0: Put SUM#counter", "adder 1: Put SUM#counter",
	}, found.Steps)
}

func TestExplore_playsAllOrdersAndFaultsAtEachCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		workers int
		o       interleave.Options
		plays   int
		reached []int64
	}{
		{1, interleave.Options{}, 1, []int64{1}},
		{1, interleave.Options{Faults: 1}, 3, []int64{1}},
		{1, interleave.Options{Faults: 1, Refusals: true}, 5, []int64{0, 1}},
		{2, interleave.Options{}, 4, []int64{2}}, // one after the other, or both read before one writes: twice each
		{3, interleave.Options{}, 108, []int64{3}},
		{2, interleave.Options{Faults: 2, Refusals: true}, 114, []int64{0, 1, 2}},
	} {
		reached := map[int64]int{}
		result, err := interleave.Explore(t.Context(), adders(c.workers, true, reached), c.o)
		require.NoError(t, err)
		require.Equal(t, c.plays, result.Plays, "%+v", c)
		require.Len(t, reached, len(c.reached))
		for _, n := range c.reached {
			require.NotZero(t, reached[n], "%d of %+v", n, c)
		}
	}
}

func TestExplore_failsOnAPanicAndTooManyPlays(t *testing.T) {
	t.Parallel()
	_, err := interleave.Explore(t.Context(), adders(3, true, map[int64]int{}), interleave.Options{Plays: 10})
	require.ErrorIs(t, err, interleave.ErrTooMany)
	panics := func() interleave.World {
		w := adders(1, true, map[int64]int{})()
		w.Workers = append(w.Workers, interleave.Worker{Name: "mad", Run: func(_ context.Context, s *interleave.Store) {
			s.Do("look", func() {})
			panic("at nothing")
		}})
		return w
	}
	_, err = interleave.Explore(t.Context(), panics, interleave.Options{})
	require.ErrorContains(t, err, "mad panicked: at nothing")
}
