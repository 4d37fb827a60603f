package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestSplitSeries_splitsASeries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, fields, date, changes string
		ended, following            map[string]string // attributes
	}{
		{
			"another title", `"rrule":"FREQ=WEEKLY"`, "20251215", `{"title":"second"}`,
			map[string]string{
				"title": "standup", "rrule": "FREQ=WEEKLY", "rruleUntil": "2025-12-15T13:59:59Z",
				"lastStartUtc": "2025-12-08T14:00:00Z",
			},
			map[string]string{
				"title": "second", "rrule": "FREQ=WEEKLY", "rruleUntil": "", "startUtc": "2025-12-15T14:00:00Z",
				"endUtc": "2025-12-15T14:30:00Z", "startTzid": "America/New_York",
			},
		},
		{
			"nothing changed", `"rrule":"FREQ=WEEKLY"`, "20251215", `{}`,
			map[string]string{"lastStartUtc": "2025-12-08T14:00:00Z"}, map[string]string{"title": "standup"},
		},
		{
			"COUNT is divided", `"rrule":"FREQ=WEEKLY;COUNT=5","exdate":["20251208"]`, "20251215", `{}`,
			map[string]string{"lastStartUtc": "2025-12-01T14:00:00Z"},
			map[string]string{"rrule": "FREQ=WEEKLY;COUNT=3", "lastStartUtc": "2025-12-29T14:00:00Z"},
		},
		{
			"UNTIL and the end of the series stay",
			`"rrule":"FREQ=WEEKLY;UNTIL=20260202T140000Z","rruleUntil":"2026-01-31T00:00:00Z"`, "20251215", `{}`,
			map[string]string{"rruleUntil": "2025-12-15T13:59:59Z"},
			map[string]string{
				"rrule": "FREQ=WEEKLY;UNTIL=20260202T140000Z", "rruleUntil": "2026-01-31T00:00:00Z",
				"lastStartUtc": "2026-01-26T14:00:00Z",
			},
		},
		{
			"another weekday", `"rrule":"FREQ=WEEKLY;BYDAY=MO"`, "20251215", `{"startUtc":"2025-12-16T15:00:00Z"}`,
			map[string]string{"rrule": "FREQ=WEEKLY;BYDAY=MO"},
			map[string]string{
				"rrule": "FREQ=WEEKLY;BYDAY=TU", "startUtc": "2025-12-16T15:00:00Z", "endUtc": "2025-12-16T15:30:00Z",
			},
		},
		{
			"a rule of its own", `"rrule":"FREQ=WEEKLY;COUNT=9"`, "20251215", `{"rrule":"FREQ=DAILY;COUNT=2"}`,
			map[string]string{"rrule": "FREQ=WEEKLY;COUNT=9"},
			map[string]string{"rrule": "FREQ=DAILY;COUNT=2", "lastStartUtc": "2025-12-16T14:00:00Z"},
		},
		{
			"the length", `"rrule":"FREQ=WEEKLY"`, "20251215", `{"endUtc":"2025-12-15T16:00:00Z"}`,
			nil, map[string]string{"startUtc": "2025-12-15T14:00:00Z", "endUtc": "2025-12-15T16:00:00Z"},
		},
		{
			"whole days", `"rrule":"FREQ=WEEKLY"`, "20251215", `{"isAllDay":true}`,
			nil, map[string]string{"startDate": "2025-12-15", "endDate": "2025-12-16", "startUtc": "", "startTzid": ""},
		},
		{
			"whole days and an end", `"rrule":"FREQ=WEEKLY;UNTIL=20260112T140000Z","rruleUntil":"2026-01-05T14:00:00Z"`,
			"20251215", `{"isAllDay":true}`,
			nil, map[string]string{
				"rrule": "FREQ=WEEKLY;UNTIL=20260112", "rruleUntil": "2026-01-05T00:00:00Z", "lastStartUtc": "2026-01-05T00:00:00Z",
			},
		},
		{
			"the last workday", `"rrule":"FREQ=MONTHLY;UNTIL=20260227T140000Z;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"`, "20251231",
			`{"startUtc":"2025-12-30T14:00:00Z"}`,
			map[string]string{"rruleUntil": "2025-12-31T13:59:59Z"},
			map[string]string{
				"rrule":        "FREQ=MONTHLY;UNTIL=20260227T140000Z;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
				"lastStartUtc": "2026-02-27T14:00:00Z",
			},
		},
		{
			"across a change of the clocks", `"rrule":"FREQ=WEEKLY"`, "20260316", `{}`,
			map[string]string{"rruleUntil": "2026-03-16T12:59:59Z"},
			map[string]string{"startUtc": "2026-03-16T13:00:00Z", "endUtc": "2026-03-16T13:30:00Z"},
		},
	} {
		b := setupSeries(t)
		id := b.newSeries(c.fields)
		res := b.must(command.SplitSeries{ID: id, Date: c.date, Changes: doc(c.changes)}, at(1))
		b.took("BatchGet Transact", c.name)
		require.True(t, res.Created)
		require.NotEqual(t, id, res.Ref.ID)
		for name, want := range c.ended {
			require.Equal(t, want, res.Ended.Str(name), "%s: ended %s", c.name, name)
		}
		for name, want := range c.following {
			require.Equal(t, want, res.Item.Str(name), "%s: following %s", c.name, name)
		}
		require.True(t, res.Ended.Equal(b.master(id)), c.name)
		require.True(t, res.Item.Equal(b.master(res.Ref.ID)), c.name)
		require.Equal(t, []int64{2, 1, 1, 0},
			[]int64{res.Ended.Int("version"), res.Ended.Int("sequence"), res.Item.Int("version"), res.Item.Int("sequence")})
		require.Equal(t, res.Ref.ID+"@nexus.app", res.Item.Str("icalUid"))
		require.False(t, res.Item.Has("hasExceptions"))
	}
}

func TestSplitSeries_withoutChangesShowsTheSameOccurrences(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("splits at many occurrences")
	}
	for _, fields := range []string{
		`"rrule":"FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH;COUNT=9","exdate":["20251204","20260101"],"rdate":["20251203",` +
			`"20260107"]`,
		`"rrule":"FREQ=MONTHLY;BYDAY=1MO","rruleUntil":"2026-10-10T00:00:00Z"`,
		`"rrule":"FREQ=MONTHLY;BYMONTHDAY=-1"`,
		`"rrule":"FREQ=DAILY;INTERVAL=3;UNTIL=20260601T000000Z"`,
		`"rrule":"FREQ=WEEKLY;BYDAY=TU,FR","rdate":["20251224"]`, // the start fits no rule
	} {
		b := setupSeries(t)
		id := b.newSeries(fields)
		before := spansOf(b.shown())
		splits := 0
		for i, line := range before[1:] {
			if i > 12 && i%9 > 0 {
				continue
			}
			b := setupSeries(t)
			require.Equal(t, id, b.newSeries(fields))
			_, err := b.do(command.SplitSeries{ID: id, Date: line[:8], Changes: doc(`{}`)}, at(1))
			if err != nil {
				require.Equal(t, []string{"/date"}, pointers(t, err), "an rdate")
				continue
			}
			splits++
			require.ElementsMatch(t, before, spansOf(b.shown()), "%s at %s", fields, line)
		}
		require.Greater(t, splits, 4)
	}
}

// spansOf are the occurrences of what is shown.
func spansOf(shown []string) []string {
	var out []string
	for _, line := range shown {
		if head, _, _ := cutText(line); entity.IsCompactDate(head[:8]) {
			out = append(out, head)
		}
	}
	return out
}

func TestSplitSeries_takesLaterExceptionsAlong(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	note := b.create(product.Note(), `{"title":"n"}`)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY;BYDAY=MO,WE","location":"room 1"`)
	b.except(id, "20251203", `{"title":"before"}`)
	b.except(id, "20251215", `{"title":"at the split","location":"elsewhere","startUtc":"2025-12-15T20:00:00Z"}`)
	b.except(id, "20251217", `{"startUtc":"2025-12-18T20:00:00Z","links":[{"targetType":"NOTE","targetId":"`+note+`"}]}`)
	b.cancel(id, "20251222")
	b.except(id, "20251224", `{"title":"undone"}`)
	b.except(id, "20251224", `{}`)
	b.except(id, "20251229", `{"description":"with the series' times"}`)
	b.trips()
	cmd := command.SplitSeries{
		ID: id, Date: "20251215", Changes: doc(`{"startUtc":"2025-12-15T16:00:00Z","title":"second"}`),
	}
	res := b.must(cmd, at(1), key("k"))
	b.took("BatchGet Query Query Transact Transact Transact")
	next := res.Ref.ID
	require.True(t, res.Item.Bool("hasExceptions"))
	require.Empty(t, b.idle())
	require.Equal(t, []string{"20251203"}, datesOf(b.rowsOf(id)))
	require.Equal(t, []string{"20251215", "20251217", "20251222", "20251229"}, datesOf(b.rowsOf(next)))
	at := b.instance(next, "20251215")
	require.Equal(t, []string{"location"}, at.Strings("modifiedFields"),
		"what the changes name is not the exception's any more")
	require.Equal(t, []string{"2025-12-15T16:00:00Z", "2025-12-15T16:30:00Z"},
		[]string{at.Str("startUtc"), at.Str("endUtc")})
	moved := b.instance(next, "20251217")
	require.Equal(t, []string{"2025-12-18T20:00:00Z", "2025-12-17T16:00:00Z", next},
		[]string{moved.Str("startUtc"), moved.Str("recurrenceId"), moved.Str("masterId")})
	require.Len(t, entity.LinksOf(moved), 1)
	require.Empty(t, entity.LinksOf(b.instance(id, "20251217")))
	require.Equal(t, "2025-12-29T16:00:00Z", b.instance(next, "20251229").Str("startUtc"))

	again := b.must(cmd, func(r *command.Request) { v := int64(1); r.ExpectedVersion = &v }, key("k"))
	require.True(t, again.Replayed && again.Created)
	require.True(t, res.Item.Equal(again.Item))
	require.True(t, res.Ended.Equal(again.Ended))
}

func datesOf(rows []item.Item) []string {
	var out []string
	for _, row := range rows {
		if row.Has("modifiedFields") {
			_, date, _ := entity.ParseInstanceID(row.Str("eventId"))
			out = append(out, date)
		}
	}
	return out
}

func TestSplitSeries_dropsExceptionsWhoseDatesAreLost(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY;BYDAY=MO","exdate":["20251208","20251216","20251229"]`)
	b.except(id, "20251222", `{"title":"on a Monday"}`)
	res := b.must(command.SplitSeries{ID: id, Date: "20251215", Changes: doc(`{"startUtc":"2025-12-16T14:00:00Z"}`)},
		at(1))
	require.Empty(t, b.rowsOf(res.Ref.ID))
	require.Empty(t, b.idle())
	require.Equal(t, []string{"20251208"}, res.Ended.Strings("exdate"))
	require.Equal(t, []string{"20251229"}, res.Item.Strings("exdate"), "the start itself is there")
}

func TestSplitSeries_isRefused(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY;COUNT=8","exdate":["20251222"],"rdate":["20251210"]`)
	split := func(date, changes string, options ...option) error {
		_, err := b.do(command.SplitSeries{ID: id, Date: date, Changes: doc(changes)}, options...)
		return err
	}
	require.ErrorIs(t, split("20251215", `{}`), command.ErrNoVersion)
	requireStale(t, split("20251215", `{}`, at(2)), 1)
	requireNotFound(t, split("20251215", `{}`, at(1), as(bob)), "")
	for _, date := range []string{"20251201", "20251216", "20251222", "20251210", "20270101", "2025", "a#b"} {
		require.Equal(t, []string{"/date"}, pointers(t, split(date, `{}`, at(1))), date)
	}
	for _, c := range []struct {
		changes  string
		pointers []string
	}{
		{`{"title":null}`, []string{"/changes/title"}},
		{`{"rrule":"FREQ=SECONDLY"}`, []string{"/changes/rrule"}},
		{`{"masterId":"mst_x","icalUid":"x"}`, []string{"/changes/masterId", "/changes/icalUid"}},
		{`{"endUtc":"2025-12-15T13:00:00Z"}`, []string{"/changes/endUtc"}},
		{`{"rruleUntil":"2025-12-01T13:00:00Z"}`, []string{"/changes/rrule"}},
	} {
		require.ElementsMatch(t, c.pointers, pointers(t, split("20251215", c.changes, at(1))), c.changes)
	}
	requireNotFound(t, split("20251215", `{"links":[{"targetType":"NOTE","targetId":"note_x"}]}`, at(1)),
		"/changes/links/0/targetId")
	require.Equal(t, int64(1), b.master(id).Int("version"))

	early := b.must(command.CreateSeries{
		Fields: doc(`{"title":"t","startUtc":"2026-03-01T07:30:00Z","startTzid":"America/New_York","rrule":"FREQ=DAILY"}`),
	}).Ref.ID
	_, err := b.do(command.SplitSeries{ID: early, Date: "20260308"}, at(1))
	require.Equal(t, []string{"/date"}, pointers(t, err), "half past two does not exist on that day")
	b.must(command.SplitSeries{ID: early, Date: "20260308", Changes: doc(`{"startUtc":"2026-03-08T07:30:00Z"}`)}, at(1))
}

func TestSplitSeries_respectsAnExceptionThatComesBetween(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	b.once("Transact", memory.Before, func() error {
		b.must(command.PutInstance{MasterID: id, Date: "20251222", Fields: doc(`{"title":"between"}`)}, at(1))
		return nil
	})
	res := b.must(command.SplitSeries{ID: id, Date: "20251215"}, at(1))
	require.Equal(t, []string{"20251222"}, datesOf(b.rowsOf(res.Ref.ID)))
	require.Empty(t, b.idle())
}

func TestSplitSeries_deletesWhatAnOvertakenSplitHasLeft(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	b.except(id, "20251222", `{"title":"x"}`)
	transactions := 0
	b.fault = func(c memory.Call) error {
		if c.Op != "Transact" || c.Stage != memory.Before {
			return nil
		}
		if transactions++; transactions == 2 { // the instances are there, the series is not
			b.fault = nil
			b.must(command.UpdateSeries{ID: id, Patch: doc(`{"title":"somebody else's"}`)}, at(1))
		}
		return nil
	}
	_, err := b.do(command.SplitSeries{ID: id, Date: "20251215"}, at(1))
	requireStale(t, err, 2)
	require.Empty(t, b.idle())
	require.Contains(t, b.seen(id, "20251222"), `"title":"x"`)
}

// leavesInstances carries out a split until its second transaction, so that the new series' instances are there alone.
func (b *fixture) leavesInstances(cmd command.Command) {
	b.t.Helper()
	transactions := 0
	b.fault = func(c memory.Call) error {
		if c.Op != "Transact" || c.Stage != memory.Before {
			return nil
		}
		if transactions++; transactions == 2 {
			return table.ErrUnavailable
		}
		return nil
	}
	_, err := b.do(cmd, at(1))
	require.ErrorIs(b.t, err, table.ErrUnavailable)
	b.fault = nil
}

func TestSplitSeries_overwritesWhatAnEarlierAttemptHasLeft(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	b.except(id, "20251222", `{"title":"first"}`)
	b.except(id, "20251229", `{"title":"undone since"}`)
	cmd := command.SplitSeries{ID: id, Date: "20251215"}
	b.leavesInstances(cmd)
	require.Len(t, b.idle(), 2, "instances of a series that is not there")
	b.except(id, "20251222", `{"title":"second"}`)
	b.except(id, "20251229", `{}`)
	next := b.must(cmd, at(1)).Ref.ID
	row := b.instance(next, "20251222")
	require.Equal(t, "second", row.Str("title"))
	require.Equal(t, int64(3), row.Int("version"), "an id's versions are counted on")
	require.False(t, b.instance(next, "20251229").Has("modifiedFields"))
	require.Empty(t, b.idle())
}

func TestSplitSeries_saysThatOnlyUndoneRowsAreThere(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	b.except(id, "20251222", `{"title":"undone since"}`)
	cmd := command.SplitSeries{ID: id, Date: "20251215"}
	b.leavesInstances(cmd)
	b.except(id, "20251222", `{}`)
	next := b.must(cmd, at(1))
	require.False(t, b.instance(next.Ref.ID, "20251222").Has("modifiedFields"))
	require.True(t, next.Item.Bool("hasExceptions"))
}

func TestSplitSeries_overtakenWritesNothingIntoTheFollowingSeries(t *testing.T) {
	t.Parallel()
	b := setupSeries(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	b.except(id, "20251222", `{"title":"old"}`)
	cmd := command.SplitSeries{ID: id, Date: "20251215"}
	next := ""
	b.once("Transact", memory.Before, func() error {
		next = b.must(cmd, at(1), key("k")).Ref.ID
		b.except(next, "20251222", `{"title":"new"}`)
		return nil
	})
	res := b.must(cmd, at(1), key("k"))
	require.True(t, res.Replayed)
	require.Equal(t, next, res.Ref.ID)
	require.Equal(t, "new", b.instance(next, "20251222").Str("title"))
	require.Equal(t, int64(3), b.instance(next, "20251222").Int("version"))
}

func TestSplitSeries_splitsASeriesWithoutAZoneByItsReadings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, fields, changes, until, last, start, exception string }{
		{
			"whole days",
			`{"title":"t","isAllDay":true,"startDate":"2025-12-01","endDate":"2025-12-03","rrule":"FREQ=WEEKLY;COUNT=6"}`,
			`{"startDate":"2025-12-16"}`, "2025-12-14T23:59:59Z", "2025-12-08T00:00:00Z", "2025-12-16 2025-12-18", "20251223",
		},
		{
			"floating",
			`{"title":"t","startUtc":"2025-12-01T09:00:00","endUtc":"2025-12-01T10:00:00","rrule":"FREQ=WEEKLY;COUNT=6"}`,
			`{"startUtc":"2025-12-16T08:00:00"}`, "2025-12-15T08:59:59Z", "2025-12-08T09:00:00Z",
			"2025-12-16T08:00:00Z 2025-12-16T09:00:00Z", "20251223",
		},
	} {
		b := setupSeries(t)
		id := b.must(command.CreateSeries{Fields: doc(c.fields)}).Ref.ID
		b.except(id, "20251222", `{"title":"on a Monday"}`)
		res := b.must(command.SplitSeries{ID: id, Date: "20251215", Changes: doc(c.changes)}, at(1))
		require.Equal(t, []string{c.until, c.last},
			[]string{res.Ended.Str("rruleUntil"), res.Ended.Str("lastStartUtc")}, c.name)
		start := res.Item.Str("startDate") + res.Item.Str("startUtc") + " " + res.Item.Str("endDate") + res.Item.Str("endUtc")
		require.Equal(t, []string{c.start, "FREQ=WEEKLY;COUNT=4"}, []string{start, res.Item.Str("rrule")}, c.name)
		require.Empty(t, b.rowsOf(res.Ref.ID), c.name)
		moved := b.except(res.Ref.ID, c.exception, `{"title":"on a Tuesday"}`)
		require.Equal(t, "2025-12-23", moved.Str("recurrenceId")[:10])
		require.Empty(t, b.idle())
	}
}
