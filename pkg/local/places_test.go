package local_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Everything here asks package time alone what the clocks of a place do, one minute after the other: the tests compare
// the product's own reading of clocks with it.

// placesOfYear are zones whose clocks do something special in the year 2011: changes of an hour, north and south of the
// equator, one of half an hour, a day that was skipped (30 December in Apia), and none.
func placesOfYear() []string {
	return []string{"America/New_York", "Europe/London", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kolkata"}
}

const skippingYear = 2011

func location(t testing.TB, name string) *time.Location {
	t.Helper()
	l, err := time.LoadLocation(name)
	require.NoError(t, err)
	return l
}

// showing returns the reading of a place's clocks, labelled UTC.
func showing(at time.Time, l *time.Location) time.Time {
	s := at.In(l)
	return time.Date(s.Year(), s.Month(), s.Day(), s.Hour(), s.Minute(), s.Second(), 0, time.UTC)
}

// firstShown is the first instant at which the clocks show a reading. Where they skip it, it is read by the clock as it
// went before (RFC 5545 §3.3.5), so that it comes as much later as was skipped.
func firstShown(reading time.Time, l *time.Location) time.Time {
	const widest, shift = 27 * time.Hour, 3 * time.Hour
	at := reading.Add(-widest)
	for showing(at, l).Before(reading) {
		at = at.Add(time.Hour)
	}
	// What is shown twice may have been shown before the last whole hours.
	for at = at.Add(-shift); showing(at, l).Before(reading); {
		at = at.Add(time.Minute)
	}
	if showing(at, l).Equal(reading) {
		return at
	}
	before := at.Add(-time.Minute)
	return before.Add(reading.Sub(showing(before, l)))
}

// changesOf are the days of a year on which the clocks of a place change, as readings of the evening before.
func changesOf(year int, l *time.Location) []time.Time {
	var days []time.Time
	_, offset := time.Date(year, 1, 2, 0, 0, 0, 0, l).Zone()
	for at := time.Date(year, 1, 2, 0, 0, 0, 0, l); at.Year() == year; at = at.Add(time.Hour) {
		if _, now := at.Zone(); now != offset {
			days = append(days, showing(at.Add(-time.Hour), l))
			offset = now
		}
	}
	return days
}

// meeting is one occurrence as package time has it.
type meeting struct {
	Title, Date string
	At          time.Time
}

func (m meeting) String() string {
	return fmt.Sprintf("%s %s %s", m.Title, m.Date, m.At.UTC().Format(time.RFC3339))
}

// meetings are so many readings, each so many days after the one before. Of two that are one instant the later stays:
// it is the one that the clock shows.
func meetings(title string, first time.Time, days, count int, l *time.Location) []meeting {
	var out []meeting
	for i := range count {
		reading := first.AddDate(0, 0, i*days)
		m := meeting{title, reading.Format("20060102"), firstShown(reading, l)}
		if n := len(out); n > 0 && out[n-1].At.Equal(m.At) {
			out[n-1] = m
			continue
		}
		out = append(out, m)
	}
	return out
}

func TestLocal_checksItsOracleOfReadingsByPackageTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, reading, want string }{
		{"America/New_York", "2011-03-13T02:30", "2011-03-13T07:30:00Z"}, // 03:30
		{"America/New_York", "2011-11-06T01:30", "2011-11-06T05:30:00Z"}, // the first of two
		{"Australia/Lord_Howe", "2011-10-02T02:15", "2011-10-01T15:45:00Z"},
		{"Pacific/Apia", "2011-12-30T09:00", "2011-12-30T19:00:00Z"}, // 09:00 of the 31st
		{"Asia/Kolkata", "2011-03-13T02:30", "2011-03-12T21:00:00Z"},
	} {
		reading, err := time.Parse("2006-01-02T15:04", c.reading)
		require.NoError(t, err)
		require.Equal(t, c.want, firstShown(reading, location(t, c.zone)).UTC().Format(time.RFC3339), c.zone)
	}
	require.Len(t, changesOf(skippingYear, location(t, "Pacific/Apia")), 3)
	require.Empty(t, changesOf(skippingYear, location(t, "Asia/Kolkata")))
}
