package plan_test

import (
	"errors"
	"testing"

	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func actions(p plan.Plan) []string {
	var ids []string
	for _, t := range p.Todos {
		ids = append(ids, t.ActionID)
	}
	return ids
}

// rollover rolls Monday over.
func (b *fixture) rollover() plan.Rollover {
	r, err := b.plans.Rollover(b.ctx, "ann", monday, "", 0)
	b.NoError(err)
	return r
}

func TestRollover_appendsUnfinishedTodosInTheirOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, 4)
	b.commit(tuesday, "", plan.ReasonMorningPlan, plan.Plan{
		Todos: []plan.Todo{todo(4, plan.Urgent, 1), todo(3, plan.Urgent, 1)},
	})
	day := aDay()
	day.Todos[0].CompletedAt = morning
	day.Todos = append(day.Todos, plan.Todo{ActionID: act(4), Classification: plan.Other})
	day.Todos[1].Notes = "from the margin"
	first := b.commit(monday, "", plan.ReasonMorningPlan, day)
	r := b.rollover()
	b.Equal([]string{act(2)}, r.Carried, "one is done, two are in the next plan already")
	b.Equal([]string{act(4), act(3), act(2)}, actions(r.Next.State))
	b.Equal(plan.Todo{ActionID: act(2), Order: 3, Classification: plan.Important, EstimatedPomodoros: 1,
		Notes: "from the margin"}, r.Next.State.Todos[2])
	b.Equal(r.Next, b.current(tuesday))
	b.Equal(first.RevID, r.Next.Head.RolledFromRevID)
	b.Equal(first.State, b.current(monday).State, "the day's own plan stays what it was")
	page, err := b.plans.History(b.ctx, "ann", tuesday, 1, "")
	b.NoError(err)
	b.Equal(plan.ReasonRollover, page.Commits[0].Source)
}

func TestRollover_changesNothingWhenRepeated(t *testing.T) {
	t.Parallel()
	b := setup(t, 4)
	monday1 := b.commit(monday, "", plan.ReasonMorningPlan, aDay())
	first := b.rollover()
	b.Len(first.Carried, 3)
	rows := b.store.Len()
	for range 2 {
		again := b.rollover()
		b.Empty(again.Carried)
		b.Equal(first.Next, again.Next)
		b.Equal(rows, b.store.Len())
	}
	// What the user has taken out since does not come back, neither by repeating nor after another revision of the day.
	thinner := plan.Plan{Todos: []plan.Todo{todo(3, plan.Urgent, 0)}}
	tuesday2 := b.commit(tuesday, first.Next.Head.RevID, plan.ReasonMorningPlan, thinner)
	b.Equal(tuesday2.RevID, b.rollover().Next.Head.RevID)
	more := aDay()
	more.Todos = append(more.Todos, todo(4, plan.Urgent, 0))
	monday2 := b.commit(monday, monday1.RevID, plan.ReasonMiddayReplan, more)
	second := b.rollover()
	b.Equal([]string{act(4)}, second.Carried)
	b.Equal([]string{act(3), act(4)}, actions(second.Next.State))
	b.Equal(monday2.RevID, second.Next.Head.RolledFromRevID)
}

func TestRollover_makesNoRevisionOfNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, 1)
	_, err := b.plans.Rollover(b.ctx, "ann", monday, "", 0)
	var missing *revision.NotFoundError
	b.ErrorAs(err, &missing)
	done := plan.Plan{Todos: []plan.Todo{todo(1, plan.Other, 0)}}
	done.Todos[0].CompletedAt = morning
	b.commit(monday, "", plan.ReasonMorningPlan, done)
	r := b.rollover()
	b.Empty(r.Carried)
	b.Empty(r.Next.Head)
	_, err = b.plans.Current(b.ctx, "ann", tuesday)
	b.ErrorAs(err, &missing)
}

func TestRollover_writesNothingIfItFindsNoRoom(t *testing.T) {
	t.Parallel()
	b := setup(t, plan.MaxTodos+2)
	var full plan.Plan
	for i := 1; i < plan.MaxTodos; i++ {
		full.Todos = append(full.Todos, todo(i, plan.Other, 0))
	}
	b.commit(tuesday, "", plan.ReasonMorningPlan, full)
	b.commit(monday, "", plan.ReasonMorningPlan, plan.Plan{
		Todos: []plan.Todo{todo(200, plan.Other, 0), todo(201, plan.Other, 0)},
	})
	rows := b.store.Len()
	_, err := b.plans.Rollover(b.ctx, "ann", monday, "", 0)
	var rules *revision.RuleError
	b.ErrorAs(err, &rules)
	b.Equal(plan.RuleTooManyTodos, rules.Violations[0].Rule)
	b.Equal(rows, b.store.Len())
}

func TestRollover_isNotRepeatedAfterALostAnswer(t *testing.T) {
	t.Parallel()
	died := errors.New("the process has died")
	for _, key := range []string{"", "evening"} {
		b := setup(t, 3)
		b.commit(monday, "", plan.ReasonMorningPlan, aDay())
		dead := false
		b.fault = func(c memory.Call) error {
			if dead = dead || c.Op == "Transact" && c.Stage == memory.After; dead {
				return died
			}
			return nil
		}
		_, err := b.plans.Rollover(b.ctx, "ann", monday, key, 0)
		b.ErrorIs(err, died)
		b.fault = nil
		r, err := b.plans.Rollover(b.ctx, "ann", monday, key, 0)
		b.NoError(err)
		b.Equal(key != "", r.Replayed)
		b.Len(r.Next.State.Todos, 3)
		page, err := b.plans.History(b.ctx, "ann", tuesday, 0, "")
		b.NoError(err)
		b.Len(page.Commits, 1)
	}
}

func TestRollover_goesOnWhenTheNextPlanMoves(t *testing.T) {
	t.Parallel()
	b := setup(t, 4)
	b.commit(monday, "", plan.ReasonMorningPlan, aDay())
	once := true
	b.fault = func(c memory.Call) error {
		if once && c.Op == "Transact" && c.Stage == memory.Before {
			once = false
			b.commit(tuesday, "", plan.ReasonMorningPlan, plan.Plan{Todos: []plan.Todo{todo(4, plan.Urgent, 0)}})
		}
		return nil
	}
	r := b.rollover()
	b.Equal([]string{act(4), act(1), act(2), act(3)}, actions(r.Next.State))
}

func TestRollover_survivesALostAnswerOfTheTransaction(t *testing.T) {
	t.Parallel()
	for _, stage := range []memory.Stage{memory.Before, memory.After} {
		b := setup(t, 3)
		b.fault = failing("Transact", stage, 1, table.ErrUnavailable)
		res, err := b.plans.Commit(b.ctx, "ann", monday, plan.Commit{Reason: plan.ReasonMorningPlan, Plan: aDay()})
		b.NoError(err)
		b.Equal(res.State, b.current(monday).State)
	}
}

func TestWhyLeft_leavesWhatTheTreeNoLongerHasOpen(t *testing.T) {
	t.Parallel()
	b := setup(t, 6)
	planned := plan.Plan{}
	for i := 1; i <= 6; i++ {
		planned.Todos = append(planned.Todos, todo(i, plan.Other, 0))
	}
	b.commit(monday, "", plan.ReasonMorningPlan, planned)
	old, err := b.tree.Current(b.ctx, "ann")
	b.NoError(err)
	later, err := b.tree.Commit(b.ctx, "ann", values.Commit{
		ParentRevID: old.Head.RevID, Message: "review", Source: values.SourceWeeklyReview, Operations: []values.Operation{
			{Kind: values.OpComplete, NodeID: act(1)}, {Kind: values.OpArchive, NodeID: act(2)},
			{Kind: values.OpDelete, NodeID: act(3)},
			{Kind: values.OpComplete, NodeID: act(4)}, {Kind: values.OpReopen, NodeID: act(4)},
		},
	})
	b.NoError(err)
	b.calls = nil
	r := b.rollover()
	var ops []string
	for _, c := range b.calls {
		ops = append(ops, c.Op)
	}
	b.Equal([]string{"Get", "Query", "Get", "Get", "BatchGet", "Transact"}, ops,
		"both days' heads, Monday's plan, the tree's head and its actions")
	b.Equal([]string{act(4), act(5), act(6)}, r.Carried)
	b.Equal([]plan.Left{{act(1), plan.LeftCompleted}, {act(2), plan.LeftArchived}, {act(3), plan.LeftDeleted}}, r.Left)
	b.Equal(r.Carried, actions(b.current(tuesday).State))
	rows := b.store.Len()
	b.Empty(b.rollover().Carried)
	b.Equal(rows, b.store.Len(), "repeating it changes nothing")

	// A tree that had not the action yet: as if it had never been planned.
	_, err = b.tree.Commit(b.ctx, "ann", values.Commit{
		ParentRevID: later.RevID, Message: "one more", Source: values.SourceDailyUpdate,
		Operations: []values.Operation{
			{Kind: values.OpCreate, NodeID: act(7), NodeType: values.Action, Title: &later.Message, ParentID: mil},
		},
	})
	b.NoError(err)
	more := b.current(monday)
	more.State.Todos = append(more.State.Todos, todo(7, plan.Urgent, 0))
	b.commit(monday, more.Head.RevID, plan.ReasonMiddayReplan, more.State)
	tree, err := b.tree.Current(b.ctx, "ann")
	b.NoError(err)
	_, err = b.tree.Rollback(b.ctx, "ann", tree.Head.RevID, later.RevID, "back", "")
	b.NoError(err)
	rows = b.store.Len()
	r = b.rollover()
	b.Empty(r.Carried)
	b.Equal([]plan.Left{{act(7), plan.LeftMissing}}, r.Left)
	b.Equal(rows, b.store.Len(), "what is not carried makes no revision")
}
