package recurrence_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/recurrence"
)

func FuzzRule(f *testing.F) {
	for _, rule := range hostile() {
		f.Add(rule, int64(1736154000), uint8(0))
	}
	f.Add("freq=daily;", int64(-1), uint8(1))
	zones := []*time.Location{nil, time.UTC, zoned(f, "America/New_York"), zoned(f, "Pacific/Apia")}
	f.Fuzz(func(t *testing.T, text string, start int64, how uint8) {
		rule, err := recurrence.Parse(text)
		if err != nil {
			return
		}
		again, err := recurrence.Parse(rule.String())
		require.NoError(t, err)
		require.Equal(t, rule.String(), again.String())

		began := time.Now()
		spec := recurrence.Spec{
			Rule: text, Start: time.Unix(start, 0).UTC(), Zone: zones[how%4], WithStart: how&4 != 0, AllDay: how&8 != 0,
			Level: recurrence.General,
		}
		if spec.AllDay {
			spec.Start, spec.Zone = midnight(spec.Start), nil
		}
		series, err := recurrence.Compile(spec)
		if err != nil {
			return
		}
		last, n := time.Time{}, 0
		for o := range series.Each(time.Time{}, time.Time{}) {
			require.True(t, n == 0 || o.Start.After(last), "%s: %s after %s", text, o.Start, last)
			// What lies decades apart is found from one side and not from the other, when a rule has periods of less than a day.
			near := rule.Frequency() >= recurrence.Daily || n > 0 && o.Start.Sub(last) < 30*365*day
			if n < 10 && near {
				require.Equal(t, []recurrence.Occurrence{o}, series.Between(nil, o.Start, o.Start.Add(1)), text)
				previous, ok := series.Previous(o.Start)
				require.True(t, ok == (n > 0) && (n == 0 || previous.Start.Equal(last)), "%s: before %s: %s, %t", text, o.Start,
					previous.Start, ok)
				next, ok := series.Next(o.Start.Add(-1))
				require.True(t, ok && next == o, text)
				that, ok := series.On(midnight(o.Wall))
				require.True(t, ok && midnight(that.Wall).Equal(midnight(o.Wall)), "%s: on the day of %s: %s, %t", text, o.Wall,
					that.Wall, ok)
				require.Equal(t, n, series.Count(o.Start, 100), text)
			}
			last = o.Start
			if n++; n == 100 {
				break
			}
		}
		series.Counted(last)
		series.Last()
		require.Less(t, time.Since(began), 5*time.Second, text) // about a hundred questions
	})
}
