package revision_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
	"nexus/pkg/table/memory"
)

// inDayLog returns which of the plan's revisions are in its log, counted from 0.
func (p *past) inDayLog() []int {
	entries, _ := p.entries(today)
	var found []int
	for i, revID := range p.revs {
		if entries[revID] != nil {
			found = append(found, i)
		}
	}
	return found
}

// TestPrune_keepsWhatTheLineSays: the second revision (1) is the one that the next day names.
func TestPrune_keepsWhatTheLineSays(t *testing.T) {
	t.Parallel()
	since := func(d time.Duration) revision.Keep {
		return revision.Keep{Since: time.Date(2026, 1, 19, 8, 0, 0, 0, time.UTC).Add(d)}
	}
	for name, c := range map[string]struct {
		keep revision.Keep
		stay []int
		rows int
	}{
		"the last":                    {revision.Keep{Last: 1}, []int{1, 3}, 1 + 3},
		"the last two":                {revision.Keep{Last: 2}, []int{1, 2, 3}, 1},
		"more than there are":         {revision.Keep{Last: 9}, []int{0, 1, 2, 3}, 0},
		"before the first":            {since(-time.Second), []int{0, 1, 2, 3}, 0},
		"in the second of the first":  {since(time.Second / 2), []int{0, 1, 2, 3}, 0},
		"just before the second":      {since(time.Minute - time.Second), []int{0, 1, 2, 3}, 0},
		"in the second of the second": {since(time.Minute), []int{1, 2, 3}, 1},
		"while the third was present": {since(2*time.Minute + 30*time.Second), []int{1, 2, 3}, 1},
		"after all":                   {since(time.Hour), []int{1, 3}, 1 + 3},
	} {
		p := newPast(t)
		do := p.process(p.law, "b")
		before := dump(t, p.store)
		want := revision.Pruned{Revisions: 4 - len(c.stay), Rows: c.rows}
		would, err := do.plans.Prune(t.Context(), user, day, revision.Pruning{Keep: c.keep, DryRun: true})
		require.NoError(t, err, name)
		require.Equal(t, want, would, name)
		require.Equal(t, before, dump(t, p.store), "%s: a dry run writes nothing", name)
		done, err := do.plans.Prune(t.Context(), user, day, revision.Pruning{Keep: c.keep})
		require.NoError(t, err, name)
		require.Equal(t, want, done, name)
		require.Equal(t, c.stay, p.inDayLog(), name)
		require.NoError(t, p.check(), name)
		again, err := do.plans.Prune(t.Context(), user, day, revision.Pruning{Keep: c.keep})
		require.NoError(t, err)
		require.Zero(t, again, "%s: a repetition finds nothing", name)
	}
}

// dump returns all rows of a store as a text.
func dump(t *testing.T, store *memory.Store) string {
	t.Helper()
	var rows []item.Item
	require.NoError(t, store.Walk(t.Context(), 0, 1, func(row item.Item) error {
		rows = append(rows, row)
		return nil
	}))
	return inBytes(rows)
}

func TestPrune_refusesALineThatIsNone(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	do := p.process(p.law, "b")
	for _, keep := range []revision.Keep{{}, {Last: -1}, {Last: 1, Since: p.began}} {
		_, err := do.plans.Prune(t.Context(), user, day, revision.Pruning{Keep: keep})
		require.ErrorIs(t, err, revision.ErrKeep)
	}
	var missing *revision.NotFoundError
	_, err := do.plans.Prune(t.Context(), user, "2026-03-01", revision.Pruning{Keep: revision.Keep{Last: 1}})
	require.ErrorAs(t, err, &missing)
	_, err = do.plans.Prune(t.Context(), "", day, revision.Pruning{Keep: revision.Keep{Last: 1}})
	require.Error(t, err)
}

// TestPrune_answersThatARevisionWasPruned: the named revision, which is older than the unbroken part, is still read by
// its id. An instant at which it was the present one is not, for what was between is unknown.
func TestPrune_answersThatARevisionWasPruned(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	do, ctx := p.process(p.law, "b"), t.Context()
	_, err := do.plans.Prune(ctx, user, day, revision.Pruning{Keep: revision.Keep{Last: 1}})
	require.NoError(t, err)
	isPruned := func(err error, what string) {
		t.Helper()
		var pruned *revision.PrunedError
		require.ErrorAs(t, err, &pruned)
		require.Equal(t, what, pruned.What)
		require.Equal(t, p.began.Add(3*time.Minute), pruned.Until)
	}
	for _, d := range []time.Duration{-time.Hour, 0, time.Minute, 2 * time.Minute, 3*time.Minute - time.Second} {
		_, err := do.plans.AsOf(ctx, user, day, p.began.Add(d))
		isPruned(err, "the revision at "+item.FormatInstant(p.began.Add(d)))
	}
	got, err := do.plans.AsOf(ctx, user, day, p.began.Add(3*time.Minute))
	require.NoError(t, err)
	require.Equal(t, p.revs[3], got.RevID)
	require.Equal(t, p.revs[2], got.ParentRevID, "the oldest entry keeps its parent")
	got, err = do.plans.Revision(ctx, user, day, p.revs[1])
	require.NoError(t, err)
	require.Len(t, got.State.Todos, 2)
	for _, i := range []int{0, 2} {
		_, err = do.plans.Revision(ctx, user, day, p.revs[i])
		isPruned(err, p.revs[i])
		_, err = do.plans.Diff(ctx, user, day, p.revs[i], p.revs[3])
		isPruned(err, p.revs[i])
		_, err = do.plans.Diff(ctx, user, day, p.revs[3], p.revs[i])
		isPruned(err, p.revs[i])
		_, err = do.plans.Rollback(ctx, user, day, p.revs[3], p.revs[i], "back", "")
		isPruned(err, p.revs[i])
	}
	later := repository.NewRevisionID(p.began.Add(time.Hour), uuidOf(1))
	_, err = do.plans.Revision(ctx, user, day, later)
	var missing *revision.NotFoundError
	require.ErrorAs(t, err, &missing, "what is not older cannot have been pruned")
}

// TestPrune_answersARepetitionWhoseRevisionWasPruned: its receipt says that it was carried out.
func TestPrune_answersARepetitionWhoseRevisionWasPruned(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	do, ctx := p.process(p.law, "b"), t.Context()
	commit := plan.Commit{
		ParentRevID: p.revs[3], Reason: plan.ReasonMiddayReplan, Plan: p.plan(5), IdempotencyKey: "key",
	}
	made, err := do.plans.Commit(ctx, user, day, commit)
	require.NoError(t, err)
	p.now = p.now.Add(time.Minute)
	_, err = do.plans.Commit(ctx, user, day, plan.Commit{ParentRevID: made.RevID, Reason: plan.ReasonMiddayReplan})
	require.NoError(t, err)
	_, err = do.plans.Prune(ctx, user, day, revision.Pruning{Keep: revision.Keep{Last: 1}})
	require.NoError(t, err)
	_, err = do.plans.Commit(ctx, user, day, commit)
	var pruned *revision.PrunedError
	require.ErrorAs(t, err, &pruned)
	require.Equal(t, made.RevID, pruned.What)
}

func TestPrune_stopsAfterAThousandRevisions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	parent := ""
	for range revision.MaxPruned + 60 {
		made, err := b.commit(parent, "", "word")
		b.NoError(err)
		parent = made.RevID
	}
	p := revision.Pruning{Repository: today, Keep: revision.Keep{Last: 10}, DryRun: true}
	would, err := b.notes.Prune(b.ctx, p)
	b.NoError(err)
	b.Equal(revision.Pruned{Revisions: revision.MaxPruned + 50, Rows: revision.MaxPruned + 50}, would)
	p.DryRun = false
	done, err := b.notes.Prune(b.ctx, p)
	b.NoError(err)
	b.Equal(revision.Pruned{Revisions: revision.MaxPruned, Rows: revision.MaxPruned, More: true}, done)
	done, err = b.notes.Prune(b.ctx, p)
	b.NoError(err)
	b.Equal(revision.Pruned{Revisions: 50, Rows: 50}, done)
	b.now = b.now.Add(revision.Patience)
	removed, more, err := b.publisher.Sweep(b.ctx, user, 600)
	b.NoError(err)
	b.Equal(600, removed)
	b.True(more)
	removed, more, err = b.publisher.Sweep(b.ctx, user, 1000)
	b.NoError(err)
	b.Equal(revision.MaxPruned+50-600, removed)
	b.False(more)
}

// TestSweep_leavesRowsToTheirReaders: for fifteen minutes neither a sweep nor a verification touches a pruned revision,
// also not that of the release before, which takes the state PRUNED for a writer's.
func TestSweep_leavesRowsToTheirReaders(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	do, ctx := p.process(p.law, "b"), t.Context()
	_, err := do.plans.Prune(ctx, user, day, revision.Pruning{Keep: revision.Keep{Last: 1}})
	require.NoError(t, err)
	p.now = p.now.Add(revision.Patience - time.Second)
	removed, _, err := do.publisher.Sweep(ctx, user, 1000)
	require.NoError(t, err)
	require.Zero(t, removed)
	orphans, err := do.publisher.Orphans(ctx, user)
	require.NoError(t, err)
	require.Empty(t, orphans)
	require.NoError(t, p.check())
	p.now = p.now.Add(time.Second)
	orphans, err = do.publisher.Orphans(ctx, user)
	require.NoError(t, err)
	require.Len(t, orphans, 2)
	for i, o := range orphans {
		require.Equal(t, revision.Orphan{
			Repository: today, RevID: p.revs[2*i], StartedAt: p.began.Add(4 * time.Minute), Rows: 2*i + 1, Pruned: true,
		}, o)
	}
	removed, _, err = do.publisher.Sweep(ctx, user, 1000)
	require.NoError(t, err)
	require.Equal(t, 1+3, removed)
	orphans, err = do.publisher.Orphans(ctx, user)
	require.NoError(t, err)
	require.Empty(t, orphans)
	_, _, err = do.publisher.Sweep(ctx, "", 1)
	require.Error(t, err)
}

// TestPrune_answersAReaderThatSleptTooLong: its rows are gone, and it says why.
func TestPrune_answersAReaderThatSleptTooLong(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	do, ctx := p.process(p.law, "b"), t.Context()
	p.fault = func(c memory.Call) error {
		if c.Op == "Get" && c.Stage == memory.After {
			p.fault = nil
			_, err := do.plans.Prune(ctx, user, day, revision.Pruning{Keep: revision.Keep{Last: 1}})
			require.NoError(t, err)
			p.now = p.now.Add(revision.Patience)
			_, _, err = do.publisher.Sweep(ctx, user, 1000)
			require.NoError(t, err)
		}
		return nil
	}
	_, err := do.plans.Revision(ctx, user, day, p.revs[0])
	var pruned *revision.PrunedError
	require.ErrorAs(t, err, &pruned)
}

// TestPrune_besideTheReleaseBeforeLeavesARolloverThatCarriesAll: the release before may name one that is pruned in that
// moment.
func TestPrune_besideTheReleaseBeforeLeavesARolloverThatCarriesAll(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	do, ctx := p.process(p.store, "b"), t.Context()
	require.NoError(t, p.store.Delete(ctx, table.Delete{Key: today.LogKey(p.revs[1])}))
	rolled, err := do.plans.Rollover(ctx, user, day, "", 0)
	require.NoError(t, err)
	require.Equal(t, p.acts[:4], rolled.Carried)
}

// TestErrOutdated_startsARolloverAgainWhenWhatItNamesIsPruned: another commit moves the day on before the rollover
// names what it read.
func TestErrOutdated_startsARolloverAgainWhenWhatItNamesIsPruned(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	do, ctx := p.process(p.law, "b"), t.Context()
	p.fault = func(c memory.Call) error {
		if c.Op != "Transact" || c.Stage != memory.Before {
			return nil
		}
		p.fault = nil
		p.now = p.now.Add(time.Minute)
		_, err := do.plans.Commit(ctx, user, day, plan.Commit{
			ParentRevID: p.revs[3], Reason: plan.ReasonMiddayReplan, Plan: p.plan(5),
		})
		require.NoError(t, err)
		done, err := do.plans.Prune(ctx, user, day, revision.Pruning{Keep: revision.Keep{Last: 1}})
		require.NoError(t, err)
		require.Equal(t, 3, done.Revisions)
		return nil
	}
	rolled, err := do.plans.Rollover(ctx, user, day, "", 0)
	require.NoError(t, err)
	require.Equal(t, p.acts[2:5], rolled.Carried)
	require.NoError(t, p.check())
}

// secret is a word that a user wants to be gone.
const secret = "divorce-lawyer"

// TestPrune_leavesNoForgottenWord: after forgetting, pruning and the time that readers have, no byte of the table has
// the word, on both stores.
func TestPrune_leavesNoForgottenWord(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T, now func() time.Time) (table.Store, table.Walker){
		"memory": func(_ *testing.T, now func() time.Time) (table.Store, table.Walker) {
			s := memory.New(now, memory.Options{})
			return s, s
		},
		"engine": func(t *testing.T, _ func() time.Time) (table.Store, table.Walker) {
			endpoint, name := enginetest.Table(t)
			client := enginetest.Client(endpoint)
			return dynamo.New(client, dynamo.WithTable(name)), dynamo.NewWalker(client, dynamo.WithTable(name))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &past{now: time.Date(2026, 1, 19, 8, 0, 0, 0, time.UTC)}
			store, walker := open(t, func() time.Time { return p.now })
			do, ctx := p.process(store, "1"), t.Context()
			contains := func() (rows int) {
				require.NoError(t, walker.Walk(ctx, 0, 1, func(row item.Item) error {
					if strings.Contains(inBytes([]item.Item{row}), secret) {
						rows++
					}
					return nil
				}))
				return rows
			}
			title, notes := secret+" title", "notes of "+secret
			drv, act := "drv_"+uuidOf(1), "act_"+uuidOf(2)
			parent := ""
			edit := func(ops ...values.Operation) values.Result {
				p.now = p.now.Add(time.Minute)
				made, err := do.values.Commit(ctx, user, values.Commit{
					ParentRevID: parent, Message: "m", Source: values.SourceDailyUpdate, Operations: ops,
				})
				require.NoError(t, err)
				parent = made.RevID
				return made
			}
			plain := "a driver"
			first := edit(values.Operation{Kind: values.OpCreate, NodeID: drv, NodeType: values.Driver, Title: &plain},
				values.Operation{
					Kind: values.OpCreate, NodeID: act, NodeType: values.Action, Title: &title, Notes: &notes, ParentID: drv,
				})
			var many []values.Operation
			for range 120 { // a snapshot that goes ahead of its revision
				many = append(many, values.Operation{Kind: values.OpCreate, NodeType: values.Driver, Title: &plain})
			}
			edit(many...)
			_, err := do.plans.Commit(ctx, user, day, plan.Commit{Reason: plan.ReasonMorningPlan, Plan: plan.Plan{
				Todos: []plan.Todo{{ActionID: act, Classification: plan.Other, Notes: notes}},
			}})
			require.NoError(t, err)
			planned, err := do.plans.Current(ctx, user, day)
			require.NoError(t, err)
			p.now = p.now.Add(time.Minute)
			_, err = do.plans.Commit(ctx, user, day, plan.Commit{
				ParentRevID: planned.Head.RevID, Reason: plan.ReasonMiddayReplan,
			})
			require.NoError(t, err)
			edit(values.Operation{Kind: values.OpDelete, NodeID: act})
			forgot := edit(values.Operation{Kind: values.OpForget, NodeID: act})
			require.Equal(t, 4, contains(), "every earlier revision has the words")

			back, err := do.values.Rollback(ctx, user, parent, first.RevID, "back", "")
			require.NoError(t, err)
			require.Equal(t, []string{act}, back.Remembered)
			parent = back.RevID
			p.now = p.now.Add(time.Minute)
			back, err = do.values.Rollback(ctx, user, parent, forgot.RevID, "forth", "")
			require.NoError(t, err)
			require.Empty(t, back.Remembered)

			_, err = do.values.Prune(ctx, user, revision.Pruning{Keep: revision.Keep{Last: 1}})
			require.NoError(t, err)
			done, err := do.plans.PruneAll(ctx, user, 1, p.now.AddDate(0, 0, 2))
			require.NoError(t, err)
			require.Equal(t, revision.Pruned{Revisions: 1, Rows: 1}, done)
			require.Equal(t, 5, contains(), "readers may still be at the rows")
			p.now = p.now.Add(revision.Patience)
			_, err = do.plans.PruneAll(ctx, user, 0, p.now)
			require.NoError(t, err)
			require.Zero(t, contains())
			tree, err := do.values.Current(ctx, user)
			require.NoError(t, err)
			require.Len(t, tree.State.Nodes, 122)
			_, err = do.values.Revision(ctx, user, first.RevID)
			require.Error(t, err)
		})
	}
}

// TestPrune_costsTheUnitsThatItsRowsAre: a transaction costs two write units a row, and the two reads of heads and that
// of the log are consistent.
func TestPrune_costsTheUnitsThatItsRowsAre(t *testing.T) {
	t.Parallel()
	for revisions, want := range map[int]string{
		2:  "1 Transact, 2 Get, 1 Query: 8 write units",
		49: "1 Transact, 2 Get, 1 Query: 196 write units",
		97: "2 Transact, 2 Get, 1 Query: 392 write units",
		98: "3 Transact, 2 Get, 1 Query: 400 write units",
	} {
		var meter table.Meter
		now := time.Date(2026, 1, 19, 8, 0, 0, 0, time.UTC)
		store := memory.New(func() time.Time { return now }, memory.Options{Observer: meter.Observe})
		p := &past{now: now}
		do := p.process(store, "1")
		parent, ctx := "", context.Background()
		for range revisions {
			made, err := do.plans.Commit(ctx, user, day, plan.Commit{ParentRevID: parent, Reason: plan.ReasonMorningPlan})
			require.NoError(t, err)
			parent = made.RevID
		}
		meter.Drain()
		_, err := do.plans.Prune(ctx, user, day, revision.Pruning{Keep: revision.Keep{Last: 1}})
		require.NoError(t, err)
		used := meter.Read()
		require.Equal(t, want, fmt.Sprintf("%d Transact, %d Get, %d Query: %v write units", used["Transact"].Calls,
			used["Get"].Calls, used["Query"].Calls, used.Sum().WriteUnits))
	}
}
