package wallclock_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/stretchr/testify/require"

	"nexus/pkg/wallclock"
)

func load(t testing.TB, name string) *time.Location {
	t.Helper()
	location, err := time.LoadLocation(name)
	require.NoError(t, err)
	return location
}

// places cover shifts of a whole hour and of half an hour, north and south, midnight shifts, skipped days, and zones
// whose law changed often.
var places = []string{
	"UTC", "America/New_York", "Europe/London", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kolkata", "Asia/Gaza",
	"Africa/Casablanca", "America/Scoresbysund", "Atlantic/Azores", "Europe/Dublin", "Pacific/Kwajalein",
	"Antarctica/Troll",
}

// firstShowing finds the answer by trial: the first instant at which the clock shows the reading; none in a gap.
func firstShowing(wall time.Time, location *time.Location) (time.Time, bool) {
	offsets := map[int]bool{}
	var first time.Time
	for at := wall.Add(-27 * time.Hour); at.Before(wall.Add(27 * time.Hour)); at = at.Add(15 * time.Minute) {
		_, offset := at.In(location).Zone()
		if offsets[offset] {
			continue
		}
		offsets[offset] = true
		candidate := wall.Add(-time.Duration(offset) * time.Second)
		if _, real := candidate.In(location).Zone(); real == offset && (first.IsZero() || candidate.Before(first)) {
			first = candidate
		}
	}
	return first, !first.IsZero()
}

func TestResolve_returnsTheFirstInstantOfAReading(t *testing.T) {
	t.Parallel()
	for _, name := range places {
		location := load(t, name)
		for _, year := range []int{1905, 1959, 1969, 1987, 1993, 2011, 2024, 2109, 2110, 2190} {
			from := time.Date(year, 1, 1, 0, 7, 0, 0, time.UTC)
			for wall := from; wall.Year() == year; wall = wall.Add(5*time.Hour + 23*time.Minute) {
				want, ok := firstShowing(wall, location)
				got := wallclock.Resolve(wall, location)
				if ok {
					require.True(t, got.Equal(want), "%s in %s: %s, not %s", wall, name, got, want)
				} else {
					require.True(t, wallclock.Wall(got, location).After(wall), "%s in %s lies in a gap and moves forward", wall, name)
				}
			}
		}
	}
}

func TestWall_isWhatTheLocationShows(t *testing.T) {
	t.Parallel()
	for _, name := range places {
		location := load(t, name)
		for at := time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2130; at = at.Add(31*time.Hour + 7*time.Second) {
			require.Equal(t, at.In(location).Format(time.DateTime), wallclock.Wall(at, location).Format(time.DateTime), name)
		}
	}
}

func TestZone_leavesNoHoleBetweenItsSpans(t *testing.T) {
	t.Parallel()
	for _, name := range places {
		zone := wallclock.ZoneOf(load(t, name))
		at := time.Date(1955, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
		for end := time.Date(2115, 1, 1, 0, 0, 0, 0, time.UTC).Unix(); at < end; {
			span := zone.At(at)
			require.LessOrEqual(t, span.Start, at)
			require.Less(t, at, span.End)
			at = span.End
		}
	}
}

// time.Time.ZoneBounds ends a span on that day before it begins, where the zone's rule decides and not its table.
func TestZone_endsTheLastDayOfALeapYear(t *testing.T) {
	t.Parallel()
	for _, year := range []int{2040, 2088, 2096, 2108, 2112, 2400} {
		wall := time.Date(year, 12, 31, 9, 0, 0, 0, time.UTC)
		require.Equal(t, wall.Add(5*time.Hour), wallclock.Resolve(wall, load(t, "America/New_York")))
		require.Equal(t, wall, wallclock.Resolve(wall, load(t, "Europe/London")))
		require.Equal(t, wall.Add(-11*time.Hour), wallclock.Resolve(wall, load(t, "Australia/Lord_Howe")))
	}
}

func TestResolve_keepsTheFractionOfAReading(t *testing.T) {
	t.Parallel()
	wall := time.Date(1969, 7, 20, 12, 0, 0, 250, time.UTC)
	instant := wallclock.Resolve(wall, load(t, "America/New_York"))
	require.Equal(t, wall.Add(4*time.Hour), instant)
	require.Equal(t, wall, wallclock.Wall(instant, load(t, "America/New_York")))
}

func TestZone_isOneForOneLocation(t *testing.T) {
	t.Parallel()
	london := load(t, "Europe/London")
	require.Same(t, wallclock.ZoneOf(london), wallclock.ZoneOf(london))
	require.Same(t, london, wallclock.ZoneOf(london).Location())
	for range 3000 { // more than are kept
		require.EqualValues(t, 60, wallclock.ZoneOf(time.FixedZone("X", 60)).Wall(0))
	}
}

func BenchmarkInstant(b *testing.B) {
	zone := wallclock.ZoneOf(load(b, "America/New_York"))
	wall := time.Date(2025, 6, 1, 9, 0, 0, 0, time.UTC).Unix()
	for b.Loop() {
		zone.Instant(wall)
	}
}

func TestLatest_isTheReadingOfTheFirstPass(t *testing.T) {
	t.Parallel()
	utc := func(text string) time.Time {
		at, err := time.Parse("2006-01-02T15:04:05", text)
		require.NoError(t, err)
		return at
	}
	for _, c := range []struct{ zone, instant, want string }{
		{"America/New_York", "2025-11-02T05:59:59", "2025-11-02T01:59:59"},
		{"America/New_York", "2025-11-02T06:00:00", "2025-11-02T01:59:59"},
		{"America/New_York", "2025-11-02T06:30:00", "2025-11-02T01:59:59"},
		{"America/New_York", "2025-11-02T07:00:00", "2025-11-02T02:00:00"},
		{"America/New_York", "2025-03-09T07:10:00", "2025-03-09T03:10:00"},
		{"Australia/Lord_Howe", "2025-04-05T15:10:00", "2025-04-06T01:59:59"},
		{"Asia/Kolkata", "2025-04-05T15:10:00", "2025-04-05T20:40:00"},
		{"UTC", "2025-04-05T15:10:00", "2025-04-05T15:10:00"},
	} {
		require.Equal(t, utc(c.want), wallclock.Latest(utc(c.instant), load(t, c.zone)), c.zone+" "+c.instant)
	}
	for _, name := range places {
		location := load(t, name)
		latest := time.Time{}
		for at := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2013; at = at.Add(30 * time.Minute) {
			if shown := wallclock.Wall(at, location); shown.After(latest) {
				latest = shown
			}
			got := wallclock.Latest(at, location)
			require.True(t, !got.Before(latest) && got.Sub(latest) < 30*time.Minute, "%s at %s: %s, not about %s", name, at,
				got, latest)
		}
	}
}
