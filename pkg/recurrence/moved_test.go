package recurrence_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/recurrence"
)

func TestUntilReading_readsAndWritesTheKindOfTheStart(t *testing.T) {
	t.Parallel()
	newYork := zoned(t, "America/New_York")
	for _, c := range []struct {
		until, reading string
		zone           *time.Location
		allDay         bool
		want           string
	}{
		{"20250127", "20250127T235959", newYork, false, "20250128T045959Z"},
		{"20250127", "20250127T235959", nil, false, "20250127T235959"},
		{"20250127", "20250127T235959", nil, true, "20250127"},
		{"20250127T140000Z", "20250127T090000", newYork, false, "20250127T140000Z"},
		{"20250127T140000Z", "20250127T140000", nil, false, "20250127T140000"},
		{"20250127T090000", "20250127T090000", newYork, false, "20250127T140000Z"},
		{"99991231T235959", "99991231T235959", newYork, false, "99991231T235959Z"},
	} {
		rule, err := recurrence.Parse("FREQ=DAILY;UNTIL=" + c.until)
		require.NoError(t, err)
		last, ok := rule.UntilReading(c.zone)
		require.True(t, ok)
		require.Equal(t, local(t, c.reading), last, c.until)
		require.Equal(t, "FREQ=DAILY;UNTIL="+c.want, rule.WithUntil(last, c.allDay, c.zone).String(), c.until)
	}
	endless, err := recurrence.Parse("FREQ=DAILY;COUNT=3")
	require.NoError(t, err)
	_, ok := endless.UntilReading(newYork)
	require.False(t, ok)
	require.Equal(t, "FREQ=DAILY;UNTIL=20250127", endless.WithUntil(local(t, "20250127"), true, nil).String())
}

// How many values each part has stays, whatever the move; what is moved gives the new start; what gives it stays.
func TestMoved_keepsTheNumberOfDaysThatARuleNames(t *testing.T) {
	t.Parallel()
	moves := 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 7))
		from := time.Date(2023, 1, 1+r.IntN(1200), 9, 0, 0, 0, time.UTC)
		to := from.AddDate(0, 0, r.IntN(400)-200)
		rule, err := recurrence.Parse(movable(r, from))
		require.NoError(t, err)
		moved := rule.Moved(from, to)
		if moved == rule {
			require.True(t, rule.Gives(to) || !rule.Gives(from) || strings.Contains(rule.String(), "BY"), "seed %d: %s",
				seed, rule)
			continue
		}
		moves++
		about := fmt.Sprintf("seed %d: %s from %s to %s: %s", seed, rule, from, to, moved)
		require.True(t, rule.Gives(from) && !rule.Gives(to) && moved.Gives(to), about)
		was, is := strings.Split(rule.String(), ";"), strings.Split(moved.String(), ";")
		require.Len(t, is, len(was), about)
		for i := range was {
			require.Equal(t, strings.Count(was[i], ","), strings.Count(is[i], ","), about)
		}
	}
	require.Greater(t, moves, 4_000)
}

// movable is a rule that names its days simply, and as a rule those of the start.
func movable(r *rand.Rand, start time.Time) string {
	weekday := func(at time.Time) string { return strings.ToUpper(at.Weekday().String()[:2]) }
	other := start.AddDate(0, 0, r.IntN(60))
	month := fmt.Sprintf(";BYMONTH=%d,%d", start.Month(), other.Month())
	switch r.IntN(8) {
	case 0:
		return fmt.Sprintf("FREQ=WEEKLY;INTERVAL=%d;BYDAY=%s,%s", 1+r.IntN(3), weekday(start), weekday(other))
	case 1:
		return fmt.Sprintf("FREQ=MONTHLY;BYDAY=%d%s,%s", (start.Day()-1)/7+1, weekday(start), weekday(other))
	case 2:
		return fmt.Sprintf("FREQ=MONTHLY;BYMONTHDAY=%d,%d", start.Day(), other.Day())
	case 3:
		return fmt.Sprintf("FREQ=MONTHLY;BYMONTHDAY=%d", start.Day()-start.AddDate(0, 1, -start.Day()).Day()-1)
	case 4:
		return "FREQ=YEARLY" + month
	case 5:
		return fmt.Sprintf("FREQ=YEARLY;BYMONTHDAY=%d", start.Day()) + month
	case 6:
		return fmt.Sprintf("FREQ=YEARLY;BYDAY=%d%s,-1%s", (start.YearDay()-1)/7+1, weekday(start), weekday(other))
	}
	return "FREQ=DAILY" + month + ";BYDAY=" + weekday(start)
}
