package values_test

import (
	"testing"

	"nexus/pkg/item"
)

func TestRow_hasTheStatedKeysAndAttributes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res := b.plant()
	rows := b.partition("U#ann")
	b.Len(rows, 2)
	b.Equal(item.Item{
		"PK": item.String("U#ann"), "SK": item.String("HEAD#VALUES"), "headRevId": item.String(res.RevID),
		"headRevTs": item.String("2026-01-19T09:00:00Z"), "updatedAt": item.String("2026-01-19T09:00:00Z"),
	}, rows[0])
	b.Equal(item.Item{
		"PK": item.String("U#ann"), "SK": item.String("REV#VALUES#2026-01-19T09:00:00Z#" + res.RevID),
		"revId": item.String(res.RevID),
		"revTs": item.String("2026-01-19T09:00:00Z"), "message": item.String("review"),
		"source": item.String("weekly_review"),
		"rows":   item.Int(12),
	}, rows[1])
	snapshot := b.partition("U#ann#VALUES#" + res.RevID)
	b.Len(snapshot, 12)
	b.Equal(item.Item{
		"PK": item.String("U#ann#VALUES#" + res.RevID), "SK": item.String("EDGE#" + drv(1) + "#0001#" + mil(1)),
		"childNodeId": item.String(mil(1)), "childNodeType": item.String("MILESTONE"),
	}, snapshot[0])
	b.Equal(item.Item{
		"PK": item.String("U#ann#VALUES#" + res.RevID), "SK": item.String("NODE#" + act(1)),
		"nodeType": item.String("ACTION"),
		"title":    item.String("Run on Tuesday"), "createdAt": item.String("2026-01-19T09:00:00Z"),
		"archived": item.Bool(false), "driverId": item.String(drv(1)), "parentMilestoneId": item.String(mil(2)),
		"rootDriverId": item.String(drv(1)),
	}, snapshot[5])
}
