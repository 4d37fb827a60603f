package calendar_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"nexus/pkg/ical"
)

// strange are lines that random components have in addition to the usual ones.
var strange = []string{
	"CLASS:PRIVATE", "CLASS:X-OURS", "CLASS:PUBLIC", "TRANSP:TRANSPARENT", "TRANSP:OPAQUE", "TRANSP:X", "GEO:1;2",
	"CONTACT:a\\, b", "ORGANIZER;CN=\"a, b\":mailto:a@example.com",
	"ATTENDEE;PARTSTAT=ACCEPTED:mailto:b@example.com", "X-A;B=\"c:d\";E=f,g:h", "X-B;TZID=Europe/Berlin:20251210T090000",
	"X-C;TZID=Nowhere:x", "SUMMARY;LANGUAGE=de:x", "SUMMARY:a\\nb",
	"DESCRIPTION;ALTREP=\"cid:x\":z", "X-ALT-DESC;FMTTYPE=text/html:<p>z</p>", "RRULE:",
	"RRULE:FREQ=DAILY;FREQ=DAILY;COUNT=9", "RRULE:FREQ=WEEKLY;BYHOUR=9;BYMINUTE=0;BYSECOND=0",
	"RRULE:RSCALE=GREGORIAN;FREQ=MONTHLY",
	"RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:20251212T090000",
	"RECURRENCE-ID;RANGE=THISANDFUTURE:20251217T080000Z", "DTSTAMP:20251101T000000Z", "DTSTAMP:20251201T110000Z",
	"DTEND;VALUE=DATE:20251211", "COLOR:#ff0000", "X-APPLE-CALENDAR-COLOR:#112233FF", "PERCENT-COMPLETE:100",
	"STATUS:X-DONE", "PRIORITY:0", "DTSTART;VALUE=DATE:16041210", "CATEGORIES:b,a", "COMMENT:\u202ea", "LOCATION:a\u202eb",
	"BEGIN:VALARM\r\nACTION:EMAIL\r\nTRIGGER:-PT15M\r\nSUMMARY:s\r\nDESCRIPTION:d\r\nATTENDEE:mailto:a@example.com\r\n" +
		"END:VALARM",
	"BEGIN:VALARM\r\nACTION:AUDIO\r\nTRIGGER:PT1H\r\nREPEAT:2\r\nDURATION:PT5M\r\nEND:VALARM",
	"BEGIN:VALARM\r\nACTION:NONE\r\nTRIGGER;VALUE=DATE-TIME:19760401T005545Z\r\nEND:VALARM",
	"BEGIN:VLOCATION\r\nUID:l\r\nNAME:Here\r\nEND:VLOCATION",
}

// said returns the content of a text, component by component, without the time of writing and the order.
func (b *fixture) said(text []byte) []string {
	b.t.Helper()
	document, err := ical.Decode(text, ical.FileLimits())
	b.NoError(err)
	var all []string
	for _, c := range document.Calendars[0].Children {
		c.Properties = slices.DeleteFunc(c.Properties, func(p ical.Property) bool {
			return slices.Contains([]string{"DTSTAMP", "LAST-MODIFIED", "CREATED"}, p.Name)
		})
		if c.Name != "VTIMEZONE" {
			all = append(all, string(ical.Encode(c)))
		}
	}
	slices.Sort(all)
	return all
}

// travels imports a file, exports it, imports that elsewhere and exports it again. It returns both exports.
func travels(t testing.TB, file []byte) (here, there []byte, b *fixture) {
	b = setup(t)
	b.imports(ann, file)
	here = b.export(ann).Text
	b.advance(time.Hour)
	before := b.rows()
	again := b.imports(ann, here)
	if again.Created+again.Updated+len(again.Refused) > 0 || !sameRows(before, b.rows()) {
		t.Fatalf("an import of an export wrote something: %+v\n%s\n%s", again, file, here)
	}
	if other := b.imports(bob, here); len(other.Refused) > 0 {
		t.Fatalf("refused elsewhere: %+v\n%s\n%s", other, file, here)
	}
	return here, b.export(bob).Text, b
}

// Export, import elsewhere, export: the two say the same. `make calendars` asks 1,000 times.
func TestExport_keepsRandomCalendarsThroughAnImportElsewhere(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads random calendars")
	}
	usual := words
	rapid.Check(t, func(rt *rapid.T) {
		file := randomFileOf(rt, "components", slices.Concat(usual, strange, strange))
		here, there, b := travels(t, file)
		if !slices.Equal(b.said(here), b.said(there)) {
			rt.Fatalf("it says something else elsewhere\n%s\n%s\n%s", file, here, there)
		}
	})
}

func TestExport_keepsFilesOfOtherProgramsThroughAnImport(t *testing.T) {
	t.Parallel()
	for name, content := range files(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, there, b := travels(t, content)
			b.Equal(b.said(here), b.said(there))
		})
	}
}
