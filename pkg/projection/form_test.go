package projection_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/projection"
)

// every returns all rows of the table by their keys.
func (s *scene) every() map[item.Key]item.Item {
	out := map[item.Key]item.Item{}
	must(s.store.Walk(context.Background(), 0, 1, func(row item.Item) error {
		out[row.Key()] = row
		return nil
	}))
	return out
}

func TestConsumer_leavesARowOfALaterReleaseAndRetries(t *testing.T) {
	t.Parallel()
	sumRow := entity.SumKey("ann", "titles")
	for name, c := range map[string]struct {
		p      func() *projection.Projection
		mark   func(s *scene) item.Key // the row that the later release wrote
		before int                     // how many of the first note's records were applied
	}{
		"sum":           {titles, func(*scene) item.Key { return sumRow }, 1},
		"first sum":     {titles, func(s *scene) item.Key { s.put(sumRow.Item()); return sumRow }, 0},
		"ledger of sum": {titles, func(*scene) item.Key { return entity.LedgerKey("ann", "titles", "note_1") }, 1},
		"ledger past":   {titles, func(*scene) item.Key { return entity.LedgerKey("ann", "titles", "note_1") }, 3},
		"links":         {links.Projection, func(*scene) item.Key { return entity.LedgerKey("ann", "links", "note_1") }, 1},
		"links past":    {links.Projection, func(*scene) item.Key { return entity.LedgerKey("ann", "links", "note_1") }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(c.p())
			first, other := life("note_1", "one a", "two b", "one"), life("note_2", "one a")
			s.happened(first...)
			s.happened(other...)
			s.applied(first[:c.before]...)
			key := c.mark(s)
			s.change(key, entity.AttrForm, item.Int(2))
			before := s.every()
			for _, aged := range []time.Duration{0, 2 * time.Hour} {
				s.now = morning.Add(aged)
				for _, batch := range [][]change.Change{{first[1]}, {first[1], first[2]}} {
					for _, o := range s.consumer(s.store).Apply(t.Context(), batch) {
						require.Equal(t, change.Retry, o.Verdict)
						require.ErrorIs(t, o.Err, entity.ErrNewerForm)
					}
				}
			}
			if s.p.Summed() {
				require.ErrorIs(t, s.rebuild(t.Context(), s.store, "repair"), entity.ErrNewerForm)
			} else {
				require.ErrorIs(t, s.repair(t.Context(), s.store, "note_1"), entity.ErrNewerForm)
			}
			if key != sumRow && s.p.Summed() { // the repair took the sum, and saw the row then
				s.remove(sumRow)
				delete(before, sumRow)
			}
			require.Equal(t, before, s.every())
			s.change(key, entity.AttrForm, nil)
			require.NoError(t, s.deliverAll(1))
		})
	}
}

func TestConsumer_delaysOnlyTheUserOfALaterReleasesPendingRow(t *testing.T) {
	t.Parallel()
	s := newScene(titles())
	first, second := life("note_1", "one", "two"), life("note_2", "one")
	s.happened(first...)
	s.happened(second...)
	s.applied(first[0])
	key := entity.LedgerKey("ann", "titles", "note_1")
	s.change(key, "v", item.Int(0))
	s.change(key, entity.AttrForm, item.Int(2))
	ben := titled("ben", "note_3", "one")
	for i, batch := range [][]change.Change{{second[0]}, {second[0], ben}} {
		outcomes := s.consumer(s.store).Apply(t.Context(), batch)
		require.Equal(t, change.Retry, outcomes[0].Verdict, "%d", i)
		require.ErrorIs(t, outcomes[0].Err, entity.ErrNewerForm)
		for _, o := range outcomes[1:] {
			require.NoError(t, o.Err)
		}
	}
	e, err := s.evidence(t.Context(), s.store, "note_1")
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(s.p.Check(e)),
		"a later release wrote the row: form of USER#ann/LEDGER#titles#note_1 is 2")
}

func TestConsumer_leavesThePendingEntryOfALaterReleasesSum(t *testing.T) {
	t.Parallel()
	s := newScene(titles())
	first := life("note_1", "one", "two")
	s.happened(first...)
	s.applied(first[0])
	s.remove(entity.LedgerKey("ann", "titles", "note_1")) // its worker died before it wrote the row
	s.change(entity.SumKey("ann", "titles"), entity.AttrForm, item.Int(2))
	before := s.every()
	outcomes := s.consumer(s.store).Apply(t.Context(), []change.Change{first[1], titled("ben", "note_3", "one")})
	require.ErrorIs(t, outcomes[0].Err, entity.ErrNewerForm)
	require.NoError(t, outcomes[1].Err)
	after := s.every()
	for _, key := range []item.Key{entity.SumKey("ann", "titles"), entity.LedgerKey("ann", "titles", "note_1")} {
		require.Equal(t, before[key], after[key])
	}
}
