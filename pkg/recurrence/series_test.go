package recurrence_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/recurrence"
)

// show writes occurrences as reading and instant; of a series without a zone the readings alone.
func show(series *recurrence.Series, limit int) string {
	var all []string
	for o := range series.Each(time.Time{}, time.Time{}) {
		text := o.Wall.Format("0102T1504")
		if !o.Start.Equal(o.Wall) {
			text += "=" + o.Start.Format("02T1504Z")
		}
		if all = append(all, text); len(all) == limit {
			break
		}
	}
	return strings.Join(all, " ")
}

func TestSeries_isReadAsTheStandardSays(t *testing.T) {
	t.Parallel()
	newYork, apia, lordHowe := zoned(t, "America/New_York"), zoned(t, "Pacific/Apia"), zoned(t, "Australia/Lord_Howe")
	for name, c := range map[string]struct {
		spec  recurrence.Spec
		start string
		want  string
	}{
		"nine o'clock stays nine o'clock": {recurrence.Spec{Rule: "FREQ=WEEKLY;COUNT=3", Zone: newYork}, "20250302T090000",
			"0302T0900=02T1400Z 0309T0900=09T1300Z 0316T0900=16T1300Z"},
		"a skipped time moves forward": {recurrence.Spec{Rule: "FREQ=DAILY;COUNT=3", Zone: newYork}, "20250308T023000",
			"0308T0230=08T0730Z 0309T0230=09T0730Z 0310T0230=10T0630Z"},
		"a repeated time means the first": {recurrence.Spec{Rule: "FREQ=DAILY;COUNT=2", Zone: newYork}, "20251101T013000",
			"1101T0130=01T0530Z 1102T0130=02T0530Z"},
		"half an hour": {recurrence.Spec{Rule: "FREQ=DAILY;COUNT=2", Zone: lordHowe}, "20251004T021500",
			"1004T0215=03T1545Z 1005T0215=04T1545Z"},
		"a skipped day's occurrence coincides with the next": {recurrence.Spec{Rule: "FREQ=DAILY;COUNT=4", Zone: apia},
			"20111228T120000",
			"1228T1200=28T2200Z 1229T1200=29T2200Z 1231T1200=30T2200Z"},
		"UNTIL in UTC is an instant": {recurrence.Spec{Rule: "FREQ=DAILY;UNTIL=20250303T140000Z", Zone: newYork},
			"20250302T090000",
			"0302T0900=02T1400Z 0303T0900=03T1400Z"},
		"UNTIL in UTC one second before": {recurrence.Spec{Rule: "FREQ=DAILY;UNTIL=20250303T135959Z", Zone: newYork},
			"20250302T090000",
			"0302T0900=02T1400Z"},
		"UNTIL as a local time is a reading": {recurrence.Spec{Rule: "FREQ=DAILY;UNTIL=20250303T090000", Zone: newYork},
			"20250302T090000",
			"0302T0900=02T1400Z 0303T0900=03T1400Z"},
		"UNTIL as a date includes the day": {recurrence.Spec{Rule: "FREQ=DAILY;UNTIL=20250303"}, "20250302T235900",
			"0302T2359 0303T2359"},
		"a floating series reads UNTIL as it": {recurrence.Spec{Rule: "FREQ=DAILY;UNTIL=20250303T090000Z"},
			"20250302T090000", "0302T0900 0303T0900"},
		"whole days go by UNTIL's date": {
			recurrence.Spec{Rule: "FREQ=DAILY;UNTIL=20250303T000000Z", AllDay: true}, "20250302", "0302T0000 0303T0000"},
		"the series' own end comes first": {recurrence.Spec{Rule: "FREQ=DAILY;COUNT=9",
			Until: local(t, "20250303T090000"), RDates: []string{"20250320"}}, "20250302T090000", "0302T0900 0303T0900"},
		"the rule's own end comes first": {recurrence.Spec{Rule: "FREQ=DAILY;COUNT=1",
			Until: local(t, "20250320T090000"), RDates: []string{"20250320"}}, "20250302T090000", "0302T0900 0320T0900"},
		"an end before the start": {recurrence.Spec{Rule: "FREQ=DAILY;UNTIL=20240101", WithStart: true},
			"20250302T090000", ""},
		"COUNT counts what EXDATE takes": {recurrence.Spec{Rule: "FREQ=DAILY;COUNT=3",
			EXDates: []string{"20250303"}}, "20250302T090000", "0302T0900 0304T0900"},
		"the first occurrence can be deleted": {recurrence.Spec{Rule: "FREQ=DAILY;COUNT=3",
			EXDates: []string{"20250302"}, WithStart: true}, "20250302T090000", "0303T0900 0304T0900"},
		"a start that does not fit is one": {recurrence.Spec{Rule: "FREQ=WEEKLY;BYDAY=MO;COUNT=2", WithStart: true},
			"20250302T090000", "0302T0900 0303T0900"},
		"or is not": {recurrence.Spec{Rule: "FREQ=WEEKLY;BYDAY=MO;COUNT=2"}, "20250302T090000", "0303T0900 0310T0900"},
		"the start alone": {recurrence.Spec{Rule: "FREQ=WEEKLY;BYDAY=MO;COUNT=1", WithStart: true},
			"20250302T090000", "0302T0900"},
		"RDATE takes the start's time": {recurrence.Spec{Rule: "FREQ=DAILY;COUNT=1", RDates: []string{"20250310",
			"20250302", "20250310"}, Zone: newYork}, "20250302T090000", "0302T0900=02T1400Z 0310T0900=10T1300Z"},
		"RDATE counts for nothing": {recurrence.Spec{Rule: "FREQ=DAILY;COUNT=2",
			RDates: []string{"20250301"}}, "20250302T090000", "0301T0900 0302T0900 0303T0900"},
		"EXDATE takes RDATE": {recurrence.Spec{Rule: "FREQ=DAILY;COUNT=1",
			RDates: []string{"20250310"}, EXDates: []string{"20250310"}}, "20250302T090000", "0302T0900"},
		"plain and numbered weekdays add up": {recurrence.Spec{Rule: "FREQ=MONTHLY;BYDAY=MO,2TU;COUNT=3"},
			"20250303T090000", "0303T0900 0310T0900 0311T0900"},
		"positions count from the week's beginning": {recurrence.Spec{Rule: "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=2;COUNT=2"},
			"20250306T090000", "0312T0900 0319T0900"},
		"duplicates count once": {recurrence.Spec{Rule: "FREQ=MONTHLY;BYMONTHDAY=31,-1,31;COUNT=2"},
			"20250101T090000", "0131T0900 0228T0900"},
		"a date takes the whole day": {recurrence.Spec{Rule: "FREQ=HOURLY;INTERVAL=8;COUNT=5",
			EXDates: []string{"20250302"}, Level: recurrence.General}, "20250302T080000", "0303T0000 0303T0800 0303T1600"},
		"a time takes that time": {recurrence.Spec{Rule: "FREQ=HOURLY;INTERVAL=8;COUNT=3",
			EXDates: []string{"20250302T160000"}, Level: recurrence.General}, "20250302T080000", "0302T0800 0303T0000"},
		"an instant takes that instant": {recurrence.Spec{Rule: "FREQ=DAILY;COUNT=2", EXDates: []string{
			"20250302T140000Z"}, Zone: newYork, Level: recurrence.General}, "20250302T090000", "0303T0900=03T1400Z"},
		"whole days ignore times of day": {recurrence.Spec{Rule: "FREQ=DAILY;BYHOUR=9,12;COUNT=2", AllDay: true,
			Level: recurrence.General}, "20250302", "0302T0000 0303T0000"},
		"hours that make whole days": {recurrence.Spec{Rule: "FREQ=HOURLY;INTERVAL=48;COUNT=2", AllDay: true,
			Level: recurrence.General}, "20250302", "0302T0000 0304T0000"},
		"two times of one instant are one": {recurrence.Spec{Rule: "FREQ=DAILY;BYHOUR=2,3;COUNT=4", Zone: newYork,
			Level: recurrence.General}, "20250308T020000", "0308T0200=08T0700Z 0308T0300=08T0800Z 0309T0300=09T0700Z"},
		"what a gap moves comes in order": {recurrence.Spec{Rule: "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30;COUNT=4",
			EXDates: []string{"20250309T030000"}, Zone: newYork, Level: recurrence.General}, "20250309T020000",
			"0309T0200=09T0700Z 0309T0330=09T0730Z"},
	} {
		spec := c.spec
		spec.Start = local(t, c.start)
		series, err := recurrence.Compile(spec)
		require.NoError(t, err, name)
		require.Equal(t, c.want, show(series, 10), name)
	}
}

func TestIn_showsAFloatingSeriesInTheViewersZone(t *testing.T) {
	t.Parallel()
	series, err := recurrence.Compile(recurrence.Spec{
		Rule: "FREQ=DAILY;COUNT=2", Start: local(t, "20250308T023000"), RDates: []string{"20250311"},
	})
	require.NoError(t, err)
	require.Equal(t, "0308T0230 0309T0230 0311T0230", show(series, 5))
	require.Equal(t, "0308T0230=08T0730Z 0309T0230=09T0730Z 0311T0230=11T0630Z",
		show(series.In(zoned(t, "America/New_York")), 5))
	require.Equal(t, "0308T0230=07T2100Z 0309T0230=08T2100Z 0311T0230=10T2100Z",
		show(series.In(zoned(t, "Asia/Kolkata")), 5))

	days, err := recurrence.Compile(recurrence.Spec{Rule: "FREQ=DAILY;COUNT=2", Start: local(t, "20250308"), AllDay: true})
	require.NoError(t, err)
	require.Equal(t, "0308T0000=08T0500Z 0309T0000=09T0500Z", show(days.In(zoned(t, "America/New_York")), 5))

	zonedSeries, err := recurrence.Compile(recurrence.Spec{
		Rule: "FREQ=DAILY;COUNT=1", Start: local(t, "20250308T023000"), Zone: time.UTC,
	})
	require.NoError(t, err)
	require.Same(t, zonedSeries, zonedSeries.In(zoned(t, "Asia/Kolkata")))
}

func TestBetween_includesTheStartOfAWindowAndNotItsEnd(t *testing.T) {
	t.Parallel()
	series, err := recurrence.Compile(recurrence.Spec{
		Rule: "FREQ=DAILY", Start: local(t, "20250301T090000"), Zone: zoned(t, "Europe/London"),
	})
	require.NoError(t, err)
	nine := local(t, "20250310T090000")
	for name, c := range map[string]struct {
		from, to time.Time
		want     int
	}{
		"at its start":            {nine, nine.Add(time.Second), 1},
		"at its end":              {nine.Add(-time.Hour), nine, 0},
		"a nanosecond after":      {nine.Add(1), nine.Add(day), 0},
		"the end a nanosecond on": {nine.Add(-time.Hour), nine.Add(1), 1},
		"turned round":            {nine.Add(day), nine.Add(-day), 0},
		"nothing":                 {nine, nine, 0},
		"before the series":       {local(t, "20240101"), local(t, "20250301"), 0},
	} {
		require.Len(t, series.Between(nil, c.from, c.to), c.want, name)
	}
	require.Len(t, series.Overlapping(nil, nine.Add(time.Hour), nine.Add(2*time.Hour), 2*time.Hour), 1,
		"in the middle of it")
	require.Empty(t, series.Overlapping(nil, nine.Add(2*time.Hour), nine.Add(3*time.Hour), 2*time.Hour),
		"it has just ended")
	require.Len(t, series.Overlapping(nil, nine, nine.Add(time.Hour), 0), 1, "of no length, at the start")
	require.Len(t, series.Overlapping(nil, nine, nine.Add(1), 10*day), 10, "ten days long, each day")
	kept := series.Between(make([]recurrence.Occurrence, 1, 8), nine, nine.Add(day))
	require.Len(t, kept, 2, "appended to what was there")
}

func TestLast_isTheEndOfASeries(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"FREQ=DAILY;COUNT=10000":                "20520716",
		"FREQ=MONTHLY;BYDAY=-1FR;COUNT=24":      "20270226",
		"FREQ=YEARLY;UNTIL=20300101T000000":     "20290301",
		"FREQ=WEEKLY;UNTIL=20250301T090000":     "20250301",
		"FREQ=YEARLY;COUNT=10000;INTERVAL=1000": "90250301",
		"FREQ=DAILY":                            "",
	} {
		series, err := recurrence.Compile(recurrence.Spec{
			Rule: rule, Start: local(t, "20250301T090000"), Zone: zoned(t, "Europe/London"),
		})
		require.NoError(t, err)
		last, ok := series.Last()
		require.Equal(t, want != "", ok, rule)
		require.Equal(t, !ok, series.Endless(), rule)
		if ok {
			require.Equal(t, want, last.Wall.Format("20060102"), rule)
		}
	}
	series, err := recurrence.Compile(recurrence.Spec{
		Rule: "FREQ=DAILY;COUNT=1", Start: local(t, "20250301"), AllDay: true, EXDates: []string{"20250301"},
	})
	require.NoError(t, err)
	_, ok := series.Last()
	require.False(t, ok, "EXDATE has left none")
	_, ok = series.First()
	require.False(t, ok)
}

func TestSeries_isSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	series, err := recurrence.Compile(recurrence.Spec{
		Rule: "FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1", Start: local(t, "20250301T090000"), Zone: zoned(t, "Europe/London"),
	})
	require.NoError(t, err)
	for range 4 {
		t.Run("asks", func(t *testing.T) {
			t.Parallel()
			for range 200 {
				next, ok := series.Next(local(t, "20250601T000000"))
				require.True(t, ok)
				require.Equal(t, "20250630T090000", next.Wall.Format("20060102T150405"))
			}
		})
	}
}
