package values_test

import (
	"testing"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/revision"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// get is a call for one row, query one for a range of a partition.
type get = entity.Key
type query struct {
	partition  string
	rng        table.Range
	limit      int
	descending bool
}

func asked(calls []memory.Call) []any {
	var out []any
	for _, c := range calls {
		switch c.Op {
		case "Get":
			out = append(out, c.Keys[0])
		case "Query":
			out = append(out, query{c.Query.Partition, c.Query.Range, c.Query.Limit, c.Query.Descending})
		default:
			out = append(out, c.Op)
		}
	}
	return out
}

func TestEveryQueryPatternHasItsStatedKeyCondition(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.plant()
	b.now = b.now.Add(time.Hour)
	second := b.commit(first.RevID, first.State)
	head := get{PK: "U#ann", SK: "HEAD#VALUES"}
	snapshot := func(revID string) query { return query{partition: "U#ann#VALUES#" + revID} }
	entry := func(revID, at string) get { return get{PK: "U#ann", SK: "REV#VALUES#" + at + "#" + revID} }

	b.Equal([]any{head, snapshot(second.RevID)}, asked(b.count(func() error {
		base, err := b.service.Current(b.ctx, "ann")
		b.Equal(second.RevID, base.Head.RevID)
		return err
	})), "the current tree: one GetItem and one Query")

	b.Equal([]any{query{"U#ann", table.Range{Prefix: "REV#VALUES#"}, revision.DefaultPage, true}}, asked(b.count(func() error {
		page, err := b.service.History(b.ctx, "ann", 0, "")
		b.Len(page.Commits, 2)
		return err
	})), "history: one Query")

	b.Equal([]any{query{partition: "U#ann#VALUES#" + first.RevID, rng: table.Range{Prefix: "EDGE#" + drv(1) + "#"}}}, asked(b.count(func() error {
		edges, err := b.service.Children(b.ctx, "ann", first.RevID, drv(1))
		b.Len(edges, 2)
		b.Equal(mil(1), edges[0].ChildNodeID)
		return err
	})), "children of a node: one Query")

	b.Equal([]any{entry(first.RevID, "2026-01-19T09:00:00Z"), snapshot(first.RevID)}, asked(b.count(func() error {
		_, err := b.service.Revision(b.ctx, "ann", first.RevID)
		return err
	})), "any revision: one GetItem and one Query")

	b.Equal([]any{
		query{"U#ann", table.Range{From: "REV#VALUES#", To: "REV#VALUES#2026-01-19T10:00:59Z$"}, 10, true}, snapshot(first.RevID),
	}, asked(b.count(func() error {
		was, err := b.service.AsOf(b.ctx, "ann", monday.Add(time.Hour-time.Second))
		b.Equal(first.RevID, was.RevID)
		return err
	})), "as of an instant: two Queries")

	b.Equal([]any{
		entry(first.RevID, "2026-01-19T09:00:00Z"), snapshot(first.RevID), entry(second.RevID, "2026-01-19T10:00:00Z"), snapshot(second.RevID),
	}, asked(b.count(func() error {
		_, err := b.service.Diff(b.ctx, "ann", first.RevID, second.RevID)
		return err
	})), "a difference: twice a revision")

	b.Equal([]any{head, snapshot(second.RevID), "Transact"}, asked(b.count(func() error {
		_, err := b.service.Commit(b.ctx, "ann", commitOf(second))
		return err
	})), "a small commit: one GetItem, one Query, one transaction")
}

func TestRowsHaveTheStatedKeysAndAttributes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res := b.plant()
	rows := b.partition("U#ann")
	b.Len(rows, 2)
	b.Equal(entity.Item{
		"PK": entity.String("U#ann"), "SK": entity.String("HEAD#VALUES"), "headRevId": entity.String(res.RevID),
		"headRevTs": entity.String("2026-01-19T09:00:00Z"), "updatedAt": entity.String("2026-01-19T09:00:00Z"),
	}, rows[0])
	b.Equal(entity.Item{
		"PK": entity.String("U#ann"), "SK": entity.String("REV#VALUES#2026-01-19T09:00:00Z#" + res.RevID), "revId": entity.String(res.RevID),
		"revTs": entity.String("2026-01-19T09:00:00Z"), "message": entity.String("review"), "source": entity.String("weekly_review"),
		"rows": entity.Int(12),
	}, rows[1])
	snapshot := b.partition("U#ann#VALUES#" + res.RevID)
	b.Len(snapshot, 12)
	b.Equal(entity.Item{
		"PK": entity.String("U#ann#VALUES#" + res.RevID), "SK": entity.String("EDGE#" + drv(1) + "#0001#" + mil(1)),
		"childNodeId": entity.String(mil(1)), "childNodeType": entity.String("MILESTONE"),
	}, snapshot[0])
	b.Equal(entity.Item{
		"PK": entity.String("U#ann#VALUES#" + res.RevID), "SK": entity.String("NODE#" + act(1)), "nodeType": entity.String("ACTION"),
		"title": entity.String("Run on Tuesday"), "createdAt": entity.String("2026-01-19T09:00:00Z"), "archived": entity.Bool(false),
		"driverId": entity.String(drv(1)), "parentMilestoneId": entity.String(mil(2)), "rootDriverId": entity.String(drv(1)),
	}, snapshot[5])
}
