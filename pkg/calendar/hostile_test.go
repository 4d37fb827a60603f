package calendar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/ical"
)

// hostile are texts that cost as much as a request may.
func hostile() map[string][]byte {
	many := func(n int, make func(i int) string) []byte {
		var all []string
		for i := range n {
			all = append(all, make(i))
		}
		return text(all...)
	}
	dates := func(name string, n int) string {
		var b strings.Builder
		for i := range n {
			day := time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC).Format("20060102")
			b.WriteString(name + ";TZID=Europe/Berlin:" + day + "T1000" + fmt.Sprintf("%02d", i%60) + "\r\n")
		}
		return b.String()
	}
	return map[string][]byte{
		"a thousand events": many(1000, func(i int) string { return vevent(fmt.Sprint(i), starts, "SUMMARY:x") }),
		"a thousand series": many(1000, func(i int) string { return vevent(fmt.Sprint(i), starts, daily, "SUMMARY:x") }),
		"a thousand exceptions": many(1000, func(i int) string {
			if i == 0 {
				return vevent("s", starts, daily)
			}
			day := time.Date(2025, 12, 10+i, 0, 0, 0, 0, time.UTC).Format("20060102")
			return vevent("s", "RECURRENCE-ID;TZID=Europe/Berlin:"+day+"T090000", "DTSTART;TZID=Europe/Berlin:"+day+"T100000",
				"SUMMARY:x")
		}),
		"one UID": many(1000, func(i int) string { return vevent("u", starts, "SUMMARY:x", fmt.Sprintf("SEQUENCE:%d", i)) }),
		"a thousand orphans": many(1000, func(i int) string {
			return vevent(fmt.Sprint(i), "RECURRENCE-ID:20251210T090000Z", "DTSTART:20251210T090000Z")
		}),
		"moved RDATEs": text(vevent("s", starts, "RRULE:FREQ=YEARLY", strings.TrimSuffix(dates("RDATE", 450), "\r\n"))),
		"dates beyond count": text(vevent("s", starts, daily, strings.TrimSuffix(dates("RDATE", 5000), "\r\n"),
			strings.TrimSuffix(dates("EXDATE", 5000), "\r\n"))),
		"a huge line": text(vevent("s", starts, "SUMMARY:"+strings.Repeat("x", 3<<20))),
		"large texts": many(400, func(i int) string {
			return vevent(fmt.Sprint(i), starts, "DESCRIPTION:"+strings.Repeat("\\n\\,", 2500))
		}),
		"deep":   []byte(strings.Repeat("BEGIN:VCALENDAR\r\n", 10_000)),
		"nested": text(strings.Repeat("BEGIN:VEVENT\r\n", 5) + strings.Repeat("END:VEVENT\r\n", 5)),
		"lives of one and all": many(500, func(i int) string {
			return vevent("e", starts) + "\r\n" + vtodo("e", daily, "DTSTART:20250101T000000Z")
		}),
	}
}

func TestImporter_takesOrRefusesHostileCalendars(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads megabytes")
	}
	for name, content := range hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupFaulty(t) // the law is held elsewhere, and costs as much again
			_, _, err := b.importer.Import(t.Context(), ann, content, "key")
			if err != nil {
				var limit *ical.LimitError
				require.ErrorAs(t, err, &limit)
				return
			}
			r := b.imports(ann, content)
			b.Zero(r.Created+r.Updated, "%d refused", len(r.Refused))
			if !isUncounted {
				b.Less(b.calls["Transact"], 200)
			}
		})
	}
}

// FuzzImport: whatever is imported, a second time changes nothing, and what it makes can be exported and read again.
func FuzzImport(f *testing.F) {
	f.Add(text(vevent("a", starts, "SUMMARY:x"), vtodo("b", "DUE:20251211T090000Z", "STATUS:COMPLETED")))
	f.Add(
		text(vevent("a", starts, daily, "SUMMARY:x", "EXDATE;TZID=Europe/Berlin:20251211T090000", "RDATE:20251211T200000Z"),
			vevent("a", "RECURRENCE-ID;TZID=Europe/Berlin:20251212T090000", "DTSTART:20251212", "SUMMARY:y"),
			vevent("o", "RECURRENCE-ID:20250101", "DTSTART:20250102")))
	f.Add(text(vtodo("r", "DTSTART:20240101T090000", "RRULE:FREQ=MONTHLY;COUNT=30", "STATUS:CANCELLED", "SEQUENCE:4"),
		vevent("evt_x@nexus.app", "DTSTART;VALUE=DATE:20251101", "DURATION:P3D")))
	for _, content := range []string{
		"BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20250101T0900\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=2\nEND:VEVENT",
	} {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > 16<<10 {
			return
		}
		b := setup(t)
		if _, _, err := b.importer.Import(t.Context(), ann, content, ""); err != nil {
			return
		}
		before := b.rows()
		r := b.imports(ann, content)
		b.Zero(r.Created + r.Updated)
		b.Equal(before, b.rows())
		back := b.imports(ann, b.export(ann).Text)
		b.Zero(back.Created+back.Updated+len(back.Refused), "%+v", back)
		b.Equal(before, b.rows())
	})
}
