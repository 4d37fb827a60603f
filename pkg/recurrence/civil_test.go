package recurrence_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/recurrence"
)

func TestCivil_agreesWithPackageTimeUpToTheYear9999(t *testing.T) {
	t.Parallel()
	start := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	end := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	days := func(at time.Time) int64 { return (at.Unix() - start.Unix()) / 86400 }
	for rule, belongs := range map[string]func(at time.Time) bool{
		"FREQ=MONTHLY;BYMONTHDAY=1,-1": func(at time.Time) bool {
			return at.Day() == 1 || at.AddDate(0, 0, 1).Day() == 1
		},
		"FREQ=MONTHLY;BYDAY=SU":            func(at time.Time) bool { return at.Weekday() == time.Sunday },
		"FREQ=YEARLY;BYYEARDAY=59,60,-307": func(at time.Time) bool { return at.YearDay() == 59 || at.YearDay() == 60 },
		"FREQ=YEARLY;BYWEEKNO=53;BYDAY=WE": func(at time.Time) bool {
			_, week := at.ISOWeek()
			return week == 53 && at.Weekday() == time.Wednesday
		},
		"FREQ=DAILY;INTERVAL=31": func(at time.Time) bool { return days(at)%31 == 0 },
		"FREQ=WEEKLY;INTERVAL=5;BYDAY=SA": func(at time.Time) bool {
			return at.Weekday() == time.Saturday && days(at)/7%5 == 0
		},
		"FREQ=YEARLY;BYMONTH=2;BYDAY=5SU": func(at time.Time) bool {
			return at.Month() == 2 && at.Day() == 29 && at.Weekday() == time.Sunday
		},
		"FREQ=MONTHLY;INTERVAL=7;BYDAY=-1FR": func(at time.Time) bool {
			return (at.Year()*12+int(at.Month())-13)%7 == 0 && at.Weekday() == time.Friday &&
				at.AddDate(0, 0, 7).Month() != at.Month()
		},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			series, err := recurrence.Compile(recurrence.Spec{Rule: rule, Start: start, AllDay: true})
			require.NoError(t, err)
			at := start
			for o := range series.Each(time.Time{}, time.Time{}) {
				for !belongs(at) {
					at = at.AddDate(0, 0, 1)
				}
				if !o.Wall.Equal(at) {
					require.Equal(t, at, o.Wall)
				}
				at = at.AddDate(0, 0, 1)
			}
			for ; !at.After(end); at = at.AddDate(0, 0, 1) {
				require.False(t, belongs(at), "%s is missing", at)
			}
		})
	}
}
