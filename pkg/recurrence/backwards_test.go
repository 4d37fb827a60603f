package recurrence_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/recurrence"
)

func TestPrevious_findsTheOccurrenceOfADenseRule(t *testing.T) {
	t.Parallel()
	var minutes []string // an hour's minutes, from three o'clock on
	for i := range 60 {
		minutes = append(minutes, local(t, "20250309T030000").Add(time.Duration(i)*time.Minute).Format("20060102T150405"))
	}
	var seconds []string // the first ten of noon
	for i := range 10 {
		seconds = append(seconds, local(t, "20250309T120000").Add(time.Duration(i)*time.Second).Format("20060102T150405"))
	}
	for name, c := range map[string]struct {
		rule    string
		exdates []string
		before  string // an instant
		want    string // a reading
	}{
		"every second, ten of them taken away": {"FREQ=SECONDLY", seconds, "20250309T160010", "20250309T115959"},
		"the same by the clock":                {"FREQ=SECONDLY;BYHOUR=11,12", seconds, "20250309T160010", "20250309T115959"},
		"every minute, an hour of them taken away": {"FREQ=SECONDLY;BYSECOND=0", minutes, "20250309T075930",
			"20250309T015900"},
		"these by the clock":  {"FREQ=SECONDLY;BYSECOND=0;BYHOUR=0,1,3,4", minutes, "20250309T075930", "20250309T015900"},
		"UNTIL in local time": {"FREQ=SECONDLY;UNTIL=20250309T033000", nil, "99990101T000000", "20250309T033000"},
		"times of a day":      {"FREQ=DAILY;BYHOUR=1,3,4;BYMINUTE=0,30", minutes, "20250309T075930", "20250309T013000"},
		"picked times of a day": {"FREQ=DAILY;BYHOUR=1,3,4;BYMINUTE=0,30;BYSETPOS=2,3,4", minutes,
			"20250309T075930", "20250309T013000"},
		"picked times of a year": {
			"FREQ=YEARLY;BYMONTH=2,3;BYMONTHDAY=9;BYHOUR=1,3;BYMINUTE=0,30;BYSETPOS=1,2,-1,-2", minutes, "20250309T075930",
			"20250209T013000"},
		"moved out of a gap": {"FREQ=DAILY;BYHOUR=2;BYMINUTE=30", nil, "20250309T073100", "20250309T023000"},
	} {
		series, err := recurrence.Compile(recurrence.Spec{
			Rule: c.rule, Start: local(t, "20240101T000000"), Zone: zoned(t, "America/New_York"), EXDates: c.exdates,
			Level: recurrence.General,
		})
		require.NoError(t, err, name)
		got, ok := series.Previous(local(t, c.before))
		require.True(t, ok, name)
		require.Equal(t, c.want, got.Wall.Format("20060102T150405"), name)
	}
}

func TestPrevious_knowsTheWeeksOfTheFirstYear(t *testing.T) {
	t.Parallel()
	series, err := recurrence.Compile(recurrence.Spec{
		Rule: "FREQ=YEARLY;WKST=TH;BYWEEKNO=1,52,53", Start: local(t, "00010101"), AllDay: true,
	})
	require.NoError(t, err)
	first, ok := series.First()
	require.True(t, ok)
	require.Equal(t, "00010101", first.Wall.Format("20060102"))
}

func TestCounted_endsWithoutCOUNT(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"", "America/New_York"} {
		series, err := recurrence.Compile(recurrence.Spec{
			Rule: "FREQ=SECONDLY", Start: local(t, "00010101T000000"), Zone: zoned(t, zone), Level: recurrence.General,
		})
		require.NoError(t, err)
		require.Equal(t, recurrence.MaxCount, series.Counted(local(t, "99990101T000000")))
	}
}
