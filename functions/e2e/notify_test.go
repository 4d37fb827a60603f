package e2e_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/entity"
)

// becomeDue puts the reminders of the story into the table so that the fixed one became due half a minute ago.
func (w *fixture) becomeDue() (payload []byte, due time.Time) {
	w.Helper()
	dueAt := present.Add(2 * time.Hour)
	w.late = time.Now().Truncate(time.Second).Add(-30 * time.Second).Sub(dueAt)
	w.happen("stream-reminder-created")
	return w.now("notify-reminder-due"), w.moved(dueAt)
}

func TestNotify_publishesADueReminderOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	payload, due := w.becomeDue()
	f := w.start(env.Notify)
	require.JSONEq(t, `{}`, string(f.succeed(payload)))

	detail := w.requireEvent("ReminderDue")
	require.Equal(t, fixedID, detail["itemId"])
	require.Equal(t, "Call the dentist", detail["title"])
	require.Equal(t, due.Format(instantForm), detail["dueUtc"])
	delivery := w.row(entity.DeliveryKey(user, fixedID, 0, due, due))
	require.Equal(t, "sent", delivery.Str("state"))
	require.Equal(t, detail["deliveryId"], delivery.Str("deliveryId"))

	f.succeed(payload) // called again: the delivery knows
	w.requireEvent("ReminderDue")
	f.requireCounted(metric.RemindersDelivered, 1)
}

func TestNotify_repeatsARefusedPublicationUnderItsDeliveryID(t *testing.T) {
	t.Parallel()
	w := setup(t)
	payload, due := w.becomeDue()
	f := w.start(env.Notify)
	w.services.breakDown("bus", true)
	o := f.invoke(payload)
	require.NotNil(t, o.failure)
	require.Contains(t, o.failure.ErrorMessage, "publish ReminderDue")
	delivery := w.row(entity.DeliveryKey(user, fixedID, 0, due, due)).Str("deliveryId")
	require.NotEmpty(t, delivery)

	w.services.breakDown("bus", false)
	f.succeed(payload)
	require.Equal(t, delivery, w.requireEvent("ReminderDue")["deliveryId"])
}

func TestNotify_dropsACallForAnItemThatIsMissing(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Notify)
	f.succeed(w.now("notify-reminder-due"))
	require.Empty(t, w.services.events("ReminderDue"))
}

func TestNotify_failsOnAPayloadThatWasNeverScheduled(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Notify)
	for _, payload := range []string{`null`, `{}`, `[]`, `"x"`} {
		o := f.invoke([]byte(payload))
		require.NotNil(t, o.failure, "%s", payload)
		require.Contains(t, o.failure.ErrorMessage, "call of the scheduler: payload")
	}
}
