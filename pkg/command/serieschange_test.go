package command_test

import (
	"context"
	"testing"
	"time"

	guid "github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestCreateSeries_keepsNoDueTimeOfTheEvent(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	event := b.create(product.Event(), `{`+standup+`,"reminderMinutes":[5]}`)
	require.True(t, b.stored(product.Event(), event).Has("dueSetAt"))
	res := b.must(command.CreateSeries{FromEventID: event, Fields: doc(`{"rrule":"FREQ=WEEKLY","reminderMinutes":null}`)},
		at(1))
	require.False(t, b.master(res.Ref.ID).Has("dueSetAt"), "a series that reminds of nothing was not asked for anything")
}

func TestPutInstance_keepsTheLengthOfWholeDays(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.must(command.CreateSeries{
		Fields: doc(`{"title":"fair","isAllDay":true,"startDate":"2025-12-01","endDate":"2025-12-04","rrule":"FREQ=WEEKLY"}`),
	}).Ref.ID
	it := b.except(id, "20251208", `{"title":"another fair"}`)
	require.Equal(t, []string{"2025-12-08", "2025-12-11"}, []string{it.Str("startDate"), it.Str("endDate")})
	require.Equal(t, []string{"title"}, it.Strings("modifiedFields"))
	require.Equal(t, "2025-12-11", b.instance(id, "20251208").Str("endDate"))
	it = b.except(id, "20251229", `{"isAllDay":true}`)
	require.Equal(t, []string{"2025-12-29", "2026-01-01"}, []string{it.Str("startDate"), it.Str("endDate")})
	it = b.except(id, "20251215", `{"startDate":"2025-12-16"}`)
	require.Equal(t, []string{"2025-12-16", "2025-12-19"}, []string{it.Str("startDate"), it.Str("endDate")})
	it = b.except(id, "20251222", `{"isAllDay":false,"startUtc":"2025-12-22T09:00:00","endUtc":"2025-12-22T10:00:00"}`)
	require.Equal(t, []string{"2025-12-22T09:00:00Z", "2025-12-22T10:00:00Z", "", ""},
		[]string{it.Str("startUtc"), it.Str("endUtc"), it.Str("startDate"), it.Str("endDate")}, "times in place of days")
}

func TestPutInstance_movesAnOccurrenceWithoutAnEnd(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.must(command.CreateSeries{
		Fields: doc(`{"title":"call","startUtc":"2025-12-01T14:00:00Z","startTzid":"UTC","rrule":"FREQ=WEEKLY"}`),
	}).Ref.ID
	it := b.except(id, "20251208", `{"startUtc":"2025-12-08T15:00:00Z"}`)
	require.Equal(t, "2025-12-08T15:00:00Z", it.Str("startUtc"))
	require.False(t, it.Has("endUtc"))
	require.Equal(t, []string{"startUtc"}, it.Strings("modifiedFields"))
}

func TestSplitSeries_takesAnAdditionalDateAtTheSplitAlong(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY","rdate":["20251210","20251215","20251217"]`)
	res := b.must(command.SplitSeries{ID: id, Date: "20251215"}, at(1))
	require.Equal(t, []string{"20251210"}, res.Ended.Strings("rdate"))
	require.Equal(t, []string{"20251215", "20251217"}, res.Item.Strings("rdate"))
}

func TestSplitSeries_tooLateLeavesTheFollowingSeriesAlone(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	b.except(id, "20251222", `{"title":"x"}`)
	next := b.must(command.SplitSeries{ID: id, Date: "20251215"}, at(1)).Ref.ID
	_, err := b.do(command.SplitSeries{ID: id, Date: "20251215"}, at(1))
	requireStale(t, err, 2)
	require.Contains(t, b.seen(next, "20251222"), `"title":"x"`)
}

func TestUpdateSeries_keepsTheEndOfAPatch(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY","rruleUntil":"2025-12-31T00:00:00Z"`)
	res := b.must(command.UpdateSeries{ID: id, Patch: doc(
		`{"startUtc":"2025-12-02T14:00:00Z","endUtc":"2025-12-02T14:30:00Z","rruleUntil":"2026-01-10T00:00:00Z"}`)}, at(1))
	require.Equal(t, "2026-01-10T00:00:00Z", res.Item.Str("rruleUntil"))
}

func TestUpdateSeries_undoesNoExceptionIfItIsRefused(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=DAILY"`)
	b.except(id, "20251203", `{"title":"stays"}`)
	b.once("Update", memory.Before, func() error {
		b.must(command.UpdateSeries{ID: id, Patch: doc(`{"title":"somebody else's"}`)}, at(1))
		return nil
	})
	_, err := b.do(command.UpdateSeries{ID: id, Patch: doc(`{"exdate":["20251203"]}`)}, at(1))
	requireStale(t, err, 2)
	require.Contains(t, b.seen(id, "20251203"), `"title":"stays"`)
}

func TestUpdateSeries_namesAStoredRuleThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.must(command.CreateSeries{Fields: doc(`{` + standup + `,"rrule":"FREQ=DAILY"}`)}).Ref.ID
	b.except(id, "20251202", `{"title":"another"}`)
	row := b.master(id).Clone()
	row["rrule"] = item.String("FREQ=SOMETIMES")
	require.NoError(t, b.store.Put(t.Context(), table.Put{Item: row}))
	version := row.Int(entity.AttrVersion)
	_, err := b.do(command.UpdateSeries{ID: id, Patch: doc(`{"exdate":["20251203"]}`)}, at(version))
	var invalid *entity.ValidationError
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, "/rrule", invalid.Fields[0].Pointer)
	b.must(command.UpdateSeries{ID: id, Patch: doc(`{"rrule":"FREQ=DAILY"}`)}, at(version))
	require.Equal(t, "another", b.instance(id, "20251202").Str("title"), "it is an occurrence of the new rule")
}

func TestTidy_isTriedAgain(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=DAILY"`)
	b.except(id, "20251203", `{"title":"x"}`)
	transactions := 0
	b.fault = func(c memory.Call) error {
		if c.Op != "Transact" || c.Stage != memory.Before {
			return nil
		}
		if transactions++; transactions == 2 || transactions == 3 {
			return table.ErrConflict
		}
		return nil
	}
	b.must(command.DeleteSeries{ID: id}, at(1))
	require.Empty(t, b.rowsOf(id))
	require.Equal(t, []time.Duration{20 * time.Millisecond, 40 * time.Millisecond}, b.pauses, "short pauses come first")
}

func TestTidy_asksForARepetitionIfItHasNoTime(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=DAILY"`)
	for i := range 3 {
		b.except(id, day(i), `{"title":"x"}`)
	}
	transactions := 0
	b.fault = func(c memory.Call) error {
		if c.Op != "Transact" || c.Stage != memory.Before {
			return nil
		}
		if transactions++; transactions == 2 {
			return table.ErrConflict
		}
		return nil
	}
	b.busy = func() error { return context.DeadlineExceeded }
	_, err := b.do(command.DeleteSeries{ID: id}, at(1))
	require.ErrorIs(t, err, table.ErrUnavailable)
	require.Len(t, b.rowsOf(id), 3)
	b.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before {
			return table.ErrThrottled
		}
		return nil
	}
	_, err = b.do(command.DeleteSeries{ID: id}, at(1), key("k"))
	require.ErrorIs(t, err, table.ErrThrottled)
	b.fault = nil
	_, err = b.do(command.DeleteSeries{ID: id}, at(1))
	requireNotFound(t, err, "")
	require.Empty(t, b.rowsOf(id), "the repetition finishes it")
}

func TestTidy_leavesWhatAnotherHasChanged(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=DAILY"`)
	for i := 1; i < 4; i++ {
		b.except(id, day(i), `{"title":"x"}`)
	}
	b.once("Transact", memory.Before, func() error {
		b.set(b.instance(id, day(2)).Key(), item.Item{"version": item.Int(7)})
		return nil
	})
	b.must(command.UpdateSeries{ID: id, Patch: doc(`{"exdate":["20251202","20251203","20251204"]}`)}, at(1))
	require.Equal(t, []string{"idle " + entity.InstanceID(id, day(2))}, b.idle())

	b.once("Transact", memory.Before, func() error {
		b.set(b.instance(id, day(2)).Key(), item.Item{"version": item.Int(8)})
		return nil
	})
	b.must(command.UpdateSeries{ID: id, Patch: doc(`{"exdate":["20251202","20251203"]}`)}, at(2))
	require.Empty(t, b.pauses, "nothing is left to tidy, so there is no wait")
}

// failing makes the n-th transaction from now on fail, and no other.
func (b *fixture) failing(n int, err error) {
	transactions := 0
	b.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before {
			if transactions++; transactions == n {
				return err
			}
		}
		return nil
	}
}

func TestTidy_isDoneByARepetition(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=DAILY"`)
	for i := 1; i < 4; i++ {
		b.except(id, day(i), `{"title":"x"}`)
	}
	update := command.UpdateSeries{ID: id, Patch: doc(`{"exdate":["20251202","20251203","20251204"]}`)}
	b.failing(2, table.ErrThrottled)
	_, err := b.do(update, at(1), key("k"))
	require.ErrorIs(t, err, table.ErrUnavailable, "it was committed")
	require.ErrorContains(t, err, "with 2 more")
	require.Len(t, b.idle(), 3)
	require.True(t, b.must(update, at(1), key("k")).Replayed)
	require.Empty(t, b.idle())
}

func TestTidy_leavesWhatASplitIsAboutToMake(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	b.except(id, "20251222", `{"title":"x"}`)
	b.failing(2, table.ErrUnavailable)
	_, err := b.do(command.SplitSeries{ID: id, Date: "20251215"}, at(1))
	require.ErrorIs(t, err, table.ErrUnavailable)
	next := "mst_" + guid.NewSHA1(guid.NameSpaceOID, []byte(id+" 1 20251215")).String()
	staged := b.rowsOf(next)
	require.Len(t, staged, 1)
	_, err = b.do(command.DeleteSeries{ID: next}, at(1))
	requireNotFound(t, err, "")
	require.Equal(t, staged, b.rowsOf(next))
	require.Equal(t, next, b.must(command.SplitSeries{ID: id, Date: "20251215"}, at(1)).Ref.ID)
}

func TestDeleteSeries_deletesWhatASplitHasLeft(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	b.except(id, "20251222", `{"title":"x"}`)
	b.failing(2, table.ErrUnavailable)
	split := command.SplitSeries{ID: id, Date: "20251215"}
	_, err := b.do(split, at(1))
	require.ErrorIs(t, err, table.ErrUnavailable)
	b.must(command.DeleteSeries{ID: id}, at(1))
	require.Len(t, b.idle(), 1)
	_, err = b.do(split, at(1))
	requireNotFound(t, err, "")
	require.Empty(t, b.idle())
}

func TestSplitSeries_takesAlongWhatNoFieldHolds(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	exceptions := []command.Exception{
		differing(day(1), `{"title":"plain"}`), differing(day(2), `{"title":"kept"}`), differing(day(3), `{"title":"plain"}`),
		differing(day(4), `{"title":"kept"}`),
	}
	exceptions[1].Kept, exceptions[3].Kept = "X:2\n", "X:4\n"
	x := daily("a", "", exceptions...)
	x.Kept = "X:series\n"
	id, row := b.takes(command.Created, x)
	next := b.must(command.SplitSeries{ID: id, Date: day(1)}, at(row.Int("version"))).Ref.ID
	text := func(it item.Item) string { return b.row(entity.KeptKey(it.Key())).Str("text") }
	require.Equal(t, "X:series\n", text(b.master(next)))
	for i, want := range []string{"", "", "X:2\n", "", "X:4\n"} {
		if i > 0 {
			require.Equal(t, want, text(b.instance(next, day(i))), day(i))
			require.Equal(t, want != "", b.row(entity.KeptKey(b.instance(next, day(i)).Key())) != nil)
		}
	}
}
