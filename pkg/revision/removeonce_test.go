package revision_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/idempotency"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/table"
	"nexus/pkg/table/interleave"
	"nexus/pkg/table/memory"
)

// TestDelete_leavesWhatWasCommittedAfterTheFirstRequest: a late repetition under the key finds the receipt, wherever
// the first request died.
func TestDelete_leavesWhatWasCommittedAfterTheFirstRequest(t *testing.T) {
	t.Parallel()
	try := func(fail int, stage memory.Stage, err error) int {
		p := newDeletable(t)
		calls := 0
		p.fault = failingAt(&calls, fail, stage, err)
		do, ctx := p.process(p.law, "b"), t.Context()
		done, got := do.plans.Delete(ctx, user, dayAfter, "key")
		p.fault = nil
		require.NoError(t, p.checkDeleted())
		if got != nil {
			_, got = do.plans.Delete(ctx, user, dayAfter, "key")
		}
		require.NoError(t, got)
		made, got := do.plans.Commit(ctx, user, dayAfter, plan.Commit{Reason: plan.ReasonMorningPlan, Plan: p.plan(1)})
		require.NoError(t, got)
		p.now = p.now.Add(time.Hour)
		again, got := do.plans.Delete(ctx, user, dayAfter, "key")
		require.NoError(t, got)
		require.True(t, again.Replayed)
		if fail == 0 {
			done.Replayed = true
			require.Equal(t, done, again)
		}
		base, got := do.plans.Current(ctx, user, dayAfter)
		require.NoError(t, got)
		require.Equal(t, made.RevID, base.Head.RevID)
		_, got = do.plans.Delete(ctx, user, day, "key")
		require.ErrorIs(t, got, idempotency.ErrKeyReused)
		require.Empty(t, p.law.Broken())
		return calls
	}
	atEachCall(try)
}

// atEachCall tries without a failure, and with each failure before and after each call that the first made.
func atEachCall(try func(fail int, stage memory.Stage, err error) (calls int)) {
	calls := try(0, memory.Before, nil)
	for fail := 1; fail <= calls; fail++ {
		for _, stage := range []memory.Stage{memory.Before, memory.After} {
			for _, err := range []error{errDied, table.ErrUnavailable} {
				try(fail, stage, err)
			}
		}
	}
}

// TestPrune_leavesWhatWasCommittedAfterTheFirstRequest: the same of a pruning, which answers a repetition with the
// counts of the first request.
func TestPrune_leavesWhatWasCommittedAfterTheFirstRequest(t *testing.T) {
	t.Parallel()
	pruning := revision.Pruning{
		Keep: revision.Keep{Last: 1}, Sweep: 100, Receipt: revision.Receipt{Key: "key"},
	}
	try := func(fail int, stage memory.Stage, err error) int {
		p := newPast(t)
		do, ctx := p.process(p.law, "b"), t.Context()
		_, got := do.plans.Prune(ctx, user, day, revision.Pruning{Keep: revision.Keep{Last: 3}})
		require.NoError(t, got)
		p.now = p.now.Add(revision.Patience)
		calls := 0
		p.fault = failingAt(&calls, fail, stage, err)
		done, got := do.plans.Prune(ctx, user, day, pruning)
		p.fault = nil
		if got != nil {
			_, got = do.plans.Prune(ctx, user, day, pruning)
		}
		require.NoError(t, got)
		require.Equal(t, []int{1, 3}, p.inDayLog())
		made, got := do.plans.Commit(ctx, user, day, plan.Commit{
			ParentRevID: p.revs[3], Reason: plan.ReasonMiddayReplan, Plan: p.plan(2),
		})
		require.NoError(t, got)
		p.revs = append(p.revs, made.RevID)
		again, got := do.plans.Prune(ctx, user, day, pruning)
		require.NoError(t, got)
		require.True(t, again.Replayed)
		require.Equal(t, []int{1, 3, 4}, p.inDayLog())
		if fail == 0 {
			require.Equal(t, revision.Pruned{Revisions: 1, Rows: 3, Removed: 1}, done)
			done.Replayed = true
			require.Equal(t, done, again)
		}
		other := pruning
		other.Keep.Last = 2
		_, got = do.plans.Prune(ctx, user, day, other)
		require.ErrorIs(t, got, idempotency.ErrKeyReused)
		other = pruning
		other.DryRun = true
		_, got = do.values.Prune(ctx, user, other)
		require.ErrorIs(t, got, idempotency.ErrKeyReused)
		require.Empty(t, p.law.Broken())
		return calls
	}
	atEachCall(try)
}

// TestPrune_remembersWhatRemovedNothing: a dry run, and a pruning that finds nothing, take the key, too.
func TestPrune_remembersWhatRemovedNothing(t *testing.T) {
	t.Parallel()
	for name, pruning := range map[string]revision.Pruning{
		"a dry run": {Keep: revision.Keep{Last: 1}, DryRun: true}, "nothing to remove": {Keep: revision.Keep{Last: 9}},
	} {
		p := newPast(t)
		do, ctx := p.process(p.law, "b"), t.Context()
		pruning.Receipt.Key = "key"
		first, err := do.plans.Prune(ctx, user, day, pruning)
		require.NoError(t, err, name)
		require.Equal(t, pruning.DryRun, first.Revisions > 0, name)
		parent := p.revs[3]
		for i := range 8 {
			made, err := do.plans.Commit(ctx, user, day, plan.Commit{
				ParentRevID: parent, Reason: plan.ReasonMiddayReplan, Plan: p.plan(1 + i%2),
			})
			require.NoError(t, err)
			parent = made.RevID
		}
		again, err := do.plans.Prune(ctx, user, day, pruning)
		require.NoError(t, err, name)
		first.Replayed = true
		require.Equal(t, first, again, name)
		require.Equal(t, []int{0, 1, 2, 3}, p.inDayLog(), name)
		_, err = do.plans.Delete(ctx, user, day, "key")
		require.ErrorIs(t, err, idempotency.ErrKeyReused, name)
	}
}

// twins are two deliveries of one request, and a commit that begins a new plan.
func twins() interleave.World {
	p := newDeletable(panicking{})
	began, wrong := "", error(nil)
	answers := 0
	remove := func(ids string) func(context.Context, *interleave.Store) {
		return func(ctx context.Context, s *interleave.Store) {
			_, err := p.process(s, ids).plans.Delete(ctx, user, dayAfter, "key")
			switch {
			case err == nil:
				answers++
			case !errors.Is(err, table.ErrUnavailable) && !errors.Is(err, table.ErrConflict):
				wrong = fmt.Errorf("%s: %w", ids, err)
			}
		}
	}
	return interleave.World{Store: p.law, Workers: []interleave.Worker{
		{Name: "delete", Run: remove("b")}, {Name: "delete again", Run: remove("c")},
		{Name: "begin", Run: func(ctx context.Context, s *interleave.Store) {
			made, err := p.process(s, "a").plans.Commit(ctx, user, dayAfter, plan.Commit{
				Reason: plan.ReasonMiddayReplan, Plan: p.plan(2),
			})
			if err == nil {
				began = made.RevID
			}
		}},
	}, Judge: func() error {
		if wrong != nil {
			return wrong
		}
		if entries, _ := p.entries(tomorrow); began != "" && entries[began] == nil {
			return errors.New("a repetition took a plan that began after the deletion")
		}
		if answers == 0 {
			return errors.New("neither delivery was answered")
		}
		return p.checkDeleted()
	}}
}

func TestDelete_isCarriedOutOnceForTwins(t *testing.T) {
	t.Parallel()
	result, err := interleave.Explore(t.Context(), twins, interleave.Options{})
	require.NoError(t, err)
	t.Logf("%+v", result)
	require.Greater(t, result.Plays, 10)
}
