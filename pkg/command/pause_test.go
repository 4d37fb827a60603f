package command_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func link(id string, target entity.Ref) command.AddLink {
	return command.AddLink{Type: product.Note(), ID: id, Target: target}
}

func TestRandomPause_growsWithEachAttemptUntilTheLast(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note, task := b.create(product.Note(), `{"title":"n"}`),
		entity.Ref{Type: product.TypeTask, ID: b.create(product.Task(), `{"title":"t"}`)}
	b.fault = func(c memory.Call) error {
		if c.Op == "Update" && c.Stage == memory.Before {
			return table.ErrConflict
		}
		return nil
	}
	_, err := b.service.Do(t.Context(), command.Request{User: ann, Command: link(note, task)})
	require.ErrorIs(t, err, table.ErrConflict)
	const ms = time.Millisecond
	require.Equal(t, []time.Duration{20 * ms, 40 * ms, 80 * ms, 160 * ms, 320 * ms, 640 * ms, 1000 * ms, 1000 * ms,
		1000 * ms, 1000 * ms, 1000 * ms}, b.pauses)
}

func TestPause_withoutTimeLeavesTheConflictAsTheAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note, task := b.create(product.Note(), `{"title":"n"}`),
		entity.Ref{Type: product.TypeTask, ID: b.create(product.Task(), `{"title":"t"}`)}
	b.fault = func(c memory.Call) error {
		if c.Op == "Update" && c.Stage == memory.Before {
			return table.ErrConflict
		}
		return nil
	}
	b.busy = func() error { return context.DeadlineExceeded }
	_, err := b.service.Do(t.Context(), command.Request{User: ann, Command: link(note, task)})
	require.ErrorIs(t, err, table.ErrConflict)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
	require.Len(t, b.pauses, 1)
}

// An attempt after a pause is dated by its own time: updatedAt is not earlier than that of the write it follows.
func TestPause_datesALaterAttemptByItsOwnTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note, task := b.create(product.Note(), `{"title":"n"}`),
		entity.Ref{Type: product.TypeTask, ID: b.create(product.Task(), `{"title":"t"}`)}
	b.once("Update", memory.Before, func() error { return table.ErrConflict })
	b.busy = func() error { b.now = b.now.Add(3 * time.Second); return nil }
	res, err := b.service.Do(t.Context(), command.Request{User: ann, Command: link(note, task)})
	require.NoError(t, err)
	require.Equal(t, item.FormatInstant(noon.Add(3*time.Second)), res.Item.Str(entity.AttrUpdatedAt))
}

func TestPause_endsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pause := command.RandomPause(rand.Float64, time.Now)
		began := time.Now()
		short, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		defer cancel()
		require.ErrorIs(t, pause(short, time.Hour), context.DeadlineExceeded)
		require.Equal(t, began, time.Now(), "what cannot be waited for is not begun")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, pause(gone, time.Hour), context.Canceled)
		require.Equal(t, began, time.Now())
		for range 20 {
			began = time.Now()
			require.NoError(t, pause(t.Context(), time.Second))
			require.LessOrEqual(t, time.Since(began), time.Second)
		}
	})
}

// Thirty at once on one row, whose calls take ten milliseconds each, in virtual time: each succeeds, in a few seconds.
func TestService_letsManyWritersOfOneRowSucceedInTime(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("carries out some thousand commands")
	}
	const writers, rounds = 30, 10
	for range rounds {
		synctest.Test(t, func(t *testing.T) {
			store := memory.New(time.Now, memory.Options{Fault: func(c memory.Call) error {
				if c.Stage == memory.Before {
					<-time.After(10 * time.Millisecond)
				}
				return nil
			}})
			var ids sync.Mutex
			made := 0
			service := command.New(command.Config{Store: store, Registry: product.Registry(), Now: time.Now,
				Pause: command.RandomPause(rand.Float64, time.Now), NewID: func() string {
					ids.Lock()
					defer ids.Unlock()
					made++
					return uuid(made)
				}})
			do := func(cmd command.Command) (command.Result, error) {
				within, cancel := context.WithTimeout(t.Context(), 28*time.Second) // the command function's
				defer cancel()
				return service.Do(within, command.Request{User: ann, Command: cmd})
			}
			create := func(typ *entity.Type) entity.Ref {
				res, err := do(command.Create{Type: typ, Fields: map[string]any{"title": "x"}})
				require.NoError(t, err)
				return res.Ref
			}
			note := create(product.Note())
			targets := make([]entity.Ref, writers)
			for i := range targets {
				targets[i] = create(product.Task())
			}
			errs := make([]error, writers)
			began := time.Now()
			var all sync.WaitGroup
			for i := range writers {
				all.Go(func() { _, errs[i] = do(link(note.ID, targets[i])) })
			}
			all.Wait()
			require.NoError(t, errors.Join(errs...))
			require.Less(t, time.Since(began), 10*time.Second)
		})
	}
}
