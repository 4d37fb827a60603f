package projection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

const openings = "openings"

// byTitle counts notes; each has its title as the place at which its ledger row stands, and as a latest title.
func byTitle(_ *entity.Type, it item.Item) projection.Amounts {
	amounts := projection.Amounts{Add: map[string]int64{"notes": 1}, Open: it.Str(entity.AttrTitle)}
	if body := it.Str(product.AttrBody); body != "" {
		amounts.Max = map[string]string{"body": body}
	}
	return amounts
}

var (
	lengthy = strings.Repeat("x", 1025) // one byte more than a sort key of an index may have
	large   = strings.Repeat("x", 400<<10)
)

// refusing is a store with an own sum by title.
type refusing struct {
	t        *testing.T
	now      time.Time
	fault    func(memory.Call) error
	store    *memory.Store
	consumer *projection.Consumer
}

func newRefusing(t *testing.T) *refusing {
	r := &refusing{t: t, now: morning}
	clock := func() time.Time { return r.now }
	r.store = memory.New(clock, memory.Options{Fault: func(c memory.Call) error {
		if r.fault == nil {
			return nil
		}
		return r.fault(c)
	}})
	r.consumer = projection.NewConsumer(projection.NewOwnSum(openings, "o1", byTitle), r.store, clock)
	return r
}

func titled(user, id, title string) change.Change {
	return created(user, product.Note(), id, item.Item{entity.AttrTitle: item.String(title)})
}

// retitled is the change of an item's title.
func retitled(before change.Change, title string) change.Change {
	c := edited(before)
	c.New = c.New.Clone()
	c.New[entity.AttrTitle] = item.String(title)
	delete(c.New, product.AttrBody)
	return c
}

func (r *refusing) apply(batch ...change.Change) (verdicts []change.Verdict) {
	for _, o := range r.consumer.Apply(r.t.Context(), batch) {
		verdicts = append(verdicts, o.Verdict)
	}
	return verdicts
}

func (r *refusing) row(key item.Key) item.Item {
	rows, err := r.store.BatchGet(r.t.Context(), []item.Key{key})
	require.NoError(r.t, err)
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

func (r *refusing) sumRow(user string) item.Item { return r.row(entity.SumKey(user, openings)) }

func (r *refusing) notes(user string) int64 { return r.sumRow(user).Map("sum").Int("notes") }

func (r *refusing) ledger(user, id string) item.Item {
	return r.row(entity.LedgerKey(user, openings, id))
}

const (
	isDone   = change.Done
	isPoison = change.Poison
)

func TestConsumer_parksAloneAContributionThatNoRowCanHold(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]change.Change{
		"open": titled("ann", "note_bad", lengthy), "row": titled("ann", "note_bad", large),
		"text": created("ann", product.Note(), "note_bad", item.Item{
			entity.AttrTitle: item.String("t"), product.AttrBody: item.String(lengthy),
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRefusing(t)
			require.Equal(t, []change.Verdict{isPoison}, r.apply(bad))
			require.Zero(t, r.notes("ann"))
			require.Equal(t, []change.Verdict{isDone}, r.apply(titled("ann", "note_1", "one")), "the next single change")
			require.Equal(t, []change.Verdict{isDone, isPoison, isDone},
				r.apply(titled("ann", "note_2", "two"), bad, titled("ben", "note_3", "three")), "a batch")
			require.EqualValues(t, 2, r.notes("ann"))
			require.EqualValues(t, 1, r.notes("ben"))
			require.Equal(t, []change.Verdict{isDone}, r.apply(retitled(bad, "short")), "what mends it")
			require.EqualValues(t, 3, r.notes("ann"))
			lease, err := r.consumer.AcquireLease(t.Context(), "ann", "one")
			require.NoError(t, err)
			require.NoError(t, lease.Release(t.Context()))
		})
	}
}

func TestConsumer_parksAloneTheRefusedRecordsOfAnItem(t *testing.T) {
	t.Parallel()
	first := titled("ann", "note_1", "one")
	bad := retitled(first, lengthy)
	good := retitled(bad, "three")
	worse := retitled(good, lengthy+lengthy)
	for _, aged := range []time.Duration{0, 2 * time.Hour} {
		r := newRefusing(t)
		r.now = morning.Add(aged)
		require.NoError(t, r.store.Put(t.Context(), table.Put{Item: bad.New}))
		require.Equal(t, []change.Verdict{isDone, isPoison}, r.apply(first, bad))
		require.EqualValues(t, 1, r.ledger("ann", "note_1").Int("v"))
		require.EqualValues(t, 1, r.notes("ann"))
		require.NoError(t, r.store.Put(t.Context(), table.Put{Item: worse.New}))
		require.Equal(t, []change.Verdict{isDone, isDone, isDone, isPoison}, r.apply(first, bad, good, worse),
			"one that a later one makes good is done")
		require.EqualValues(t, 3, r.ledger("ann", "note_1").Int("v"))
		gone := again(worse)
		require.NoError(t, r.store.Delete(t.Context(), table.Delete{Key: worse.Key}))
		require.Equal(t, []change.Verdict{isDone}, r.apply(gone))
		require.Zero(t, r.notes("ann"))
	}
}

// countBad leaves ann's sum as a release left it that judged an entry after it had counted it.
func (r *refusing) countBad() {
	r.apply(titled("ann", "note_1", "one"))
	row := r.sumRow("ann").Clone()
	row["sum"] = item.Map{"notes": item.Int(2)}
	row["sumVersion"] = item.Int(2)
	row["sumLast"] = item.Map{
		"item": item.String("note_bad"), "v": item.Int(1),
		"c": item.String(`o1 {"add":{"notes":1},"open":"` + lengthy + `"}`),
	}
	require.NoError(r.t, r.store.Put(r.t.Context(), table.Put{Item: row}))
}

func TestConsumer_takesBackAPendingEntryThatIsRefused(t *testing.T) {
	t.Parallel()
	t.Run("by a single change", func(t *testing.T) {
		t.Parallel()
		r := newRefusing(t)
		r.countBad()
		require.Equal(t, []change.Verdict{isDone}, r.apply(titled("ann", "note_2", "two")))
		require.EqualValues(t, 2, r.notes("ann"))
	})
	t.Run("by a batch", func(t *testing.T) {
		t.Parallel()
		r := newRefusing(t)
		r.countBad()
		require.Equal(t, []change.Verdict{isDone, isDone},
			r.apply(titled("ben", "note_3", "three"), titled("ann", "note_2", "two")))
		require.EqualValues(t, 2, r.notes("ann"))
		require.EqualValues(t, 1, r.notes("ben"))
	})
	t.Run("by a change of the same item", func(t *testing.T) {
		t.Parallel()
		r := newRefusing(t)
		r.countBad()
		require.Equal(t, []change.Verdict{isDone}, r.apply(retitled(titled("ann", "note_bad", lengthy), "short")))
		require.EqualValues(t, 2, r.notes("ann"))
		require.EqualValues(t, 2, r.ledger("ann", "note_bad").Int("v"))
	})
	t.Run("by a repair", func(t *testing.T) {
		t.Parallel()
		r := newRefusing(t)
		r.countBad()
		lease, err := r.consumer.AcquireLease(t.Context(), "ann", "one")
		require.NoError(t, err)
		require.False(t, r.sumRow("ann").Has("sumLast"))
		require.NoError(t, lease.Release(t.Context()))
		require.EqualValues(t, 1, r.notes("ann"))
	})
}

func TestConsumer_takesBackWhatTheStoreRefusesForItsOwnReason(t *testing.T) {
	t.Parallel()
	r := newRefusing(t)
	bad := entity.LedgerKey("ann", openings, "note_bad")
	r.fault = func(c memory.Call) error {
		// What takes an entry back names the sum first, and only looks at the ledger row.
		isLook := c.Op == "BatchGet" || c.Keys[0] == entity.SumKey("ann", openings)
		if c.Stage == memory.Before && !isLook && slices.Contains(c.Keys, bad) {
			return fmt.Errorf("%w: not today", table.ErrInvalid)
		}
		return nil
	}
	require.Equal(t, []change.Verdict{isPoison}, r.apply(titled("ann", "note_bad", "short")))
	require.Equal(t, []change.Verdict{isDone}, r.apply(titled("ann", "note_1", "one")))
	require.EqualValues(t, 1, r.notes("ann"))
	require.Equal(t, []change.Verdict{isDone, isPoison, isDone},
		r.apply(titled("ann", "note_2", "two"), titled("ann", "note_bad", "short"), titled("ben", "note_3", "three")))
	require.EqualValues(t, 2, r.notes("ann"))
}

// The store refuses the write that takes a refused entry back. The user's records are parked instead of holding the
// reader, and their repetition is exact once the store accepts that write.
func TestConsumer_parksTheRecordsOfASumWhoseEntryCannotBeTakenBack(t *testing.T) {
	t.Parallel()
	r := newRefusing(t)
	r.countBad()
	isRefusing := true
	r.fault = func(c memory.Call) error {
		if isRefusing && c.Stage == memory.Before && c.Op == "Transact" && c.Keys[0] == entity.SumKey("ann", openings) {
			return fmt.Errorf("%w: not today", table.ErrInvalid)
		}
		return nil
	}
	second, third := titled("ann", "note_2", "two"), titled("ann", "note_4", "four")
	require.Equal(t, []change.Verdict{isPoison}, r.apply(second))
	require.Equal(t, []change.Verdict{isDone, isPoison}, r.apply(titled("ben", "note_3", "three"), third))
	isRefusing = false
	require.Equal(t, []change.Verdict{isDone, isDone}, r.apply(third, second))
	require.EqualValues(t, 3, r.notes("ann"))
	require.EqualValues(t, 1, r.notes("ben"))
}

func TestConsumer_delaysNoOtherUserForAPendingEntry(t *testing.T) {
	t.Parallel()
	r := newRefusing(t)
	isDown := false
	r.fault = func(c memory.Call) error {
		if isDown && c.Stage == memory.Before && c.Op == "Put" && c.Keys[0] == entity.LedgerKey("ann", openings, "note_1") {
			return table.ErrUnavailable
		}
		return nil
	}
	isDown = true
	require.Equal(t, []change.Verdict{change.Retry}, r.apply(titled("ann", "note_1", "one")))
	require.Equal(t, []change.Verdict{change.Retry, isDone},
		r.apply(titled("ann", "note_2", "two"), titled("ben", "note_3", "three")))
	isDown = false
	require.Equal(t, []change.Verdict{isDone, isDone},
		r.apply(titled("ann", "note_2", "two"), titled("ann", "note_1", "one")))
	require.EqualValues(t, 2, r.notes("ann"))
}

// crowded counts each note under its title.
func crowded(_ *entity.Type, it item.Item) projection.Amounts {
	return projection.Amounts{Add: map[string]int64{it.Str(entity.AttrTitle): 1}}
}

func TestConsumer_refusesWhatDoesNotFitAFullSumAlone(t *testing.T) {
	t.Parallel()
	r := newRefusing(t)
	r.consumer = projection.NewConsumer(projection.NewOwnSum(openings, "o1", crowded), r.store,
		func() time.Time { return r.now })
	name := func(i int) string { return fmt.Sprintf("%d-%s", i, strings.Repeat("y", 50<<10)) }
	for i := range 7 {
		require.Equal(t, []change.Verdict{isDone}, r.apply(titled("ann", fmt.Sprintf("note_%d", i), name(i))), "%d", i)
	}
	full := titled("ann", "note_7", name(7))
	require.Equal(t, []change.Verdict{isPoison}, r.apply(full))
	require.Equal(t, []change.Verdict{isDone}, r.apply(titled("ann", "note_8", "small")))
	require.Equal(t, []change.Verdict{isDone, isPoison, isDone},
		r.apply(titled("ann", "note_9", "small"), full, titled("ben", "note_1", name(1))))
	require.Equal(t, []change.Verdict{isDone}, r.apply(again(titled("ann", "note_1", name(1)))))
	require.Equal(t, []change.Verdict{isDone}, r.apply(full), "there is room now")
	require.EqualValues(t, 2, r.sumRow("ann").Map("sum").Int("small"))
	require.Len(t, r.sumRow("ann").Map("sum"), 8)
}
