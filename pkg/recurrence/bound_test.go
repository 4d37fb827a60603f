package recurrence_test

import (
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/recurrence"
)

// upTo lists the numbers of a range but 0, each with the prefix.
func upTo(from, to int) string {
	var list []string
	for n := from; n <= to; n++ {
		if n != 0 || from == 0 {
			list = append(list, fmt.Sprint(n))
		}
	}
	return strings.Join(list, ",")
}

func everyNumberedDay() string {
	var all []string
	for n := -53; n <= 53; n++ {
		for _, name := range dayNames {
			if n != 0 {
				all = append(all, fmt.Sprintf("%d%s", n, name))
			}
		}
	}
	return strings.Join(all, ",")
}

// hostile are rules that make one or another engine walk for seconds or for ever.
func hostile() []string {
	every := ";BYMONTH=" + upTo(1, 12) + ";BYMONTHDAY=" + upTo(-31, 31)
	dense := ";BYHOUR=" + upTo(0, 23) + ";BYMINUTE=" + upTo(0, 59) + ";BYSECOND=" + upTo(0, 59)
	all := everyNumberedDay()
	rules := []string{
		"FREQ=HOURLY;INTERVAL=4;BYHOUR=7,11,15,19",
		"FREQ=MINUTELY;INTERVAL=120;BYMINUTE=7",
		"FREQ=SECONDLY;INTERVAL=3600;BYSECOND=30",
		"FREQ=SECONDLY;INTERVAL=86399;BYHOUR=3;BYMINUTE=3;BYSECOND=3;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO",
		"FREQ=SECONDLY;INTERVAL=7;BYHOUR=3;BYMINUTE=3;BYSECOND=3;BYMONTHDAY=31;BYMONTH=2",
		"FREQ=SECONDLY;BYYEARDAY=366;BYMONTH=1", "FREQ=SECONDLY;BYSETPOS=2", "FREQ=MINUTELY;BYSETPOS=-2",
		"FREQ=SECONDLY;BYDAY=MO;INTERVAL=604800", "FREQ=SECONDLY;INTERVAL=31556952000",
		"FREQ=SECONDLY;COUNT=10000;INTERVAL=1000003;BYHOUR=5;BYDAY=SU",
		"FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=HOURLY;INTERVAL=25;BYHOUR=1;BYMONTHDAY=29;BYMONTH=2;BYDAY=SU",
		"FREQ=HOURLY;INTERVAL=168;BYDAY=TU",
		"FREQ=MINUTELY;INTERVAL=1441;BYHOUR=0;BYMINUTE=0;BYYEARDAY=-366",
		"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;INTERVAL=999",
		"FREQ=YEARLY;INTERVAL=1000;BYWEEKNO=53;BYDAY=TH;BYMONTHDAY=1",
		"FREQ=YEARLY;BYWEEKNO=1;BYMONTH=7", "FREQ=YEARLY;BYYEARDAY=1;BYMONTH=12", "FREQ=YEARLY;BYDAY=53MO;BYMONTH=2",
		"FREQ=YEARLY;BYDAY=53MO;INTERVAL=400",
		"FREQ=MONTHLY;BYDAY=5MO;BYMONTHDAY=1", "FREQ=MONTHLY;INTERVAL=12;BYMONTH=1", "FREQ=MONTHLY;BYMONTHDAY=31;BYSETPOS=2",
		"FREQ=MONTHLY;BYDAY=MO;BYSETPOS=366",
		"FREQ=WEEKLY;BYMONTH=2;BYMONTHDAY=30;BYDAY=MO", "FREQ=WEEKLY;INTERVAL=52177;BYDAY=MO;BYMONTHDAY=29;BYMONTH=2",
		"FREQ=WEEKLY;BYSETPOS=8;BYDAY=MO;BYMONTH=3",
		"FREQ=WEEKLY;BYSETPOS=-366;BYMONTH=1;BYHOUR=1,2", "FREQ=DAILY;INTERVAL=7;BYDAY=TU",
		"FREQ=DAILY;INTERVAL=365242;BYMONTH=2;BYMONTHDAY=29",
		"FREQ=DAILY;BYSETPOS=3;BYHOUR=1,2", "FREQ=DAILY;COUNT=10000;BYMONTH=2;BYMONTHDAY=29",
		"FREQ=YEARLY;COUNT=10000;BYWEEKNO=53;BYDAY=TH;BYMONTHDAY=31",
		"FREQ=DAILY;UNTIL=99991231", "FREQ=SECONDLY;UNTIL=99991231T235959Z", "FREQ=DAILY;UNTIL=00010101",
		"FREQ=YEARLY;INTERVAL=1000", "FREQ=YEARLY;UNTIL=99991231",
		"FREQ=YEARLY;BYYEARDAY=" + upTo(-366, 366), "FREQ=YEARLY;BYSETPOS=" + upTo(-366, 366), "FREQ=YEARLY;BYDAY=" + all,
		"FREQ=MONTHLY;BYDAY=" + all,
		"FREQ=YEARLY;BYDAY=MO,TU;BYSETPOS=" + upTo(105, 366) + ";BYMONTH=2",
		"FREQ=YEARLY;BYSETPOS=366;BYMONTHDAY=29;BYMONTH=2" + dense,
		"FREQ=YEARLY;BYMONTHDAY=1;BYHOUR=1,2;BYSETPOS=366",
		"FREQ=YEARLY;BYDAY=MO,TU,WE;BYHOUR=1,2;BYSETPOS=366,-366;BYMONTH=1,2,3,4,5,6,7,8,9,10",
		"FREQ=DAILY;" + strings.Repeat(";", 5000), "FREQ=DAILY;BYMONTH=" + strings.Repeat("1,", 5000) + "1",
		strings.Repeat("BYDAY=MO;", 900),
	}
	for _, freq := range []string{"YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"} {
		for _, count := range []string{
			"", ";COUNT=10000", ";INTERVAL=997;COUNT=10000", ";BYSETPOS=1,-1;COUNT=10000",
			";BYSETPOS=" + upTo(-366, 366) + ";COUNT=10000",
		} {
			rules = append(rules, "FREQ="+freq+every+dense+count, "FREQ="+freq+dense+count,
				"FREQ="+freq+every+";BYDAY=SU,MO"+count,
				"FREQ="+freq+";BYMONTH=2;BYMONTHDAY=29;BYHOUR=23;BYMINUTE=59;BYSECOND=59"+count)
		}
	}
	return rules
}

// enough is how long any question may take.
const enough = 50 * time.Millisecond

// underRaceDetector reports whether the test runs many times slower than the program.
func underRaceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

func skipUnderRaceDetector(t *testing.T) {
	t.Helper()
	if underRaceDetector() {
		t.Skip("how long an answer takes is measured without the race detector")
	}
}

// slowest keeps the question that took longest. What a question takes is the shortest of a few tries, of many where the
// few were too long: a busy machine only adds to it.
type slowest struct {
	took time.Duration
	what string
}

func (s *slowest) ask(question string, spec recurrence.Spec, f func()) {
	best := time.Duration(math.MaxInt64)
	for try := 0; try < 5 || best >= enough && try < 50; try++ {
		began := time.Now()
		f()
		if best = min(best, time.Since(began)); best < s.took {
			return
		}
	}
	s.took, s.what = best, fmt.Sprintf("%s: %.120s from %s in %v, %d EXDATE, %d RDATE",
		question, spec.Rule, spec.Start.Format(time.DateTime), spec.Zone, len(spec.EXDates), len(spec.RDates))
}

// askAll compiles the series and asks it every question there is about each of the moments. It returns nil if the
// series is refused.
func (s *slowest) askAll(t testing.TB, spec recurrence.Spec, moments ...time.Time) *recurrence.Series {
	var series *recurrence.Series
	var err error
	s.ask("Parse", spec, func() { _, _ = recurrence.Parse(spec.Rule) })
	s.ask("Compile", spec, func() { series, err = recurrence.Compile(spec) })
	if err != nil {
		return nil
	}
	s.ask("First", spec, func() { series.First() })
	s.ask("Last", spec, func() { series.Last() })
	for _, at := range moments {
		s.ask("Next", spec, func() { series.Next(at) })
		s.ask("Previous", spec, func() { series.Previous(at) })
		s.ask("On", spec, func() { series.On(midnight(at)) })
		s.ask("Count", spec, func() { series.Count(at, 10_000) })
		s.ask("Counted", spec, func() { series.Counted(at) })
		s.ask("List", spec, func() { _, _ = series.List(at.Add(-day), time.Time{}, 10_000) })
		if spec.Level == recurrence.Calendar || series.Count(at.Add(day), 10_000) < 10_000 {
			s.ask("Between", spec, func() { series.Between(nil, at.Add(-366*day), at.Add(day)) })
			s.ask("Overlapping", spec, func() { series.Overlapping(nil, at.Add(-31*day), at.Add(day), 365*day) })
		}
		if spec.Zone == nil {
			s.ask("In", spec, func() { series.In(zoned(t, "America/New_York")).Next(at) })
		}
	}
	return series
}

func TestRule_isExpandedInTime(t *testing.T) {
	skipUnderRaceDetector(t)
	var exdates []string
	for i := range 1000 {
		exdates = append(exdates, time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC).Format("20060102"))
	}
	var s slowest
	for zone, starts := range map[string][]string{
		"":                 {"20240101T090000", "00010101T000000"},
		"America/New_York": {"20240229T235959", "99991231T120000"},
	} {
		for _, start := range starts {
			for _, rule := range hostile() {
				s.askAll(t, recurrence.Spec{
					Rule: rule, Start: local(t, start), Zone: zoned(t, zone), EXDates: exdates, RDates: []string{"20300101"},
					WithStart: true, Level: recurrence.General,
				}, local(t, "20300101T000000"), local(t, "99980101T000000"))
			}
		}
	}
	t.Logf("slowest: %s, %s", s.took, s.what)
	require.Less(t, s.took, enough, s.what)
}
