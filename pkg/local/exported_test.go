package local_test

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/ical"
)

// The calendar's text is read here as another program would: by its own VTIMEZONEs, with an expansion of the few rules
// that the tests keep. Nothing of the product's recurrence or of its clocks takes part.

const (
	basicTime = "20060102T150405"
	basicDate = "20060102"
)

// text fetches something that is no JSON.
func (s *system) text(path string, header ...string) (*http.Response, string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL()+path, nil)
	require.NoError(s.t, err)
	request.Header.Set("Authorization", "Bearer "+s.user)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := s.client.Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response, string(text)
}

// exported is the user's calendar as components.
func (s *system) exported() *ical.Component {
	s.t.Helper()
	response, text := s.text("/v1/calendar.ics")
	require.Equal(s.t, http.StatusOK, response.StatusCode, text)
	document, err := ical.Decode([]byte(text), ical.FileLimits())
	require.NoError(s.t, err)
	require.Empty(s.t, document.Faults)
	require.Len(s.t, document.Calendars, 1)
	return document.Calendars[0]
}

// clocks hold the content of a VTIMEZONE: from each onset on, clocks are ahead of UTC by so much.
type clocks []onset

type onset struct {
	at     time.Time // the instant
	before time.Duration
	ahead  time.Duration
}

// clocksOf reads the VTIMEZONEs of a calendar, by name.
func clocksOf(t *testing.T, calendar *ical.Component) map[string]clocks {
	t.Helper()
	out := map[string]clocks{}
	for _, zone := range calendar.Children {
		if zone.Name != "VTIMEZONE" {
			continue
		}
		var list clocks
		for _, part := range zone.Children {
			before, ahead := offsetOf(t, part.Value("TZOFFSETFROM")), offsetOf(t, part.Value("TZOFFSETTO"))
			for _, reading := range onsetsOf(t, part) {
				list = append(list, onset{reading.Add(-before), before, ahead})
			}
		}
		slices.SortFunc(list, func(a, b onset) int { return a.at.Compare(b.at) })
		require.NotEmpty(t, list)
		out[zone.Value("TZID")] = list
	}
	return out
}

func offsetOf(t *testing.T, text string) time.Duration {
	t.Helper()
	require.Regexp(t, `^[+-]\d{4}$`, text)
	n, err := strconv.Atoi(text[1:])
	require.NoError(t, err)
	offset := time.Duration(n/100)*time.Hour + time.Duration(n%100)*time.Minute
	if text[0] == '-' {
		return -offset
	}
	return offset
}

// onsetsOf are the readings at which a STANDARD or DAYLIGHT begins, up to the end of the years that are looked at.
func onsetsOf(t *testing.T, part *ical.Component) []time.Time {
	t.Helper()
	first, err := time.Parse(basicTime, part.Value("DTSTART"))
	require.NoError(t, err)
	readings := []time.Time{first}
	for _, p := range part.All("RDATE") {
		at, err := time.Parse(basicTime, p.Value)
		require.NoError(t, err)
		readings = append(readings, at)
	}
	rule := ruleOf(part.Value("RRULE"))
	if rule["FREQ"] == "" {
		return readings
	}
	require.Equal(t, "YEARLY", rule["FREQ"])
	for at := first.AddDate(0, 0, 1); at.Year() <= lastYearLookedAt; at = at.AddDate(0, 0, 1) {
		if strconv.Itoa(int(at.Month())) == rule["BYMONTH"] && onDay(t, at, rule["BYDAY"], rule["BYMONTHDAY"]) {
			readings = append(readings, at)
		}
	}
	return readings
}

const lastYearLookedAt = 2030

// onDay says that a day is the one that a VTIMEZONE's rule means: the second Sunday, the last Sunday, or the Sunday
// among seven days.
func onDay(t *testing.T, at time.Time, byDay, monthDays string) bool {
	t.Helper()
	number, weekday := byDay[:len(byDay)-2], byDay[len(byDay)-2:]
	if !strings.EqualFold(at.Weekday().String()[:2], weekday) {
		return false
	}
	switch {
	case monthDays != "":
		return slices.Contains(strings.Split(monthDays, ","), strconv.Itoa(at.Day()))
	case number == "-1":
		return at.AddDate(0, 0, 7).Month() != at.Month()
	}
	require.Len(t, number, 1)
	return strconv.Itoa((at.Day()+6)/7) == number
}

// at is the first instant at which the clocks show a reading, or, where they skip it, the instant by the offset before.
func (c clocks) at(reading time.Time) time.Time {
	for i, o := range c {
		instant := reading.Add(-o.ahead)
		switch {
		case instant.Before(o.at): // skipped here
			return reading.Add(-o.before)
		case i == len(c)-1 || instant.Before(c[i+1].at):
			return instant
		}
	}
	return time.Time{}
}

func ruleOf(text string) map[string]string {
	rule := map[string]string{}
	for part := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(part, "=")
		rule[name] = value
	}
	return rule
}

// readingOf takes a date-time property apart: its reading, and the zone that it is in.
func readingOf(t *testing.T, p *ical.Property) (reading time.Time, zone string) {
	t.Helper()
	require.NotNil(t, p)
	reading, err := time.Parse(basicTime, strings.TrimSuffix(p.Value, "Z"))
	require.NoError(t, err)
	if strings.HasSuffix(p.Value, "Z") {
		return reading, "UTC"
	}
	return reading, p.Param("TZID")
}

// expanded are all occurrences that a calendar's events and reminders mean, which are daily or weekly with a COUNT.
func expanded(t *testing.T, calendar *ical.Component) []meeting {
	t.Helper()
	zones, out := clocksOf(t, calendar), []meeting(nil)
	for _, event := range calendar.Children {
		if event.Name != "VEVENT" && event.Name != "VTODO" {
			continue
		}
		first, zone := readingOf(t, event.Get("DTSTART"))
		require.Contains(t, zones, zone, "each zone that is named is described")
		rule, days := ruleOf(event.Value("RRULE")), 1
		if rule["FREQ"] == "WEEKLY" {
			days = 7
			require.True(t, strings.EqualFold(first.Weekday().String()[:2], rule["BYDAY"]))
		}
		count, err := strconv.Atoi(rule["COUNT"])
		require.NoError(t, err)
		var list []meeting
		for i := range count {
			reading := first.AddDate(0, 0, i*days)
			m := meeting{event.Text("SUMMARY"), reading.Format(basicDate), zones[zone].at(reading)}
			if n := len(list); n > 0 && list[n-1].At.Equal(m.At) {
				list = list[:n-1]
			}
			list = append(list, m)
		}
		out = append(out, list...)
	}
	return out
}
