package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
)

// TestCheckBlock_refusesTheTitleThatIsSentAlone has a plan from before the rule for titles.
func TestCheckBlock_refusesTheTitleThatIsSentAlone(t *testing.T) {
	t.Parallel()
	b := setup(t, 3)
	const title = "two\nlines \u2066"
	first := b.commit(monday, "", plan.ReasonMorningPlan, aDay())
	for _, row := range b.rowsUnder("U#ann#PLAN#"+monday+"#"+first.RevID, "BLOCK#") {
		if strings.HasSuffix(row.Key().SK, blk(4)) {
			_, err := b.store.Update(b.ctx, table.Update{Key: row.Key(), Set: item.Item{"title": item.String(title)}})
			b.NoError(err)
		}
	}
	present := b.current(monday)
	kept := present.State
	i := slices.IndexFunc(kept.Blocks, func(one plan.Block) bool { return one.BlockID == blk(4) })
	b.Equal(title, kept.Blocks[i].Title)
	kept.Blocks[i].EndTimeIso = kept.Blocks[i].EndTimeIso.Add(time.Minute)
	next := b.commit(monday, first.RevID, plan.ReasonMiddayReplan, kept)
	b.Equal(title, next.State.Blocks[i].Title)

	moved := next.State
	moved.Blocks = slices.Clone(moved.Blocks)
	moved.Blocks[(i+1)%len(moved.Blocks)].Title = title
	_, err := b.plans.Commit(b.ctx, "ann", monday, plan.Commit{
		ParentRevID: next.RevID, Message: "moved", Reason: plan.ReasonMiddayReplan, Plan: moved,
	})
	var rules *revision.RuleError
	b.ErrorAs(err, &rules)
	b.Equal(plan.RuleBlockTitle, rules.Violations[0].Rule)
	b.Contains(rules.Violations[0].Pointer, "/title")
}

func TestCommit_namesWhatBreaksEachRule(t *testing.T) {
	t.Parallel()
	type change = func(p *plan.Plan)
	for name, c := range map[string]struct {
		mistake change
		rule    revision.Rule
		subject string
		at      string
	}{
		"no action's id": {func(p *plan.Plan) { p.Todos[0].ActionID = "task_1" }, plan.RuleTodoAction, "task_1",
			"/todos/0/actionId"},
		"an action that is not there": {func(p *plan.Plan) { p.Todos[0].ActionID = act(99) }, plan.RuleTodoUnknown, act(99),
			"/todos/0/actionId"},
		"a deleted action": {func(p *plan.Plan) { p.Todos[2].ActionID = act(4) }, plan.RuleTodoDeleted, act(4),
			"/todos/2/actionId"},
		"an action twice": {func(p *plan.Plan) { p.Todos[2].ActionID = act(1) }, plan.RuleTodoTwice, act(1),
			"/todos/2/actionId"},
		"another place than its own": {func(p *plan.Plan) { p.Todos[2].Order = 1 }, plan.RuleTodoOrder, act(3),
			"/todos/2/order"},
		"an unknown classification": {func(p *plan.Plan) { p.Todos[0].Classification = "soon" }, plan.RuleClassification,
			act(1), "/todos/0/classification"},
		"too many pomodoros": {func(p *plan.Plan) { p.Todos[0].EstimatedPomodoros = 51 }, plan.RuleEstimate, act(1),
			"/todos/0/estimatedPomodoros"},
		"long notes": {func(p *plan.Plan) { p.Todos[0].Notes = strings.Repeat("a", 4<<10+1) },
			plan.RuleNotes, act(1), "/todos/0/notes"},
		"completed tomorrow": {func(p *plan.Plan) { p.Todos[0].CompletedAt = morning.Add(time.Hour) },
			plan.RuleCompletedAt, act(1), "/todos/0/completedAt"},
		"no block's id": {func(p *plan.Plan) { p.Blocks[1].BlockID = "x#y" }, plan.RuleBlockID, "x#y", "/blocks/1/blockId"},
		"an id that can be guessed": {func(p *plan.Plan) { p.Blocks[1].BlockID = "blk_1" }, plan.RuleNewBlockID, "blk_1",
			"/blocks/1/blockId"},
		"a block twice": {func(p *plan.Plan) { p.Blocks[1].BlockID = blk(1) }, plan.RuleBlockTwice, blk(1),
			"/blocks/1/blockId"},
		"an unknown type": {func(p *plan.Plan) { p.Blocks[1].BlockType = "NAP" }, plan.RuleBlockType, blk(2),
			"/blocks/1/blockType"},
		"a long title": {func(p *plan.Plan) { p.Blocks[1].Title = strings.Repeat("a", 501) },
			plan.RuleBlockTitle, blk(2), "/blocks/1/title"},
		"a block of another day": {func(p *plan.Plan) { p.Blocks[1].StartTimeIso = morning.AddDate(0, 0, 2) },
			plan.RuleBlockDay, blk(2), "/blocks/1/startTimeIso"},
		"a block without a start": {func(p *plan.Plan) { p.Blocks[1].StartTimeIso = time.Time{} }, plan.RuleBlockDay,
			blk(2), "/blocks/1/startTimeIso"},
		"an end before the start": {func(p *plan.Plan) { p.Blocks[1].EndTimeIso = p.Blocks[1].StartTimeIso },
			plan.RuleBlockEnd, blk(2), "/blocks/1/endTimeIso"},
		"a block without an end": {func(p *plan.Plan) { p.Blocks[4].EndTimeIso = morning.Add(27 * time.Hour) },
			plan.RuleBlockLength, blk(5), "/blocks/4/endTimeIso"},
		"a meeting with an action": {func(p *plan.Plan) { p.Blocks[3].ActionID = act(1) }, plan.RuleBlockForeign, blk(4),
			"/blocks/3/actionId"},
		"a break with an index": {func(p *plan.Plan) { p.Blocks[1].PomodoroIndex = 1 }, plan.RuleBlockForeign, blk(2),
			"/blocks/1/pomodoroIndex"},
		"a pomodoro for nothing": {func(p *plan.Plan) { p.Blocks[0].ActionID = "" }, plan.RulePomodoroAction, blk(1),
			"/blocks/0/actionId"},
		"a pomodoro not planned": {func(p *plan.Plan) { p.Blocks[0].ActionID = act(5) }, plan.RulePomodoroUnplanned,
			blk(1), "/blocks/0/actionId"},
		"a pomodoro without index": {func(p *plan.Plan) { p.Blocks[0].PomodoroIndex = 0 }, plan.RulePomodoroIndex, blk(1),
			"/blocks/0/pomodoroIndex"},
		"beyond the estimate": {func(p *plan.Plan) { p.Blocks[2].PomodoroIndex = 3 }, plan.RulePomodoroEstimate,
			blk(3), "/blocks/2/pomodoroIndex"},
		"the same pomodoro twice": {func(p *plan.Plan) { p.Blocks[2].PomodoroIndex = 1 }, plan.RulePomodoroTwice, blk(3),
			"/blocks/2/pomodoroIndex"},
		"pomodoros in another order": {func(p *plan.Plan) { p.Blocks[0].PomodoroIndex, p.Blocks[2].PomodoroIndex = 2, 1 },
			plan.RulePomodoroOrder, blk(3), "/blocks/2/pomodoroIndex"},
		"a pomodoro in a meeting": {func(p *plan.Plan) { p.Blocks[3].StartTimeIso = morning.Add(80 * time.Minute) },
			plan.RulePomodoroOverlap, blk(3), "/blocks/2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, 5)
			tree, err := b.tree.Current(b.ctx, "ann")
			b.NoError(err)
			_, err = b.tree.Commit(b.ctx, "ann", values.Commit{
				ParentRevID: tree.Head.RevID, Message: "gone", Source: values.SourceWeeklyReview,
				Operations: []values.Operation{{Kind: values.OpDelete, NodeID: act(4)}},
			})
			b.NoError(err)
			p := aDay()
			c.mistake(&p)
			rows := b.table()
			_, err = b.plans.Commit(b.ctx, "ann", monday, plan.Commit{Reason: plan.ReasonMorningPlan, Plan: p})
			var rules *revision.RuleError
			b.ErrorAs(err, &rules)
			found := false
			for _, v := range rules.Violations {
				found = found || v.Rule == c.rule && v.Subject == c.subject && v.Pointer == c.at
			}
			b.True(found, "%v", rules.Violations)
			b.Equal(rows, b.table(), "nothing is written")
		})
	}
}

func TestCommit_takesNoMilestoneAsTodoAndOneOfFourReasons(t *testing.T) {
	t.Parallel()
	b := setup(t, 1)
	tree, err := b.tree.Current(b.ctx, "ann")
	b.NoError(err)
	title, stage := "A stage", "node_"+uuid(7)
	_, err = b.tree.Commit(b.ctx, "ann", values.Commit{
		ParentRevID: tree.Head.RevID, Message: "a node of the general prefix", Source: values.SourceWeeklyReview,
		Operations: []values.Operation{
			{Kind: values.OpCreate, NodeID: stage, NodeType: values.Milestone, Title: &title, ParentID: drv},
		},
	})
	b.NoError(err)
	_, err = b.plans.Commit(b.ctx, "ann", monday, plan.Commit{Reason: "whim", Plan: plan.Plan{Todos: []plan.Todo{
		{ActionID: mil, Classification: plan.Other}, {ActionID: stage, Classification: plan.Other},
	}}})
	var rules *revision.RuleError
	b.ErrorAs(err, &rules)
	b.Equal(revision.RuleSourceUnknown, rules.Violations[0].Rule)
	b.Equal("/reason", rules.Violations[0].Pointer)
	b.Equal(plan.RuleTodoAction, rules.Violations[1].Rule)
	b.Equal(plan.RuleTodoType, rules.Violations[2].Rule)
}

func TestCommit_keepsATodoWhoseActionIsDeletedLater(t *testing.T) {
	t.Parallel()
	b := setup(t, 3)
	first := b.commit(monday, "", plan.ReasonMorningPlan, aDay())
	tree, err := b.tree.Current(b.ctx, "ann")
	b.NoError(err)
	_, err = b.tree.Commit(b.ctx, "ann", values.Commit{
		ParentRevID: tree.Head.RevID, Message: "gone", Source: values.SourceWeeklyReview,
		Operations: []values.Operation{{Kind: values.OpDelete, NodeID: act(3)}},
	})
	b.NoError(err)
	b.commit(monday, first.RevID, plan.ReasonMiddayReplan, first.State)
}
