package product_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

func TestReminder_staysIndexedUntilItsLastTriggerOrSnooze(t *testing.T) {
	t.Parallel()
	const daily = `{"title":"x","triggerUtc":"2025-01-06T14:00:00Z","tzid":"UTC","rrule":"FREQ=DAILY`
	it, errs := create(t, product.Reminder(), daily+`"}`)
	require.Empty(t, errs)
	require.Equal(t, "REMINDER#RECURRING#9999-12-31T23:59:59Z", it.Str("GSI3SK"))
	it, errs = create(t, product.Reminder(), daily+`;COUNT=3"}`)
	require.Empty(t, errs)
	require.Equal(t, "REMINDER#RECURRING#2025-01-08T14:00:00Z", it.Str("GSI3SK"))
	snoozed := it.Clone()
	snoozed["status"], snoozed["triggerUtc"] = item.String("SNOOZED"), item.String("2025-01-08T14:00:00Z")
	snoozed["snoozeState"] = item.Map{
		"untilUtc": item.String("2025-02-01T08:00:00Z"), "count": item.Int(1),
		"occurrenceUtc": item.String("2025-01-07T14:00:00Z"),
	}
	it = product.Reminder().NextVersion(entity.ByUser, "ann", it, snoozed, noon, nil)
	require.Equal(t, "2025-01-08T14:00:00Z", it.Str("GSI1SK"), "the trigger comes first")
	require.Equal(t, "REMINDER#RECURRING#2025-02-01T08:00:00Z", it.Str("GSI3SK"))
}
