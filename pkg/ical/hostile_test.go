package ical_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/ical"
	"nexus/pkg/product"
)

// Each of these fills a request with what costs most to read.
func TestDecode_readsOrRefusesHostileCalendars(t *testing.T) {
	t.Parallel()
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+"\r\n", i)
		}
		return b.String()
	}
	event := "BEGIN:VEVENT\r\nUID:u\r\nDTSTART;TZID=Europe/Berlin:20250101T090000\r\nRRULE:FREQ=DAILY\r\n%sEND:VEVENT\r\n"
	zone := "BEGIN:VTIMEZONE\r\nTZID:z%[1]d\r\nBEGIN:STANDARD\r\nDTSTART:16010101T000000\r\nTZOFFSETFROM:+0117\r\n" +
		"TZOFFSETTO:+0118\r\n" +
		"RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\n" +
		"DTSTART;TZID=z%[1]d:20250101T090000\r\nEND:VEVENT"
	alarms := "BEGIN:VALARM\r\nTRIGGER;TZID=" + strings.Repeat("a/", 90) + "%d:20250101T090000\r\nEND:VALARM"
	for name, body := range map[string]string{
		"dates": fmt.Sprintf(event,
			"EXDATE:"+strings.Repeat("20250101T0917,", 15000)+"\r\nRDATE:"+strings.Repeat("20250101T0917,", 15000)+"\r\n"),
		"many dates": fmt.Sprintf(event, many(150_000, "EXDATE:20250101T%06d")),
		"derived":    strings.Repeat(fmt.Sprintf(event, many(28, "RDATE:202502%02dT100000")), 999),
		"categories": fmt.Sprintf(event, many(20, "CATEGORIES:x%d"+strings.Repeat(",y", 100_000))),
		"zones":      many(999, zone),
		"prefixes":   strings.Repeat(fmt.Sprintf(event, many(45, alarms)), 400),
		"parameters": fmt.Sprintf(event, many(2000, "X-P%d;A="+strings.Repeat(",", 900)+strings.Repeat(";B=", 60)+":v")),
		"rules":      fmt.Sprintf(event, many(100_000, "RRULE:FREQ=YEARLY;COUNT=%d")),
		"ranges": fmt.Sprintf(event, "") + many(990, "BEGIN:VEVENT\r\nUID:u\r\n"+
			"RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Berlin:2026%04dT090000\r\nDTSTART:20260101T090000Z\r\nEND:VEVENT"),
		"kept": fmt.Sprintf(event, many(150_000, "X-%d:x")),
		"calendars": "END:VCALENDAR\r\n" + strings.Repeat("BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n", 30_000) +
			"BEGIN:VCALENDAR\r\n",
		"blank": strings.Repeat("\r\n", 2_500_000),
		"folds": "SUMMARY:x\r\n" + strings.Repeat(" y\r\n", 1_000_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := calendar(body)
			document, err := ical.Decode(content[:min(len(content), 5<<20)], ical.RequestLimits())
			if err != nil {
				var limit *ical.LimitError
				require.ErrorAs(t, err, &limit)
				return
			}
			result := ical.Map(product.Registry(), document)
			require.Less(t, len(result.Drafts), 2100)
			require.Less(t, len(result.LeftOut), 25_000)
		})
	}
}
