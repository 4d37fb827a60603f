package plan_test

import (
	"testing"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestComplete_isOneTransactionOverBothHeads(t *testing.T) {
	t.Parallel()
	b := setup(t, 3)
	planned := b.commit(monday, "", plan.ReasonMorningPlan, aDay())
	b.now = b.now.Add(time.Hour)
	b.calls = nil
	done, err := b.plans.Complete(b.ctx, "ann", monday, act(2), "", 0)
	b.NoError(err)
	b.True(done.PlanChanged)
	b.True(done.ValuesChanged)
	var ops []string
	for _, c := range b.calls {
		ops = append(ops, c.Op)
	}
	b.Equal([]string{"Get", "Query", "Get", "Query", "Transact"}, ops)
	b.Contains(b.calls[4].Keys, item.Key{PK: "U#ann#PLAN#2026-01-19", SK: "HEAD"})
	b.Contains(b.calls[4].Keys, item.Key{PK: "U#ann", SK: "HEAD#VALUES"})

	b.Equal(done.Plan, b.current(monday))
	b.Equal(b.now, done.Plan.State.Todos[1].CompletedAt)
	tree, err := b.tree.Current(b.ctx, "ann")
	b.NoError(err)
	b.Equal(done.Values, tree.Head)
	nodes, err := b.tree.Nodes(b.ctx, "ann", []string{act(2), act(99), "x#"})
	b.NoError(err)
	b.Equal(map[string]values.Node{act(2): done.Action}, nodes)
	b.Equal(b.now, done.Action.CompletedAt)
	d, err := b.plans.Diff(b.ctx, "ann", monday, planned.RevID, done.Plan.Head.RevID)
	b.NoError(err)
	b.Len(d.Changed.Todos, 1)
	page, err := b.tree.History(b.ctx, "ann", 1, "")
	b.NoError(err)
	b.Equal(values.SourceCompletion, page.Commits[0].Source)
}

func TestComplete_changesNothingTwice(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "done"} {
		b := setup(t, 3)
		b.commit(monday, "", plan.ReasonMorningPlan, aDay())
		first, err := b.plans.Complete(b.ctx, "ann", monday, act(1), key, 0)
		b.NoError(err)
		rows := b.store.Len()
		b.now = b.now.Add(time.Hour)
		again, err := b.plans.Complete(b.ctx, "ann", monday, act(1), key, 0)
		b.NoError(err)
		b.Equal(key != "", again.Replayed)
		b.False(again.PlanChanged || again.ValuesChanged)
		b.Equal(first.Plan, again.Plan)
		b.Equal(first.Values, again.Values)
		b.Equal(first.Action, again.Action)
		b.Equal(rows, b.store.Len())
	}
}

func TestComplete_catchesUpTheOtherIfOneIsDone(t *testing.T) {
	t.Parallel()
	b := setup(t, 3)
	day := aDay()
	day.Todos[0].CompletedAt = morning
	first := b.commit(monday, "", plan.ReasonMorningPlan, day)
	done, err := b.plans.Complete(b.ctx, "ann", monday, act(1), "", 0)
	b.NoError(err)
	b.False(done.PlanChanged)
	b.True(done.ValuesChanged)
	b.Equal(first.RevID, done.Plan.Head.RevID)

	_, err = b.tree.Commit(b.ctx, "ann", values.Commit{
		ParentRevID: done.Values.RevID, Message: "done", Source: values.SourceCompletion,
		Operations: []values.Operation{{Kind: values.OpComplete, NodeID: act(2)}},
	})
	b.NoError(err)
	done, err = b.plans.Complete(b.ctx, "ann", monday, act(2), "", 0)
	b.NoError(err)
	b.True(done.PlanChanged)
	b.False(done.ValuesChanged)
}

func TestComplete_writesNothingForWhatIsMissing(t *testing.T) {
	t.Parallel()
	b := setup(t, 4)
	var missing *revision.NotFoundError
	_, err := b.plans.Complete(b.ctx, "ann", monday, act(1), "", 0)
	b.ErrorAs(err, &missing, "no plan")
	b.commit(monday, "", plan.ReasonMorningPlan, aDay())
	_, err = b.plans.Complete(b.ctx, "ann", monday, act(4), "", 0)
	b.ErrorAs(err, &missing, "no to-do")
	tree, err := b.tree.Current(b.ctx, "ann")
	b.NoError(err)
	_, err = b.tree.Commit(b.ctx, "ann", values.Commit{
		ParentRevID: tree.Head.RevID, Message: "gone", Source: values.SourceWeeklyReview,
		Operations: []values.Operation{{Kind: values.OpDelete, NodeID: act(1)}},
	})
	b.NoError(err)
	rows := b.store.Len()
	_, err = b.plans.Complete(b.ctx, "ann", monday, act(1), "", 0)
	b.ErrorAs(err, &missing, "a deleted action")
	b.Equal(rows, b.store.Len())
}

func TestComplete_changesNeitherIfTheOtherMovesOrTheStoreFails(t *testing.T) {
	t.Parallel()
	b := setup(t, 3)
	first := b.commit(monday, "", plan.ReasonMorningPlan, aDay())
	// The tree moves between the reads and the write: the whole begins again.
	once := true
	b.fault = func(c memory.Call) error {
		if once && c.Op == "Transact" && c.Stage == memory.Before {
			once = false
			tree, err := b.tree.Current(b.ctx, "ann")
			b.NoError(err)
			_, err = b.tree.Commit(b.ctx, "ann", values.Commit{
				ParentRevID: tree.Head.RevID, Message: "meanwhile", Source: values.SourceWeeklyReview,
				Operations: []values.Operation{{Kind: values.OpArchive, NodeID: act(3)}},
			})
			b.NoError(err)
		}
		return nil
	}
	done, err := b.plans.Complete(b.ctx, "ann", monday, act(1), "", 0)
	b.NoError(err)
	b.Equal(done.Plan, b.current(monday))
	made, err := b.plans.Revision(b.ctx, "ann", monday, done.Plan.Head.RevID)
	b.NoError(err)
	b.Equal(first.RevID, made.ParentRevID)
	page, err := b.tree.History(b.ctx, "ann", 0, "")
	b.NoError(err)
	b.Len(page.Commits, 3)

	b.fault = failing("Transact", memory.Before, 1, table.ErrThrottled)
	_, err = b.plans.Complete(b.ctx, "ann", monday, act(2), "", 0)
	b.ErrorIs(err, table.ErrThrottled)
	b.fault = nil
	b.Equal(done.Plan, b.current(monday))
}
