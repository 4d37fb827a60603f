package projection_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/projection"
)

// Of the records of one item in a batch the order does not matter, nor that they stand there twice: the ledger ends at
// the last state, and the sum with it.
func TestConsumer_takesTheNewestRecordOfABatchInEveryOrder(t *testing.T) {
	t.Parallel()
	records := life("note_1", "one", "two", "three")
	for name, order := range map[string][]int{
		"forwards": {0, 1, 2}, "backwards": {2, 1, 0}, "mixed": {1, 2, 0}, "twice": {2, 0, 1, 2, 0},
	} {
		r := newRefusing(t)
		var batch []change.Change
		for _, i := range order {
			batch = append(batch, records[i])
		}
		for _, verdict := range r.apply(batch...) {
			require.Equal(t, isDone, verdict, name)
		}
		require.EqualValues(t, 3, r.ledger("ann", "note_1").Int("v"), name)
		require.Equal(t, "three", r.ledger("ann", "note_1").Str(item.AttrGSI3SK), name)
		require.EqualValues(t, 1, r.notes("ann"), name)
	}
}

// The record of an item that is gone comes after the item's tombstone has expired. It must not bring the item's
// contribution to life, whether it comes alone or beside one that is new.
func TestConsumer_countsNoAgedRecordOfAnItemThatIsGone(t *testing.T) {
	t.Parallel()
	for _, age := range []time.Duration{time.Hour + time.Second, 40 * 24 * time.Hour} {
		for name, beside := range map[string]int{"alone": 0, "beside another": 1} {
			r := newRefusing(t)
			r.now = morning.Add(age)
			records := life("note_1", "one", "two")
			batch := records[:1]
			if beside > 0 {
				batch = append([]change.Change{titled("ben", "note_2", "a")}, records...)
				batch[0].Created = r.now
			}
			for _, verdict := range r.apply(batch...) {
				require.Equal(t, isDone, verdict, name)
			}
			require.Zero(t, r.notes("ann"), "%s, %s", name, age)
			if row := r.ledger("ann", "note_1"); row != nil {
				require.Empty(t, row.Str("c"), name)
			}
		}
	}
}

// The ledger row says that the item has gone. A record from before, which is old, changes nothing.
func TestConsumer_changesNothingForAnAgedRecordAfterItsTombstone(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*projection.Projection{"sum": titles(), "rows": links.Projection()} {
		s := newScene(p)
		records := life("note_1", "one a", "two a b", "")
		s.happened(records...)
		s.applied(records...)
		s.now = s.now.Add(2 * time.Hour)
		before := s.query("")
		for i := range records {
			s.apply(records[i])
			require.Equal(t, before, s.query(""), "%s: record %d", name, i)
			s.apply(records[i], records[(i+1)%len(records)])
			require.Equal(t, before, s.query(""), "%s: record %d and the next", name, i)
		}
		require.NoError(t, s.recount())
	}
}

// A repair puts right what it finds, and a note as it has to be is not written: its version stays.
func TestConsumer_leavesRightRowsInARepair(t *testing.T) {
	t.Parallel()
	for name, damage := range damages {
		for _, state := range []string{"one a", "one b c", "one", ""} {
			s := newScene(links.Projection())
			records := life("note_1", "one a", state)
			s.happened(records[0])
			s.applied(records[0])
			damage(s)
			s.happened(records[1])
			require.NoError(t, s.repair(t.Context(), s.store, "note_1"), "%s, then %q", name, state)
			require.NoError(t, s.recount(), "%s, then %q", name, state)
			before := s.query("")
			require.NoError(t, s.repair(t.Context(), s.store, "note_1"))
			require.Equal(t, before, s.query(""), "a second repair finds nothing")
			require.NoError(t, s.deliverAll(1))
			require.NoError(t, s.late(), "%s, then %q", name, state)
		}
	}
}

// A note has more wrong rows than one transaction takes. The repair removes them all, and puts those that the note asks
// for.
func TestConsumer_repairsMoreRowsThanOneTransactionTakes(t *testing.T) {
	t.Parallel()
	for _, surplus := range []int{1, 97, 98, 99, 100, 101, 150, 199, 200, 201, 250, 420} {
		s := newScene(links.Projection())
		note := life("note_1", "one a b")[0]
		s.happened(note)
		for i := range surplus {
			s.put(linkRow(fmt.Sprintf("x%03d", i)))
		}
		require.NoError(t, s.repair(t.Context(), s.store, "note_1"), surplus)
		require.NoError(t, s.recount(), surplus)
	}
}
