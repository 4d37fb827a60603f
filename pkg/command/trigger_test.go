package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// The release before closes a delivery without firedOccurrenceUtc. A snooze puts off an occurrence then, too.
func TestFindPresent_readsTheDeliveryOfTheReleaseBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields     string
		delivered  item.Item
		occurrence string
	}{
		"once": {
			`{"title":"r","triggerUtc":"2025-12-01T11:00:00Z","tzid":"Europe/Paris"}`,
			item.Item{
				product.AttrLastFiredUtc:   item.String("2025-12-01T11:00:00Z"),
				product.AttrDoneTriggerUtc: item.String("2025-12-01T11:00:00Z"),
			},
			"2025-12-01T11:00:00Z",
		},
		"of a rule that has changed since": {
			`{"title":"r","triggerUtc":"2025-11-01T09:00:00Z","tzid":"UTC","rrule":"FREQ=DAILY"}`,
			item.Item{
				product.AttrLastFiredUtc: item.String("2025-12-01T09:30:00Z"),
				product.AttrTriggerUtc:   item.String("2025-12-02T09:00:00Z"),
			},
			"2025-12-01T09:00:00Z",
		},
	} {
		b := setup(t)
		id := b.create(product.Reminder(), c.fields)
		b.set(b.stored(product.Reminder(), id).Key(), c.delivered)
		res := b.must(command.SnoozeReminder{ID: id, Minutes: minutes(15)})
		require.Equal(t, c.occurrence, res.Item.Map("snoozeState").Str("occurrenceUtc"), name)
	}
}
