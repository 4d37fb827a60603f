package recurrence_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/teambition/rrule-go"
)

// isLibrarysStrength leaves out what the library is known to get wrong, and what it never returns from.
func isLibrarysStrength(p *plain) bool {
	plainDay, numberedDay := false, false
	for _, d := range p.weekdays {
		plainDay, numberedDay = plainDay || d.n == 0, numberedDay || d.n != 0
	}
	switch {
	case plainDay && numberedDay: // the union is silently nothing
	case p.freq == "WEEKLY" && len(p.setPos) > 0: // positions count from the start
	case p.freq == "YEARLY" && len(p.weeks) > 0: // every day of a week without BYDAY
	case p.freq == "YEARLY" && len(p.monthDays) > 0 && len(p.months) == 0: // every month
	case p.freq == "WEEKLY" && len(p.monthDays) > 0 && len(p.weekdays) == 0:
	case len(p.hours)+len(p.minutes)+len(p.seconds)+len(p.rDates)+len(p.exDates) > 0:
	default:
		return true
	}
	return false
}

func TestSeries_agreesWithTheLibraryWhereItIsRight(t *testing.T) {
	t.Parallel()
	compared, tried := 0, histories(t, 1500)
	for seed := range tried {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		p := randomRule(t, r, 0)
		p.zone, p.allDay = nil, false
		if !isLibrarysStrength(p) {
			continue
		}
		series, err := p.compile()
		if err != nil {
			continue
		}
		option, err := rrule.StrToROption(p.text())
		require.NoError(t, err)
		option.Dtstart = p.start
		rule, err := rrule.NewRRule(*option)
		require.NoError(t, err, "%s", p)
		horizon := p.start.Add(time.Duration(500+r.IntN(5000)) * day)
		var want, got []occurrence
		for _, at := range rule.Between(p.start, horizon, true) {
			if n := len(want); n == 0 || want[n-1].wall != at { // it gives what is listed twice twice
				want = append(want, occurrence{at, at})
			}
		}
		for o := range series.Each(time.Time{}, horizon.Add(time.Second)) {
			got = append(got, plainOf(o))
		}
		require.Empty(t, difference(want, got), "%s", p)
		compared++
	}
	require.Greater(t, compared, tried/3)
}
