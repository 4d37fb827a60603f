package plan_test

import (
	"testing"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestRows_haveTheStatedKeysAndAttributes(t *testing.T) {
	t.Parallel()
	b := setup(t, 3)
	res := b.commit(monday, "", plan.ReasonMorningPlan, aDay())
	meta := b.rows("U#ann#PLAN#2026-01-19")
	b.Equal(item.String("HEAD"), meta[0]["SK"])
	b.Equal(item.Item{
		"PK": item.String("U#ann#PLAN#2026-01-19"), "SK": item.String("REV#2026-01-19T08:00:00Z#" + res.RevID),
		"revId": item.String(res.RevID), "revTs": item.String("2026-01-19T08:00:00Z"), "reason": item.String("morning_plan"),
		"rows": item.Int(8),
	}, meta[1])
	rows := b.rows("U#ann#PLAN#2026-01-19#" + res.RevID)
	b.Len(rows, 8)
	b.Equal(item.Item{
		"PK": rows[0]["PK"], "SK": item.String("BLOCK#2026-01-19T08:00:00Z#" + blk(1)), "blockType": item.String("POMODORO"),
		"endTimeIso": item.String("2026-01-19T08:30:00Z"), "actionId": item.String(act(1)), "pomodoroIndex": item.Int(1),
	}, rows[0])
	b.Equal(item.Item{
		"PK": rows[0]["PK"], "SK": item.String("TODO#0001#A#" + act(1)), "actionId": item.String(act(1)),
		"classification": item.String("urgent"), "estimatedPomodoros": item.Int(2),
	}, rows[5])
}

// The rows of days name all plans of a user. Each costs one write, in the transaction of the day's first revision.
func TestCommit_putsTheRowOfTheDayOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, 3)
	written := func() (rows []item.Key) {
		for _, c := range b.calls {
			if c.Op == "Transact" {
				rows = append(rows, c.Keys...)
			}
		}
		b.calls = nil
		return rows
	}
	day := item.Key{PK: "U#ann", SK: "PLAN#2026-01-19"}
	b.calls = nil
	p := plan.Plan{Todos: []plan.Todo{todo(1, plan.Urgent, 1)}}
	first := b.commit(monday, "", plan.ReasonMorningPlan, p)
	rows := written()
	b.Len(rows, 4, "head, entry of the log, to-do and day")
	b.Contains(rows, day)
	b.Equal([]item.Item{day.Item()}, b.rowsUnder("U#ann", "PLAN#"))

	b.now = b.now.Add(time.Hour)
	b.commit(monday, first.RevID, plan.ReasonMiddayReplan, p)
	rows = written()
	b.Len(rows, 3)
	b.NotContains(rows, day)

	_, err := b.plans.Rollover(b.ctx, "ann", monday, "", 0)
	b.NoError(err)
	b.Contains(written(), item.Key{PK: "U#ann", SK: "PLAN#2026-01-20"})
	b.Len(b.rowsUnder("U#ann", "PLAN#"), 2)
}

func TestService_replansComparesAndRollsBackADay(t *testing.T) {
	t.Parallel()
	b := setup(t, 4)
	first := b.commit(monday, "", plan.ReasonMorningPlan, aDay())
	b.now = b.now.Add(4 * time.Hour)
	next := first.State
	next.Todos = []plan.Todo{next.Todos[2], todo(4, plan.Urgent, 1), next.Todos[0]}
	for i := range next.Todos {
		next.Todos[i].Order = 0
	}
	next.Blocks = append([]plan.Block{}, next.Blocks[:4]...)
	next.Blocks[3].Title = "With the editor"
	second := b.commit(monday, first.RevID, plan.ReasonMiddayReplan, next)

	d, err := b.plans.Diff(b.ctx, "ann", monday, first.RevID, second.RevID)
	b.NoError(err)
	b.Equal(act(4), d.Added.Todos[0].ActionID)
	b.Equal(act(2), d.Removed.Todos[0].ActionID)
	b.Len(d.Moved, 1)
	b.Equal(blk(5), d.Removed.Blocks[0].BlockID)
	b.Equal("With the editor", d.Changed.Blocks[0].After.Title)
	b.Equal(second.State, d.Apply(first.State))

	was, err := b.plans.AsOf(b.ctx, "ann", monday, morning.Add(time.Hour))
	b.NoError(err)
	b.Equal(first.Revision, was)
	back, err := b.plans.Rollback(b.ctx, "ann", monday, second.RevID, first.RevID, "", "")
	b.NoError(err)
	b.Equal(first.State, back.State)
	b.Equal(first.State, b.current(monday).State)
	page, err := b.plans.History(b.ctx, "ann", monday, 2, "")
	b.NoError(err)
	b.Equal([]string{back.RevID, second.RevID}, []string{page.Commits[0].RevID, page.Commits[1].RevID})
	b.Equal(revision.SourceRollback, page.Commits[0].Source)
}

func TestCommit_refusesAPlanOfNoDay(t *testing.T) {
	t.Parallel()
	b := setup(t, 1)
	for _, date := range []string{"", "today", "2026-02-30", "2026-1-1", "2026-01-01#rev", "1066-10-14"} {
		_, err := b.plans.Current(b.ctx, "ann", date)
		b.ErrorIs(err, entity.ErrID, date)
		_, err = b.plans.Commit(b.ctx, "ann", date, plan.Commit{Reason: plan.ReasonMorningPlan})
		b.ErrorIs(err, entity.ErrID, date)
		_, err = b.plans.Rollover(b.ctx, "ann", date, "", 0)
		b.ErrorIs(err, entity.ErrID, date)
		_, err = b.plans.Complete(b.ctx, "ann", date, act(1), "", 0)
		b.ErrorIs(err, entity.ErrID, date)
	}
}

func TestCommit_writesAFullPlanAheadAndLeavesNoDraft(t *testing.T) {
	t.Parallel()
	b := setup(t, plan.MaxTodos)
	var p plan.Plan
	for i := 1; i <= plan.MaxTodos; i++ {
		p.Todos = append(p.Todos, todo(i, plan.Other, 1))
		p.Blocks = append(p.Blocks, block(i, plan.Meeting, i))
	}
	b.calls = nil
	res := b.commit(monday, "", plan.ReasonMorningPlan, p)
	var ops []string
	for _, c := range b.calls {
		if len(ops) == 0 || ops[len(ops)-1] != c.Op {
			ops = append(ops, c.Op)
		}
	}
	b.Equal([]string{"Get", "BatchGet", "Put", "Load", "Transact"}, ops)
	b.Equal(res.State, b.current(monday).State)
	b.Empty(b.rowsUnder("U#ann", "DRAFT#"))

	p.Todos, p.Blocks = append(p.Todos, todo(plan.MaxTodos+1, plan.Other, 0)), append(p.Blocks, block(999, plan.Break, 0))
	_, err := b.plans.Commit(b.ctx, "ann", monday, plan.Commit{
		ParentRevID: res.RevID, Reason: plan.ReasonMiddayReplan, Plan: p,
	})
	var rules *revision.RuleError
	b.ErrorAs(err, &rules)
	b.Equal(plan.RuleTooManyTodos, rules.Violations[0].Rule)
	b.Equal(plan.RuleTooManyBlocks, rules.Violations[1].Rule)
}

func (b *fixture) rowsUnder(pk, prefix string) []item.Item {
	page, err := b.store.Query(b.ctx, table.Query{Partition: pk, Range: table.Range{Prefix: prefix}})
	b.NoError(err)
	return page.Items
}

func TestCommit_takesAPlanReadBackAsItIs(t *testing.T) {
	t.Parallel()
	b := setup(t, 3)
	first := b.commit(monday, "", plan.ReasonMorningPlan, aDay())
	second := b.commit(monday, first.RevID, plan.ReasonMiddayReplan, b.current(monday).State)
	b.Equal(first.State, second.State)
	b.Empty(plan.Compare(first.State, second.State))

	c := plan.Commit{ParentRevID: second.RevID, Reason: plan.ReasonMiddayReplan, Plan: aDay(), IdempotencyKey: "noon"}
	c.Plan.Blocks[0].BlockID = ""
	third, err := b.plans.Commit(b.ctx, "ann", monday, c)
	b.NoError(err)
	b.NotEmpty(third.State.Blocks[0].BlockID, "a new block gets an id")
	again, err := b.plans.Commit(b.ctx, "ann", monday, c)
	b.NoError(err)
	b.True(again.Replayed)
	b.Equal(third.Revision, again.Revision)
}

// failing makes the n-th call of an operation fail, before or after its effect.
func failing(op string, stage memory.Stage, n int, err error) func(memory.Call) error {
	return func(c memory.Call) error {
		if c.Op != op || c.Stage != stage {
			return nil
		}
		if n--; n == 0 {
			return err
		}
		return nil
	}
}
