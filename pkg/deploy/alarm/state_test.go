package alarm_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/alarm"
)

// States of an alarm.
const (
	ok      = "OK"
	alarmed = "ALARM"
)

// evaluationRange is how many data points more than an alarm's periods CloudWatch retrieves. The guide gives no number;
// its examples retrieve 5 points for 3 periods.
const evaluationRange = 2

// judged returns the state that an alarm has after the last of the values, as the CloudWatch User Guide describes it
// ("How alarm state is evaluated when data is missing"). If there are enough real values in the range, the latest of
// them count; otherwise missing ones are filled in, as few as possible.
func judged(a alarm.Alarm, values series, before string) string {
	values = values[max(0, len(values)-a.Periods-evaluationRange):]
	var there series
	for _, value := range values {
		if value != nil {
			there = append(there, value)
		}
	}
	there = there[max(0, len(there)-a.Periods):]
	bad := 0
	for _, value := range there {
		if *value > a.Above {
			bad++
		}
	}
	filled := a.Periods - len(there)
	switch {
	case a.Missing == alarm.Bad:
		bad += filled
	case a.Missing == alarm.Ignore && filled > 0 && len(there) == bad:
		return before
	}
	if bad >= a.BadPeriods() {
		return alarmed
	}
	return ok
}

// The tables of the guide: 0 is a good data point, X a bad one, - a missing one. The oldest is first.
func TestMissing_countsAsInTheGuidesTables(t *testing.T) {
	t.Parallel()
	const retained = "as before"
	for _, c := range []struct {
		enough            int
		points            string
		ignore, bad, good string
	}{
		{3, "0 - X - X", ok, ok, ok},
		{3, "0 - - - -", ok, ok, ok},
		{3, "- - - - -", retained, alarmed, ok},
		{3, "0 X X - X", alarmed, alarmed, alarmed},
		{3, "- - - - X", retained, alarmed, ok},
		{3, "X - - - -", retained, alarmed, ok},
		{2, "0 - X - X", alarmed, alarmed, alarmed},
		{2, "0 0 X 0 X", alarmed, alarmed, alarmed},
		{2, "0 - X - -", ok, alarmed, ok},
		{2, "- - - - 0", ok, alarmed, ok},
		{2, "- - - - X", retained, alarmed, ok},
	} {
		points := written(t, strings.ReplaceAll(strings.ReplaceAll(c.points, "X", "1"), " ", ","))
		for missing, want := range map[alarm.Missing]string{
			alarm.Ignore: c.ignore, alarm.Bad: c.bad, alarm.Good: c.good,
		} {
			a := alarm.Alarm{Periods: 3, Enough: c.enough, Missing: missing}
			require.Equal(t, want, judged(a, points, retained), "%d of 3, %s, %s", c.enough, c.points, missing)
		}
	}
}
