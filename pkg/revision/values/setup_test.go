package values_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/table/tabletest"
)

var monday = time.Date(2026, 1, 19, 9, 0, 0, 0, time.UTC)

// fixture is a tree's service over a store in memory whose calls are counted.
type fixture struct {
	*require.Assertions
	ctx       context.Context
	now       time.Time
	ids       int
	store     *memory.Store
	publisher *revision.Publisher
	service   *values.Service
	calls     []memory.Call
}

func setup(t testing.TB) *fixture {
	t.Helper()
	b := &fixture{Assertions: require.New(t), ctx: t.Context(), now: monday}
	b.store = memory.New(b.clock, memory.Options{Witnessed: true, Fault: func(c memory.Call) error {
		if c.Stage == memory.After {
			b.calls = append(b.calls, c)
		}
		return nil
	}})
	law := tabletest.NewLaw(b.store, product.Registry())
	t.Cleanup(func() { b.Empty(b.store.Tampered()); b.Empty(law.Broken()) })
	b.publisher = revision.NewPublisher(revision.Config{Store: law, Now: b.clock, NewID: b.newID})
	b.service = values.New(b.publisher, b.newID)
	return b
}

func (b *fixture) clock() time.Time { return b.now }

func (b *fixture) newID() string {
	b.ids++
	return uuid(1000 + b.ids)
}

func uuid(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n) }

func drv(n int) string { return "drv_" + uuid(n) }
func mil(n int) string { return "mil_" + uuid(n) }
func act(n int) string { return "act_" + uuid(n) }

func text(s string) *string { return &s }

// garden is a tree with two drivers, nested milestones and actions with and without one.
func garden() values.Tree {
	return values.Tree{
		Nodes: []values.Node{
			{NodeID: drv(1), NodeType: values.Driver, Title: "Health"},
			{NodeID: drv(2), NodeType: values.Driver, Title: "Craft"},
			{NodeID: mil(1), NodeType: values.Milestone, Title: "Run ten kilometres"},
			{NodeID: mil(2), NodeType: values.Milestone, Title: "Run five"},
			{NodeID: act(1), NodeType: values.Action, Title: "Run on Tuesday", DriverID: drv(1)},
			{NodeID: act(2), NodeType: values.Action, Title: "Sleep by ten", DriverID: drv(1)},
			{NodeID: act(3), NodeType: values.Action, Title: "Write a page", DriverID: drv(2)},
		},
		Edges: []values.Edge{
			{ParentNodeID: drv(1), Order: 1, ChildNodeID: mil(1)},
			{ParentNodeID: drv(1), Order: 2, ChildNodeID: act(2)},
			{ParentNodeID: mil(1), Order: 1, ChildNodeID: mil(2)},
			{ParentNodeID: mil(2), Order: 1, ChildNodeID: act(1)},
			{ParentNodeID: drv(2), Order: 1, ChildNodeID: act(3)},
		},
	}
}

// plant commits the garden as the first revision.
func (b *fixture) plant() values.Result {
	return b.commit("", garden())
}

func (b *fixture) commit(parent string, t values.Tree) values.Result {
	res, err := b.service.Commit(b.ctx, "ann", values.Commit{
		ParentRevID: parent, Message: "review", Source: values.SourceWeeklyReview, Tree: &t,
	})
	b.NoError(err)
	return res
}

func (b *fixture) edit(parent string, ops ...values.Operation) (values.Result, error) {
	return b.service.Commit(b.ctx, "ann", values.Commit{
		ParentRevID: parent, Message: "edit", Source: values.SourceDailyUpdate, Operations: ops,
	})
}

// broken returns the violations of an error.
func broken(t testing.TB, err error) []revision.Violation {
	t.Helper()
	var rules *revision.RuleError
	require.ErrorAs(t, err, &rules)
	return rules.Violations
}

// count runs a read and returns the calls it made.
func (b *fixture) count(read func() error) []memory.Call {
	b.calls = nil
	b.NoError(read())
	return b.calls
}

// partition returns the rows of a partition.
func (b *fixture) partition(pk string) []item.Item {
	page, err := b.store.Query(b.ctx, table.Query{Partition: pk})
	b.NoError(err)
	return page.Items
}

func isNotFound(err error) bool {
	var missing *revision.NotFoundError
	return errors.As(err, &missing)
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
