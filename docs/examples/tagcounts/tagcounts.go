// Package tagcounts is the worked example of a projection: how many items a user has per tag.
//
// It is a pure function of an item's image. Package projection applies its result exactly once; therefore repeating a
// record is safe.
package tagcounts

import (
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/projection"
)

// Name is the projection's name.
const Name = "tagcounts"

// Projection returns the counts, which are stored in the user's row SUM#tagcounts.
func Projection() *projection.Projection { return projection.NewOwnSum(Name, "t1", amounts) }

func amounts(_ *entity.Type, it item.Item) projection.Amounts {
	counts := map[string]int64{}
	for _, tag := range it.Strings(entity.AttrTags) {
		counts[tag] = 1
	}
	return projection.Amounts{Add: counts}
}
