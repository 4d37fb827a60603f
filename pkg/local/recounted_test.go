package local_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A series is recounted here from what the API shows of it, with an expansion that goes from day to day from the first
// one on and asks package time for each instant.

// held is one occurrence of a series as the recount has it.
type held struct {
	series, date string
	at           time.Time
	minutes      []int
	owner        string // whose schedules remind of it: the series' or its own
	title        string
	isCancelled  bool
}

// recounted are the occurrences of a series that its rule gives for dates from one instant to another, and on to the
// first that is a week beyond.
func recounted(t testing.TB, master object, instances []object, viewer *time.Location, from, to time.Time) []held {
	t.Helper()
	zone := zoneOf(t, master, viewer)
	first := startReading(t, master, zone)
	exdates, rdates := texts(master["exdate"]), texts(master["rdate"])
	rule := newDayRule(t, master["rrule"].(string), first)
	byDate := map[string]object{}
	for _, it := range instances {
		_, rest, _ := strings.Cut(it["eventId"].(string), "_")
		byDate[rest[:8]] = it
	}
	begin := first
	for _, date := range rdates {
		day, err := time.Parse(basicDate, date)
		require.NoError(t, err)
		for begin.Format(basicDate) > day.Format(basicDate) {
			begin = begin.AddDate(0, 0, -1)
		}
	}
	var out []held
	beyond := 0
	for reading := begin; reading.Before(to.AddDate(0, 0, 1)) ||
		beyond == 0 && reading.Before(to.AddDate(2, 0, 0)); reading = reading.AddDate(0, 0, 1) {
		date := reading.Format(basicDate)
		isOne := rule.next(reading) || slices.Contains(rdates, date)
		if !isOne || slices.Contains(exdates, date) {
			continue
		}
		if reading.Before(from.AddDate(0, 0, -1)) {
			continue
		}
		at := firstShown(reading, zone)
		if isOver(t, master, reading, at) {
			break
		}
		h := held{
			series: master["masterId"].(string), date: date, at: at.UTC(), minutes: ints(master["reminderMinutes"]),
			title: master["title"].(string),
		}
		h.owner = h.series
		if it := byDate[date]; it != nil {
			h = h.excepted(t, it, viewer)
		}
		if at.After(to) && byDate[date] == nil {
			beyond++
		}
		out = append(out, h)
	}
	return out
}

func zoneOf(t testing.TB, it object, viewer *time.Location) *time.Location {
	if name, ok := it["startTzid"].(string); ok && it["isAllDay"] != true {
		return location(t, name)
	}
	return viewer
}

// startReading returns the reading of the zone's clocks at the start of an event.
func startReading(t testing.TB, it object, zone *time.Location) time.Time {
	t.Helper()
	if it["isAllDay"] == true {
		at, err := time.Parse("2006-01-02", it["startDate"].(string))
		require.NoError(t, err)
		return at
	}
	if _, isZoned := it["startTzid"].(string); !isZoned {
		at, err := time.Parse(readingForm, it["startUtc"].(string))
		require.NoError(t, err)
		return at
	}
	return showing(instantOf(t, it["startUtc"]), zone)
}

// isOver compares with the end of the series, an instant or a reading.
func isOver(t testing.TB, master object, reading, at time.Time) bool {
	text, ends := master["rruleUntil"].(string)
	if !ends {
		return false
	}
	if strings.HasSuffix(text, "Z") {
		return at.After(instantOf(t, text))
	}
	until, err := time.Parse(readingForm, text)
	require.NoError(t, err)
	return reading.After(until)
}

// excepted is the occurrence with what its exception has of its own.
func (h held) excepted(t testing.TB, it object, viewer *time.Location) held {
	own := texts(it["modifiedFields"])
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(own, name) })
	}
	if has("isAllDay", "startUtc", "endUtc", "startTzid", "endTzid", "startDate", "endDate") {
		zone := zoneOf(t, it, viewer)
		h.at = firstShown(startReading(t, it, zone), zone).UTC()
	}
	if has("title") {
		h.title = it["title"].(string)
	}
	if has("reminderMinutes") {
		h.minutes, h.owner = ints(it["reminderMinutes"]), it["eventId"].(string)
	}
	h.isCancelled = has("status") && it["status"] == "CANCELLED"
	return h
}

func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, text := range list {
		out = append(out, text.(string))
	}
	return out
}

func ints(v any) []int {
	list, _ := v.([]any)
	var out []int
	for _, n := range list {
		out = append(out, int(n.(float64)))
	}
	return out
}

// dayRule says of one day after the other, from the start on, whether a rule gives an occurrence on it.
type dayRule struct {
	t        testing.TB
	freq     string
	interval int
	count    int // left; below zero for a rule without COUNT
	days     []string
	month    []int
	first    time.Time
}

func newDayRule(t testing.TB, text string, first time.Time) *dayRule {
	t.Helper()
	r := &dayRule{t: t, interval: 1, count: -1, first: first}
	for name, value := range ruleOf(text) {
		switch name {
		case "FREQ":
			r.freq = value
		case "INTERVAL":
			r.interval = r.number(value)
		case "COUNT":
			r.count = r.number(value)
		case "BYDAY":
			r.days = strings.Split(value, ",")
		case "BYMONTHDAY":
			for n := range strings.SplitSeq(value, ",") {
				r.month = append(r.month, r.number(n))
			}
		default:
			require.Fail(t, "a part that the recount does not know", text)
		}
	}
	return r
}

func (r *dayRule) number(text string) int {
	n, err := strconv.Atoi(text)
	require.NoError(r.t, err)
	return n
}

// next has to be asked about each day once, from the first on or before it. The first is one whether it fits or not.
func (r *dayRule) next(day time.Time) bool {
	if day.Before(r.first) || r.count == 0 || !day.Equal(r.first) && !r.fits(day) {
		return false
	}
	r.count--
	return true
}

func (r *dayRule) fits(day time.Time) bool {
	switch r.freq {
	case "DAILY":
		return int(day.Sub(r.first).Hours()/24)%r.interval == 0
	case "WEEKLY":
		week := func(d time.Time) time.Time { return d.AddDate(0, 0, -(int(d.Weekday())+6)%7) }
		if int(week(day).Sub(week(r.first)).Hours()/24/7)%r.interval != 0 {
			return false
		}
		if len(r.days) == 0 {
			return day.Weekday() == r.first.Weekday()
		}
		return slices.Contains(r.days, weekdayOf(day))
	case "MONTHLY":
		if (int(day.Month())-int(r.first.Month())+12*(day.Year()-r.first.Year()))%r.interval != 0 {
			return false
		}
		return r.fitsMonth(day)
	}
	require.Fail(r.t, "a frequency that the recount does not know", r.freq)
	return false
}

func weekdayOf(day time.Time) string { return strings.ToUpper(day.Weekday().String()[:2]) }

func (r *dayRule) fitsMonth(day time.Time) bool {
	last := time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	switch {
	case len(r.month) > 0:
		return slices.Contains(r.month, day.Day()) || slices.Contains(r.month, day.Day()-last-1)
	case len(r.days) > 0:
		name := weekdayOf(day)
		ahead, back := (day.Day()+6)/7, -((last-day.Day())/7 + 1)
		return slices.Contains(r.days, name) || slices.Contains(r.days, strconv.Itoa(ahead)+name) ||
			slices.Contains(r.days, strconv.Itoa(back)+name)
	}
	return day.Day() == r.first.Day()
}
