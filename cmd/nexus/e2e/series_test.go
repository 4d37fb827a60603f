package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/recurrence"
)

// A series as these tests see it: a row, or the answer to a client, expanded with package recurrence from its start on.
// They know nothing of how the system puts a series and its exceptions together.

const reading = "2006-01-02T15:04:05"

// wall is a time of a row or of an answer, as a reading of the clocks: a floating one is written without Z to clients.
func (r row) wall(t testing.TB, name string) time.Time {
	t.Helper()
	at, err := time.Parse(reading, strings.TrimSuffix(r.text(name), "Z"))
	require.NoError(t, err, "%s of %s", name, r)
	return at
}

func (r row) location(t testing.TB, name string) *time.Location {
	t.Helper()
	if r.text(name) == "" {
		return nil
	}
	zone, err := time.LoadLocation(r.text(name))
	require.NoError(t, err, "%s of %s", name, r)
	return zone
}

func (r row) dates(name string) []string {
	list, _ := r[name].([]any)
	var out []string
	for _, d := range list {
		out = append(out, d.(string))
	}
	return out
}

// expansion compiles a series, or a recurring reminder.
func (r row) expansion(t testing.TB) *recurrence.Series {
	t.Helper()
	spec := recurrence.Spec{Rule: r.text("rrule"), WithStart: true, RDates: r.dates("rdate"), EXDates: r.dates("exdate")}
	start, zone := "startUtc", "startTzid"
	switch {
	case r.text("firstTriggerUtc") != "":
		start, zone = "firstTriggerUtc", "tzid"
	case r["isAllDay"] == true:
		spec.AllDay = true
	}
	spec.Zone = r.location(t, zone)
	if spec.AllDay {
		day, err := time.Parse(time.DateOnly, r.text("startDate"))
		require.NoError(t, err)
		spec.Start = day
	} else if spec.Start = r.wall(t, start); spec.Zone != nil {
		local := spec.Start.In(spec.Zone)
		_, offset := local.Zone()
		spec.Start = spec.Start.Add(time.Duration(offset) * time.Second)
	}
	if r.text("rruleUntil") != "" {
		spec.Until = r.wall(t, "rruleUntil")
	}
	s, err := recurrence.Compile(spec)
	require.NoError(t, err, "%s", r)
	return s
}

// maxExpanded bounds what is expanded of one series.
const maxExpanded = 5000

// first returns the dates YYYYMMDD of the first occurrences, at most so many.
func (r row) first(t testing.TB, most int) []string {
	t.Helper()
	var out []string
	for o := range r.expansion(t).Each(time.Time{}, time.Time{}) {
		if len(out) == most {
			break
		}
		out = append(out, o.Wall.Format("20060102"))
	}
	return out
}

// occursOn says that a date is one of a series' own.
func (r row) occursOn(t testing.TB, date string) bool {
	t.Helper()
	n := 0
	for o := range r.expansion(t).Each(time.Time{}, time.Time{}) {
		if at := o.Wall.Format("20060102"); at >= date {
			return at == date
		}
		n++
		require.Less(t, n, maxExpanded, "occurrences of %s before %s", r, date)
	}
	return false
}

// last is the start of the last occurrence in the zone; ok is false for a series without end.
func (r row) last(t testing.TB, zone *time.Location) (at time.Time, ok bool) {
	t.Helper()
	if r.text("rruleUntil") == "" && !strings.Contains(r.text("rrule"), "COUNT=") &&
		!strings.Contains(r.text("rrule"), "UNTIL=") {
		return time.Time{}, false
	}
	n := 0
	for o := range r.expansion(t).In(zone).Each(time.Time{}, time.Time{}) {
		at = o.Start
		n++
		require.Less(t, n, maxExpanded, "occurrences of %s", r)
	}
	return at, true
}

// start is when an exception with times of its own starts.
func (r row) start(t testing.TB, zone *time.Location) time.Time {
	t.Helper()
	if r["isAllDay"] == true {
		at, err := time.ParseInLocation(time.DateOnly, r.text("startDate"), zone)
		require.NoError(t, err, "%s", r)
		return at
	}
	if r.text("startTzid") != "" {
		zone = time.UTC
	}
	at, err := time.ParseInLocation(reading, strings.TrimSuffix(r.text("startUtc"), "Z"), zone)
	require.NoError(t, err, "%s", r)
	return at
}

// owns says that an exception has a field of its own.
func (r row) owns(names ...string) bool {
	return slices.ContainsFunc(r.dates("modifiedFields"), func(name string) bool { return slices.Contains(names, name) })
}

// spanMembers say when an event is; an exception has all of its own or none.
var spanMembers = []string{"isAllDay", "startDate", "endDate", "startUtc", "endUtc", "startTzid", "endTzid"}

// masterKey is the key of an exception's series.
func (r row) masterKey() string {
	return r.text("PK") + "/MASTER#" + strings.Split(r.text("SK"), "#")[1]
}

// date is the date of an exception by its key.
func (r row) date() string { return strings.Split(r.text("SK"), "#")[2] }

// recountSeries holds exceptions against their series: none without one, none in force for a date that its series has
// lost.
func (s *system) recountSeries(rows []row) []string {
	s.t.Helper()
	masters := map[string]row{}
	for _, r := range rows {
		if r.kind() == "MASTER" {
			masters[r.key()] = r
		}
	}
	var differences []string
	for _, r := range rows {
		if r.kind() != "INSTANCE" {
			continue
		}
		switch master := masters[r.masterKey()]; {
		case master == nil:
			differences = append(differences, "exception without a series: "+r.String())
		case master["hasExceptions"] != true:
			differences = append(differences, "series that knows of no exception: "+master.String())
		case r["modifiedFields"] == nil && (r["links"] != nil || r["GSI1PK"] != nil || r["GSI2PK"] != nil):
			differences = append(differences, "exception undone that is found: "+r.String())
		case r["modifiedFields"] != nil && !master.occursOn(s.t, r.date()):
			differences = append(differences, "exception for a date that is none: "+r.String())
		}
	}
	return differences
}

// seriesDues are the instants at which series, and exceptions with reminders of their own, are to be announced next: by
// user, id and offset. What floats is read in its user's zone.
func (s *system) seriesDues(rows []row, now time.Time) map[due]time.Time {
	s.t.Helper()
	exceptions, zones := map[string]map[string]row{}, map[string]*time.Location{}
	for _, r := range rows {
		if r.kind() == "USER_META" {
			zones[r.user()] = r.location(s.t, "defaultTzid")
		}
		if r.kind() == "INSTANCE" && r["modifiedFields"] != nil {
			if exceptions[r.masterKey()] == nil {
				exceptions[r.masterKey()] = map[string]row{}
			}
			exceptions[r.masterKey()][r.date()] = r
		}
	}
	out := map[due]time.Time{}
	for _, r := range rows {
		if r.kind() == "MASTER" && r.text("status") != "CANCELLED" {
			zone := time.UTC
			if own := zones[r.user()]; own != nil {
				zone = own
			}
			s.oneSeriesDues(out, r, exceptions[r.key()], zone, now)
		}
	}
	return out
}

// due is one offset of one item.
type due struct {
	user, id string
	offset   int64
}

func (s *system) oneSeriesDues(
	out map[due]time.Time, master row, exceptions map[string]row, zone *time.Location, now time.Time,
) {
	s.t.Helper()
	add := func(r row, offsets row, start time.Time) (allToCome bool) {
		allToCome = true
		for _, offset := range offsets.offsets(s.t) {
			name := due{r.user(), r.id(), offset}
			at := start.Add(-time.Duration(offset) * time.Minute)
			if !at.After(now) {
				allToCome = false
			} else if was, ok := out[name]; !ok || at.Before(was) {
				out[name] = at
			}
		}
		return allToCome
	}
	// Each occurrence from the first on, until one that no exception has moved is to come with all of its offsets: every
	// later one of those is announced later. Exceptions are looked at wherever they are.
	lastException := ""
	for date := range exceptions {
		lastException = max(lastException, date)
	}
	n, found := 0, false
	for o := range master.expansion(s.t).In(zone).Each(time.Time{}, time.Time{}) {
		date := o.Wall.Format("20060102")
		if found && date > lastException {
			break
		}
		n++
		require.Less(s.t, n, maxExpanded, "occurrences of %s", master)
		e := exceptions[date]
		start := o.Start
		if e != nil {
			if e.owns("status") && e.text("status") == "CANCELLED" {
				continue
			}
			if e.owns(spanMembers...) {
				start = e.start(s.t, zone)
			}
			if e.owns("reminderMinutes") {
				add(e, e, start)
				continue
			}
		}
		if (e == nil || !e.owns(spanMembers...)) && found {
			continue
		}
		if add(master, master, start) && e == nil {
			found = true
		}
	}
}

func (r row) offsets(t testing.TB) []int64 {
	t.Helper()
	list, _ := r["reminderMinutes"].([]any)
	var out []int64
	for _, o := range list {
		n, err := wholeNumber(map[string]any{"n": o}, "n")
		require.NoError(t, err)
		out = append(out, n)
	}
	return out
}
