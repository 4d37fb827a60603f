package ical_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/ical"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// Random reminders, most of them with a first trigger that does not fit, have the same triggers when they come back.
func TestExport_keepsTheTriggersOfRandomReminders(t *testing.T) {
	t.Parallel()
	rules := []string{
		"FREQ=DAILY;INTERVAL=3;BYDAY=MO,TH",
		"FREQ=WEEKLY", "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,TU", "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU,TU",
		"FREQ=MONTHLY;BYMONTHDAY=31", "FREQ=MONTHLY;INTERVAL=5;BYDAY=FR;BYSETPOS=-1", "FREQ=MONTHLY;BYDAY=2TU",
		"FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR",
		"FREQ=YEARLY;BYMONTH=3", "FREQ=YEARLY;BYMONTHDAY=1", "FREQ=YEARLY;INTERVAL=2;BYWEEKNO=20",
		"FREQ=YEARLY;BYYEARDAY=-1", "FREQ=YEARLY;BYDAY=TU;BYMONTH=2,11",
	}
	outside := 0
	for seed := range 300 {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		at := time.Date(2025, time.Month(1+r.IntN(12)), 1+r.IntN(28), r.IntN(24), 30, 0, 0, time.UTC)
		rule := rules[r.IntN(len(rules))]
		if r.IntN(2) == 0 {
			rule += fmt.Sprintf(";COUNT=%d", 1+r.IntN(12))
		}
		fields := texts("title", "t", "triggerUtc", at.Format("2006-01-02T15:04:05"), "rrule", rule)
		if r.IntN(3) > 0 {
			fields = texts("title", "t", "triggerUtc", at.Format(time.RFC3339), "tzid", berlin, "rrule", rule)
		}
		before := stored(t, product.Reminder(), fields)
		draft, err := ical.FromItem(before, nil)
		require.NoError(t, err)
		if len(draft.RDates) > 0 {
			outside++
		}
		result := again(t, []ical.Draft{draft})
		require.Empty(t, result.Refused, "%v", fields)
		back := result.Drafts[0]
		back.Fields["rrule"] = item.String(back.RRule)
		delete(back.Fields, "status")
		after := stored(t, product.Reminder(), back.Fields)
		require.Equal(t, firstTriggers(t, before), firstTriggers(t, after), "%v", fields)
	}
	require.Greater(t, outside, 150)
}

func firstTriggers(t *testing.T, it item.Item) (at []time.Time) {
	t.Helper()
	series, err := product.CompileReminder(it)
	require.NoError(t, err)
	for o, ok := series.First(); ok && len(at) < 20; o, ok = series.Next(o.Start) {
		at = append(at, o.Start)
	}
	return at
}
