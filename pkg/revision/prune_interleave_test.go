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
	"nexus/pkg/product"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/table/interleave"
	"nexus/pkg/table/memory"
	"nexus/pkg/table/tabletest"
)

const dayAfter = "2026-01-20"

var tomorrow = repository.Address{User: user, Date: dayAfter}

// past is a table with a history to prune: a plan of four revisions, a minute apart, each with one to-do more. The
// second was rolled over into the next day's plan, whose user has taken its to-do out again.
type past struct {
	store *memory.Store
	law   *tabletest.Law
	fault func(memory.Call) error
	began time.Time
	now   time.Time
	acts  []string
	revs  []string
}

func (p *past) process(store table.Store, ids string) process {
	n := 0
	id := func() string {
		n++
		return fmt.Sprintf("%s%07x-0000-4000-8000-%012x", ids, n, n)
	}
	now := func() time.Time { return p.now }
	publisher := revision.NewPublisher(revision.Config{Store: store, Now: now, NewID: id})
	tree := values.New(publisher, id)
	return process{publisher, tree, plan.New(publisher, tree, now, id)}
}

func (p *past) plan(todos int) plan.Plan {
	var out plan.Plan
	for _, id := range p.acts[:todos] {
		out.Todos = append(out.Todos, plan.Todo{ActionID: id, Classification: plan.Urgent})
	}
	return out
}

func newPast(t require.TestingT) *past {
	p := &past{began: time.Date(2026, 1, 19, 8, 0, 0, 0, time.UTC)}
	p.now = p.began
	p.store = memory.New(func() time.Time { return p.now }, memory.Options{Fault: func(c memory.Call) error {
		if p.fault == nil {
			return nil
		}
		return p.fault(c)
	}})
	p.law = tabletest.NewLaw(p.store, product.Registry())
	do := p.process(p.law, "0")
	ctx, title := context.Background(), "a title"
	ops := []values.Operation{{Kind: values.OpCreate, NodeID: "drv_" + uuidOf(9), NodeType: values.Driver, Title: &title}}
	for i := range 5 {
		p.acts = append(p.acts, "act_"+uuidOf(i))
		ops = append(ops, values.Operation{
			Kind: values.OpCreate, NodeID: p.acts[i], NodeType: values.Action, Title: &title, ParentID: ops[0].NodeID,
		})
	}
	_, err := do.values.Commit(ctx, user, values.Commit{Message: "m", Source: values.SourceDailyUpdate, Operations: ops})
	require.NoError(t, err)
	parent := ""
	for i := range 4 {
		made, err := do.plans.Commit(ctx, user, day, plan.Commit{
			ParentRevID: parent, Reason: plan.ReasonMiddayReplan, Plan: p.plan(i + 1),
		})
		require.NoError(t, err)
		parent = made.RevID
		p.revs = append(p.revs, parent)
		p.now = p.now.Add(time.Minute)
		if i == 1 {
			rolled, err := do.plans.Rollover(ctx, user, day, "", 0)
			require.NoError(t, err)
			_, err = do.plans.Commit(ctx, user, dayAfter, plan.Commit{
				ParentRevID: rolled.Next.Head.RevID, Reason: plan.ReasonMiddayReplan,
			})
			require.NoError(t, err)
		}
	}
	return p
}

func uuidOf(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", n+1000, n) }

// entries are the revisions of the day's log by id.
func (p *past) entries(at repository.Address) (map[string]item.Item, []string) {
	page, err := p.store.Query(context.Background(), table.Query{
		Partition: at.LogPK(), Range: table.Range{Prefix: at.LogPrefix()},
	})
	if err != nil {
		panic(err)
	}
	found, order := map[string]item.Item{}, []string{}
	for _, row := range page.Items {
		found[row.Str("revId")] = row
		order = append(order, row.Str("revId"))
	}
	return found, order
}

// check holds what a pruning promises at any moment: the heads are in their logs, and so is what a head names. A
// revision that was taken out is announced by a draft, has all its rows, and is older than what the head says.
func (p *past) check() error {
	ctx := context.Background()
	entries, order := p.entries(today)
	head, err := p.store.Get(ctx, today.HeadKey())
	if err != nil {
		return err
	}
	next, err := p.store.Get(ctx, tomorrow.HeadKey())
	if err != nil {
		return err
	}
	if order[len(order)-1] != head.Str("headRevId") {
		return fmt.Errorf("the head %s is not the end of the log %v", head.Str("headRevId"), order)
	}
	if named := next.Str("rolledFromRevId"); entries[named] == nil {
		return fmt.Errorf("the next day names %s, and the log has %v", named, order)
	}
	first := len(order) - 1
	for first > 0 && entries[order[first]].Str("parentRevId") == order[first-1] {
		first--
	}
	oldest := entries[order[first]]
	if wasPruned := oldest.Has("parentRevId"); wasPruned && (head.Str("oldestRevId") != order[first] ||
		head.Str("prunedUntil") != item.FormatInstant(committedAt(oldest))) {
		return fmt.Errorf("history is unbroken from %s on, and the head says %v", order[first], head)
	}
	for i, revID := range p.revs {
		draft, err := p.store.Get(ctx, today.DraftKey(revID))
		if isGone := entries[revID] == nil; isGone != (err == nil) || isGone && draft.Str("status") != "PRUNED" {
			return fmt.Errorf("revision %s, in the log: %t, is announced as %v", revID, !isGone, draft)
		}
		rows, err := p.store.Count(ctx, table.Query{Partition: today.SnapshotPK(revID)})
		if err != nil || rows != i+1 {
			return fmt.Errorf("revision %s has %d rows (%w)", revID, rows, err)
		}
	}
	if broken := p.law.Broken(); len(broken) > 0 {
		return fmt.Errorf("the law is broken: %v", broken)
	}
	return nil
}

// reads is a reader that looks at everything: what it sees is whole and right, or was pruned.
func (p *past) reads(ctx context.Context, store table.Store) error {
	do := p.process(store, "a")
	wrong := func(err error, want int, state plan.Plan, mayBePruned bool) error {
		var pruned *revision.PrunedError
		switch {
		case errors.As(err, &pruned) && mayBePruned:
			return nil
		case errors.Is(err, table.ErrUnavailable):
			return nil
		case err != nil:
			return err
		case len(state.Todos) != want:
			return fmt.Errorf("%d to-dos, want %d", len(state.Todos), want)
		}
		return nil
	}
	for i, at := range []time.Duration{0, time.Minute, 2 * time.Minute, 3 * time.Minute} {
		got, err := do.plans.AsOf(ctx, user, day, p.began.Add(at))
		if err := wrong(err, i+1, got.State, i < 3); err != nil {
			return fmt.Errorf("as of minute %d: %w", i, err)
		}
		got, err = do.plans.Revision(ctx, user, day, p.revs[i])
		if err := wrong(err, i+1, got.State, i < 3); err != nil {
			return fmt.Errorf("revision %d: %w", i, err)
		}
	}
	return nil
}

// crowd are workers on the day's plan, by their names.
func crowd(names ...string) func() interleave.World {
	return func() interleave.World {
		p := newPast(panicking{})
		w := interleave.World{Store: p.law}
		faults := map[string]error{}
		work := map[string]func(context.Context, *interleave.Store) error{
			"prune": func(ctx context.Context, s *interleave.Store) error {
				_, err := p.process(s, "b").plans.Prune(ctx, user, day, revision.Pruning{Keep: revision.Keep{Last: 1}})
				return err
			},
			"prune since": func(ctx context.Context, s *interleave.Store) error {
				since := revision.Keep{Since: p.began.Add(90 * time.Second)}
				_, err := p.process(s, "c").plans.Prune(ctx, user, day, revision.Pruning{Keep: since})
				return err
			},
			"roll over": func(ctx context.Context, s *interleave.Store) error {
				_, err := p.process(s, "d").plans.Rollover(ctx, user, day, "", 0)
				return err
			},
			"commit": func(ctx context.Context, s *interleave.Store) error {
				_, err := p.process(s, "e").plans.Commit(ctx, user, day, plan.Commit{
					ParentRevID: p.revs[3], Reason: plan.ReasonMiddayReplan, Plan: p.plan(5),
				})
				return err
			},
			"bring back": func(ctx context.Context, s *interleave.Store) error {
				_, err := p.process(s, "f").plans.Rollback(ctx, user, day, p.revs[3], p.revs[0], "back", "")
				var pruned *revision.PrunedError
				if errors.As(err, &pruned) {
					return nil
				}
				return err
			},
			"read": func(ctx context.Context, s *interleave.Store) error { return p.reads(ctx, s) },
		}
		for _, name := range names {
			w.Workers = append(w.Workers, interleave.Worker{Name: name, Run: func(ctx context.Context, s *interleave.Store) {
				if err := work[name](ctx, s); err != nil && !errors.Is(err, table.ErrUnavailable) &&
					!errors.Is(err, table.ErrConflict) {
					faults[name] = err
				}
			}})
		}
		w.Judge = func() error {
			for _, name := range names {
				if err := faults[name]; err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			return p.check()
		}
		return w
	}
}

// panicking takes the place of a test in a world that is made many times.
type panicking struct{}

func (panicking) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (panicking) FailNow()                          { panic("failed") }

// TestPrune_isExactInAnyOrderOfTheCallsBesideIt: readers see whole revisions, a rollover finds what it names, and the
// head tells what is left, also if one of them dies or loses an answer.
func TestPrune_isExactInAnyOrderOfTheCallsBesideIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		workers []string
		faults  int
	}{
		"readers":             {[]string{"prune", "read"}, 1},
		"a rollover":          {[]string{"prune", "roll over"}, 2},
		"a commit":            {[]string{"prune", "commit"}, 2},
		"a rollback":          {[]string{"prune", "bring back"}, 2},
		"another pruning":     {[]string{"prune", "prune since"}, 2},
		"rollover and commit": {[]string{"prune", "roll over", "commit"}, 0},
		"two and a reader":    {[]string{"prune since", "prune", "read"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := interleave.Explore(t.Context(), crowd(c.workers...), interleave.Options{Faults: c.faults})
			require.NoError(t, err)
			t.Logf("%+v", result)
			require.Greater(t, result.Plays, 10)
		})
	}
}

// TestPrune_endsTheSameWhereverItDies: a process dies before or after each of its calls, or loses the answer; the
// repetition ends as one that met no fault.
func TestPrune_endsTheSameWhereverItDies(t *testing.T) {
	t.Parallel()
	end := func(fail int, stage memory.Stage, err error) (map[item.Key]string, int) {
		p := newPast(t)
		calls := 0
		p.fault = failingAt(&calls, fail, stage, err)
		do := p.process(p.law, "b")
		_, got := do.plans.Prune(t.Context(), user, day, revision.Pruning{Keep: revision.Keep{Last: 1}})
		during := p.fault
		p.fault = nil
		require.NoError(t, p.check())
		p.fault = during
		if got != nil {
			_, got = do.plans.Prune(t.Context(), user, day, revision.Pruning{Keep: revision.Keep{Last: 1}})
		}
		require.NoError(t, got)
		p.now = p.now.Add(revision.Patience)
		if _, _, got = do.publisher.Sweep(t.Context(), user, 1000); got != nil {
			_, _, got = do.publisher.Sweep(t.Context(), user, 1000)
		}
		require.NoError(t, got)
		p.fault = nil
		rows := storedRows(t, p.store)
		require.Empty(t, p.law.Broken())
		return rows, calls
	}
	want, calls := end(0, memory.Before, nil)
	require.Greater(t, calls, 10)
	for key := range want {
		require.NotContains(t, key.SK, "DRAFT#")
	}
	for fail := 1; fail <= calls; fail++ {
		for _, stage := range []memory.Stage{memory.Before, memory.After} {
			for _, err := range []error{errDied, table.ErrUnavailable, table.ErrConflict} {
				if errors.Is(err, table.ErrConflict) && stage == memory.After {
					continue
				}
				got, _ := end(fail, stage, err)
				require.True(t, maps.Equal(want, got), "call %d, stage %v, %v", fail, stage, err)
			}
		}
	}
}

// failingAt counts calls, and fails one of them before or after its effect.
func failingAt(calls *int, fail int, stage memory.Stage, err error) func(memory.Call) error {
	return func(c memory.Call) error {
		if c.Stage == memory.Before {
			*calls++
		}
		if *calls == fail && c.Stage == stage {
			return err
		}
		return nil
	}
}

// storedRows returns all rows of a store in bytes.
func storedRows(t *testing.T, store *memory.Store) map[item.Key]string {
	t.Helper()
	rows := map[item.Key]string{}
	require.NoError(t, store.Walk(t.Context(), 0, 1, func(row item.Item) error {
		rows[row.Key()] = inBytes([]item.Item{row})
		return nil
	}))
	return rows
}
