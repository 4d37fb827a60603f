package plan_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/table/tabletest"
)

const (
	monday  = "2026-01-19"
	tuesday = "2026-01-20"
)

var morning = time.Date(2026, 1, 19, 8, 0, 0, 0, time.UTC)

// fixture is both services over a store in memory whose calls are counted.
type fixture struct {
	*require.Assertions
	ctx       context.Context
	now       time.Time
	ids       int
	store     *memory.Store
	law       *tabletest.Law
	publisher *revision.Publisher
	tree      *values.Service
	plans     *plan.Service
	first     string     // a revision of the tree
	counting  sync.Mutex // several plans are read side by side
	calls     []memory.Call
	// fault may fail a call.
	fault func(memory.Call) error
}

// setup has a tree with a driver, a milestone and so many actions.
func setup(t testing.TB, actions int) *fixture {
	t.Helper()
	b := &fixture{Assertions: require.New(t), ctx: t.Context(), now: morning}
	b.store = memory.New(b.clock, memory.Options{Witnessed: true, Fault: func(c memory.Call) error {
		if c.Stage == memory.After {
			b.counting.Lock()
			b.calls = append(b.calls, c)
			b.counting.Unlock()
		}
		if b.fault != nil {
			return b.fault(c)
		}
		return nil
	}})
	b.law = tabletest.NewLaw(b.store, product.Registry())
	t.Cleanup(func() { b.Empty(b.store.Tampered()); b.Empty(b.law.Broken()) })
	b.inline(0)
	tree := values.Tree{Nodes: []values.Node{
		{NodeID: drv, NodeType: values.Driver, Title: "Craft"}, {NodeID: mil, NodeType: values.Milestone, Title: "A chapter"},
	}, Edges: []values.Edge{{ParentNodeID: drv, Order: 1, ChildNodeID: mil}}}
	for i := 1; i <= actions; i++ {
		tree.Nodes = append(tree.Nodes, values.Node{NodeID: act(i), NodeType: values.Action, Title: "Write", DriverID: drv})
		tree.Edges = append(tree.Edges, values.Edge{ParentNodeID: mil, Order: i, ChildNodeID: act(i)})
	}
	_, err := b.tree.Commit(b.ctx, "ann", values.Commit{Message: "first", Source: values.SourceWeeklyReview, Tree: &tree})
	b.NoError(err)
	return b
}

// inline replaces the services by some with so many actions in a transaction.
func (b *fixture) inline(actions int) {
	b.publisher = revision.NewPublisher(revision.Config{Store: b.law, Now: b.clock, NewID: b.newID, Inline: actions})
	b.tree = values.New(b.publisher, b.newID)
	b.plans = plan.New(b.publisher, b.tree, b.clock, b.newID)
}

func (b *fixture) clock() time.Time { return b.now }

func (b *fixture) newID() string {
	b.ids++
	return uuid(100000 + b.ids)
}

func uuid(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n) }
func act(n int) string  { return "act_" + uuid(n) }
func blk(n int) string  { return "blk_" + uuid(n) }

var drv, mil = "drv_" + uuid(1), "mil_" + uuid(1)

func todo(n int, class plan.Classification, pomodoros int) plan.Todo {
	return plan.Todo{ActionID: act(n), Classification: class, EstimatedPomodoros: pomodoros}
}

// block lasts for half an hour from so many minutes after eight.
func block(n int, kind plan.BlockType, minutes int) plan.Block {
	start := morning.Add(time.Duration(minutes) * time.Minute)
	return plan.Block{BlockID: blk(n), BlockType: kind, StartTimeIso: start, EndTimeIso: start.Add(30 * time.Minute)}
}

func pomodoro(n, minutes, action, index int) plan.Block {
	b := block(n, plan.Pomodoro, minutes)
	b.ActionID, b.PomodoroIndex = act(action), index
	return b
}

// aDay is a plan with three to-dos and a morning.
func aDay() plan.Plan {
	return plan.Plan{
		Todos: []plan.Todo{todo(1, plan.Urgent, 2), todo(2, plan.Important, 1), todo(3, plan.Other, 0)},
		Blocks: []plan.Block{
			pomodoro(1, 0, 1, 1), block(2, plan.Break, 30), pomodoro(3, 60, 1, 2), block(4, plan.Meeting, 90),
			block(5, plan.Buffer, 120),
		},
	}
}

func (b *fixture) commit(date, parent, reason string, p plan.Plan) plan.Result {
	res, err := b.plans.Commit(b.ctx, "ann", date, plan.Commit{ParentRevID: parent, Reason: reason, Plan: p})
	b.NoError(err)
	return res
}

func (b *fixture) current(date string) plan.Base {
	base, err := b.plans.Current(b.ctx, "ann", date)
	b.NoError(err)
	return base
}

func (b *fixture) rows(pk string) []item.Item {
	page, err := b.store.Query(b.ctx, table.Query{Partition: pk})
	b.NoError(err)
	return page.Items
}

// table is the whole table, byte by byte.
func (b *fixture) table() string {
	var text []byte
	b.NoError(b.store.Walk(b.ctx, 0, 1, func(row item.Item) error {
		text = append(change.AppendItem(text, row), '\n')
		return nil
	}))
	return string(text)
}
