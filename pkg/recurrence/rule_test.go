package recurrence_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/recurrence"
)

func TestRule_isBroughtIntoOneForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"FREQ=DAILY":                                 "FREQ=DAILY",
		" freq=weekly;byday=we,mo,we; ":              "FREQ=WEEKLY;BYDAY=MO,WE",
		"RRULE:FREQ=DAILY;INTERVAL=1;WKST=MO":        "FREQ=DAILY",
		"FREQ=YEARLY;BYMONTHDAY=-1,+5,05;BYMONTH=02": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1,5",
		"FREQ=MONTHLY;BYDAY=-1FR,2TU,SU,+2TU;WKST=SU;COUNT=3;INTERVAL=2": "FREQ=MONTHLY;INTERVAL=2;COUNT=3;WKST=SU;" +
			"BYDAY=SU,2TU,-1FR",
		"FREQ=DAILY;UNTIL=20251231":                             "FREQ=DAILY;UNTIL=20251231",
		"FREQ=DAILY;UNTIL=20251231T235960z":                     "FREQ=DAILY;UNTIL=20251231T235959Z",
		"FREQ=DAILY;UNTIL=20251231T000000":                      "FREQ=DAILY;UNTIL=20251231T000000",
		"FREQ=SECONDLY;BYSECOND=60,0;BYMINUTE=20,0,20;BYHOUR=0": "FREQ=SECONDLY;BYHOUR=0;BYMINUTE=0,20;BYSECOND=0,59",
		"FREQ=YEARLY;BYSETPOS=366,-366;BYYEARDAY=1,366,-366;BYWEEKNO=53,-1,1": "FREQ=YEARLY;BYWEEKNO=-1,1," +
			"53;BYYEARDAY=-366,1,366;BYSETPOS=-366,366",
	} {
		rule, err := recurrence.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, rule.String(), text)
		again, err := recurrence.Parse(rule.String())
		require.NoError(t, err, text)
		require.Equal(t, rule.String(), again.String())
	}
}

func TestRefusal_namesThePart(t *testing.T) {
	t.Parallel()
	for text, part := range map[string]string{
		"":                                    "RRULE",
		"DAILY":                               "RRULE",
		"FREQ=DAILY;;COUNT=1":                 "RRULE",
		strings.Repeat("FREQ=DAILY;", 1000):   "RRULE",
		"COUNT=1":                             "FREQ",
		"FREQ=FORTNIGHTLY":                    "FREQ",
		"FREQ=":                               "FREQ",
		"FREQ=DAILY;FREQ=DAILY":               "FREQ",
		"FREQ=DAILY;BYEASTER=0":               "BYEASTER",
		"FREQ=DAILY;RSCALE=GREGORIAN":         "RSCALE",
		"FREQ=DAILY;X-OWN=1":                  "X-OWN",
		"FREQ=DAILY;COUNT=0":                  "COUNT",
		"FREQ=DAILY;COUNT=-1":                 "COUNT",
		"FREQ=DAILY;COUNT=10001":              "COUNT",
		"FREQ=DAILY;COUNT=1e3":                "COUNT",
		"FREQ=DAILY;COUNT=2;UNTIL=20250101":   "COUNT",
		"FREQ=DAILY;INTERVAL=0":               "INTERVAL",
		"FREQ=DAILY;INTERVAL=-1":              "INTERVAL",
		"FREQ=DAILY;INTERVAL=99999999999999":  "INTERVAL",
		"FREQ=YEARLY;INTERVAL=1001":           "INTERVAL",
		"FREQ=WEEKLY;INTERVAL=2000000000":     "INTERVAL",
		"FREQ=DAILY;UNTIL=2025":               "UNTIL",
		"FREQ=DAILY;UNTIL=20250230":           "UNTIL",
		"FREQ=DAILY;UNTIL=20250228T250000":    "UNTIL",
		"FREQ=DAILY;UNTIL=20250228T120000+01": "UNTIL",
		"FREQ=WEEKLY;WKST=XX":                 "WKST",
		"FREQ=WEEKLY;WKST=1MO":                "WKST",
		"FREQ=YEARLY;BYMONTH=0":               "BYMONTH",
		"FREQ=YEARLY;BYMONTH=13":              "BYMONTH",
		"FREQ=YEARLY;BYMONTH=-1":              "BYMONTH",
		"FREQ=YEARLY;BYMONTH=":                "BYMONTH",
		"FREQ=YEARLY;BYMONTH=1,,2":            "BYMONTH",
		"FREQ=YEARLY;BYMONTH=5L":              "BYMONTH",
		"FREQ=YEARLY;BYWEEKNO=54":             "BYWEEKNO",
		"FREQ=MONTHLY;BYWEEKNO=5":             "BYWEEKNO",
		"FREQ=YEARLY;BYYEARDAY=367":           "BYYEARDAY",
		"FREQ=YEARLY;BYYEARDAY=0":             "BYYEARDAY",
		"FREQ=DAILY;BYYEARDAY=1":              "BYYEARDAY",
		"FREQ=MONTHLY;BYMONTHDAY=32":          "BYMONTHDAY",
		"FREQ=MONTHLY;BYMONTHDAY=-0":          "BYMONTHDAY",
		"FREQ=MONTHLY;BYDAY=0MO":              "BYDAY",
		"FREQ=MONTHLY;BYDAY=54MO":             "BYDAY",
		"FREQ=MONTHLY;BYDAY=M":                "BYDAY",
		"FREQ=WEEKLY;BYDAY=1MO":               "BYDAY",
		"FREQ=YEARLY;BYWEEKNO=1;BYDAY=1MO":    "BYDAY",
		"FREQ=DAILY;BYHOUR=24":                "BYHOUR",
		"FREQ=DAILY;BYMINUTE=60":              "BYMINUTE",
		"FREQ=DAILY;BYSECOND=61":              "BYSECOND",
		"FREQ=DAILY;BYSETPOS=0":               "BYSETPOS",
		"FREQ=DAILY;BYSETPOS=367":             "BYSETPOS",
		"FREQ=DAILY;BYHOUR=99999999999999999": "BYHOUR",
	} {
		_, err := recurrence.Parse(text)
		var refusal *recurrence.Refusal
		require.True(t, errors.As(err, &refusal), text)
		require.Equal(t, part, refusal.Part, "%s: %v", text, err)
		require.Less(t, len(err.Error()), 200)
	}
}

func TestRefusal_namesTheKnownFrequencies(t *testing.T) {
	t.Parallel()
	const taken = "DAILY, WEEKLY, MONTHLY, YEARLY"
	for _, rule := range []string{"FREQ=WEEKLYY", "freq=weeklyy;BYHOUR=7"} {
		require.EqualError(t, recurrence.Calendar.Check(rule), `FREQ: "WEEKLYY" is not one of `+taken)
		_, err := recurrence.Compile(recurrence.Spec{Rule: rule, Start: local(t, "20250106T090000")})
		require.EqualError(t, err, `FREQ: "WEEKLYY" is not one of `+taken)
		require.EqualError(t, recurrence.General.Check(rule),
			`FREQ: "WEEKLYY" is not one of SECONDLY, MINUTELY, HOURLY, `+taken)
	}
}

func TestCompile_refusesARuleThatNeverOccurs(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{
		"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=MONTHLY;BYMONTH=4,6;BYMONTHDAY=31", "FREQ=YEARLY;BYMONTH=3;BYDAY=6MO",
		"FREQ=DAILY;INTERVAL=7;BYDAY=SU", "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2", "FREQ=YEARLY;BYWEEKNO=20;BYMONTH=1",
		"FREQ=HOURLY;INTERVAL=4;BYHOUR=7,11,15,19", "FREQ=MINUTELY;INTERVAL=2;BYMINUTE=1", "FREQ=SECONDLY;BYSETPOS=2",
		"FREQ=YEARLY;UNTIL=20990101;BYMONTH=2;BYMONTHDAY=30",
	} {
		_, err := recurrence.Compile(recurrence.Spec{
			Rule: rule, Start: local(t, "20250106T090000"), Level: recurrence.General,
		})
		require.ErrorContains(t, err, "never occurs", rule)
	}
}

func TestCheckCalendar_allowsOneOccurrenceADay(t *testing.T) {
	t.Parallel()
	for rule, part := range map[string]string{
		"FREQ=HOURLY": "FREQ", "FREQ=MINUTELY": "FREQ", "FREQ=SECONDLY": "FREQ",
		"FREQ=DAILY;BYHOUR=9": "BYHOUR", "FREQ=YEARLY;BYMINUTE=0": "BYMINUTE", "FREQ=WEEKLY;BYSECOND=0": "BYSECOND",
	} {
		_, err := recurrence.Compile(recurrence.Spec{Rule: rule, Start: local(t, "20250106T090000")})
		var refusal *recurrence.Refusal
		require.True(t, errors.As(err, &refusal), rule)
		require.Equal(t, part, refusal.Part)
	}
}

func TestCompile_refusesWhatMakesNoSeries(t *testing.T) {
	t.Parallel()
	noon := local(t, "20250106T120000")
	for part, spec := range map[string]recurrence.Spec{
		"DTSTART": {Rule: "FREQ=DAILY", Start: noon, AllDay: true},
		"EXDATE":  {Rule: "FREQ=DAILY", Start: noon, EXDates: []string{"20250107T120000"}},
		"RDATE":   {Rule: "FREQ=DAILY", Start: noon, RDates: []string{"2025-01-07"}},
		"FREQ":    {Rule: "FREQ=HOURLY", Start: midnight(noon), AllDay: true, Level: recurrence.General},
		"COUNT": {Rule: "FREQ=SECONDLY;COUNT=10000;INTERVAL=1000003;BYHOUR=5;BYDAY=SU", Start: noon,
			Level: recurrence.General},
	} {
		_, err := recurrence.Compile(spec)
		var refusal *recurrence.Refusal
		require.True(t, errors.As(err, &refusal), part)
		require.Equal(t, part, refusal.Part, err)
	}
	_, err := recurrence.Compile(recurrence.Spec{Rule: "FREQ=DAILY", Start: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.ErrorContains(t, err, "DTSTART")
}

func TestList_refusesARuleThatIsTooRare(t *testing.T) {
	t.Parallel()
	series, err := recurrence.Compile(recurrence.Spec{
		Rule: "FREQ=SECONDLY;INTERVAL=82799;BYHOUR=1;BYMINUTE=1;BYSECOND=0", Start: local(t, "20250105T200124"),
		WithStart: true, Level: recurrence.General,
	})
	require.NoError(t, err)
	first, err := series.List(time.Time{}, time.Time{}, 1)
	require.NoError(t, err)
	require.Len(t, first, 1)
	_, err = series.List(time.Time{}, time.Time{}, 100)
	require.ErrorIs(t, err, recurrence.ErrTooRare)
	none, err := series.List(time.Time{}, time.Time{}, 0)
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestWithUntil_rewritesARuleForASplitSeries(t *testing.T) {
	t.Parallel()
	rule, err := recurrence.Parse("FREQ=MONTHLY;BYDAY=TU,2TU,-1FR;UNTIL=20300101")
	require.NoError(t, err)
	require.Equal(t, "FREQ=MONTHLY;COUNT=7;BYDAY=TU,2TU,-1FR", rule.WithCount(7).String())
	require.Equal(t, "FREQ=MONTHLY;BYDAY=TU,2TU,-1FR", rule.WithCount(7).WithCount(0).String())
	require.Equal(t, recurrence.Monthly, rule.Frequency())
	require.True(t, rule.Finite())

	series, err := recurrence.Compile(recurrence.Spec{
		Rule: "FREQ=WEEKLY;BYDAY=MO;COUNT=5", Start: local(t, "20250103"), AllDay: true, WithStart: true,
		EXDates: []string{"20250106"}, RDates: []string{"20250107"},
	})
	require.NoError(t, err)
	require.Equal(t, 3, series.Counted(local(t, "20250120"))) // the start, and two Mondays, one of them excluded
	require.Equal(t, 0, series.Counted(local(t, "20250103")))
	last, ok := series.Last()
	require.True(t, ok)
	require.Equal(t, local(t, "20250127"), last.Wall)
}

func TestParse_clipsWhatItRepeatsBetweenCharacters(t *testing.T) {
	t.Parallel()
	_, err := recurrence.Parse("FREQ=DAILY;INTERVAL=" + strings.Repeat("x", 39) + "ü")
	require.ErrorContains(t, err, strconv.Quote(strings.Repeat("X", 39)+"…"))
}
