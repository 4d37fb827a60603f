package projection_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/stats"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// sumLost answers each write that updates the sum's row alone as if another had written the row before: it stands there
// as given.
func (r *refusing) sumLost(stands func() item.Item) {
	r.fault = func(c memory.Call) error {
		if c.Op == "Update" && c.Stage == memory.Before && c.Keys[0] == entity.SumKey("ann", openings) {
			return &table.ConditionError{Failures: []table.Failure{{Old: stands()}}}
		}
		return nil
	}
}

func TestConsumer_retriesALateFactThatItCannotAdd(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"the sum never rests", "a repair holds the sum", "a later release writes the sum"} {
		for _, aged := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, aged %v", name, aged), func(t *testing.T) {
				t.Parallel()
				r := newRefusing(t)
				var late []change.Change
				for _, id := range []string{"note_1", "note_2"} {
					late = append(late, r.lateFact(id))
				}
				if aged {
					r.now = r.now.Add(2 * time.Hour)
				}
				row := r.sumRow("ann")
				r.sumLost(func() item.Item {
					out := row.Clone()
					switch name {
					case "a repair holds the sum":
						lease := item.Item{"owner": item.String("one")}
						lease.SetTime("until", r.now.Add(2*time.Hour))
						out["sumHold"] = item.Map(lease)
					case "a later release writes the sum":
						out[entity.AttrForm] = item.Int(9)
					}
					return out
				})
				require.Equal(t, []change.Verdict{change.Retry, change.Retry}, r.apply(late...))
				r.fault = nil
				require.Empty(t, r.sumRow("ann").Map("sum").Str("body"))
				require.Equal(t, []change.Verdict{isDone, isDone}, r.apply(late...))
				require.Equal(t, "znote_2", r.sumRow("ann").Map("sum").Str("body"))
			})
		}
	}
}

// A late record is the only one that has a fact. The store refuses the sum's write for good, alone and among others.
func TestConsumer_parksALateFactThatTheStoreRefuses(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2} {
		for _, aged := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d records, aged %v", n, aged), func(t *testing.T) {
				t.Parallel()
				r := newRefusing(t)
				var late []change.Change
				for i := range n {
					late = append(late, r.lateFact(fmt.Sprintf("note_%d", i+1)))
				}
				if aged {
					r.now = r.now.Add(2 * time.Hour)
				}
				r.fault = func(c memory.Call) error {
					if c.Op == "Update" && c.Stage == memory.Before && c.Keys[0] == entity.SumKey("ann", openings) {
						return fmt.Errorf("%w: not today", table.ErrInvalid)
					}
					return nil
				}
				require.Equal(t, slices.Repeat([]change.Verdict{isPoison}, n), r.apply(late...))
				r.fault = nil
				require.Empty(t, r.sumRow("ann").Map("sum").Str("body"))
				require.Equal(t, slices.Repeat([]change.Verdict{isDone}, n), r.apply(late...), "taken up again")
				require.Equal(t, fmt.Sprintf("znote_%d", n), r.sumRow("ann").Map("sum").Str("body"))
			})
		}
	}
}

// lateFact returns an item's first record, which alone has a fact. The consumer has applied the last one.
func (r *refusing) lateFact(id string) change.Change {
	told := titled("ann", id, "b")
	told.New[product.AttrBody] = item.String("z" + id)
	last := retitled(retitled(told, "c"), "d")
	require.NoError(r.t, r.store.Load(r.t.Context(), []item.Item{last.New}))
	require.Equal(r.t, []change.Verdict{isDone}, r.apply(last))
	return told
}

func TestConsumer_reportsARepairThatLosesEachRound(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*broken) func(memory.Call) error{
		"each write loses":                 func(b *broken) func(memory.Call) error { return b.losing("") },
		"the ledger row cannot be read":    func(b *broken) func(memory.Call) error { return b.losing("Get") },
		"the rows of links cannot be read": func(b *broken) func(memory.Call) error { return b.losing("Query") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, b := newScene(links.Projection()), &broken{}
			s.store = memory.New(s.clock, memory.Options{Fault: func(c memory.Call) error {
				if b.fault == nil {
					return nil
				}
				return b.fault(c)
			}})
			records := life("note_1", "one a")
			s.happened(records[0])
			s.applied(records[0])
			s.remove(entity.LedgerKey("ann", links.Name, "note_1"))
			before := s.every()
			b.fault = fault(b)
			require.Error(t, s.repair(t.Context(), s.store, "note_1"))
			require.Positive(t, b.lost)
			b.fault = nil
			require.Equal(t, before, s.every())
			require.NoError(t, s.repair(t.Context(), s.store, "note_1"))
			require.NoError(t, s.recount())
		})
	}
}

// broken is a store whose writes conflict with others, and whose reads after the first of them fail.
type broken struct {
	fault func(memory.Call) error
	lost  int
}

func (b *broken) losing(read string) func(memory.Call) error {
	return func(c memory.Call) error {
		switch {
		case c.Stage != memory.Before:
		case c.Op == "Transact":
			b.lost++
			return table.ErrConflict
		case c.Op == read && b.lost > 0:
			return table.ErrUnavailable
		}
		return nil
	}
}

func TestConsumer_reportsALeaseThatLosesEachRound(t *testing.T) {
	t.Parallel()
	h, b := newHeld(t, 3), &broken{}
	h.fault = b.losing("")
	require.Error(t, h.repair("one"))
	require.Greater(t, b.lost, 1)
	h.fault = nil
	require.NoError(t, h.repair("one"))
	require.EqualValues(t, 3, h.total())
}

func TestConsumer_losesALeaseWhenARowChangesUnderIt(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 1)
	lease, err := h.consumer.AcquireLease(t.Context(), "ann", "one")
	require.NoError(t, err)
	it := h.notes[0]
	ref := product.Note().Ref(it)
	row := entity.LedgerKey("ann", stats.Name, ref.ID).Item()
	row["v"], row["c"] = item.Int(1), item.String("")
	require.NoError(t, h.store.Load(t.Context(), []item.Item{row}))
	require.NoError(t, lease.Repair(t.Context(), projection.Evidence{
		User: "ann", Type: product.Note(), Ref: ref, Item: it,
	}))
	require.ErrorIs(t, lease.Stage(t.Context()), projection.ErrLeaseLost)
	require.Equal(t, row, h.ledger(it))
}

func TestConsumer_leavesARowStagedBesideALaterReleasesSum(t *testing.T) {
	t.Parallel()
	h := newHeld(t, 1)
	lease, err := h.consumer.AcquireLease(t.Context(), "ann", "one")
	require.NoError(t, err)
	it := h.notes[0]
	require.NoError(t, lease.Repair(t.Context(), projection.Evidence{
		User: "ann", Type: product.Note(), Ref: product.Note().Ref(it), Item: it,
	}))
	require.NoError(t, lease.Stage(t.Context()))
	_, err = h.store.Update(t.Context(), table.Update{
		Key: entity.MetaKey("ann"), Set: item.Item{product.AttrStatsForm: item.Int(9)},
	})
	require.NoError(t, err)
	before := h.ledger(it)
	require.ErrorIs(t, h.consumer.Unstage(t.Context(), "ann", before), entity.ErrNewerForm)
	require.Equal(t, before, h.ledger(it))
}

func TestCheckMoving_findsASumThatLacksItsRows(t *testing.T) {
	t.Parallel()
	p := titles()
	tally := p.NewTally()
	row := entity.LedgerKey("ann", "titles", "note_1").Item()
	row["v"], row["c"] = item.Int(1), item.String(`t1 {"add":{"b":1},"max":{"latest":"b"}}`)
	tally.Add(row)
	sum := func(version int64) item.Item {
		out := p.Target("ann").Item()
		out["sumVersion"], out["sum"] = item.Int(version), item.Map(item.Item{"b": item.Int(1), "latest": item.String("a")})
		return out
	}
	faults := tally.CheckMoving("ann", sum(1), sum(2))
	require.Len(t, faults, 1)
	require.Equal(t, "latest a", faults[0].Is)
	require.Equal(t, "latest b", faults[0].Want)

	after := sum(2)
	after["sum"] = item.Map(item.Item{"b": item.Int(1_000_000), "latest": item.String("b")})
	before := sum(1)
	before["sum"] = after["sum"]
	numbers := tally.CheckMoving("ann", before, after)
	require.Len(t, numbers, 1, "farther off than one write can have moved it")
	require.Equal(t, "b about 1", numbers[0].Want)
	require.True(t, numbers[0].IsAlike(numbers[0]))
	require.False(t, numbers[0].IsAlike(faults[0]))
}
