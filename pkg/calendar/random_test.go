package calendar_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"nexus/pkg/wallclock"

	"pgregory.net/rapid"
)

// words are lines of which random components are made: right ones, strange ones, wrong ones.
var words = []string{
	"DTSTART;TZID=Europe/Berlin:20251210T090000", "DTSTART:20251210T090000", "DTSTART:20251210T090000Z",
	"DTSTART;VALUE=DATE:20251210",
	"DTSTART;TZID=America/New_York:20251102T013000", "DTSTART;TZID=America/New_York:20260308T023000",
	"DTSTART;TZID=Pacific/Apia:20111230T120000",
	"DTEND;TZID=Europe/Berlin:20251210T103000", "DTEND;VALUE=DATE:20251213", "DTEND;TZID=Asia/Tokyo:20251211T090000",
	"DTEND:20251210T110000", "DURATION:PT90M", "DURATION:P2D", "DUE:20251211T090000Z", "DUE;VALUE=DATE:20251212",
	"DUE;TZID=Europe/Berlin:20251211T090000", "DUE:20251212T120000",
	"RRULE:FREQ=DAILY", "RRULE:FREQ=WEEKLY;BYDAY=WE,FR", "RRULE:FREQ=MONTHLY;COUNT=7",
	"RRULE:FREQ=YEARLY;UNTIL=20400101T000000Z", "RRULE:FREQ=DAILY;UNTIL=20251220", "RRULE:FREQ=MONTHLY;BYDAY=-1MO",
	"RRULE:FREQ=HOURLY", "EXDATE;TZID=Europe/Berlin:20251212T090000", "EXDATE:20251212T080000Z",
	"EXDATE;VALUE=DATE:20251212",
	"EXDATE:20251210T090000",
	"RDATE;TZID=Europe/Berlin:20251214T090000", "RDATE:20251214T150000Z", "RDATE;VALUE=DATE:20251216",
	"RDATE;VALUE=PERIOD:20251214T080000Z/PT5H", "RDATE:20251214T090000",
	"RECURRENCE-ID;TZID=Europe/Berlin:20251212T090000", "RECURRENCE-ID:20251212T080000Z",
	"RECURRENCE-ID;VALUE=DATE:20251212", "RECURRENCE-ID:20251213T090000", "RECURRENCE-ID:20251217T100000Z",
	"STATUS:CANCELLED", "STATUS:TENTATIVE", "STATUS:CONFIRMED", "STATUS:COMPLETED", "STATUS:IN-PROCESS",
	"STATUS:NEEDS-ACTION", "COMPLETED:20250101T000000Z", "PERCENT-COMPLETE:50",
	"SUMMARY:x", "SUMMARY:  y  z ", "SUMMARY:", "DESCRIPTION: a\\n\\nb ", "LOCATION:here", "URL:https://example.com/",
	"CATEGORIES:a,b", "CATEGORIES:c\\,d", "COLOR:navy", "X-NEXUS-COLOR:#123456",
	"PRIORITY:1", "PRIORITY:7", "SEQUENCE:1", "SEQUENCE:5", "X-NEXUS-ENTITY:REMINDER", "CREATED:20200101T000000Z",
	"LAST-MODIFIED:20250101T000000Z",
	"BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT15M\r\nEND:VALARM",
	"BEGIN:VALARM\r\nTRIGGER;RELATED=END:-P1D\r\nEND:VALARM", "BEGIN:VALARM\r\nTRIGGER:20251210T070000Z\r\nEND:VALARM",
}

// randomFile is a calendar of random components that share a few UIDs.
func randomFile(t *rapid.T, label string) []byte { return randomFileOf(t, label, words) }

func randomFileOf(t *rapid.T, label string, words []string) []byte {
	first := words[:7]
	var all []string
	for range rapid.IntRange(1, 6).Draw(t, label) {
		kind := rapid.SampledFrom([]string{"VEVENT", "VEVENT", "VEVENT", "VTODO"}).Draw(t, "kind")
		uid := rapid.SampledFrom([]string{"a", "b", "evt_00000000-0000-4000-8000-000000000001@nexus.app"}).Draw(t, "uid")
		lines := rapid.SliceOfNDistinct(rapid.SampledFrom(words), 0, 9, func(w string) string {
			name, _, _ := strings.Cut(w, ":")
			name, _, _ = strings.Cut(name, ";")
			return name
		}).Draw(t, "lines")
		if rapid.IntRange(0, 4).Draw(t, "start") > 0 {
			lines = append([]string{rapid.SampledFrom(first).Draw(t, "dtstart")}, lines...)
		}
		all = append(all, component(kind, uid, lines...))
	}
	if at := rapid.IntRange(-3, len(all)).Draw(t, "two calendars"); at > 0 {
		return append(text(all[:at]...), text(all[at:]...)...)
	}
	return text(all...)
}

// What was imported stays as it is when it is imported again, also after other files, and after a way out and in.
func TestImporter_changesNothingInRandomCalendarsImportedAgain(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads random calendars")
	}
	rapid.Check(t, func(rt *rapid.T) {
		b := setup(t)
		b.create(ann, eventType, event())
		for range rapid.IntRange(1, 3).Draw(rt, "files") {
			file := randomFile(rt, "components")
			first := b.imports(ann, file)
			before := b.rows()
			again := b.imports(ann, file)
			if again.Created+again.Updated > 0 || !sameRows(before, b.rows()) {
				rt.Fatalf("a second import changed something: %+v after %+v\n%s", again, first, file)
			}
			exported := b.export(ann)
			back := b.imports(ann, exported.Text)
			if back.Created+back.Updated+len(back.Refused) > 0 || !sameRows(before, b.rows()) {
				rt.Fatalf("what was exported changed something: %+v\n%s\n%s", back, file, exported.Text)
			}
			if other := setup(t); len(other.imports(ann, exported.Text).Refused) > 0 || !sameShown(b, other) {
				rt.Fatalf("another user sees something else\n%s\n%s", file, exported.Text)
			}
		}
	})
}

// sameShown compares what two calendars show in three years, by a clock far from those of the events.
func sameShown(a, b *fixture) bool {
	zone, err := wallclock.LoadLocation("Australia/Lord_Howe")
	a.NoError(err)
	from := time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)
	to := from.AddDate(3, 0, 0)
	key := func(list []shown) []string {
		var texts []string
		for _, o := range list {
			texts = append(texts, fmt.Sprint(o))
		}
		slices.Sort(texts)
		return texts
	}
	return slices.Equal(key(a.expand(ann, zone, from, to)), key(b.expand(ann, zone, from, to)))
}
