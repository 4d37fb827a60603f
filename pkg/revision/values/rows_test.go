package values_test

import (
	"testing"

	"nexus/pkg/entity"
)

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
