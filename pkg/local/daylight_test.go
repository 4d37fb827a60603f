package local_test

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// daylight holds the items that one user keeps through the year in one place.
type daylight struct {
	zone     string
	meetings []meeting // by instant
	offsets  map[string]int
}

// startInTheYear is a platform on the eve of the year.
func startInTheYear(t *testing.T, o local.Options) *system {
	t.Helper()
	began := time.Now()
	eve := time.Date(skippingYear-1, 12, 31, 0, 0, 0, 0, time.UTC)
	o.Machine = func() time.Time { return eve.Add(time.Since(began)) }
	return startSystem(t, o)
}

// as is the same system for another user.
func (s *system) as(user string) *system {
	other := *s
	other.user = user
	return &other
}

// keep has the user keep a series in a zone.
func (s *system) keep(title, zone, rule string, first time.Time, minutes int) {
	s.t.Helper()
	l := location(s.t, zone)
	at := firstShown(first, l)
	require.Equal(s.t, first, showing(at, l), "the start itself is no time that is skipped")
	s.must("POST", "/v1/series", object{
		"title": title, "rrule": rule, "startTzid": zone, "startUtc": at.UTC().Format(time.RFC3339),
		"endUtc": at.Add(30 * time.Minute).UTC().Format(time.RFC3339), "reminderMinutes": []int{minutes},
	})
}

// year has the user keep a weekly meeting at nine, and around each change of the clocks daily ones in the small hours
// and a daily reminder.
func (s *system) year(zone string) daylight {
	s.t.Helper()
	const days = 6
	l := location(s.t, zone)
	d := daylight{zone: zone, offsets: map[string]int{}}
	add := func(title, rule string, first time.Time, step, count, minutes int) {
		s.keep(title, zone, rule, first, minutes)
		d.meetings = append(d.meetings, meetings(title, first, step, count, l)...)
		d.offsets[title] = minutes
	}
	add("weekly 09:00", "FREQ=WEEKLY;BYDAY=FR;COUNT=52", time.Date(skippingYear, 1, 7, 9, 0, 0, 0, time.UTC), 7, 52, 60)
	changes := changesOf(skippingYear, l)
	if len(changes) == 0 {
		changes = []time.Time{time.Date(skippingYear, 3, 12, 0, 0, 0, 0, time.UTC)}
	}
	for i, eve := range changes {
		for _, clock := range []string{"01:30", "02:15", "02:30", "03:30"} {
			reading, err := time.Parse("15:04", clock)
			require.NoError(s.t, err)
			first := time.Date(eve.Year(), eve.Month(), eve.Day()-2, reading.Hour(), reading.Minute(), 0, 0, time.UTC)
			add(fmt.Sprintf("daily %s, %d", clock, i+1), fmt.Sprintf("FREQ=DAILY;COUNT=%d", days), first, 1, days, 15*i)
		}
	}
	for i, eve := range changes {
		title, first := fmt.Sprintf("ring 02:30, %d", i+1),
			time.Date(eve.Year(), eve.Month(), eve.Day()-2, 2, 30, 0, 0, time.UTC)
		s.must("POST", "/v1/reminders", object{
			"title": title, "tzid": zone, "triggerUtc": firstShown(first, l).UTC().Format(time.RFC3339),
			"rrule": fmt.Sprintf("FREQ=DAILY;COUNT=%d", days),
		})
		d.meetings = append(d.meetings, meetings(title, first, 1, days, l)...)
	}
	slices.SortFunc(d.meetings, byInstant)
	return d
}

// length is how long something takes: reminders have none.
func length(title string) time.Duration {
	if strings.HasPrefix(title, "ring ") {
		return 0
	}
	return 30 * time.Minute
}

// dateOf is the date of what takes place at an instant; empty if nothing does.
func (d daylight) dateOf(title string, at time.Time) string {
	for _, m := range d.meetings {
		if m.Title == title && m.At.Equal(at) {
			return m.Date
		}
	}
	return ""
}

func byInstant(a, b meeting) int {
	if c := a.At.Compare(b.At); c != 0 {
		return c
	}
	return strings.Compare(a.Title, b.Title)
}

func lines(list []meeting) []string {
	slices.SortFunc(list, byInstant)
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = m.String()
	}
	return out
}

// agenda pages through the agenda from one instant to another, in pieces of the longest window.
func (s *system) agenda(from, to time.Time, more url.Values) []object {
	s.t.Helper()
	var out []object
	for from.Before(to) {
		end := from.AddDate(0, 0, 366)
		if end.After(to) {
			end = to
		}
		query := url.Values{
			"from": {from.UTC().Format(time.RFC3339)}, "to": {end.UTC().Format(time.RFC3339)}, "limit": {"100"},
		}
		for name, values := range more {
			query[name] = values
		}
		for pages := 0; ; pages++ {
			require.Less(s.t, pages, 100, "the agenda ends")
			page := s.must("GET", "/v1/agenda?"+query.Encode(), nil)
			for _, it := range page["items"].([]any) {
				out = append(out, it.(object))
			}
			next, more := page["nextCursor"].(string)
			if !more {
				break
			}
			query.Set("cursor", next)
		}
		from = end
	}
	return out
}

func instantOf(t testing.TB, text any) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text.(string))
	require.NoError(t, err)
	return at
}

// announced waits until the year is over and returns what was announced on the way: to each user, once per delivery.
func (s *system) announced(until time.Time) map[string][]object {
	s.t.Helper()
	out, seen := map[string][]object{}, map[string]bool{}
	for now := s.now(); now.Before(until); now = s.now() {
		to := now.AddDate(0, 0, 30)
		if to.After(until) {
			to = until
		}
		s.must("POST", "/dev/clock", object{"set": to.Format(time.RFC3339)})
		events := s.items("/dev/events?limit=1000")
		if len(events) == 1000 {
			require.True(s.t, seen[events[0]["detail"].(object)["deliveryId"].(string)], "no event has left the tail unseen")
		}
		for _, e := range events {
			detail := e["detail"].(object)
			require.Equal(s.t, "ReminderDue", e["type"])
			if id := detail["deliveryId"].(string); !seen[id] {
				seen[id] = true
				user := detail["userId"].(string)
				out[user] = append(out[user], detail)
			}
		}
	}
	return out
}

// TestPlatform_keepsNineOClockInAgendaRemindersAndExport keeps a year of meetings in zones whose clocks change, and
// compares what the agenda shows, what is announced, and what the calendar's text says with what package time alone
// says.
func TestPlatform_keepsNineOClockInAgendaRemindersAndExport(t *testing.T) {
	t.Parallel()
	for _, store := range soaked() {
		t.Run(string(store), func(t *testing.T) {
			t.Parallel()
			keepTheYear(t, startInTheYear(t, onStore(store)))
		})
	}
}

// soaked are the stores that a long test runs on: the engine takes its time, so it is for a soak.
func soaked() []local.Store {
	if os.Getenv("NEXUS_SOAK") == "" {
		return []local.Store{local.Memory}
	}
	return []local.Store{local.Memory, local.DynamoDB}
}

func onStore(store local.Store) local.Options {
	return local.Options{Store: store, Ephemeral: store == local.DynamoDB}
}

func keepTheYear(t *testing.T, s *system) {
	from := time.Date(skippingYear-1, 12, 31, 12, 0, 0, 0, time.UTC)
	until := time.Date(skippingYear+1, 1, 3, 0, 0, 0, 0, time.UTC)
	kept := map[string]daylight{}
	for i, zone := range placesOfYear() {
		user := fmt.Sprintf("u%d", i)
		kept[user] = s.as(user).year(zone)
	}
	for user, d := range kept {
		var shown []meeting
		for _, it := range s.as(user).agenda(from, until, nil) {
			title, start := it["title"].(string), instantOf(t, it["occurrenceStart"])
			require.Equal(t, start.Add(length(title)), instantOf(t, it["occurrenceEnd"]))
			shown = append(shown, meeting{title, it["occurrenceDate"].(string), start})
		}
		require.Equal(t, lines(d.meetings), lines(shown), "agenda in %s", d.zone)
		require.Equal(t, lines(d.meetings), lines(expanded(t, s.as(user).exported())), "calendar in %s", d.zone)
	}
	for user, told := range s.announced(until) {
		d := kept[user]
		var reminded []meeting
		for _, detail := range told {
			title, at := detail["title"].(string), instantOf(t, detail["occurrenceUtc"])
			require.EqualValues(t, d.offsets[title], detail["offsetMinutes"])
			require.Equal(t, at.Add(-time.Duration(d.offsets[title])*time.Minute), instantOf(t, detail["dueUtc"]))
			date, isSeries := detail["occurrenceDate"].(string)
			require.Equal(t, !strings.HasPrefix(title, "ring "), isSeries)
			if !isSeries {
				date = d.dateOf(title, at)
			}
			reminded = append(reminded, meeting{title, date, at})
		}
		require.Equal(t, lines(d.meetings), lines(reminded), "reminders in %s", d.zone)
		delete(kept, user)
	}
	require.Empty(t, kept, "everybody was reminded")
	require.Empty(t, s.items("/dev/schedules?state=PENDING"), "every series has ended")
}
