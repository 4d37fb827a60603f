package verify_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity/metering"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/product"
	"nexus/pkg/register"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/verify"
)

// off is the difference of a row of counts.
func off(user, is, shouldBe string, remains bool) verify.Difference {
	return verify.Difference{
		Kind: verify.Count, User: user, Key: metering.CountKey(user).String(), Is: is, ShouldBe: shouldBe, Remains: remains,
	}
}

// much gives a user so many open schedules, exceptions, ids that were deleted and cold copies, of which the last is
// still in the table.
func (w *fixture) much(user string, schedules, exceptions, deleted, archived int) {
	w.t.Helper()
	at := func(day int) string { return w.now.AddDate(0, 0, day).Format(time.RFC3339) }
	for range schedules {
		w.create(user, product.TypeReminder, map[string]any{"title": "x", "triggerUtc": at(3), "tzid": "UTC"})
	}
	w.create(user, product.TypeReminder, map[string]any{"title": "past", "triggerUtc": at(-1), "tzid": "UTC"})
	w.create(user, product.TypeEvent, map[string]any{
		"title": "two", "startUtc": at(5), "startTzid": "UTC", "reminderMinutes": numbers(5, 10),
	})
	series := w.do(user, command.CreateSeries{Fields: map[string]any{
		"title": "x", "startUtc": at(1), "startTzid": "UTC", "rrule": "FREQ=DAILY",
	}}, 0).Str(product.AttrMasterID)
	for n := range exceptions {
		w.do(user, command.PutInstance{
			MasterID: series, Date: w.now.AddDate(0, 0, n+2).Format("20060102"), Fields: map[string]any{"title": "y"},
		}, 1)
	}
	note := product.TypeNote
	for range deleted {
		id := w.create(user, note, map[string]any{"title": "x"}).Str("noteId")
		w.do(user, command.Delete{Type: registry.ByName(note), ID: id}, 1)
	}
	for range archived {
		w.create(user, product.TypeTask, map[string]any{"title": "x", "status": "ARCHIVED"})
	}
	require.True(w.t, w.drain())
}

// few returns limits that a test comes near.
func few(t *testing.T) limit.Numbers {
	t.Helper()
	limits, err := limit.Default().With(map[string]int{limit.Gone: 12, limit.Schedules: 18})
	require.NoError(t, err)
	return limits
}

func TestVerifier_countsWhatTheQuotasNeed(t *testing.T) {
	t.Parallel()
	w := newLimitedWorld(t, few(t))
	w.much(ann, 7, 3, 2, 4)
	const want = "exceptions 3, gone 6, schedules 9"
	found, sum := w.verify(verify.Options{})
	require.Equal(t, []verify.Difference{off(ann, "exceptions 0, gone 0, schedules 0", want, true)}, found)
	require.EqualValues(t, 1, sum.Remaining)
	require.Empty(t, w.rows(ann, "COUNT#"), "a verification writes nothing")

	found, sum = w.verify(verify.Options{Repair: true})
	require.Len(t, found, 1)
	require.Zero(t, sum.Remaining)
	row := w.get(metering.CountKey(ann))
	require.Equal(t, item.Item{
		item.AttrPK: item.String("USER#ann"), item.AttrSK: item.String("COUNT#ann"), "exceptions": item.Int(3),
		"gone": item.Int(6), "schedules": item.Int(9), "countedAt": item.Int(w.now.UnixMilli()),
	}, row)
	found, _ = w.verify(verify.Options{})
	require.Empty(t, found)

	var walk register.Walk
	walk.Row(row.Key().PK, row.Key().SK)
	require.Empty(t, walk.Strange())
	require.Empty(t, walk.Missing(register.Verifications))
}

// A count is named when it is wrong by more than a hundredth of its limit, and one of both is half of that or more.
func TestVerifier_namesACountThatIsFarOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.much(ann, 3, 2, 0, 0)
	for _, c := range []struct {
		counts limit.Counts
		isOff  bool
	}{
		{limit.Counts{Exceptions: 49_999, Gone: 499_999, Schedules: 9_999}, false},
		{limit.Counts{Exceptions: 50_000}, true}, {limit.Counts{Gone: 500_000}, true},
		{limit.Counts{Schedules: 10_000}, true},
	} {
		w.now = w.now.Add(time.Second)
		require.NoError(t, w.store.Put(t.Context(), table.Put{Item: c.counts.Row(metering.CountKey(ann), w.now)}))
		found, _ := w.verify(verify.Options{User: ann})
		if !c.isOff {
			require.Empty(t, found)
			continue
		}
		require.Equal(t, []verify.Difference{
			off(ann, c.counts.String(), "exceptions 2, gone 0, schedules 5", true),
		}, found)
		_, sum := w.verify(verify.Options{User: ann, Repair: true})
		require.Zero(t, sum.Remaining)
		row := w.get(metering.CountKey(ann))
		require.Equal(t, limit.Counts{Exceptions: 2, Schedules: 5}, limit.CountsOf(row), "it falls, too")
	}
}

// Of two repairs at once the one that counted first leaves the row of the other.
func TestVerifier_replacesNoCountThatIsNewerThanItsOwn(t *testing.T) {
	t.Parallel()
	for _, hasRow := range []bool{false, true} {
		t.Run(fmt.Sprint(hasRow), func(t *testing.T) {
			t.Parallel()
			w := newLimitedWorld(t, few(t))
			w.much(ann, 7, 0, 0, 0)
			key := metering.CountKey(ann)
			if hasRow {
				require.NoError(t, w.store.Put(t.Context(), table.Put{Item: limit.Counts{Gone: 1}.Row(key, w.now)}))
			}
			newer := limit.Counts{Schedules: 9, Exceptions: 1}.Row(key, w.now.Add(time.Hour))
			raced := false
			w.fault = func(c memory.Call) error {
				if !raced && c.Op == "Put" && c.Keys[0] == key {
					raced = true
					return w.store.Put(t.Context(), table.Put{Item: newer})
				}
				return nil
			}
			_, sum := w.verify(verify.Options{User: ann, Repair: true})
			require.True(t, raced)
			require.Zero(t, sum.Remaining)
			require.Zero(t, sum.Unsettled)
			require.Equal(t, newer, w.get(key))
		})
	}
}

func TestVerifier_countsAgainIfItsRowWasRefused(t *testing.T) {
	t.Parallel()
	w := newLimitedWorld(t, few(t))
	w.much(ann, 7, 0, 0, 0)
	w.fault = func(c memory.Call) error {
		if c.Op == "Put" && c.Keys[0] == metering.CountKey(ann) {
			return table.ErrConflict
		}
		return nil
	}
	_, sum := w.verify(verify.Options{User: ann, Repair: true})
	require.EqualValues(t, 1, sum.Remaining)
	require.EqualValues(t, 1, sum.Unsettled)
	w.fault = nil
	_, sum = w.verify(verify.Options{User: ann, Repair: true})
	require.Zero(t, sum.Remaining)
	require.Equal(t, 9, limit.CountsOf(w.get(metering.CountKey(ann))).Schedules)
}
