package recurrence_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/recurrence"
)

// expandElapsed goes from the start's instant in steps of elapsed time, and at each looks at the clock.
func (p *plain) expandElapsed(start, horizon time.Time) []time.Time {
	unit := map[string]time.Duration{"HOURLY": time.Hour, "MINUTELY": time.Minute, "SECONDLY": time.Second}[p.freq]
	orNow := func(list []int, now int) []int {
		if len(list) == 0 {
			return []int{now}
		}
		return list
	}
	var all []time.Time
	for at := start; !at.After(horizon); at = at.Add(time.Duration(p.interval) * unit) {
		clock := at.In(p.zone)
		if !p.admits(midnight(clock)) {
			continue
		}
		minutes, seconds := orNow(p.minutes, clock.Minute()), orNow(p.seconds, clock.Second())
		if p.freq != "HOURLY" {
			if len(p.minutes) > 0 && !matches(p.minutes, clock.Minute()) {
				continue
			}
			minutes = []int{clock.Minute()}
		}
		if p.freq == "SECONDLY" {
			if len(p.seconds) > 0 && !matches(p.seconds, clock.Second()) {
				continue
			}
			seconds = []int{clock.Second()}
		}
		for _, m := range minutes {
			for _, s := range seconds {
				all = append(all, at.Add(time.Duration(m-clock.Minute())*time.Minute+time.Duration(s-clock.Second())*time.Second))
			}
		}
	}
	return all
}

func TestEachElapsed_runsThroughAChangeOfTheClocks(t *testing.T) {
	t.Parallel()
	for seed := range histories(t, 90) {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		p := &plain{
			interval: 1 + r.IntN(30), freq: []string{"HOURLY", "MINUTELY", "SECONDLY"}[r.IntN(3)], week: time.Monday,
			zone: zoned(t, places[2+r.IntN(len(places)-2)]),
			start: time.Date([]int{2011, 2024}[r.IntN(2)], []time.Month{3, 4, 9, 10, 12}[r.IntN(5)], 1+r.IntN(28), r.IntN(24),
				0, r.IntN(60), 0, time.UTC),
			weekdays: nil,
		}
		p.monthDays = some(r, 0.2, 8, 1, 31)
		if r.IntN(3) == 0 {
			p.weekdays = []numbered{{0, time.Sunday}, {0, time.Monday}, {0, time.Friday}}
		}
		if p.zone.String() != "Australia/Lord_Howe" { // there no clock shows an hour that is cut in two
			p.minutes = []([]int){nil, {0, 20, 40}, {30}}[r.IntN(3)]
		}
		if p.zone.String() == "Asia/Kolkata" {
			p.minutes = nil
		}
		series, err := p.compile()
		if err != nil {
			require.ErrorContains(t, err, "never occurs", "%s", p)
			continue
		}
		horizon := p.start.Add(time.Duration(map[string]int{"HOURLY": 300, "MINUTELY": 8, "SECONDLY": 1}[p.freq]) * day)
		first, ok := series.First()
		require.True(t, ok, "%s", p)
		var want, got []string
		start := time.Date(p.start.Year(), p.start.Month(), p.start.Day(), p.start.Hour(), p.start.Minute(),
			p.start.Second(), 0, p.zone)
		if start.Format("150405") != p.start.Format("150405") {
			continue // a start within a gap: where it means is tested elsewhere
		}
		for _, at := range p.expandElapsed(start, horizon) {
			if !at.Before(start) {
				want = append(want, at.UTC().Format(time.RFC3339))
			}
		}
		for o := range series.Each(time.Time{}, horizon.Add(time.Second)) {
			if !o.Start.After(horizon) {
				got = append(got, o.Start.Format(time.RFC3339))
			}
		}
		n := min(len(want), len(got))
		require.InDelta(t, len(want), len(got), 3, "%s", p) // the last hour may reach past the horizon
		require.Equal(t, strings.Join(want[:n], "\n"), strings.Join(got[:n], "\n"), "%s, first %s", p, first.Start)
		if n > 1 {
			at, err := time.Parse(time.RFC3339, got[n-1])
			require.NoError(t, err)
			previous, ok := series.Previous(at)
			require.True(t, ok, "%s", p)
			require.Equal(t, got[n-2], previous.Start.Format(time.RFC3339), "%s", p)
		}
	}
}

func TestEachElapsed_fixesHoursToTheClockByBYHOUR(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string][]string{
		// Through the gap of 2025-03-09: elapsed hours go on, hours that are named keep to the clock.
		"FREQ=HOURLY;INTERVAL=6;COUNT=4":              {"08T22:00-0500", "09T05:00-0400", "09T11:00-0400", "09T17:00-0400"},
		"FREQ=HOURLY;BYHOUR=22,4;COUNT=4":             {"08T22:00-0500", "09T04:00-0400", "09T22:00-0400", "10T04:00-0400"},
		"FREQ=HOURLY;INTERVAL=2;BYHOUR=0,2,4;COUNT=3": {"09T00:00-0500", "09T03:00-0400", "09T04:00-0400"},
		"FREQ=MINUTELY;INTERVAL=150;COUNT=4":          {"08T22:00-0500", "09T00:30-0500", "09T04:00-0400", "09T06:30-0400"},
	} {
		location := zoned(t, "America/New_York")
		series, err := recurrence.Compile(recurrence.Spec{
			Rule: rule, Start: local(t, "20250308T220000"), Zone: location, Level: recurrence.General,
		})
		require.NoError(t, err)
		var got []string
		for o := range series.Each(time.Time{}, time.Time{}) {
			got = append(got, o.Start.In(location).Format("02T15:04-0700"))
		}
		require.Equal(t, want, got, rule)
	}
}
