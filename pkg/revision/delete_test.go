package revision_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/table"
	"nexus/pkg/table/interleave"
	"nexus/pkg/table/memory"
)

const inTwoDays = "2026-01-21"

// newDeletable is a past whose second day has a plan with a to-do, which nothing names.
func newDeletable(t require.TestingT) *past {
	p := newPast(t)
	do, ctx := p.process(p.law, "2"), context.Background()
	base, err := do.plans.Current(ctx, user, dayAfter)
	require.NoError(t, err)
	_, err = do.plans.Commit(ctx, user, dayAfter, plan.Commit{
		ParentRevID: base.Head.RevID, Reason: plan.ReasonMiddayReplan, Plan: plan.Plan{
			Todos: []plan.Todo{{ActionID: p.acts[4], Classification: plan.Urgent}},
		},
	})
	require.NoError(t, err)
	p.now = p.now.Add(time.Minute)
	_, p.revs = p.entries(tomorrow)
	return p
}

// checkDeleted holds what a deletion promises at any moment: the plan is there with its head, its day and an unbroken
// end of its log, or it has none of them. What the day after names is in the log.
func (p *past) checkDeleted() error {
	ctx := context.Background()
	get := func(key item.Key) item.Item {
		row, err := table.Find(ctx, p.store, key)
		if err != nil {
			panic(err)
		}
		return row
	}
	entries, order := p.entries(tomorrow)
	head := get(tomorrow.HeadKey())
	isThere := head != nil
	if isThere != (get(tomorrow.DayKey()) != nil) || isThere != (len(order) > 0) ||
		isThere && order[len(order)-1] != head.Str("headRevId") {
		return fmt.Errorf("the head is %v, the row of the day %v, and the log %v", head, get(tomorrow.DayKey()), order)
	}
	next := get(repository.Address{User: user, Date: inTwoDays}.HeadKey())
	if named := next.Str("rolledFromRevId"); named != "" && entries[named] == nil {
		return fmt.Errorf("the day after names %s, and the log has %v", named, order)
	}
	for _, revID := range p.revs {
		draft := get(tomorrow.DraftKey(revID))
		if (entries[revID] == nil) != (draft.Str("status") == "PRUNED") {
			return fmt.Errorf("revision %s is announced as %v, and the log has %v", revID, draft, order)
		}
	}
	if broken := p.law.Broken(); len(broken) > 0 {
		return fmt.Errorf("the law is broken: %v", broken)
	}
	return nil
}

func TestDelete_removesThePlanAndBeginsAnew(t *testing.T) {
	t.Parallel()
	p := newDeletable(t)
	do, ctx := p.process(p.law, "b"), t.Context()
	var named *revision.NamedError
	before := dump(t, p.store)
	_, err := do.plans.Delete(ctx, user, day, "")
	require.ErrorAs(t, err, &named)
	require.Equal(t, tomorrow, named.By)
	require.Equal(t, before, dump(t, p.store))
	done, err := do.plans.Delete(ctx, user, dayAfter, "")
	require.NoError(t, err)
	require.Equal(t, revision.Pruned{Revisions: 3, Rows: 2 + 0 + 1}, done)
	require.NoError(t, p.checkDeleted())
	var missing *revision.NotFoundError
	for _, read := range []func() error{
		func() error { _, err := do.plans.Current(ctx, user, dayAfter); return err },
		func() error { _, err := do.plans.AsOf(ctx, user, dayAfter, p.now); return err },
		func() error { _, err := do.plans.Revision(ctx, user, dayAfter, p.revs[0]); return err },
		func() error { _, err := do.plans.Delete(ctx, user, dayAfter, ""); return err },
	} {
		require.ErrorAs(t, read(), &missing)
	}
	dates, err := do.publisher.Days(ctx, user)
	require.NoError(t, err)
	require.Equal(t, []string{day}, dates)
	_, err = do.plans.Delete(ctx, user, day, "")
	require.NoError(t, err, "nothing names it any more")
	// A new plan begins a new history, later than what a log says of the old one's end.
	made, err := do.plans.Commit(ctx, user, dayAfter, plan.Commit{Reason: plan.ReasonMorningPlan, Plan: p.plan(1)})
	require.NoError(t, err)
	require.Empty(t, made.ParentRevID)
	require.Greater(t, made.RevID, repository.RemovalID(p.revs[2]))
	require.Greater(t, repository.RemovalID(p.revs[2]), p.revs[2])
	p.now = p.now.Add(revision.Patience)
	removed, _, err := do.publisher.Sweep(ctx, user, 1000)
	require.NoError(t, err)
	require.Equal(t, 3+1+2+3+4, removed)
	got, err := do.plans.Current(ctx, user, dayAfter)
	require.NoError(t, err)
	require.Len(t, got.State.Todos, 1)
}

// TestDelete_waitsForTheClock: in the second of the head, and while a burst is ahead, a new history would not be later.
func TestDelete_waitsForTheClock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	last := b.burst("", 3)
	for _, seconds := range []time.Duration{3, 2, 1} {
		_, err := b.notes.Delete(b.ctx, today, repository.Address{}, revision.Receipt{})
		b.ErrorIs(err, table.ErrConflict)
		var early *revision.EarlyError
		b.ErrorAs(err, &early)
		b.Equal(seconds*time.Second, early.Wait)
		b.now = b.now.Add(time.Second)
	}
	b.Equal(last.RevTs.Add(time.Second), b.now)
	done, err := b.notes.Delete(b.ctx, today, repository.Address{}, revision.Receipt{})
	b.NoError(err)
	b.Equal(3, done.Revisions)
}

// TestDelete_leavesAPlanThatBeganAfterIt: the deletion lost its answer, and finds a head again.
func TestDelete_leavesAPlanThatBeganAfterIt(t *testing.T) {
	t.Parallel()
	p := newDeletable(t)
	do, ctx := p.process(p.law, "b"), t.Context()
	transactions := 0
	p.fault = func(c memory.Call) error {
		if c.Op != "Transact" || c.Stage != memory.After {
			return nil
		}
		if transactions++; transactions < 2 { // the older revisions
			return nil
		}
		p.fault = nil
		p.now = p.now.Add(time.Minute)
		_, err := do.plans.Commit(ctx, user, dayAfter, plan.Commit{Reason: plan.ReasonMorningPlan, Plan: p.plan(3)})
		require.NoError(t, err)
		p.now = p.now.Add(time.Minute)
		return table.ErrUnavailable
	}
	done, err := do.plans.Delete(ctx, user, dayAfter, "")
	require.NoError(t, err)
	require.Equal(t, 3, done.Revisions)
	base, err := do.plans.Current(ctx, user, dayAfter)
	require.NoError(t, err)
	require.Len(t, base.State.Todos, 3)
	require.NoError(t, p.checkDeleted())
}

// TestDelete_isExactInAnyOrderOfTheCallsBesideIt: of a commit and a deletion one comes first, and a rollover names no
// plan that is gone.
func TestDelete_isExactInAnyOrderOfTheCallsBesideIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		workers []string
		faults  int
	}{
		"a rollover from it": {[]string{"delete", "roll over"}, 2},
		"a rollover into it": {[]string{"delete", "roll in"}, 1},
		"a commit":           {[]string{"delete", "commit"}, 2},
		"a new beginning":    {[]string{"delete", "begin"}, 2},
		"another deletion":   {[]string{"delete", "delete again"}, 2},
		"a pruning":          {[]string{"delete", "prune"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := interleave.Explore(t.Context(), deleting(c.workers...), interleave.Options{Faults: c.faults})
			require.NoError(t, err)
			t.Logf("%+v", result)
			require.Greater(t, result.Plays, 10)
		})
	}
}

// deleting are workers on the second day's plan, by their names. A plan that begins after the deletion stays.
func deleting(names ...string) func() interleave.World {
	return func() interleave.World {
		p := newDeletable(panicking{})
		began := ""
		commit := func(ctx context.Context, s *interleave.Store, ids, parent string) error {
			made, err := p.process(s, ids).plans.Commit(ctx, user, dayAfter, plan.Commit{
				ParentRevID: parent, Reason: plan.ReasonMiddayReplan, Plan: p.plan(2),
			})
			if err == nil && parent == "" {
				began = made.RevID
			}
			return err
		}
		remove := func(ids string) func(context.Context, *interleave.Store) error {
			return func(ctx context.Context, s *interleave.Store) error {
				_, err := p.process(s, ids).plans.Delete(ctx, user, dayAfter, "")
				return err
			}
		}
		work := map[string]func(context.Context, *interleave.Store) error{
			"delete": remove("b"), "delete again": remove("c"),
			"roll over": func(ctx context.Context, s *interleave.Store) error {
				_, err := p.process(s, "d").plans.Rollover(ctx, user, dayAfter, "", 0)
				return err
			},
			"roll in": func(ctx context.Context, s *interleave.Store) error {
				_, err := p.process(s, "e").plans.Rollover(ctx, user, day, "", 0)
				return err
			},
			"commit": func(ctx context.Context, s *interleave.Store) error { return commit(ctx, s, "f", p.revs[2]) },
			"begin":  func(ctx context.Context, s *interleave.Store) error { return commit(ctx, s, "a", "") },
			"prune": func(ctx context.Context, s *interleave.Store) error {
				_, err := p.process(s, "9").plans.Prune(ctx, user, dayAfter, revision.Pruning{Keep: revision.Keep{Last: 2}})
				return err
			},
		}
		var wrong error
		w := interleave.World{Store: p.law}
		for _, name := range names {
			w.Workers = append(w.Workers, interleave.Worker{Name: name, Run: func(ctx context.Context, s *interleave.Store) {
				if err := work[name](ctx, s); err != nil && !isAnswer(err) {
					wrong = fmt.Errorf("%s: %w", name, err)
				}
			}})
		}
		w.Judge = func() error {
			if wrong != nil {
				return wrong
			}
			if entries, _ := p.entries(tomorrow); began != "" && entries[began] == nil {
				return errors.New("the deletion took a plan that began after it")
			}
			return p.checkDeleted()
		}
		return w
	}
}

// isAnswer reports whether an error is an answer that a client gets when others are faster, or calls fail.
func isAnswer(err error) bool {
	var (
		moved   *revision.ConflictError
		missing *revision.NotFoundError
		named   *revision.NamedError
		pruned  *revision.PrunedError
	)
	return errors.As(err, &moved) || errors.As(err, &missing) || errors.As(err, &named) || errors.As(err, &pruned) ||
		errors.Is(err, table.ErrUnavailable) || errors.Is(err, table.ErrConflict)
}

// TestDelete_endsTheSameWhereverItDies: a process dies before or after each of its calls, or loses the answer, and its
// client repeats the request.
func TestDelete_endsTheSameWhereverItDies(t *testing.T) {
	t.Parallel()
	end := func(fail int, stage memory.Stage, err error) (map[item.Key]string, int) {
		p := newDeletable(t)
		calls := 0
		p.fault = failingAt(&calls, fail, stage, err)
		do := p.process(p.law, "b")
		_, got := do.plans.Delete(t.Context(), user, dayAfter, "")
		during := p.fault
		p.fault = nil
		require.NoError(t, p.checkDeleted())
		p.fault = during
		if got != nil {
			_, got = do.plans.Delete(t.Context(), user, dayAfter, "")
		}
		var missing *revision.NotFoundError
		require.True(t, got == nil || errors.As(got, &missing), got)
		p.fault = nil
		p.now = p.now.Add(revision.Patience)
		_, _, got = do.publisher.Sweep(t.Context(), user, 1000)
		require.NoError(t, got)
		rows := storedRows(t, p.store)
		return rows, calls
	}
	want, calls := end(0, memory.Before, nil)
	require.Equal(t, 5, calls)
	for key := range want {
		require.NotContains(t, key.String(), dayAfter)
	}
	for fail := 1; fail <= calls; fail++ {
		for _, stage := range []memory.Stage{memory.Before, memory.After} {
			for _, err := range []error{errDied, table.ErrUnavailable} {
				got, _ := end(fail, stage, err)
				require.True(t, maps.Equal(want, got), "call %d, stage %v, %v", fail, stage, err)
			}
		}
	}
}

func TestDelete_removesALongHistoryInSeveralCalls(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	parent := ""
	for range revision.MaxPruned + 2 {
		made, err := b.commit(parent, "", "word")
		b.NoError(err)
		parent = made.RevID
	}
	b.now = b.now.Add(time.Hour)
	done, err := b.notes.Delete(b.ctx, today, repository.Address{}, revision.Receipt{})
	b.ErrorIs(err, table.ErrConflict)
	b.Equal(revision.MaxPruned, done.Revisions)
	done, err = b.notes.Delete(b.ctx, today, repository.Address{}, revision.Receipt{})
	b.NoError(err)
	b.Equal(2, done.Revisions)
}
