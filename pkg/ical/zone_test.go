package ical_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/ical"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/wallclock"
)

// zoned maps an event of the zone, and returns the zone it was given or the reason why there is none.
func zoned(t *testing.T, tzid, day string, definition ...string) string {
	t.Helper()
	lines := append(definition, "BEGIN:VEVENT", "UID:u", `DTSTART;TZID="`+tzid+`":`+day+"T090000", "END:VEVENT")
	result := mapped(t, lines...)
	if len(result.Refused) > 0 {
		return result.Refused[0].Reason
	}
	return result.Drafts[0].Fields.Str("startTzid")
}

func TestZoneNamed_knowsZonesByName(t *testing.T) {
	t.Parallel()
	for tzid, want := range map[string]string{
		"Europe/Berlin":             "Europe/Berlin",
		"America/Argentina/Ushuaia": "America/Argentina/Ushuaia",
		"UTC":                       "UTC",
		"Etc/UTC":                   "UTC",
		"GMT":                       "UTC",
		"tzone://Microsoft/Utc":     "UTC",
		"PST8PDT":                   "America/Los_Angeles",
		"/freeassociation.sourceforge.net/Tzfile/Europe/Berlin":      "Europe/Berlin",
		"/freeassociation.sourceforge.net/America/Argentina/Ushuaia": "America/Argentina/Ushuaia",
		"/mozilla.org/20050126_1/America/New_York":                   "America/New_York",
		"/softwarestudio.org/Olson_20011030_5/Asia/Tokyo":            "Asia/Tokyo",
		"W. Europe Standard Time":                                    "Europe/Berlin",
		"W. Europe Daylight Time":                                    "Europe/Berlin",
		"W. Europe":                                                  "Europe/Berlin",
		"Pacific Standard Time":                                      "America/Los_Angeles",
		"AUS Eastern Standard Time":                                  "Australia/Sydney",
		"India Standard Time":                                        "Asia/Kolkata",
		"Berlin": `DTSTART: the zone "Berlin" is not known, and no ` +
			`VTIMEZONE describes it`,
		"Local": `DTSTART: the zone "Local" is not known, and no VTIMEZONE describes it`,
		"../../etc/passwd": `DTSTART: the zone "../../etc/passwd" is not known, ` +
			`and no VTIMEZONE describes it`,
	} {
		require.Equal(t, want, zoned(t, tzid, "20250101"), tzid)
	}
}

func vtimezone(tzid string, lines ...string) []string {
	return append(append([]string{"BEGIN:VTIMEZONE", "TZID:" + strings.ReplaceAll(tzid, ",", `\,`)}, lines...),
		"END:VTIMEZONE")
}

func observance(kind, start, from, to string, lines ...string) []string {
	return append(append([]string{"BEGIN:" + kind, "DTSTART:" + start, "TZOFFSETFROM:" + from, "TZOFFSETTO:" + to},
		lines...), "END:"+kind)
}

func TestZoneMap_findsAZoneWithoutAKnownNameByItsRules(t *testing.T) {
	t.Parallel()
	europe := append(
		observance("STANDARD", "16010101T030000", "+0200", "+0100", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10"),
		observance("DAYLIGHT", "16010101T020000", "+0100", "+0200", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3")...)
	states := append(observance("STANDARD", "16010101T020000", "-0400", "-0500", "RRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=11"),
		observance("DAYLIGHT", "16010101T020000", "-0500", "-0400", "RRULE:FREQ=YEARLY;BYDAY=2SU;BYMONTH=3")...)
	sydney := append(observance("STANDARD", "20080406T030000", "+1100", "+1000",
		"RRULE:FREQ=YEARLY;BYDAY=SU;BYMONTHDAY=1,2,3,4,5,6,7;BYMONTH=4"),
		observance("DAYLIGHT", "20081005T020000", "+1000", "+1100", "RRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=10")...)
	dated := append(
		observance("STANDARD", "20241027T030000", "+0200", "+0100", "RDATE:20251026T030000,20261025T030000,20271031T030000"),
		observance("DAYLIGHT", "20240331T020000", "+0100", "+0200", "RDATE:20250330T020000", "RDATE:20260329T020000",
			"RDATE:20270328T020000")...)
	for _, c := range []struct {
		tzid, day  string
		definition []string
		want       string
	}{
		{"Custom", "20250601", europe, "Europe/Berlin"},
		{"(UTC+01:00) Brussels, Copenhagen, Madrid, Paris", "20250601", europe, "Europe/Paris"},
		{"Eastern Time (US & Canada)", "20250601", states, "America/New_York"},
		{"Eastern", "19990601", states, "America/New_York"}, // by name, whatever the rules were
		{"Custom", "19990601", states, "no zone that is"},   // the rules of 2007 in 1999
		{"Custom", "20250601", sydney, "Australia/Sydney"},
		{"Custom", "20250601", dated, "Europe/Berlin"},
		{"Custom", "20250601", observance("STANDARD", "19700101T000000", "+0530", "+0530"), "Asia/Kolkata"},
		{"Custom", "20250601", observance("STANDARD", "19700101T000000", "-0300", "-0300"), "Etc/GMT+3"},
		{"Tokyo or so", "20250601", observance("STANDARD", "19700101T000000", "+0900", "+0900"), "Asia/Tokyo"},
		{"Custom", "20250601", observance("STANDARD", "19700101T000000", "+0000", "+0000"), "UTC"},
		{"Custom", "20250601", observance("STANDARD", "19700101T000000", "+0117", "+0117"), "no zone that is"},
		{"Custom", "20250601", observance("STANDARD", "19700101T000000", "+1", "+0100"), "cannot be read"},
		{"Custom", "20250601", observance("STANDARD", "19700101T000000", "+0100", "+0100", "RRULE:FREQ=DAILY"),
			"cannot be read"},
		{"Custom", "20250601", nil, "cannot be read"},
		{"Custom", "20250601", []string{"X-LIC-LOCATION:Asia/Tokyo"}, "Asia/Tokyo"},
		{"Custom", "20250601", []string{"X-TZINFO:Asia/Tokyo[2024a]"}, "Asia/Tokyo"},
		{"Custom", "20250601", []string{"TZID-ALIAS-OF:Asia/Tokyo"}, "Asia/Tokyo"},
	} {
		require.Contains(t, zoned(t, c.tzid, c.day, vtimezone(c.tzid, c.definition...)...), c.want, c.tzid)
	}
	lines := append([]string{"BEGIN:VCALENDAR", "X-WR-TIMEZONE:Europe/Vienna"}, vtimezone("Custom", europe...)...)
	lines = append(lines, "BEGIN:VEVENT", "UID:u", "DTSTART;TZID=Custom:20250601T090000", "END:VEVENT", "END:VCALENDAR")
	result := ical.Map(product.Registry(), decode(t, text(lines...)))
	require.Equal(t, "Europe/Vienna", result.Drafts[0].Fields.Str("startTzid"))
}

// Every zone that is written can be recognised by its rules alone: the VTIMEZONE says what the zone database says.
func TestTimeZone_writesTheRulesOfItsZone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Europe/Berlin", "Europe/London", "America/New_York", "America/Sao_Paulo", "Australia/Sydney", "Australia/Lord_Howe",
		"Asia/Tokyo", "Asia/Kolkata", "Africa/Casablanca", "Asia/Jerusalem", "America/Santiago", "Pacific/Apia",
		"Africa/Cairo", "Europe/Dublin", "Asia/Tehran", "Antarctica/Troll", "America/Havana", "Asia/Gaza", "America/Nuuk",
		"Europe/Istanbul",
	} {
		for _, year := range []int{1975, 2006, 2011, 2024} {
			start := time.Date(year, 6, 1, 9, 0, 0, 0, time.UTC)
			d := ical.Draft{Kind: product.TypeEvent, UID: "u", Fields: item.Item{
				"title": item.String("t"), "status": item.String("CONFIRMED"), "isAllDay": item.Bool(false),
				"startUtc": item.String(item.FormatInstant(start)), "startTzid": item.String(name),
			}}
			later := d
			later.UID, later.Fields = "v", d.Fields.Clone()
			later.Fields["startUtc"] = item.String(item.FormatInstant(start.AddDate(11, 0, 0)))
			built, err := ical.Calendar{Stamp: start}.Build([]ical.Draft{d, later})
			require.NoError(t, err)
			written := string(ical.Encode(built))
			require.Contains(t, written, "BEGIN:VTIMEZONE")
			hidden := strings.ReplaceAll(written, "X-LIC-LOCATION:"+name, "X-WR-TIMEZONE:none")
			hidden = strings.ReplaceAll(hidden, name, "Hidden")
			hidden = strings.Replace(hidden, "CALSCALE:GREGORIAN", "X-WR-TIMEZONE:"+name, 1)
			result := ical.Map(product.Registry(), decode(t, []byte(hidden)))
			require.Empty(t, result.Refused, "%s %d\n%s", name, year, written)
			require.Equal(t, start, instant(t, result.Drafts[0], "startUtc"))
			require.Equal(t, name, result.Drafts[0].Fields.Str("startTzid"), "%d\n%s", year, written)
		}
	}
}

func instant(t *testing.T, d ical.Draft, name string) time.Time {
	t.Helper()
	at, ok := d.Fields.Time(name)
	require.True(t, ok)
	return at
}

func TestZoneNamed_takesEveryNameOfWindowsAndEveryAlias(t *testing.T) {
	t.Parallel()
	for _, name := range append(ical.WindowsZoneNames(), "cet", "met", "eet", "wet", "est", "mst", "hst", "gb", "nz",
		"prc", "roc", "rok") {
		zone := zoned(t, name, "20250101")
		_, err := wallclock.LoadLocation(zone)
		require.NoError(t, err, name)
	}
}
