package ical_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/ical"
	"nexus/pkg/item"
	"nexus/pkg/wallclock"
)

// Other programs read the exported VTIMEZONEs here. What the clocks of a zone show is asked of package time.

// lastYearAsked ends the years that are asked for; they begin with the series.
const lastYearAsked = 2060

// zoneCase is a VTIMEZONE to be read, and readings of which the instants are known.
type zoneCase struct {
	name     string
	text     []byte
	readings []int64 // seconds of a clock that shows UTC
	instants []int64
}

// dailyFrom exports a daily series that begins at noon in June of a year.
func dailyFrom(t *testing.T, zone string, year int) []byte {
	t.Helper()
	location, err := time.LoadLocation(zone)
	require.NoError(t, err)
	start := time.Date(year, 6, 1, 12, 0, 0, 0, location)
	d := ical.Draft{Kind: entity.TypeMaster, UID: "u", RRule: "FREQ=DAILY", Fields: item.Item{
		"title": item.String("t"), "status": item.String("CONFIRMED"), "isAllDay": item.Bool(false),
		"startUtc": item.String(item.FormatInstant(start)), "startTzid": item.String(zone),
	}}
	built, err := ical.Calendar{Stamp: start}.Build([]ical.Draft{d})
	require.NoError(t, err)
	return ical.Encode(built)
}

// ask adds readings on both sides of each change of the clocks and one in ten days: those that exist once.
func (c *zoneCase) ask(location *time.Location, firstYear int) {
	add := func(at time.Time) {
		_, offset := at.Zone()
		c.instants = append(c.instants, at.Unix())
		c.readings = append(c.readings, at.Unix()+int64(offset))
	}
	offsetOf := func(at time.Time) time.Duration {
		_, seconds := at.Zone()
		return time.Duration(seconds) * time.Second
	}
	const step = 10 * 24 * time.Hour
	end := time.Date(lastYearAsked+1, 1, 1, 0, 0, 0, 0, time.UTC)
	for at := time.Date(firstYear, 1, 1, 12, 0, 0, 0, time.UTC).In(location); at.Before(end); at = at.Add(step) {
		next := at.Add(step)
		for from := at; ; {
			changed, ok := changeBetween(from, next)
			if !ok {
				break
			}
			repeated := max(0, offsetOf(changed.Add(-time.Second))-offsetOf(changed))
			add(changed.Add(-repeated - time.Second))
			add(changed.Add(repeated))
			from = changed
		}
		if around := offsetOf(at.Add(-48 * time.Hour)); around == offsetOf(at.Add(48*time.Hour)) && around == offsetOf(at) {
			add(at)
		}
	}
}

// changeBetween finds the first change of the clocks after one time and not after another.
func changeBetween(from, to time.Time) (time.Time, bool) {
	offsetAt := func(at time.Time) int { _, seconds := at.Zone(); return seconds }
	for at := from; at.Before(to); at = at.Add(12 * time.Hour) {
		if offsetAt(at) == offsetAt(at.Add(12*time.Hour)) {
			continue
		}
		low, high := at, at.Add(12*time.Hour)
		for high.Sub(low) > time.Second {
			if middle := low.Add(high.Sub(low) / 2).Truncate(time.Second); offsetAt(middle) == offsetAt(low) {
				low = middle
			} else {
				high = middle
			}
		}
		return high, true
	}
	return time.Time{}, false
}

// zoneReader is another program that reads VTIMEZONEs.
type zoneReader struct {
	name    string
	install string
	command []string
	// minutes: it passes over the seconds of an offset (RFC 5545 §3.3.14), such as Monrovia had until 1972.
	minutes bool
}

func zoneReaders() []zoneReader {
	bin := filepath.Join("..", "..", "bin")
	return []zoneReader{
		{"ical.js", "make icaljs",
			[]string{"node", filepath.Join("zonereaders", "zones.cjs"), filepath.Join(bin, "ical.cjs")}, true},
		{"libical", "make libical", []string{filepath.Join(bin, "libical-zones")}, false},
	}
}

// read asks the reader for the instants of all readings; it skips the test where the reader is not installed.
func (r zoneReader) read(t *testing.T, cases []zoneCase) [][]int64 {
	t.Helper()
	if _, err := os.Stat(r.command[len(r.command)-1]); err != nil {
		t.Skipf("NOT TESTED: %s is not installed (%s)", r.name, r.install)
	}
	var input, out, complaints bytes.Buffer
	for _, c := range cases {
		fmt.Fprintf(&input, "%d %d\n%s", len(c.text), len(c.readings), c.text)
		for _, reading := range c.readings {
			fmt.Fprintln(&input, reading)
		}
	}
	cmd := exec.CommandContext(t.Context(), r.command[0], r.command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &input, &out, &complaints
	require.NoError(t, cmd.Run(), "%s", &complaints)
	lines := strings.Fields(out.String())
	answers := make([][]int64, len(cases))
	for i, c := range cases {
		require.GreaterOrEqual(t, len(lines), len(c.readings), c.name)
		for _, line := range lines[:len(c.readings)] {
			at, err := strconv.ParseInt(line, 10, 64)
			require.NoError(t, err)
			answers[i] = append(answers[i], at)
		}
		lines = lines[len(c.readings):]
	}
	require.Empty(t, lines)
	return answers
}

// requireRead holds what a reader makes of the cases against the instants. Of what is wrong it shows the first of each
// case.
func (r zoneReader) requireRead(t *testing.T, cases []zoneCase) {
	t.Helper()
	var wrong []string
	readings := 0
	for i, got := range r.read(t, cases) {
		c := cases[i]
		readings += len(got)
		for j, at := range got {
			if r.minutes && (c.readings[j]-c.instants[j])%60 != 0 {
				continue
			}
			if at != c.instants[j] {
				wrong = append(wrong, fmt.Sprintf("%s at %s: %+d s", c.name,
					time.Unix(c.readings[j], 0).UTC().Format("2006-01-02T15:04:05"), at-c.instants[j]))
				break
			}
		}
	}
	t.Logf("%s: %d VTIMEZONEs, %d readings", r.name, len(cases), readings)
	require.Empty(t, wrong, "%d of %d VTIMEZONEs are read otherwise by %s", len(wrong), len(cases), r.name)
}

// allZones are the names in the zone database that comes with Go.
func allZones(t *testing.T) []string {
	t.Helper()
	goroot, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	require.NoError(t, err)
	files, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(goroot)), "lib", "time", "zoneinfo.zip"))
	require.NoError(t, err)
	defer func() { require.NoError(t, files.Close()) }()
	var names []string
	for _, file := range files.File {
		if _, err := wallclock.LoadLocation(file.Name); err == nil && file.Name != "UTC" {
			names = append(names, file.Name)
		}
	}
	require.Greater(t, len(names), 500)
	return names
}

// zoneCases exports a series for each zone and year; of zones that differ in their names alone, one.
func zoneCases(t *testing.T, zones []string, years []int) []zoneCase {
	t.Helper()
	var cases []zoneCase
	seen := map[string]bool{}
	for _, zone := range zones {
		location, err := time.LoadLocation(zone)
		require.NoError(t, err)
		for _, year := range years {
			c := zoneCase{name: fmt.Sprintf("%s from %d", zone, year), text: dailyFrom(t, zone, year)}
			c.ask(location, year)
			key := fmt.Sprint(strings.ReplaceAll(string(c.text), zone, ""), c.instants)
			if !seen[key] {
				seen[key] = true
				cases = append(cases, c)
			}
		}
	}
	return cases
}

// NEXUS_ZONES=all asks about every zone: `make zones`.
func TestTimeZone_isReadByOtherPrograms(t *testing.T) {
	t.Parallel()
	zones := []string{
		"America/New_York", "Europe/Istanbul", "Africa/Cairo", "Europe/Berlin", "Africa/Casablanca", "Asia/Gaza",
		"America/Santiago", "Asia/Jerusalem", "Australia/Lord_Howe", "Europe/Dublin", "Pacific/Apia", "America/Nuuk",
	}
	years := []int{1950, 1985, 2020}
	if os.Getenv("NEXUS_ZONES") == "all" {
		zones, years = allZones(t),
			[]int{1950, 1955, 1960, 1965, 1970, 1975, 1980, 1985, 1990, 1995, 2000, 2005, 2010, 2015, 2020}
	}
	cases := zoneCases(t, zones, years)
	for _, reader := range zoneReaders() {
		t.Run(reader.name, func(t *testing.T) {
			t.Parallel()
			reader.requireRead(t, cases)
		})
	}
}
