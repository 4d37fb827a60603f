package projection_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/projection"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// byName counts notes that have a title, and knows the greatest.
func byName(t *entity.Type, it item.Item) projection.Amounts {
	if it.Str(entity.AttrTitle) == "none" {
		return projection.Amounts{}
	}
	return byLatest(t, it)
}

// The first record that comes again leaves a row of an old version without a contribution. What follows it must not be
// believed for that row: the item has gone.
func TestConsumer_countsNoAgedRecordAfterARepeatedRow(t *testing.T) {
	t.Parallel()
	records := life("note_1", "x", "none", "y", "z", "")
	for name, again := range map[string]int{"it starts from nothing": 2, "it starts from something": 3} {
		for _, isAlone := range []bool{true, false} {
			r := newRefusing(t)
			sum := projection.NewOwnSum(openings, "o1", byName)
			r.consumer = projection.NewConsumer(sum, r.store, func() time.Time { return r.now })
			r.apply(records...)
			r.apply(titled("ann", "note_9", "a")) // the pending entry, in the place of that of note_1
			r.now = r.now.Add(31 * 24 * time.Hour)
			r.store.Sweep(r.now, 100)
			require.Nil(t, r.ledger("ann", "note_1"))
			require.Equal(t, []change.Verdict{isDone}, r.apply(records[1]))
			require.EqualValues(t, 2, r.ledger("ann", "note_1").Int("v"))
			batch := []change.Change{records[again]}
			if !isAlone {
				batch = append(batch, titled("ben", "note_2", "a"))
			}
			for _, verdict := range r.apply(batch...) {
				require.Equal(t, isDone, verdict, name)
			}
			require.EqualValues(t, 1, r.notes("ann"), "%s, alone: %v", name, isAlone)
		}
	}
}

// A record that the ledger has is the only one that knows the greatest title. It comes late, among others.
func TestConsumer_addsTheFactsOfAnAgedRecordOfTheLedger(t *testing.T) {
	t.Parallel()
	r := newRefusing(t)
	r.consumer = projection.NewConsumer(projection.NewOwnSum(openings, "o1", byName), r.store,
		func() time.Time { return r.now })
	records := life("note_1", "z", "a", "b")
	require.Equal(t, []change.Verdict{isDone}, r.apply(records[2]))
	require.Equal(t, "b", r.sumRow("ann").Map("sum").Str("latest"))
	r.now = r.now.Add(2 * time.Hour)
	r.apply(records[0], titled("ben", "note_2", "a"))
	require.Equal(t, "z", r.sumRow("ann").Map("sum").Str("latest"))
	require.EqualValues(t, 1, r.notes("ann"))
}

// The rows of a user were erased but for one of the ledger. A record that comes again brings no sum back.
func TestConsumer_makesNoSumOfARepeatedRecord(t *testing.T) {
	t.Parallel()
	r := newRefusing(t)
	note := titled("ann", "note_1", "a")
	require.Equal(t, []change.Verdict{isDone}, r.apply(note))
	s := scene{store: r.store}
	s.remove(entity.SumKey("ann", openings))
	require.Equal(t, []change.Verdict{isDone}, r.apply(note))
	require.Nil(t, r.sumRow("ann"))
}

// A text that says nothing is not in the sum.
func TestSum_excludesAnEmptyText(t *testing.T) {
	t.Parallel()
	r := newRefusing(t)
	r.consumer = projection.NewConsumer(projection.NewOwnSum(openings, "o1", byLatest), r.store, clock)
	require.Equal(t, []change.Verdict{isDone}, r.apply(titled("ann", "note_1", "")))
	require.EqualValues(t, 1, r.notes("ann"))
	require.False(t, r.sumRow("ann").Map("sum").Has("latest"))
}

// The id of an item is long, and so its contribution's place is judged as any other.
func TestConsumer_findsATooLongContributionUnderALongID(t *testing.T) {
	t.Parallel()
	r := newRefusing(t)
	id := "note_" + strings.Repeat("i", 500)
	require.Equal(t, []change.Verdict{isPoison}, r.apply(titled("ann", id, lengthy)))
	require.Nil(t, r.sumRow("ann"), "it is not counted before it is parked")
}

// A sum that others write before each write of this consumer is left for later, with the reason.
func TestConsumer_leavesASumThatOthersKeepWritingForLater(t *testing.T) {
	t.Parallel()
	r := newRefusing(t)
	require.Equal(t, []change.Verdict{isDone}, r.apply(titled("ann", "note_1", "a")))
	r.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before {
			row := r.sumRow("ann").Clone()
			row["sumVersion"] = item.Int(row.Int("sumVersion") + 1)
			require.NoError(t, r.store.Load(t.Context(), []item.Item{row}))
		}
		return nil
	}
	for _, o := range r.consumer.Apply(t.Context(),
		[]change.Change{titled("ann", "note_2", "a"), titled("ann", "note_3", "a")}) {
		require.Equal(t, change.Retry, o.Verdict)
		require.ErrorContains(t, o.Err, "ledger row kept changing")
	}
	require.EqualValues(t, 1, r.notes("ann"))
}

// A row that is right expires when it was to expire: neither a repair nor a look for staged rows gives it another life.
func TestConsumer_prolongsNoTombstone(t *testing.T) {
	t.Parallel()
	for _, p := range []*projection.Projection{links.Projection(), titles()} {
		s := newScene(p)
		records := life("note_1", "one a", "")
		s.happened(records...)
		s.applied(records...)
		ledger := entity.LedgerKey("ann", p.Name(), "note_1")
		before, err := table.Find(t.Context(), s.store, ledger)
		require.NoError(t, err)
		require.Equal(t, s.now.Add(30*24*time.Hour).Unix(), before.Int(entity.AttrTTL))
		s.now = s.now.Add(24 * time.Hour)
		if p.Summed() {
			require.NoError(t, s.consumer(s.store).Unstage(t.Context(), "ann", before))
		} else {
			require.NoError(t, s.repair(t.Context(), s.store, "note_1"))
			require.NoError(t, s.repair(t.Context(), s.store, "note_2"), "of an item without rows")
			found, err := table.Find(t.Context(), s.store, entity.LedgerKey("ann", p.Name(), "note_2"))
			require.NoError(t, err)
			require.Nil(t, found)
		}
		after, err := table.Find(t.Context(), s.store, ledger)
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
}

func TestConsumer_repairsARowThatSaysSomethingElse(t *testing.T) {
	t.Parallel()
	s := newScene(links.Projection())
	records := life("note_1", "one a")
	s.happened(records...)
	s.applied(records...)
	wrong := linkRow("a")
	wrong["x"] = item.Int(7)
	s.put(wrong)
	require.NoError(t, s.repair(t.Context(), s.store, "note_1"))
	row, err := table.Find(t.Context(), s.store, wrong.Key())
	require.NoError(t, err)
	require.Equal(t, linkRow("a"), row)
}

// The sum is written between the look of a repair and its lease. The repair looks again.
func TestConsumer_takesALeaseAfterAWriteOfTheSum(t *testing.T) {
	t.Parallel()
	r := newRefusing(t)
	require.Equal(t, []change.Verdict{isDone}, r.apply(titled("ann", "note_1", "a")))
	r.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before {
			r.fault = nil
			require.Equal(t, []change.Verdict{isDone}, r.apply(titled("ann", "note_2", "a")))
		}
		return nil
	}
	lease, err := r.consumer.AcquireLease(t.Context(), "ann", "one")
	require.NoError(t, err)
	require.Nil(t, r.fault, "another has written")
	require.NoError(t, lease.Release(t.Context()))
	require.EqualValues(t, 2, r.notes("ann"))
}
