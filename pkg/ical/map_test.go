package ical_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/ical"
	"nexus/pkg/product"
)

func mapped(t testing.TB, lines ...string) ical.Result {
	t.Helper()
	return ical.Map(product.Registry(), decode(t, calendar(lines...)))
}

// event maps one VEVENT, which must be taken.
func event(t testing.TB, lines ...string) ical.Draft {
	t.Helper()
	result := mapped(t, "BEGIN:VEVENT\r\nUID:u\r\n"+strings.Join(lines, "\r\n")+"\r\nEND:VEVENT")
	require.Empty(t, result.Refused, lines)
	require.NotEmpty(t, result.Drafts, lines)
	return result.Drafts[0]
}

// refused maps one component, which must not be taken, and returns the reason.
func refused(t testing.TB, name string, lines ...string) string {
	t.Helper()
	result := mapped(t, "BEGIN:"+name+"\r\nUID:u\r\n"+strings.Join(lines, "\r\n")+"\r\nEND:"+name)
	require.Empty(t, result.Drafts, lines)
	require.Len(t, result.Refused, 1)
	require.Equal(t, "u", result.Refused[0].UID)
	require.Equal(t, 3, result.Refused[0].Line)
	return result.Refused[0].Reason
}

func todo(t testing.TB, lines ...string) ical.Draft {
	t.Helper()
	result := mapped(t, "BEGIN:VTODO\r\nUID:u\r\nSUMMARY:s\r\n"+strings.Join(lines, "\r\n")+"\r\nEND:VTODO")
	require.Empty(t, result.Refused, lines)
	return result.Drafts[0]
}

// times returns the fields that say when, in one line.
func times(d ical.Draft) string {
	var parts []string
	for _, name := range []string{
		"startDate", "endDate", "dueDate", "startUtc", "endUtc", "dueUtc", "triggerUtc", "startTzid", "endTzid",
		"dueTzid", "tzid",
	} {
		if d.Fields.Has(name) {
			parts = append(parts, name+"="+d.Fields.Str(name))
		}
	}
	return strings.Join(parts, " ")
}

func TestMap_readsEveryFormOfStartAndEnd(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]string{
		"DTSTART;VALUE=DATE:20250101":                           "startDate=2025-01-01 endDate=2025-01-02",
		"DTSTART:20250101":                                      "startDate=2025-01-01 endDate=2025-01-02",
		"DTSTART;VALUE=DATE:20250101|DTEND;VALUE=DATE:20250104": "startDate=2025-01-01 endDate=2025-01-04",
		"DTSTART;VALUE=DATE:20250101|DTEND;VALUE=DATE:20250101": "startDate=2025-01-01 endDate=2025-01-02",
		"DTSTART;VALUE=DATE:20250101|DURATION:P1W":              "startDate=2025-01-01 endDate=2025-01-08",
		"DTSTART;VALUE=DATE:20250101|DURATION:PT48H":            "startDate=2025-01-01 endDate=2025-01-03",
		"DTSTART:20250101T090000":                               "startUtc=2025-01-01T09:00:00",
		"DTSTART:20250101T0900":                                 "startUtc=2025-01-01T09:00:00",
		"DTSTART:20250101T090000|DTEND:20250101T100060":         "startUtc=2025-01-01T09:00:00 endUtc=2025-01-01T10:00:59",
		"DTSTART:20250101T090000Z":                              "startUtc=2025-01-01T09:00:00Z startTzid=UTC",
		"DTSTART;TZID=Europe/Berlin:20250101T090000Z":           "startUtc=2025-01-01T09:00:00Z startTzid=UTC",
		"DTSTART;TZID=Europe/Berlin:20250101T090000|DURATION:PT90M": "startUtc=2025-01-01T08:00:00Z " +
			"endUtc=2025-01-01T09:30:00Z startTzid=Europe/Berlin",
		"DTSTART;TZID=Europe/Berlin:20250101T090000|DTEND:20250101T1000Z": "startUtc=2025-01-01T08:00:00Z " +
			"endUtc=2025-01-01T10:00:00Z startTzid=Europe/Berlin endTzid=UTC",
		"DTSTART;TZID=Europe/Berlin:20250101T090000|DTEND;TZID=Asia/Tokyo:20250102T050000": "startUtc=2025-01-01T08:00:00Z " +
			"endUtc=2025-01-01T20:00:00Z startTzid=Europe/Berlin endTzid=Asia/Tokyo",
		// A day is a day of the calendar, 24 hours are not (RFC 5545 §3.3.6): clocks go forward on 30 March.
		"DTSTART;TZID=Europe/Berlin:20250329T120000|DURATION:P1D": "startUtc=2025-03-29T11:00:00Z " +
			"endUtc=2025-03-30T10:00:00Z startTzid=Europe/Berlin",
		"DTSTART;TZID=Europe/Berlin:20250329T120000|DURATION:PT24H": "startUtc=2025-03-29T11:00:00Z " +
			"endUtc=2025-03-30T11:00:00Z startTzid=Europe/Berlin",
		// A time in a gap moves forward, one that comes twice means the first (RFC 5545 §3.3.5).
		"DTSTART;TZID=America/New_York:20250309T023000": "startUtc=2025-03-09T07:30:00Z startTzid=America/New_York",
		"DTSTART;TZID=America/New_York:20251102T013000": "startUtc=2025-11-02T05:30:00Z startTzid=America/New_York",
	} {
		d := event(t, strings.Split(lines, "|")...)
		require.Equal(t, product.TypeEvent, d.Kind)
		require.Equal(t, want, times(d), lines)
		require.Equal(t, strings.Contains(want, "Date"), d.Fields.Bool("isAllDay"), lines)
	}
}

func TestMap_refusesWithTheReasonWhatCannotBeTaken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ component, lines, reason string }{
		{"VEVENT", "SUMMARY:x", "no DTSTART"},
		{"VEVENT", "DTSTART:tomorrow", "neither a date"},
		{"VEVENT", "DTSTART:20250230", `"20250230" is no date of the calendar`},
		{"VEVENT", "DTSTART:20250230T090000Z", `"20250230T090000Z" is no date of the calendar`},
		{"VEVENT", "DTSTART:20250101T250000Z", "neither a date"},
		{"VEVENT", "DTSTART:20250101T090000ZZ", "neither a date"},
		{"VEVENT", "DTSTART:18000101T090000Z", "1900"},
		{"VEVENT", "DTSTART:20250101T090000Z|DTEND:20250101T080000Z", "before DTSTART"},
		{"VEVENT", "DTSTART;TZID=Europe/Berlin:20250101T090000|DTEND:20250101T100000", "not of one kind"},
		{"VEVENT", "DTSTART:20250101|DURATION:PT1H", "whole days"},
		{"VEVENT", "DTSTART:20250101T090000Z|DURATION:-PT1H", "negative"},
		{"VEVENT", "DTSTART:20250101T090000Z|DURATION:1 hour", "no duration"},
		{"VEVENT", "DTSTART;TZID=Nowhere/City:20250101T090000", "no VTIMEZONE"},
		{"VEVENT", "DTSTART;TZID:20250101T090000", "TZID"},
		{"VEVENT", "DTSTART:20250101|RECURRENCE-ID;RANGE=THISANDFUTURE:20250101", "together with its series"},
		{"VEVENT", "DTSTART:20250101|RRULE:FREQ=DAILY|EXRULE:FREQ=WEEKLY", "EXRULE"},
		{"VEVENT", "DTSTART:20250101|RRULE:FREQ=DAILY|RRULE:FREQ=WEEKLY", "more than one RRULE"},
		{"VEVENT", "DTSTART:20250101|RRULE:FREQ=DAILY|RDATE:20250101T090000", "RDATE"},
		{"VEVENT", "DTSTART:20250101|RRULE:FREQ=DAILY|EXDATE:20250101," + strings.Repeat("x", 90), "EXDATE"},
		{"VTODO", "DTSTART:20250102T090000Z|DUE:20250101T090000Z", "before DTSTART"},
		{"VTODO", "DTSTART:20250101T090000|DUE:20250101T100000Z", "both have a zone"},
		{"VTODO", "RRULE:FREQ=DAILY", "needs DTSTART or DUE"},
		{"VTODO", "DUE:20250101|RRULE:FREQ=DAILY", "not a date"},
		{"VTODO", "DUE:20250101T090000Z|RRULE:FREQ=DAILY|EXDATE:20250101T090000Z", "EXDATE"},
		{"VTODO", "DUE:20250101T090000Z|RECURRENCE-ID:20250101T090000Z", "exception"},
		{"VJOURNAL", "DTSTART:20250101", "neither an event nor a to-do"},
		{"VFREEBUSY", "DTSTART:20250101T090000Z", "neither an event nor a to-do"},
	} {
		require.Contains(t, refused(t, c.component, strings.Split(c.lines, "|")...), c.reason, c.lines)
	}
	for line, reason := range map[string]string{
		"VERSION:1.0": "vCalendar", "CALSCALE:HEBREW": "GREGORIAN", "METHOD:REPLY": "REPLY",
	} {
		result := ical.Map(
			product.Registry(),
			decode(t, text("BEGIN:VCALENDAR", line, "BEGIN:VEVENT", "DTSTART:20250101", "END:VEVENT", "END:VCALENDAR")))
		require.Empty(t, result.Drafts)
		require.Contains(t, result.Refused[0].Reason, reason)
	}
	cut := ical.Map(product.Registry(), decode(t, text("BEGIN:VCALENDAR", "BEGIN:VEVENT", "DTSTART:20250101")))
	require.Contains(t, cut.Refused[0].Reason, "no END")
}

func TestMap_takesTheWordsOfAnEvent(t *testing.T) {
	t.Parallel()
	d := event(t, "DTSTART:20250101", `SUMMARY:Lunch\, with\n  Ann`, `DESCRIPTION:one\ntwo\;`, "LOCATION:Here",
		"STATUS:tentative",
		`CATEGORIES:work,a\,b`, "CATEGORIES:home,work,", "COLOR:SlateBlue", "SEQUENCE:7", "CREATED:20240101T000000Z")
	require.Equal(t, "Lunch, with Ann", d.Fields.Str("title"))
	require.Equal(t, "one\ntwo;", d.Fields.Str("description"))
	require.Equal(t, "Here", d.Fields.Str("location"))
	require.Equal(t, "TENTATIVE", d.Fields.Str("status"))
	require.Equal(t, []string{"a,b", "home", "work"}, d.Fields.Strings("tags"))
	require.Equal(t, "#6a5acd", d.Fields.Str("color"))
	require.EqualValues(t, 7, d.Sequence)
	require.Equal(t, 2024, d.CreatedAt.Year())

	require.Equal(t, "https://example.org/a",
		event(t, "DTSTART:20250101", "URL:https://example.org/a").Fields.Str("location"))
	require.Equal(t, "(no title)", event(t, "DTSTART:20250101", "SUMMARY:").Fields.Str("title"))
	require.Equal(t, "#e78074", event(t, "DTSTART:20250101", "X-APPLE-CALENDAR-COLOR:#E78074FF").Fields.Str("color"))
	require.Equal(t, "CONFIRMED", event(t, "DTSTART:20250101", "STATUS:WHATEVER").Fields.Str("status"))
}

func TestMap_turnsAlarmsIntoMinutesBefore(t *testing.T) {
	t.Parallel()
	for trigger, want := range map[string][]int64{
		"TRIGGER:-PT15M":                             {15},
		"TRIGGER:PT0S":                               {0},
		"TRIGGER:-P1D":                               {1440},
		"TRIGGER:-P1W":                               {10020},
		"TRIGGER:-PT90S":                             {2},
		"TRIGGER;RELATED=START:-PT1H":                {60},
		"TRIGGER;RELATED=END:-PT90M":                 {30},
		"TRIGGER;VALUE=DATE-TIME:20250331T060000Z":   {60},
		"TRIGGER:PT5M":                               nil,
		"TRIGGER;RELATED=END:PT0S":                   nil,
		"TRIGGER:-P5W":                               nil,
		"TRIGGER:soon":                               nil,
		"TRIGGER;VALUE=DATE-TIME:20250331T060000":    nil,
		"X-NOTHING:1":                                nil,
		"ACTION:NONE\r\nTRIGGER:-PT15M":              nil,
		"TRIGGER;VALUE=DATE-TIME:19760401T005545Z":   nil,
		"TRIGGER:-PT15M\r\nACTION:AUDIO\r\nREPEAT:2": {15},
	} {
		d := event(t, "DTSTART;TZID=Europe/Berlin:20250331T090000", "DURATION:PT1H", "BEGIN:VALARM", trigger, "END:VALARM")
		require.Equal(t, want, d.Fields.Ints("reminderMinutes"), trigger)
	}
	// A day before is the same time the day before, across the change of the clocks: 23 hours.
	require.Equal(t, []int64{23 * 60}, event(t, "DTSTART;TZID=Europe/Berlin:20250330T090000", "BEGIN:VALARM",
		"TRIGGER:-P1D", "END:VALARM").Fields.Ints("reminderMinutes"))
	require.Equal(t, []int64{900},
		event(t, "DTSTART:20250330", "BEGIN:VALARM", "TRIGGER:-PT15H", "END:VALARM").Fields.Ints("reminderMinutes"))
	require.Equal(t, []int64{30}, todo(t, "DTSTART:20250330T080000Z", "DUE:20250330T090000Z", "BEGIN:VALARM",
		"TRIGGER:PT30M", "END:VALARM").Fields.Ints("reminderMinutes"))
	require.Equal(t, []int64{30}, todo(t, "DUE:20250330T090000Z", "BEGIN:VALARM", "TRIGGER;RELATED=END:-PT30M",
		"END:VALARM").Fields.Ints("reminderMinutes"))

	var many []string
	for i := range 60 {
		many = append(many, "BEGIN:VALARM", fmt.Sprintf("TRIGGER:-PT%dM", 60-i), "END:VALARM")
	}
	d := event(t, append([]string{"DTSTART:20250330T090000Z"}, many...)...)
	require.Equal(t, []int64{11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, d.Fields.Ints("reminderMinutes"))
}

func TestMap_turnsToDosIntoTasks(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]string{
		"X-A:1":                                  "",
		"DUE;VALUE=DATE:20250101":                "dueDate=2025-01-01",
		"DTSTART:20250101|DUE:20250101":          "dueDate=2025-01-01",
		"DTSTART:20250101":                       "startUtc=2025-01-01T00:00:00",
		"DUE:20250101T090000":                    "dueUtc=2025-01-01T09:00:00",
		"DUE:20250101T090000Z":                   "dueUtc=2025-01-01T09:00:00Z dueTzid=UTC",
		"DTSTART:20250101T080000Z|DURATION:PT1H": "startUtc=2025-01-01T08:00:00Z dueUtc=2025-01-01T09:00:00Z dueTzid=UTC",
		"DTSTART:20250101T080000Z|DUE;TZID=Europe/Berlin:20250101T120000": "startUtc=2025-01-01T08:00:00Z " +
			"dueUtc=2025-01-01T11:00:00Z dueTzid=Europe/Berlin",
	} {
		d := todo(t, strings.Split(lines, "|")...)
		require.Equal(t, product.TypeTask, d.Kind)
		require.Equal(t, want, times(d), lines)
	}
	for lines, want := range map[string]string{
		"X-A:1": "BACKLOG", "STATUS:NEEDS-ACTION": "BACKLOG", "STATUS:IN-PROCESS": "IN_PROGRESS",
		"STATUS:COMPLETED": "COMPLETED", "STATUS:CANCELLED": "ARCHIVED", "COMPLETED:20250101T090000Z": "COMPLETED",
		"PERCENT-COMPLETE:100": "COMPLETED", "PERCENT-COMPLETE:40": "IN_PROGRESS", "STATUS:ODD": "BACKLOG",
	} {
		require.Equal(t, want, todo(t, lines).Fields.Str("status"), lines)
	}
	for n, want := range []int64{3, 1, 2, 2, 2, 3, 4, 4, 4, 5, 3} {
		require.Equal(t, want, todo(t, fmt.Sprintf("PRIORITY:%d", n)).Fields.Int("priority"), n)
	}
	require.Equal(t, 2025, todo(t, "COMPLETED:20250101T090000Z").CompletedAt.Year())
	require.True(t, todo(t, "STATUS:NEEDS-ACTION", "COMPLETED:20250101T090000Z").CompletedAt.IsZero())
}

func TestMap_turnsAToDoThatRepeatsIntoAReminder(t *testing.T) {
	t.Parallel()
	d := todo(t, "DTSTART;TZID=Europe/Berlin:20250101T090000", "RRULE:FREQ=YEARLY", "DESCRIPTION:n")
	require.Equal(t, product.TypeReminder, d.Kind)
	require.Equal(t, "triggerUtc=2025-01-01T08:00:00Z tzid=Europe/Berlin", times(d))
	require.Equal(t, "FREQ=YEARLY", d.RRule)
	require.Equal(t, "n", d.Fields.Str("notes"))
	require.Equal(t, "triggerUtc=2025-01-01T09:00:00", times(todo(t, "DUE:20250101T090000", "RRULE:FREQ=YEARLY")))
}

func TestID_dependsOnUserUIDAndCount(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, user := range []string{"a", "b"} {
		for _, uid := range []string{"1", "11", ""} {
			for k := range 3 {
				id := ical.ID("evt", user, uid, k)
				require.NoError(t, entity.CheckClientID("evt", id))
				require.Equal(t, id, ical.ID("evt", user, uid, k))
				require.False(t, seen[id])
				seen[id] = true
			}
		}
	}
	// Ids are for ever: a later import of a calendar must find what was imported before.
	require.Equal(t, "evt_9c077249-5f8e-59c8-98a2-1d827e9fe5ee", ical.ID("evt", "user", "uid@example.org", 0))
}

func TestContentUID_namesAComponentWithoutAUID(t *testing.T) {
	t.Parallel()
	uid := func(lines string) string {
		return mapped(t, "BEGIN:VEVENT\r\nDTSTART:20250101\r\n"+lines+"\r\nEND:VEVENT").Drafts[0].UID
	}
	require.NotEmpty(t, uid("SUMMARY:a"))
	require.Equal(t, uid("SUMMARY:a"), uid("SUMMARY:a\r\nDTSTAMP:20250101T000000Z\r\nUID:"))
	require.NotEqual(t, uid("SUMMARY:a"), uid("SUMMARY:b"))
}
