package verify_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/verify"
)

// plan puts the head of a day's plan as the release before makes it: without the row of the day.
func (w *fixture) plan(user, date string) repository.Address {
	at := repository.Address{User: user, Date: date}
	w.put(at.HeadKey(), item.Item{
		repository.AttrHeadRevisionID: item.String(
			repository.NewRevisionID(w.now, "00000000-0000-4000-8000-000000000001")),
		entity.AttrUpdatedAt: item.String(item.FormatInstant(w.now)),
	})
	return at
}

func TestVerifier_givesEachPlanTheRowOfItsDay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	annual, ben := w.plan(ann, "2020-02-29"), w.plan("ben", "2026-03-02")
	listed := w.plan(ann, "2026-03-02")
	w.put(listed.DayKey(), nil)
	w.put(item.Key{PK: "U#ann#PLAN#2026-03-03", SK: "REV#x"}, nil) // no head
	found, _ := w.verify(verify.Options{User: ann})
	require.Empty(t, found, "only a walk finds it")
	found, sum := w.verify(verify.Options{})
	require.ElementsMatch(t, []verify.Difference{
		{Kind: verify.Plan, User: ann, Key: annual.DayKey().String(), Is: "no row", ShouldBe: "there: the day has a plan",
			Remains: true},
		{Kind: verify.Plan, User: "ben", Key: ben.DayKey().String(), Is: "no row", ShouldBe: "there: the day has a plan",
			Remains: true},
	}, found)
	require.EqualValues(t, 2, sum.Remaining)

	found, sum = w.verify(verify.Options{Repair: true})
	require.Len(t, found, 2)
	require.Zero(t, sum.Remaining)
	require.Equal(t, ben.DayKey().Item(), w.get(ben.DayKey()))
	found, _ = w.verify(verify.Options{})
	require.Empty(t, found)
}

func TestVerifier_namesADayThatItCouldNotRepair(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := w.plan(ann, "2026-03-02")
	w.fault = func(c memory.Call) error {
		if c.Op == "Transact" {
			return table.ErrConflict
		}
		return nil
	}
	found, sum := w.verify(verify.Options{Repair: true})
	require.Len(t, found, 2, "before the repair and after it")
	require.EqualValues(t, 1, sum.Found)
	require.EqualValues(t, 1, sum.Remaining)
	w.fault = nil
	_, sum = w.verify(verify.Options{Repair: true})
	require.Zero(t, sum.Remaining)
	require.NotNil(t, w.get(at.DayKey()))
}

// TestVerifier_namesNoDayOfAPlanThatIsDeletedMeanwhile: the walk has read its head.
func TestVerifier_namesNoDayOfAPlanThatIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	for round := range 2 {
		w := newWorld(t)
		at := w.plan(ann, "2026-03-02")
		w.put(at.DayKey(), nil)
		before := func(key item.Key, do func()) func(memory.Call) error {
			return func(c memory.Call) error {
				if c.Op == "Get" && c.Stage == memory.Before && slices.Contains(c.Keys, key) {
					w.fault = nil
					do()
				}
				return nil
			}
		}
		w.fault = before(at.DayKey(), func() {
			w.remove(at.HeadKey().Item(), at.DayKey().Item())
			if round == 1 {
				w.fault = before(at.HeadKey(), func() {
					w.plan(ann, "2026-03-02")
					w.put(at.DayKey(), nil)
				})
			}
		})
		found, _ := w.verify(verify.Options{})
		require.Empty(t, found)
	}
}

// A head that is gone when the repair comes to it has no day.
func TestVerifier_putsNoDayOfAPlanThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := w.plan(ann, "2026-03-02")
	gone := false
	w.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before && !gone {
			gone = true
			w.remove(at.HeadKey().Item())
		}
		return nil
	}
	_, err := w.verifier.Run(t.Context(), verify.Options{Repair: true}, func(verify.Difference) error { return nil })
	require.NoError(t, err)
	require.True(t, gone)
	_, err = w.store.Get(t.Context(), at.DayKey())
	require.ErrorIs(t, err, table.ErrNotFound)
}
