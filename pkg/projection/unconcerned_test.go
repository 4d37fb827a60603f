package projection_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/stats"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// The reader of the projections delivers settings and heads, which the change log names. No projection makes a call for
// them, not even one that counts every item.
func TestConsumer_makesNoCallForSettingsAndHeads(t *testing.T) {
	t.Parallel()
	calls := 0
	clock := func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	store := memory.New(clock, memory.Options{Observer: func(table.Consumption) { calls++ }})
	settings := entity.MetaKey("ann").Item()
	settings[entity.AttrType], settings[entity.AttrVersion] = item.String(entity.TypeUserMeta), item.Int(1)
	head := repository.Address{User: "ann"}.HeadKey().Item()
	revision := repository.NewRevisionID(clock(), "0b0f5a52-7b0e-4c6e-9d3e-2f2f0c1f3a11")
	head[repository.AttrHeadRevisionID] = item.String(revision)
	var batch []change.Change
	for _, created := range []time.Time{clock(), clock().Add(-2 * time.Hour)} {
		batch = append(batch, change.Change{
			Kind: change.Inserted, Type: product.UserMeta(), User: "ann", Ref: entity.Ref{Type: entity.TypeUserMeta, ID: "ann"},
			Key: settings.Key(), New: settings, Version: 1, Created: created,
		}, change.Change{Kind: change.Modified, User: "ann", Key: head.Key(), Old: head, New: head, Created: created})
	}
	countsAll := projection.NewOwnSum("all", "1", func(*entity.Type, item.Item) projection.Amounts {
		return projection.Amounts{Add: map[string]int64{"items": 1}}
	})
	for _, p := range []*projection.Projection{stats.Projection(), links.Projection(), countsAll} {
		for _, o := range projection.NewConsumer(p, store, clock).Apply(t.Context(), batch) {
			require.Equal(t, change.Outcome{}, o, p.Name())
		}
	}
	require.Zero(t, calls)
}
