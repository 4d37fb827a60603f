package system_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/changes"
	"nexus/pkg/changes/changelog"
	"nexus/pkg/changes/token"
	"nexus/pkg/command"
	"nexus/pkg/product"
	"nexus/pkg/push"
	pushmemory "nexus/pkg/push/memory"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/watch"
)

// played holds what three tasks of two users leave: the consumer's outcomes and the rows of the logs.
type played struct {
	outcomes      []change.Outcome
	rows          map[string][]changelog.Row
	sent, dropped int
	took          time.Duration // by the test's clock
}

// play has ann and bob open an app and create tasks, and the consumer changes apply them in one batch.
func play(t *testing.T, pusher push.Pusher) played {
	t.Helper()
	var out played
	store := memory.New(clock, memory.Options{})
	s, err := system.New(product.Registry(), system.Ports{
		Store: func(string) table.Store { return store }, Now: clock, NewID: uuid.NewString, Pause: noWait,
		Random: rand.NewChaCha8([32]byte{}), SyncForm: 3,
		Hints: push.Place{URL: "wss://r.example", Host: "h.example"}, Pusher: pusher, HintBound: watch.Bound,
		Hinted: func(sent, dropped int) { out.sent, out.dropped = out.sent+sent, out.dropped+dropped },
	})
	require.NoError(t, err)
	var batch []change.Change
	for i, user := range []string{"ann", "ann", "bob"} {
		_, err := s.Watches.Start(t.Context(), user)
		require.NoError(t, err)
		id := []string{"task_4c2d7b90-19aa-4f0e-a8f6-6b1de2b0c702", "task_5c2d7b90-19aa-4f0e-a8f6-6b1de2b0c702"}[i%2]
		made, err := s.Commands.Do(t.Context(), command.Request{User: user, Command: command.Create{
			Type: product.Task(), Fields: map[string]any{"title": "x", "taskId": id},
		}})
		require.NoError(t, err)
		batch = append(batch, change.Change{
			Kind: change.Inserted, Type: product.Task(), User: user, Ref: made.Ref, Key: made.Item.Key(), New: made.Item,
			Version: 1, Created: clock(),
		})
	}
	began := time.Now()
	for _, c := range s.Consumers {
		if c.Name() == changes.Name {
			out.outcomes = c.(change.BatchConsumer).Apply(t.Context(), batch)
		}
	}
	out.took = time.Since(began)
	out.rows = map[string][]changelog.Row{}
	for _, user := range []string{"ann", "bob"} {
		for row, err := range changelog.Rows(t.Context(), store, changelog.Read{User: user}) {
			require.NoError(t, err)
			out.rows[user] = append(out.rows[user], row)
		}
	}
	return out
}

func TestSystem_tellsOpenAppsHowFarTheLogIs(t *testing.T) {
	t.Parallel()
	pusher := pushmemory.New(nil)
	got := play(t, pusher)
	require.Equal(t, 2, got.sent)
	require.Zero(t, got.dropped)
	require.Len(t, got.rows["ann"], 1, "two tasks, one row")
	var want []pushmemory.Hint
	for _, user := range []string{"ann", "bob"} {
		row := got.rows[user][0]
		next := token.Token{Form: token.FormIn(3), Owner: token.OwnerOf(user), N: row.N, X: row.X}.String()
		want = append(want, pushmemory.Hint{Channel: "/user/" + user, Event: `{"next":"` + next + `"}`})
	}
	require.ElementsMatch(t, want, pusher.Hints())
}

// P1: nothing depends on a hint (docs/correctness.md, "Live hints").
func TestSystem_logsTheSameWhateverBecomesOfHints(t *testing.T) {
	t.Parallel()
	want := play(t, nil)
	require.Len(t, want.outcomes, 3)
	for _, o := range want.outcomes {
		require.NoError(t, o.Err)
	}
	for name, fault := range map[string]pushmemory.Fault{
		"lost":      func(context.Context, string, string) error { return push.ErrUnavailable },
		"panicking": func(context.Context, string, string) error { panic("boom") },
		"slow":      func(ctx context.Context, _, _ string) error { <-ctx.Done(); return ctx.Err() },
		"hanging":   nil, // made in the test's own time
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // its clock moves when all wait
				if name == "hanging" {
					stop := make(chan struct{})
					defer close(stop)
					fault = func(context.Context, string, string) error { <-stop; return nil }
				}
				got := play(t, pushmemory.New(fault))
				require.Equal(t, want.outcomes, got.outcomes)
				require.Equal(t, want.rows, got.rows)
				require.Equal(t, 2, got.dropped)
				require.LessOrEqual(t, got.took, watch.Bound)
			})
		})
	}
}
