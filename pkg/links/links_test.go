package links_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

const user = "ann"

var noon = time.Date(2025, 12, 1, 12, 0, 0, 0, time.UTC)

// note is one with links to tasks.
func note(version int64, targets ...string) item.Item {
	it := entity.ItemKey(user, entity.Ref{Type: product.TypeNote, ID: "note_a"}).Item()
	it[entity.AttrType], it[entity.AttrVersion] = item.String(product.TypeNote), item.Int(version)
	var out []entity.Link
	for _, id := range targets {
		out = append(out, entity.Link{Target: entity.Ref{Type: product.TypeTask, ID: id}})
	}
	entity.SetLinks(it, out)
	return it
}

// TestProjection_hasARowForEachLinkThatItsTargetFinds goes through a note's links from none to none again.
func TestProjection_hasARowForEachLinkThatItsTargetFinds(t *testing.T) {
	t.Parallel()
	clock := func() time.Time { return noon }
	store := memory.New(clock, memory.Options{})
	consumer := projection.NewConsumer(links.Projection(), store, clock)
	source := entity.Ref{Type: product.TypeNote, ID: "note_a"}
	var before item.Item
	for version, targets := range [][]string{{"task_1", "task_2"}, {"task_2"}, {}} {
		after := note(int64(version+1), targets...)
		c := change.Change{
			Kind: change.Modified, Type: product.Note(), User: user, Key: after.Key(), Ref: source,
			Old: before, New: after, Version: int64(version + 1), Created: noon,
		}
		for _, o := range consumer.Apply(t.Context(), []change.Change{c}) {
			require.NoError(t, o.Err)
		}
		before = after
		page, err := store.Query(t.Context(), table.Query{
			Partition: entity.UserPK(user), Range: table.Range{Prefix: entity.LinkPrefix(source)},
		})
		require.NoError(t, err)
		require.Len(t, page.Items, len(targets))
		for i, id := range targets {
			target := entity.Ref{Type: product.TypeTask, ID: id}
			require.Equal(t, links.Row(user, source, target.Type+"/"+id), page.Items[i])
			require.Equal(t, entity.LinkKey(user, source, target), page.Items[i].Key())
			require.Equal(t, entity.LinkedSK(source), page.Items[i].Str(item.AttrGSI4SK))
		}
	}
}

// A damaged item has a link whose target can be no part of a key. Its record is refused with that reason, and the
// item's next record counts.
func TestProjection_refusesALinkThatNoRowCanHold(t *testing.T) {
	t.Parallel()
	clock := func() time.Time { return noon }
	store := memory.New(clock, memory.Options{})
	consumer := projection.NewConsumer(links.Projection(), store, clock)
	source := entity.Ref{Type: product.TypeNote, ID: "note_a"}
	of := func(version int64, old, after item.Item) change.Change {
		return change.Change{
			Kind: change.Modified, Type: product.Note(), User: user, Key: after.Key(), Ref: source,
			Old: old, New: after, Version: version, Created: noon,
		}
	}
	for _, target := range []string{"", "a#b", "a\nb"} {
		bad := note(1, "task_1", target)
		outcome := consumer.Apply(t.Context(), []change.Change{of(1, nil, bad)})[0]
		require.Equal(t, change.Poison, outcome.Verdict, "%q", target)
		require.ErrorIs(t, outcome.Err, table.ErrInvalid)
		require.Zero(t, store.Len())
	}
	outcome := consumer.Apply(t.Context(), []change.Change{of(2, note(1, "a#b"), note(2, "task_1"))})[0]
	require.NoError(t, outcome.Err)
	require.Equal(t, 2, store.Len(), "the ledger row and the link")
}
