package recurrence_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/teambition/rrule-go"

	"nexus/pkg/recurrence"
	"nexus/pkg/wallclock"
)

// common are the four rules that nearly all real ones look like.
var common = []struct{ name, rule string }{
	{"DAILY", "FREQ=DAILY"},
	{"WEEKLY", "FREQ=WEEKLY;BYDAY=MO,WE,FR"},
	{"MONTHLY", "FREQ=MONTHLY;BYMONTHDAY=15"},
	{"YEARLY", "FREQ=YEARLY"},
}

// thatWeek is the window that is asked for.
var thatWeek = time.Date(2025, 6, 9, 4, 0, 0, 0, time.UTC)

// firstOf returns a start that many years before the week, on which the rule has an occurrence.
func firstOf(name string, years int) time.Time {
	start := time.Date(2025-years, 5, 15, 9, 0, 0, 0, time.UTC)
	for name == "WEEKLY" && start.Weekday() != time.Monday {
		start = start.Add(day)
	}
	for name == "MONTHLY.NTH" && (start.Weekday() != time.Friday || start.Day() < 25) {
		start = start.Add(day)
	}
	return start
}

func compiled(t testing.TB, rule string, start time.Time) *recurrence.Series {
	t.Helper()
	series, err := recurrence.Compile(recurrence.Spec{
		Rule: rule, Start: start, Zone: zoned(t, "America/New_York"), WithStart: true,
	})
	require.NoError(t, err)
	return series
}

func BenchmarkWeekCompiled(b *testing.B) {
	for _, c := range common {
		for _, years := range []int{0, 10, 20} {
			b.Run(fmt.Sprintf("%s/%dyears", c.name, years), func(b *testing.B) {
				series := compiled(b, c.rule, firstOf(c.name, years))
				var room [16]recurrence.Occurrence
				b.ReportAllocs()
				for b.Loop() {
					series.Between(room[:0], thatWeek, thatWeek.Add(7*day))
				}
			})
		}
	}
}

func BenchmarkWeekLibrary(b *testing.B) {
	for _, c := range common {
		for _, years := range []int{0, 10, 20} {
			b.Run(fmt.Sprintf("%s/%dyears", c.name, years), func(b *testing.B) {
				option, err := rrule.StrToROption(c.rule)
				require.NoError(b, err)
				option.Dtstart = firstOf(c.name, years)
				rule, err := rrule.NewRRule(*option)
				require.NoError(b, err)
				zone := wallclock.ZoneOf(zoned(b, "America/New_York"))
				b.ReportAllocs()
				for b.Loop() {
					for _, wall := range rule.Between(thatWeek.Add(-26*time.Hour), thatWeek.Add(7*day+26*time.Hour), true) {
						zone.Instant(wall.Unix())
					}
				}
			})
		}
	}
}

// masters are series as they are written for each of the common rules: what is compiled for every agenda.
func masters(t testing.TB) map[string]recurrence.Spec {
	specs := map[string]recurrence.Spec{}
	for _, c := range append(common, struct{ name, rule string }{"MONTHLY.NTH", "FREQ=MONTHLY;BYDAY=-1FR"}) {
		for end, text := range map[string]string{
			"": "", ".COUNT": ";COUNT=100", ".UNTIL": ";UNTIL=20260615T130000Z", ".EXDATE": "",
		} {
			spec := recurrence.Spec{
				Rule: c.rule + text, Start: firstOf(c.name, 10), Zone: zoned(t, "America/New_York"), WithStart: true,
			}
			for i := 0; end == ".EXDATE" && i < 20; i++ {
				spec.EXDates = append(spec.EXDates, thatWeek.AddDate(0, -i, 0).Format("20060102"))
			}
			specs[c.name+end] = spec
		}
	}
	return specs
}

func BenchmarkCompile(b *testing.B) {
	specs := masters(b)
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = recurrence.Compile(specs[name])
			}
		})
	}
}

func BenchmarkQuestion(b *testing.B) {
	for _, c := range common {
		series := compiled(b, c.rule, firstOf(c.name, 10))
		var room [16]recurrence.Occurrence
		for _, question := range []struct {
			name string
			ask  func()
		}{
			{"Next", func() { series.Next(thatWeek) }},
			{"Previous", func() { series.Previous(thatWeek) }},
			{"On", func() { series.On(thatWeek) }},
			{"Overlapping", func() { series.Overlapping(room[:0], thatWeek, thatWeek.Add(7*day), time.Hour) }},
		} {
			b.Run(question.name+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					question.ask()
				}
			})
		}
	}
}

func TestSeries_allocatesNothingForAQuestion(t *testing.T) {
	location := zoned(t, "America/New_York")
	for name, spec := range map[string]recurrence.Spec{
		"daily":        {Rule: "FREQ=DAILY"},
		"weekly":       {Rule: "FREQ=WEEKLY;BYDAY=MO,WE,FR"},
		"monthly":      {Rule: "FREQ=MONTHLY;BYDAY=2TU,-1FR"},
		"yearly":       {Rule: "FREQ=YEARLY;BYMONTH=3,6,11;BYDAY=SU"},
		"positions":    {Rule: "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"},
		"year's picks": {Rule: "FREQ=YEARLY;BYDAY=MO,TU;BYSETPOS=45,46,47,48,49,50"},
		"exceptions": {Rule: "FREQ=DAILY;COUNT=9000", EXDates: []string{"20250610", "20250612"},
			RDates: []string{"20250620"}},
		"whole days": {Rule: "FREQ=WEEKLY", AllDay: true},
	} {
		spec.Start = time.Date(2015, 3, 8, 2, 30, 0, 0, time.UTC)
		if spec.AllDay {
			spec.Start = midnight(spec.Start)
		} else {
			spec.Zone = location
		}
		series, err := recurrence.Compile(spec)
		require.NoError(t, err, name)
		room := make([]recurrence.Occurrence, 0, 64)
		// Days with and without a change of the clocks.
		found := 0
		for _, from := range []time.Time{
			thatWeek, time.Date(2025, 3, 6, 0, 0, 0, 0, time.UTC), time.Date(2025, 10, 31, 0, 0, 0, 0, time.UTC),
		} {
			allocations := testing.AllocsPerRun(50, func() {
				found += len(series.Between(room, from, from.Add(7*day)))
				found += len(series.Between(room, from, from.Add(31*day)))
				found += len(series.Overlapping(room, from, from.Add(7*day), 30*time.Hour))
				series.Next(from)
				series.Previous(from)
				series.On(midnight(from))
			})
			require.Zero(t, allocations, "%s from %s", name, from)
		}
		require.Positive(t, found, name)
	}
}

// What a master costs an agenda before it can be asked: the series, what it says, and its dates.
func TestCompile_allocatesLittleForAMaster(t *testing.T) {
	for name, spec := range masters(t) {
		allowed := 2.0
		if len(spec.EXDates) > 0 {
			allowed++
		}
		require.LessOrEqual(t, testing.AllocsPerRun(50, func() { _, _ = recurrence.Compile(spec) }), allowed, name)
	}
}
