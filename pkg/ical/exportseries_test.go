package ical_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/ical"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// exception is a stored INSTANCE with these fields of its own.
func exception(t *testing.T, master item.Item, date string, own item.Item) item.Item {
	t.Helper()
	fields := item.Item{"isAllDay": master["isAllDay"], "startUtc": master["startUtc"]}
	names := item.List{}
	for name, v := range own {
		fields[name] = v
		names = append(names, item.String(name))
	}
	fields.Set(product.AttrModifiedFields, names)
	fields[product.AttrMasterID], fields[product.AttrRecurrenceID] = master[product.AttrMasterID], master["startUtc"]
	for _, zone := range []string{"startTzid"} {
		if master.Has(zone) {
			fields[zone] = master[zone]
		}
	}
	id := entity.InstanceID(master.Str(product.AttrMasterID), date)
	return product.Instance().NewItem("user", id, fields, stamp, nil)
}

// lines are those of the drafts' calendar that begin with one of the names.
func lines(t *testing.T, drafts []ical.Draft, names ...string) string {
	t.Helper()
	built, err := ical.Calendar{}.Build(drafts)
	require.NoError(t, err)
	var out []string
	events := ical.Encode(built.Children[len(built.Children)-len(drafts):]...)
	for line := range strings.SplitSeq(strings.ReplaceAll(string(events), "\r\n ", ""), "\r\n") {
		for _, name := range names {
			if strings.HasPrefix(line, name) {
				out = append(out, line)
			}
		}
	}
	return strings.Join(out, "|")
}

func master(t *testing.T, fields item.Item) item.Item {
	t.Helper()
	fields["title"] = item.String("t")
	return stored(t, product.Master(), fields)
}

const berlin = "Europe/Berlin"

func TestFromSeries_putsTheEndOfASeriesIntoItsRule(t *testing.T) {
	t.Parallel()
	timed := func(more ...string) item.Item {
		return texts(append([]string{"startUtc", "2025-01-06T08:00:00Z", "startTzid", berlin}, more...)...)
	}
	for _, c := range []struct {
		fields item.Item
		want   string
	}{
		{timed("rrule", "FREQ=DAILY"), "RRULE:FREQ=DAILY"},
		{timed("rrule", "FREQ=DAILY", "rruleUntil", "2025-02-01T08:00:00Z"), "RRULE:FREQ=DAILY;UNTIL=20250201T080000Z"},
		{timed("rrule", "FREQ=DAILY;COUNT=5", "rruleUntil", "2025-02-01T08:00:00Z"), "RRULE:FREQ=DAILY;COUNT=5"},
		{timed("rrule", "FREQ=DAILY;COUNT=50", "rruleUntil", "2025-02-01T08:00:00Z"),
			"RRULE:FREQ=DAILY;UNTIL=20250201T080000Z"},
		{timed("rrule", "FREQ=DAILY;UNTIL=20250115", "rruleUntil", "2025-02-01T08:00:00Z"),
			"RRULE:FREQ=DAILY;UNTIL=20250115T225959Z"},
		{timed("rrule", "FREQ=DAILY;UNTIL=20260115", "rruleUntil", "2025-02-01T08:00:00Z"),
			"RRULE:FREQ=DAILY;UNTIL=20250201T080000Z"},
		{texts("startUtc", "2025-01-06T08:00:00", "rrule", "FREQ=DAILY", "rruleUntil", "2025-02-01T08:00:00"),
			"RRULE:FREQ=DAILY;UNTIL=20250201T080000"},
		{with(texts("startDate", "2025-01-06", "rrule", "FREQ=DAILY", "rruleUntil", "2025-02-01T00:00:00"), "isAllDay",
			item.Bool(true)), "RRULE:FREQ=DAILY;UNTIL=20250201"},
	} {
		drafts, err := ical.FromSeries(master(t, c.fields), nil)
		require.NoError(t, err)
		require.Equal(t, c.want, lines(t, drafts, "RRULE"))
	}
	it := master(t, with(timed("rrule", "FREQ=WEEKLY", "rruleUntil", "2025-02-01T08:00:00Z"), "rdate",
		item.List{item.String("20250110"), item.String("20250301")}))
	drafts, err := ical.FromSeries(it, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"20250110"}, drafts[0].RDates)
}

func TestFromSeries_writesARuleInNormalFormWithAnEndOfItsKind(t *testing.T) {
	t.Parallel()
	zoned := func(rule string) item.Item {
		return texts("startUtc", "2025-01-06T08:00:00Z", "startTzid", berlin, "rrule", rule)
	}
	floating := func(rule string) item.Item { return texts("startUtc", "2025-01-06T08:00:00", "rrule", rule) }
	days := func(rule string) item.Item {
		return with(texts("startDate", "2025-01-06", "rrule", rule), "isAllDay", item.Bool(true))
	}
	for _, c := range []struct {
		fields item.Item
		want   string
	}{
		{zoned("rrule:freq=weekly;byday=we,mo;"), "FREQ=WEEKLY;BYDAY=MO,WE"},
		{zoned("FREQ=DAILY;UNTIL=20250701"), "FREQ=DAILY;UNTIL=20250701T215959Z"},
		{zoned("FREQ=DAILY;UNTIL=20250701T090000"), "FREQ=DAILY;UNTIL=20250701T070000Z"},
		{zoned("FREQ=DAILY;UNTIL=20250701T090000Z"), "FREQ=DAILY;UNTIL=20250701T090000Z"},
		{floating("FREQ=DAILY;UNTIL=20250701"), "FREQ=DAILY;UNTIL=20250701T235959"},
		{floating("FREQ=DAILY;UNTIL=20250701T090000Z"), "FREQ=DAILY;UNTIL=20250701T090000"},
		{days("FREQ=DAILY;UNTIL=20250701"), "FREQ=DAILY;UNTIL=20250701"},
		{days("FREQ=DAILY;UNTIL=20250701T090000Z"), "FREQ=DAILY;UNTIL=20250701"},
	} {
		drafts, err := ical.FromSeries(master(t, c.fields), nil)
		require.NoError(t, err)
		require.Equal(t, "RRULE:"+c.want, lines(t, drafts, "RRULE"))
	}
}

func TestFromSeries_writesAStartOutsideTheRuleAsAnRDATE(t *testing.T) {
	t.Parallel()
	zoned := func(rule string, more ...string) item.Item {
		return texts(append([]string{"startUtc", "2025-01-06T08:00:00Z", "endUtc", "2025-01-06T09:00:00Z", "startTzid",
			berlin, "rrule", rule}, more...)...)
	}
	for name, c := range map[string]struct {
		fields item.Item
		want   string
	}{
		"endless": {zoned("FREQ=WEEKLY;BYDAY=TU"), "DTSTART;TZID=Europe/Berlin:20250107T090000|" +
			"DTEND;TZID=Europe/Berlin:20250107T100000|RRULE:FREQ=WEEKLY;BYDAY=TU|RDATE;TZID=Europe/Berlin:20250106T090000"},
		"COUNT": {zoned("FREQ=WEEKLY;COUNT=3;BYDAY=TU"), "DTSTART;TZID=Europe/Berlin:" +
			"20250107T090000|DTEND;TZID=Europe/Berlin:20250107T100000|RRULE:FREQ=WEEKLY;COUNT=2;BYDAY=TU|RDATE;" +
			"TZID=Europe/Berlin:20250106T090000"},
		"which fits": {zoned("FREQ=WEEKLY;COUNT=3;BYDAY=MO"), "DTSTART;TZID=Europe/Berlin:" +
			"20250106T090000|DTEND;TZID=Europe/Berlin:20250106T100000|RRULE:FREQ=WEEKLY;COUNT=3;BYDAY=MO"},
		"alone by COUNT": {zoned("FREQ=WEEKLY;COUNT=1;BYDAY=TU"),
			"DTSTART;TZID=Europe/Berlin:20250106T090000|DTEND;TZID=Europe/Berlin:20250106T100000|RRULE:FREQ=DAILY;COUNT=1"},
		"alone by its end": {zoned("FREQ=WEEKLY;BYDAY=TU", "rruleUntil", "2025-01-07T07:59:59Z"),
			"DTSTART;TZID=Europe/Berlin:20250106T090000|DTEND;TZID=Europe/Berlin:20250106T100000|RRULE:FREQ=DAILY;COUNT=1"},
		"excluded": {with(zoned("FREQ=WEEKLY;BYDAY=TU"), "exdate",
			item.List{item.String("20250106")}),
			"DTSTART;TZID=Europe/Berlin:20250107T090000|DTEND;TZID=Europe/Berlin:20250107T100000|RRULE:FREQ=WEEKLY;BYDAY=TU"},
		"floating": {texts("startUtc", "2025-01-06T08:00:00", "rrule",
			"FREQ=MONTHLY;BYDAY=SA;BYSETPOS=2"),
			"DTSTART:20250111T080000|RRULE:FREQ=MONTHLY;BYDAY=SA;BYSETPOS=2|RDATE:20250106T080000"},
		"whole days": {with(texts("startDate", "2025-01-06", "endDate", "2025-01-08", "rrule",
			"FREQ=WEEKLY;BYDAY=TU"), "isAllDay", item.Bool(true)),
			"DTSTART;VALUE=DATE:20250107|DTEND;VALUE=DATE:20250109|RRULE:FREQ=WEEKLY;BYDAY=TU|RDATE;VALUE=DATE:20250106"},
		"the first is skipped by the clocks": {texts("startUtc", "2025-03-24T01:30:00Z", "startTzid", berlin, "rrule",
			"FREQ=WEEKLY;COUNT=3;BYDAY=SU"), "DTSTART;TZID=Europe/Berlin:20250324T023000|RRULE:FREQ=WEEKLY;" +
			"UNTIL=20250406T003000Z;BYDAY=SU|RDATE;TZID=Europe/Berlin:20250324T023000"},
	} {
		drafts, err := ical.FromSeries(master(t, c.fields), nil)
		require.NoError(t, err, name)
		require.Equal(t, c.want, lines(t, drafts, "DTSTART", "DTEND", "RRULE", "RDATE", "EXDATE"), name)
	}
}

func TestFromSeries_writesExceptionsAsOtherProgramsReadThem(t *testing.T) {
	t.Parallel()
	it := master(t, texts("startUtc", "2025-01-06T08:00:00Z", "endUtc", "2025-01-06T09:00:00Z", "startTzid", berlin,
		"rrule", "FREQ=DAILY", "location", "here"))
	moved := exception(t, it, "20250708",
		with(texts("startUtc", "2025-07-08T12:00:00Z", "startTzid", berlin), "isAllDay", item.Bool(false)))
	renamed := exception(t, it, "20250709", texts("title", "other"))
	idle := exception(t, it, "20240101", texts("title", "never"))
	cancelled := exception(t, it, "20250710", texts("status", "CANCELLED"))
	undone := exception(t, it, "20250711", item.Item{})
	drafts, err := ical.FromSeries(it, nil, moved, renamed, idle, cancelled, undone)
	require.NoError(t, err)
	require.Len(t, drafts, 3)
	require.Equal(t, "EXDATE;TZID=Europe/Berlin:20250710T090000", lines(t, drafts, "EXDATE"))
	require.Equal(t, "RECURRENCE-ID;TZID=Europe/Berlin:20250708T090000|RECURRENCE-ID;TZID=Europe/Berlin:20250709T090000",
		lines(t, drafts, "RECURRENCE-ID"))
	require.Equal(t, "DTSTART;TZID=Europe/Berlin:20250106T090000|DTSTART;TZID=Europe/Berlin:20250708T140000|DTSTART;"+
		"TZID=Europe/Berlin:20250709T090000", lines(t, drafts, "DTSTART"))
	require.Equal(t, "SUMMARY:t|SUMMARY:t|SUMMARY:other", lines(t, drafts, "SUMMARY"))
	require.Equal(t, "LOCATION:here|LOCATION:here|LOCATION:here", lines(t, drafts, "LOCATION"))
	require.Equal(t, 3, strings.Count(lines(t, drafts, "DTSTAMP"), "DTSTAMP:20250301T120000Z"))

	result := again(t, drafts)
	require.Empty(t, result.Refused)
	require.Len(t, result.Drafts, 3)
	require.Equal(t, "20250708", result.Drafts[1].Date)
}

func TestFromSeries_writesCancellationsBeyondTheEXDATEsAsOverrides(t *testing.T) {
	t.Parallel()
	it := master(t, texts("startUtc", "2025-01-06T08:00:00Z", "startTzid", "UTC", "rrule", "FREQ=DAILY"))
	var rows []item.Item
	for i := range 501 {
		rows = append(rows,
			exception(t, it, time.Date(2025, 1, 6+i, 0, 0, 0, 0, time.UTC).Format("20060102"), texts("status", "CANCELLED")))
	}
	drafts, err := ical.FromSeries(it, nil, rows...)
	require.NoError(t, err)
	require.Len(t, drafts, 2)
	require.Len(t, drafts[0].ExDates, 500)
	require.Contains(t, lines(t, drafts, "STATUS"), "STATUS:CANCELLED")
	require.Empty(t, again(t, drafts).Refused)
}

func TestFromSeries_keepsAStartInTheSecondOfTwoHoursInItsZone(t *testing.T) {
	t.Parallel()
	drafts, err := ical.FromSeries(master(t, texts("startUtc", "2025-11-02T06:30:00Z", "endUtc", "2025-11-02T07:00:00Z",
		"startTzid", "America/New_York", "rrule", "FREQ=DAILY")), nil)
	require.NoError(t, err)
	require.Equal(t, "DTSTART;TZID=America/New_York:20251102T013000", lines(t, drafts, "DTSTART"))
}

func TestFromItem_countsARecurringReminderFromItsFirstTrigger(t *testing.T) {
	t.Parallel()
	it := stored(t, product.Reminder(), texts("title", "t", "triggerUtc", "2025-01-06T08:00:00Z", "tzid", berlin, "rrule",
		"FREQ=DAILY", "rruleUntil", "2026-01-06T08:00:00Z"))
	next := it.Clone()
	next["triggerUtc"] = item.String("2025-07-06T07:00:00Z")
	next = product.Reminder().NextVersion(entity.ByUser, "user", it, next, stamp, nil)
	draft, err := ical.FromItem(next, nil)
	require.NoError(t, err)
	require.Equal(t, "DTSTART;TZID=Europe/Berlin:20250106T090000|RRULE:FREQ=DAILY;UNTIL=20260106T080000Z",
		lines(t, []ical.Draft{draft}, "DTSTART", "RRULE", "DUE"))
	back := again(t, []ical.Draft{draft}).Drafts[0]
	require.Equal(t, product.TypeReminder, back.Kind)
	require.Equal(t, "2025-01-06T08:00:00Z", back.Fields.Str("triggerUtc"))
	_, err = ical.FromItem(master(t, texts("startUtc", "2025-01-06T08:00:00", "rrule", "FREQ=DAILY")), nil)
	require.Error(t, err)
}
