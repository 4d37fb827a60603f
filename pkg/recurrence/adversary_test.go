package recurrence_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/recurrence"
)

// clockChanges are zones in which the offset is odd, changes often, by half an hour or by a day, each with a moment of
// it, and one of a year that no table has.
var clockChanges = []struct {
	zone string
	near []string
}{
	{"", []string{"20240229T235959", "99991231T235959", "00010101T000000"}},
	{"America/New_York", []string{"20250309T023000", "20251102T013000", "22000309T030000", "99991107T013000"}},
	{"Pacific/Apia", []string{"20111230T120000", "22001101T000000"}},
	{"Africa/Casablanca", []string{"20250223T023000", "20870511T023000"}},
	{"Australia/Lord_Howe", []string{"20250406T014500", "21500405T014500"}},
	{"Africa/Monrovia", []string{"19720107T000000", "00010102T000000"}},
	{"America/Scoresbysund", []string{"20240331T000000", "30000330T000000"}},
	{"Europe/Dublin", []string{"19721029T023000"}},
}

// atItsWorst makes a series each part of which is at one of its extremes.
func atItsWorst(t testing.TB, r *rand.Rand) (recurrence.Spec, time.Time) {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	change := clockChanges[r.IntN(len(clockChanges))]
	spec := recurrence.Spec{Level: recurrence.General, Zone: zoned(t, change.zone), WithStart: r.IntN(2) == 0}
	near := local(t, change.near[r.IntN(len(change.near))])
	spec.Start = near
	if r.IntN(2) == 0 {
		spec.Start = local(t, pick("00010101T000000", "19000101T000000", "19600101T000000", "20240229T235959",
			"20250101T090000", "99980228T120000"))
	}
	freq := pick("SECONDLY", "MINUTELY", "HOURLY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY", "YEARLY")
	if spec.Zone == nil && r.IntN(8) == 0 {
		spec.AllDay, spec.Start = true, midnight(spec.Start)
	}
	rule := "FREQ=" + freq
	if r.IntN(2) == 0 {
		rule += ";INTERVAL=" +
			pick("2", "3", "7", "24", "25", "59", "60", "100", "168", "399", "400", "401", "997", "1000", "1440", "1441", "3600",
				"8761", "10007", "86399", "86400", "86401", "525600", "604800", "1000003", "31556952", "31556952000", "8765820")
	}
	add := func(chance int, name string, values ...string) {
		if r.IntN(chance) == 0 {
			rule += ";" + name + "=" + values[r.IntN(len(values))]
		}
	}
	add(3, "BYMONTH", "2", upTo(1, 12), "1", "12", upTo(1, 11), "4,6,9,11")
	add(3, "BYMONTHDAY", "29", "30", "31", upTo(-31, 31), upTo(1, 31), "-31", "-29", "1", "13")
	if freq == "YEARLY" {
		add(4, "BYWEEKNO", "53", "-53", "1", "-1", upTo(-53, 53), "52,53")
	}
	if freq == "YEARLY" || len(freq) > 7 || freq == "HOURLY" {
		add(4, "BYYEARDAY", "366", "-366", "1", "-1", upTo(-366, 366), upTo(1, 366), "60")
	}
	add(3, "BYDAY", "MO", "SU", "MO,TU,WE,TH,FR,SA,SU", "SA,SU", "FR")
	if !strings.Contains(rule, "BYDAY") && (freq == "MONTHLY" || freq == "YEARLY") {
		add(3, "BYDAY", "5MO", "-5SU", "53MO", "-53SU", "MO,1MO,-1MO,5TH", everyNumberedDay())
	}
	add(3, "BYHOUR", "0", "2", "23", upTo(0, 23), upTo(0, 22), "7,11,15,19")
	add(3, "BYMINUTE", "0", "59", upTo(0, 59), upTo(1, 59), "7")
	add(3, "BYSECOND", "0", "59", upTo(0, 59), upTo(1, 59), "30")
	add(3, "BYSETPOS", "1", "-1", "366", "-366", upTo(-366, 366), "8", "183,-183", "2")
	add(4, "WKST", "SU", "TH")
	switch r.IntN(5) {
	case 0:
		rule += ";COUNT=" + pick("1", "2", "100", "9999", "10000")
	case 1:
		rule += ";UNTIL=" +
			pick("99991231", "99991231T235959Z", "00010101", "20250309", near.Add(-time.Second).Format("20060102T150405Z"))
	}
	spec.Rule = rule
	dates := func() []string {
		n, step := []int{0, 0, 1, 20, 1000, 10_000}[r.IntN(6)],
			[]time.Duration{1, 1, 2, 60, 3600, 86400, 86399, 7 * 86400}[r.IntN(8)]*time.Second
		if step >= day && n > 1000 && near.Year() > 9000 {
			n = 1000
		}
		var list []string
		layout := pick("20060102", "20060102T150405", "20060102T150405", "20060102T150405Z")
		for i := range n {
			at := near.Add(time.Duration(i-n/2) * step)
			if at.Year() >= 1 && at.Year() <= 9999 {
				list = append(list, at.Format(layout))
			}
		}
		return list
	}
	spec.EXDates, spec.RDates = dates(), dates()
	if r.IntN(6) == 0 {
		spec.Until = near.Add(time.Duration(r.IntN(4)-2) * day)
	}
	return spec, near
}

// checkNeighbours compares the searches ahead and back: what the one finds the other must not pass over. Where the
// occurrences of a rule of less than a day lie decades apart, either may give up.
func checkNeighbours(t *testing.T, series *recurrence.Series, spec recurrence.Spec, at time.Time) {
	t.Helper()
	rule, err := recurrence.Parse(spec.Rule)
	require.NoError(t, err)
	near := func(o recurrence.Occurrence) bool {
		return rule.Frequency() >= recurrence.Daily || o.Start.Sub(at).Abs() < 30*365*day
	}
	if previous, ok := series.Previous(at); ok && near(previous) {
		require.True(t, previous.Start.Before(at), "%+v: %s is not before %s", spec, previous.Start, at)
		if next, ok := series.Next(previous.Start); ok {
			require.False(t, next.Start.Before(at), "%.300v: before %s comes %s, not %s", spec, at, next.Start, previous.Start)
		}
		same, ok := series.Next(previous.Start.Add(-1))
		require.True(t, ok && same == previous, "%.300v: %s is found back, and ahead %s", spec, previous.Start, same.Start)
	}
	if next, ok := series.Next(at); ok && near(next) {
		require.True(t, next.Start.After(at))
		if previous, ok := series.Previous(next.Start); ok {
			require.False(t, previous.Start.After(at), "%.300v: after %s comes %s, not %s", spec, at, previous.Start, next.Start)
		}
		same, ok := series.Previous(next.Start.Add(1))
		require.True(t, ok && same == next, "%.300v: %s is found ahead, and back %s", spec, next.Start, same.Start)
	}
}

func TestSeries_answersInTimeAtItsWorst(t *testing.T) {
	skipUnderRaceDetector(t)
	var s slowest
	for seed := range histories(t, 120) {
		spec, near := atItsWorst(t, rand.New(rand.NewPCG(99, uint64(seed))))
		moments := []time.Time{
			near, near.Add(3 * time.Hour), near.Add(-1), local(t, "00020101T000000"), local(t, "24000301T020000"),
			local(t, "99990101T000000"),
		}
		if series := s.askAll(t, spec, moments...); series != nil {
			for _, at := range moments {
				checkNeighbours(t, series, spec, at)
			}
		}
	}
	t.Logf("slowest: %s, %s", s.took, s.what)
	require.Less(t, s.took, enough, s.what)
}
