package recurrence_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/recurrence"
)

// places are where the clocks change by an hour and by half an hour, in either half of the year, where a whole day was
// skipped, and where they never change.
var places = []string{
	"", "", "UTC", "America/New_York", "Europe/London", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kolkata", "Asia/Gaza",
}

// some returns a list of up to most numbers between the bounds, 0 left out, most often none.
func some(r *rand.Rand, chance float64, most, from, to int) []int {
	if r.Float64() > chance {
		return nil
	}
	var list []int
	for range 1 + r.IntN(most) {
		if n := from + r.IntN(to-from+1); n != 0 || from == 0 {
			list = append(list, n)
		}
	}
	return list
}

// randomRule makes a rule that is allowed, of the kinds that calendars hold and of stranger ones. strange is 0 for a
// calendar's, 1 for times of day, 2 for periods of less than a day.
func randomRule(t *testing.T, r *rand.Rand, strange int) *plain {
	p := &plain{interval: 1, freq: []string{"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}[r.IntN(4)]}
	if strange == 2 {
		p.freq = []string{"HOURLY", "HOURLY", "MINUTELY", "SECONDLY"}[r.IntN(4)]
	}
	p.start = time.Date(1975+r.IntN(60), time.Month(1+r.IntN(12)), 1+r.IntN(31), r.IntN(24),
		[]int{0, 30, r.IntN(60)}[r.IntN(3)], 0, 0, time.UTC)
	if r.IntN(8) == 0 { // near a change of the clocks
		p.start = time.Date([]int{2011, 2024}[r.IntN(2)], []time.Month{3, 4, 10, 11, 12}[r.IntN(5)], 20+r.IntN(12),
			1+r.IntN(3), 30, 0, 0, time.UTC)
	}
	if p.zone = zoned(t, places[r.IntN(len(places))]); p.zone == nil && r.IntN(2) == 0 && strange == 0 {
		p.allDay, p.start = true, midnight(p.start)
	}
	if r.IntN(2) == 0 {
		p.interval = 1 + r.IntN([]int{3, 5, 40}[r.IntN(3)])
	}
	if r.IntN(3) == 0 {
		p.week = time.Weekday(r.IntN(7))
	} else {
		p.week = time.Monday
	}
	p.months = some(r, 0.25, 4, 1, 12)
	p.monthDays = some(r, 0.35, 4, -31, 31)
	if p.freq == "YEARLY" {
		p.weeks = some(r, 0.2, 4, -53, 53)
	}
	if p.freq == "YEARLY" || strange == 2 {
		p.yearDays = some(r, 0.15, 8, -366, 366)
	}
	p.weekdays = randomWeekdays(r, p)
	p.setPos = some(r, 0.2, 3, -5, 5)
	if strange > 0 {
		p.hours, p.minutes, p.seconds = some(r, 0.4, 4, 0, 23), some(r, 0.4, 3, 0, 59), some(r, 0.2, 2, 0, 59)
	}
	return p
}

func randomWeekdays(r *rand.Rand, p *plain) []numbered {
	var days []numbered
	if r.IntN(2) == 0 {
		return nil
	}
	for range 1 + r.IntN(5) {
		d := numbered{0, time.Weekday(r.IntN(7))}
		switch {
		case r.IntN(2) == 0:
		case len(p.weeks) > 0:
		case p.freq == "MONTHLY" || p.freq == "YEARLY" && len(p.months) > 0:
			d.n = -5 + r.IntN(11)
		case p.freq == "YEARLY":
			d.n = -53 + r.IntN(107)
		}
		days = append(days, d)
	}
	return days
}

// randomEnd adds what ends a rule, and its exceptions, knowing what it gives without.
func randomEnd(r *rand.Rand, p *plain, horizon time.Time) {
	all := p.expand(horizon)
	pick := func() time.Time {
		if len(all) == 0 {
			return p.start.Add(time.Duration(r.IntN(1000)) * day)
		}
		return all[r.IntN(len(all))].wall
	}
	switch r.IntN(6) {
	case 0:
		p.count = 1 + r.IntN(30)
	case 1:
		p.until = pick().Format("20060102")
	case 2:
		p.until = pick().Format("20060102T150405")
	case 3:
		p.until = pick().Add(time.Duration(r.IntN(3)-1) * time.Hour).Format("20060102T150405Z")
	}
	if r.IntN(3) == 0 {
		for range 1 + r.IntN(4) {
			p.exDates = append(p.exDates, pick().Format("20060102"))
		}
	}
	if r.IntN(4) == 0 {
		for range 1 + r.IntN(3) {
			p.rDates = append(p.rDates, pick().Add(time.Duration(r.IntN(5)-2)*day).Format("20060102"))
		}
	}
	p.withStart = r.IntN(2) == 0
}

func (p *plain) compile() (*recurrence.Series, error) {
	return recurrence.Compile(recurrence.Spec{
		Rule: p.text(), Start: p.start, AllDay: p.allDay, Zone: p.zone, RDates: p.rDates, EXDates: p.exDates,
		WithStart: p.withStart, Level: recurrence.General,
	})
}

func (p *plain) String() string {
	return fmt.Sprintf("%s from %s (%v, all day %t, with start %t) rdate %v exdate %v",
		p.text(), p.start.Format("20060102T150405"), p.zone, p.allDay, p.withStart, p.rDates, p.exDates)
}

func (o occurrence) String() string {
	return o.wall.Format("20060102T150405") + " = " + o.start.Format("20060102T150405Z")
}

func plainOf(o recurrence.Occurrence) occurrence { return occurrence{o.Wall, o.Start} }

// difference returns the first place where two lists differ.
func difference(want, got []occurrence) string {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(want):
			return fmt.Sprintf("one too many: %s", got[i])
		case i >= len(got):
			return fmt.Sprintf("missing: %s", want[i])
		case want[i] != got[i]:
			return fmt.Sprintf("%s, want %s", got[i], want[i])
		}
	}
	return ""
}

// checkAgainstOracle compares everything that can be asked of a series with the oracle's list of its occurrences.
func checkAgainstOracle(t *testing.T, r *rand.Rand, p *plain, horizon time.Time) {
	t.Helper()
	series, err := p.compile()
	want := p.expand(horizon)
	if err != nil {
		require.ErrorContains(t, err, "never occurs", "%s", p)
		require.Empty(t, p.readings(p.start, horizon), "%s", p)
		return
	}
	span := int(horizon.Sub(p.start)/time.Hour) + 48
	from := p.start.Add(time.Duration(r.IntN(span)-24) * time.Hour)
	to := from.Add(time.Duration(r.IntN(span)/(1+r.IntN(20))) * time.Hour)
	if to.After(horizon) {
		to = horizon
	}
	in := slices.DeleteFunc(slices.Clone(want), func(o occurrence) bool {
		return o.start.Before(from) || !o.start.Before(to)
	})
	var between, each []occurrence
	for _, o := range series.Between(nil, from, to) {
		between = append(between, plainOf(o))
	}
	for o := range series.Each(from, to) {
		each = append(each, plainOf(o))
	}
	require.Empty(t, difference(in, between), "Between: %s\nwindow %s %s", p, from, to)
	require.Empty(t, difference(in, each), "Each: %s\nwindow %s %s", p, from, to)

	if len(want) > 0 {
		first, ok := series.First()
		require.True(t, ok, "%s", p)
		require.Equal(t, want[0], plainOf(first), "%s", p)
	}
	at := from.Add(time.Duration(r.IntN(3)-1) * time.Second)
	if len(in) > 0 {
		at = in[r.IntN(len(in))].start
	}
	if at.After(horizon) {
		at = horizon
	}
	i := slices.IndexFunc(want, func(o occurrence) bool { return o.start.After(at) })
	if next, ok := series.Next(at); i >= 0 {
		require.True(t, ok, "%s after %s", p, at)
		require.Equal(t, want[i], plainOf(next), "%s after %s", p, at)
	} else if ok {
		require.True(t, next.Start.After(horizon), "%s after %s: %v", p, at, next)
	}
	var before []occurrence
	for _, o := range want {
		if o.start.Before(at) {
			before = append(before, o)
		}
	}
	previous, ok := series.Previous(at)
	require.Equal(t, len(before) > 0, ok, "%s before %s: %v", p, at, previous)
	if ok {
		require.Equal(t, before[len(before)-1], plainOf(previous), "%s before %s", p, at)
	}
	require.Equal(t, len(before), series.Count(at, 1<<30), "%s before %s", p, at)
	date := midnight(at)
	i = slices.IndexFunc(want, func(o occurrence) bool { return midnight(o.wall).Equal(date) })
	if on, ok := series.On(date); i >= 0 {
		require.True(t, ok, "%s on %s", p, date)
		require.Equal(t, want[i], plainOf(on), "%s on %s", p, date)
	} else {
		require.False(t, ok && on.Start.Before(horizon), "%s on %s: %v", p, date, on)
	}
	if last, ok := series.Last(); ok && last.Start.Before(horizon) {
		require.NotEmpty(t, want, "%s", p)
		require.Equal(t, want[len(want)-1], plainOf(last), "%s", p)
	} else if !ok {
		require.True(t, series.Endless() || len(want) == 0, "%s", p)
	}
}

// histories is how many random rules are tried; NEXUS_RECURRENCE_RULES asks for more.
func histories(t *testing.T, usual int) int {
	t.Helper()
	if asked := os.Getenv("NEXUS_RECURRENCE_RULES"); asked != "" {
		n, err := strconv.Atoi(asked)
		require.NoError(t, err)
		return n * usual / 3000
	}
	if underRaceDetector() {
		usual /= 10
	}
	return usual
}

func TestCompile_agreesWithThePlainExpansion(t *testing.T) {
	t.Parallel()
	for seed := range histories(t, 3000) {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		p := randomRule(t, r, 0)
		horizon := p.start.Add(time.Duration(200+r.IntN(2000)) * day)
		randomEnd(r, p, horizon)
		checkAgainstOracle(t, r, p, horizon)
	}
}

func TestCompile_agreesWithThePlainExpansionOfTimesOfDay(t *testing.T) {
	t.Parallel()
	for seed := range histories(t, 600) {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		p := randomRule(t, r, 1)
		horizon := p.start.Add(time.Duration(50+r.IntN(800)) * day)
		randomEnd(r, p, horizon)
		checkAgainstOracle(t, r, p, horizon)
	}
}

func TestCompile_agreesWithThePlainExpansionOfShortPeriods(t *testing.T) {
	t.Parallel()
	for seed := range histories(t, 300) {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		p := randomRule(t, r, 2)
		if p.zone != nil && len(p.hours) == 0 { // runs in elapsed time
			p.zone = nil
		}
		horizon := p.start.Add(time.Duration(map[string]int{"HOURLY": 900, "MINUTELY": 40, "SECONDLY": 2}[p.freq]) * day)
		randomEnd(r, p, horizon)
		checkAgainstOracle(t, r, p, horizon)
	}
}
