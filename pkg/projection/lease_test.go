package projection_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/stats"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// held is a store with more notes of ann than one transaction puts right, none of which is in the ledger.
type held struct {
	t        *testing.T
	store    *memory.Store
	now      time.Time
	fault    func(memory.Call) error
	notes    []item.Item
	consumer *projection.Consumer
	lease    *projection.Lease // of the last repair
}

func newHeld(t *testing.T, notes int) *held {
	h := &held{t: t, now: morning}
	clock := func() time.Time { return h.now }
	h.store = memory.New(clock, memory.Options{Fault: func(c memory.Call) error {
		if h.fault == nil {
			return nil
		}
		return h.fault(c)
	}})
	h.consumer = projection.NewConsumer(stats.Projection(), h.store, clock)
	for i := range notes {
		it := created("ann", product.Note(), fmt.Sprintf("note_%d", i), noteWithLink()).New
		h.notes = append(h.notes, it)
	}
	require.NoError(t, h.store.Load(t.Context(), h.notes))
	return h
}

func (h *held) row(key item.Key) item.Item {
	row, err := table.Find(h.t.Context(), h.store, key)
	require.NoError(h.t, err)
	return row
}

// repair goes through all notes under a lease.
func (h *held) repair(owner string) error {
	lease, err := h.consumer.AcquireLease(h.t.Context(), "ann", owner)
	if err != nil {
		return err
	}
	h.lease = lease
	for _, it := range h.notes {
		ref := product.Note().Ref(it)
		e := projection.Evidence{User: "ann", Type: product.Note(), Ref: ref, Item: it}
		if row, err := h.store.Get(h.t.Context(), entity.LedgerKey("ann", stats.Name, ref.ID)); err == nil {
			e.Ledger = row
		}
		if err := lease.Repair(h.t.Context(), e); err != nil {
			return err
		}
	}
	return lease.Finish(h.t.Context())
}

func (h *held) total() int64 {
	return h.row(entity.MetaKey("ann")).Map(product.AttrStats).Int(product.StatTotalNotes)
}

func TestConsumer_showsTheOldNumberWhenAStagedRepairDies(t *testing.T) {
	t.Parallel()
	const notes = 200
	for name, stage := range map[string]memory.Stage{"before": memory.Before, "after": memory.After} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			died := 0
			for at := 1; ; at++ {
				h := newHeld(t, notes)
				writes := 0
				h.fault = func(c memory.Call) error {
					if c.Op == "Transact" && c.Stage == stage {
						writes++
					}
					if writes >= at {
						return table.ErrUnavailable
					}
					return nil
				}
				err := h.repair("one")
				h.fault = nil
				if err == nil {
					break
				}
				died++
				require.Contains(t, []int64{0, notes}, h.total(), "died at write %d", at)
				if h.row(entity.MetaKey("ann")).Has(product.AttrStatsHold) {
					require.ErrorIs(t, h.repair("another"), projection.ErrLeased)
				}
				h.now = h.now.Add(31 * time.Second)
				require.NoError(t, h.repair("another"))
				require.EqualValues(t, notes, h.total())
			}
			require.Equal(t, 4, died, "taken, two transactions full of rows, and the last")
		})
	}
}

func TestConsumer_retriesARecordUnderALeaseAndNoOthers(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 3)
	_, err := h.consumer.AcquireLease(t.Context(), "ann", "one")
	require.NoError(t, err)
	more, other := created("ann", product.Note(), "note_more", noteWithLink()),
		created("ben", product.Note(), "note_other", noteWithLink())
	outcomes := h.consumer.Apply(t.Context(), []change.Change{more, other})
	require.Equal(t, change.Retry, outcomes[0].Verdict)
	require.Equal(t, change.Done, outcomes[1].Verdict)
	h.now = h.now.Add(31 * time.Second)
	outcomes = h.consumer.Apply(t.Context(), []change.Change{more})
	require.Equal(t, change.Done, outcomes[0].Verdict, "a lease expires")
}

// records are those that created the notes.
func (h *held) records() (out []change.Change) {
	for _, it := range h.notes {
		out = append(out, created("ann", product.Note(), it.Str("noteId"), noteWithLink()))
	}
	return out
}

func (h *held) ledger(note item.Item) item.Item {
	return h.row(entity.LedgerKey("ann", stats.Name, note.Str("noteId")))
}

func TestConsumer_countsLateRecordsAfterAStagedRepairDied(t *testing.T) {
	t.Parallel()
	const notes = 200
	for died := 1; died <= 3; died++ {
		t.Run(fmt.Sprintf("behind write %d", died), func(t *testing.T) {
			t.Parallel()
			h := newHeld(t, notes)
			writes := 0
			h.fault = func(c memory.Call) error {
				if c.Op == "Transact" && c.Stage == memory.Before {
					writes++
				}
				if writes > died {
					return table.ErrUnavailable
				}
				return nil
			}
			require.Error(t, h.repair("one"))
			h.fault = nil
			h.now = h.now.Add(31 * time.Second)
			for i, c := range h.records() {
				outcomes := h.consumer.Apply(t.Context(), []change.Change{c})
				require.Equal(t, change.Done, outcomes[0].Verdict, "record %d: %v", i, outcomes[0].Err)
			}
			require.EqualValues(t, notes, h.total())
			for _, it := range h.notes {
				require.False(t, h.ledger(it).Has(entity.AttrForm), "a record took the row over")
			}
		})
	}
}

func TestConsumer_countsStagedRowsOnceTheirRepairIsThrough(t *testing.T) {
	t.Parallel()
	const notes = 200
	for name, goOn := range map[string]func(h *held, records []change.Change){
		"the records come again": func(h *held, records []change.Change) {
			for _, o := range h.consumer.Apply(t.Context(), records) {
				require.Equal(t, change.Done, o.Verdict)
			}
		},
		"each alone": func(h *held, records []change.Change) {
			for _, c := range records {
				require.Equal(t, change.Done, h.consumer.Apply(t.Context(), []change.Change{c})[0].Verdict)
			}
		},
		"they are put right": func(h *held, _ []change.Change) {
			for _, it := range h.notes {
				require.NoError(t, h.lease.Unstage(t.Context(), h.ledger(it)))
			}
		},
		"a repair comes again": func(h *held, _ []change.Change) {
			require.NoError(t, h.repair("another"))
			for _, it := range h.notes {
				require.NoError(t, h.lease.Unstage(t.Context(), h.ledger(it)))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHeld(t, notes)
			require.NoError(t, h.repair("one"))
			staged := 0
			for _, it := range h.notes {
				if row := h.ledger(it); row.Has("next") {
					staged++
					require.EqualValues(t, 0, row.Int("v"), "as it was")
				}
			}
			require.Equal(t, 180, staged)
			require.EqualValues(t, notes, h.total())
			goOn(h, h.records())
			require.EqualValues(t, notes, h.total())
			tally := stats.Projection().TallyUnder("ann", h.row(entity.MetaKey("ann")))
			for _, it := range h.notes {
				row := h.ledger(it)
				require.False(t, row.Has("next") || row.Has(entity.AttrForm))
				require.EqualValues(t, 1, row.Int("v"))
				tally.Add(row)
			}
			require.Empty(t, tally.Check("ann", h.row(entity.MetaKey("ann")), h.now))
		})
	}
}

func TestConsumer_countsRowsOfNoItemUntilTheirRepairIsThrough(t *testing.T) {
	t.Parallel()
	for _, dies := range []bool{true, false} {
		t.Run(fmt.Sprintf("dies %v", dies), func(t *testing.T) {
			t.Parallel()
			h := newHeld(t, 3)
			require.NoError(t, h.repair("one"))
			strays := make([]item.Item, 95)
			for i := range strays {
				strays[i] = entity.LedgerKey("ann", stats.Name, fmt.Sprintf("none_%d", i)).Item()
				strays[i]["v"], strays[i]["c"] = item.Int(1), h.ledger(h.notes[0])["c"]
				require.NoError(t, h.store.Put(t.Context(), table.Put{Item: strays[i]}))
			}
			meta := h.row(entity.MetaKey("ann")).Clone()
			counted := meta.Map(product.AttrStats).Clone()
			counted[product.StatTotalNotes] = item.Int(98)
			meta[product.AttrStats] = item.Map(counted)
			require.NoError(t, h.store.Put(t.Context(), table.Put{Item: meta}))

			lease, err := h.consumer.AcquireLease(t.Context(), "ann", "two")
			require.NoError(t, err)
			for _, it := range h.notes {
				require.NoError(t, lease.Repair(t.Context(), projection.Evidence{
					User: "ann", Type: product.Note(), Ref: product.Note().Ref(it), Item: it, Ledger: h.ledger(it),
				}))
			}
			for _, row := range strays {
				require.NoError(t, lease.Drop(t.Context(), row))
			}
			left := 95
			if !dies {
				require.NoError(t, lease.Finish(t.Context()))
				left = 0
			}
			tally := stats.Projection().TallyUnder("ann", h.row(entity.MetaKey("ann")))
			for _, it := range h.notes {
				tally.Add(h.ledger(it))
			}
			h.now = h.now.Add(31 * time.Second)
			for _, was := range strays {
				if row := h.row(was.Key()); row != nil {
					tally.Add(row)
					require.NoError(t, h.consumer.Unstage(t.Context(), "ann", row))
				}
			}
			for _, fault := range tally.Check("ann", h.row(entity.MetaKey("ann")), h.now) {
				require.Contains(t, fault.Is, "a repair began", "the sum is that of the rows")
			}
			there := 0
			for _, was := range strays {
				if row := h.row(was.Key()); row != nil {
					require.Equal(t, was, row)
					there++
				}
			}
			require.Equal(t, left, there)
			require.EqualValues(t, 3+left, h.total())
		})
	}
}

// Rows that fit into no transaction together are staged in several.
func TestConsumer_stagesARepairOfLongContributions(t *testing.T) {
	t.Parallel()
	store := memory.New(func() time.Time { return morning }, memory.Options{})
	long := projection.NewOwnSum("long", "l1", func(_ *entity.Type, it item.Item) projection.Amounts {
		add := map[string]int64{}
		for i := range 2000 {
			add[fmt.Sprintf("%d %s", i, strings.Repeat("x", 90))] = 1
		}
		return projection.Amounts{Add: add}
	})
	consumer := projection.NewConsumer(long, store, func() time.Time { return morning })
	lease, err := consumer.AcquireLease(t.Context(), "ann", "one")
	require.NoError(t, err)
	for i := range 25 {
		it := created("ann", product.Note(), fmt.Sprintf("note_%d", i), noteWithLink()).New
		require.NoError(t, lease.Repair(t.Context(), projection.Evidence{
			User: "ann", Type: product.Note(), Ref: product.Note().Ref(it), Item: it,
		}))
	}
	require.NoError(t, lease.Finish(t.Context()))
	require.True(t, lease.Staged())
	row, err := store.Get(t.Context(), entity.SumKey("ann", "long"))
	require.NoError(t, err)
	require.EqualValues(t, 25, row.Map("sum").Int("0 "+strings.Repeat("x", 90)))
}

// A write whose answer was lost is known by the version that it leaves. So is no write of a later release.
func TestConsumer_takesNoWriteOfALaterReleaseForItsOwn(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 3)
	lease, err := h.consumer.AcquireLease(t.Context(), "ann", "one")
	require.NoError(t, err)
	meta := h.row(entity.MetaKey("ann")).Clone()
	meta[product.AttrStatsVersion] = item.Int(meta.Int(product.AttrStatsVersion) + 1)
	meta[product.AttrStatsForm] = item.Int(7)
	require.NoError(t, h.store.Put(t.Context(), table.Put{Item: meta}))
	note := h.notes[0]
	require.NoError(t, lease.Repair(t.Context(), projection.Evidence{
		User: "ann", Type: product.Note(), Ref: product.Note().Ref(note), Item: note,
	}))
	require.ErrorIs(t, lease.Stage(t.Context()), projection.ErrLeaseLost)
	require.Equal(t, meta, h.row(entity.MetaKey("ann")))
}

func TestConsumer_leavesRowsThatAnotherRepairHasStaged(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 200)
	require.NoError(t, h.repair("one"))
	another, err := h.consumer.AcquireLease(t.Context(), "ann", "another")
	require.NoError(t, err)
	for _, it := range h.notes {
		require.NoError(t, another.Repair(t.Context(), projection.Evidence{
			User: "ann", Type: product.Note(), Ref: product.Note().Ref(it), Item: it, Ledger: h.ledger(it),
		}))
	}
	was := h.ledger(h.notes[0])
	require.NoError(t, h.lease.Unstage(t.Context(), was))
	require.Equal(t, was, h.ledger(h.notes[0]))
	require.NoError(t, another.Finish(t.Context()))
	require.EqualValues(t, 200, h.total())
}

// repairOf repairs a sum of so many notes, none of which is in the ledger: those with a long body contribute 392 KB
// each.
func repairOf(t *testing.T, long, short int) (*memory.Store, error) {
	t.Helper()
	sum := projection.NewOwnSum("bytes", "b1", func(_ *entity.Type, it item.Item) projection.Amounts {
		add := map[string]int64{"notes": 1}
		for i := range len(it.Str(product.AttrBody)) / 100 {
			add[fmt.Sprintf("%06d %s", i, strings.Repeat("x", 88))] = 1
		}
		return projection.Amounts{Add: add}
	})
	store := memory.New(clock, memory.Options{})
	lease, err := projection.NewConsumer(sum, store, clock).AcquireLease(t.Context(), "ann", "one")
	require.NoError(t, err)
	for i := range long + short {
		body := "b"
		if i < long {
			body = strings.Repeat("b", 392_000)
		}
		it := created("ann", product.Note(), fmt.Sprintf("note_%d", i), item.Item{product.AttrBody: item.String(body)}).New
		e := projection.Evidence{User: "ann", Type: product.Note(), Ref: product.Note().Ref(it), Item: it}
		if err := lease.Repair(t.Context(), e); err != nil {
			return store, err
		}
	}
	return store, lease.Finish(t.Context())
}

func TestConsumer_delaysARowTooLongToStageUntilTheLastWrite(t *testing.T) {
	t.Parallel()
	store, err := repairOf(t, 2, 95)
	require.NoError(t, err)
	for id, isStaged := range map[string]bool{"note_0": false, "note_1": false, "note_5": true, "note_96": false} {
		row, err := store.Get(t.Context(), entity.LedgerKey("ann", "bytes", id))
		require.NoError(t, err)
		require.Equal(t, isStaged, row.Has("next"), id)
	}
}

func TestConsumer_refusesARepairOfTooManyUnstageableRows(t *testing.T) {
	t.Parallel()
	_, err := repairOf(t, 12, 0)
	require.ErrorIs(t, err, table.ErrInvalid)
	require.ErrorContains(t, err, "ledger rows cannot be staged")
}
