package verify_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deliver"
	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/verify"
	"nexus/pkg/webhook"
)

// pushService answers each request with its status.
type pushService int

func (s *pushService) Send(context.Context, deliver.Push) (deliver.Answer, error) {
	return deliver.Answer{Status: int(*s)}, nil
}

func TestVerifier_hasAForgottenDeliveryOnADeviceTriedAgain(t *testing.T) {
	t.Parallel()
	const deviceID = "3f0c1c5e-6a52-4c39-9a0e-0d1b6c2f7a11"
	w := newWorld(t)
	clock := func() time.Time { return w.now }
	service := pushService(503)
	w.verifier.Devices.Lead = time.Minute
	deliverer := deliver.New(deliver.Config{
		Outbox: *w.verifier.Devices, Sender: &service, Random: rand.Reader, NameOf: func(string) string { return "" },
		Log: slog.New(slog.DiscardHandler),
	})
	_, err := deliver.NewDevices(w.store, clock).Put(t.Context(), ann,
		deliver.Device{ID: deviceID, Endpoint: "https://push.example.com/1", Name: "x"}, 0)
	require.NoError(t, err)
	at := item.FormatInstant(w.now)
	require.NoError(t, deliverer.Handle(t.Context(), fmt.Appendf(nil, `{"deliveryId":"d1","userId":"ann",
		"occurredAt":%q,"occurrenceUtc":%q,"itemType":"EVENT","itemId":"x","notify":{"browser":true}}`, at, at)))
	key, name := device.PushKey(ann, "d1", deviceID), deliver.ScheduleName(ann, "d1", deviceID)
	require.NoError(t, w.schedules.Delete(t.Context(), name), "as if its worker had died before it")
	found, _ := w.verify(verify.Options{})
	require.Empty(t, found, "its attempt is under way")

	w.now = w.now.Add(11 * time.Minute)
	difference := verify.Difference{Kind: verify.Outbox, User: ann, Key: key.String(), Is: "due for 10 minutes",
		ShouldBe: "done", Remains: true}
	found, _ = w.verify(verify.Options{})
	require.Equal(t, []verify.Difference{difference}, found)
	_, sum := w.verify(verify.Options{Repair: true})
	require.EqualValues(t, 1, sum.Found)
	require.Zero(t, sum.Remaining)
	found, _ = w.verify(verify.Options{})
	require.Empty(t, found)

	service = 201
	w.now = w.now.Add(2 * time.Minute)
	due, ok := w.schedules.Take(w.now)
	require.True(t, ok)
	require.Equal(t, name, due.Name)
	require.NoError(t, deliverer.Wake(t.Context(), due.Payload))
	require.Equal(t, "sent", w.get(key).Str("state"))
	w.now = w.now.Add(time.Hour)
	found, _ = w.verify(verify.Options{})
	require.Empty(t, found)

	w.put(device.PushKey(ann, "d2", deviceID), item.Item{"state": item.String("pending")})
	_, sum = w.verify(verify.Options{Repair: true})
	require.EqualValues(t, 1, sum.Found)
	require.EqualValues(t, 1, sum.Remaining, "a row that cannot be read stays")
}

func TestVerifier_hasAForgottenMessageToAWebhookSent(t *testing.T) {
	t.Parallel()
	const hook = "whk_3f0c1c5e-6a52-4c39-9a0e-0d1b6c2f7a11"
	w := newWorld(t)
	id := outbox.ID{Hook: hook, At: w.now, Message: "msg_A"}
	key := outbox.MessageKey(ann, id)
	w.put(key, item.Item{"state": item.String("pending"), "type": item.String("task.created"), "body": item.String("{}")})
	difference := verify.Difference{
		Kind: verify.Outbox, User: ann, Key: key.String(), Is: "pending without a row OUT#",
		ShouldBe: "done, or in the outbox", Remains: true,
	}
	found, _ := w.verify(verify.Options{})
	require.Equal(t, []verify.Difference{difference}, found)
	_, sum := w.verify(verify.Options{Repair: true})
	require.Zero(t, sum.Remaining)
	require.NotNil(t, w.get(outbox.OutKey(ann, id)))

	// As if its worker had never been called.
	taken, ok := w.schedules.Take(w.now.Add(4 * time.Minute))
	require.True(t, ok)
	require.Contains(t, taken.Name, webhook.SchedulePrefix)
	require.Contains(t, string(taken.Payload), hook)
	found, _ = w.verify(verify.Options{})
	require.Empty(t, found, "its attempt is under way")
	w.now = w.now.Add(11 * time.Minute)
	lane := outbox.LaneKey(ann, hook)
	difference.Key, difference.Is, difference.ShouldBe = lane.String(), "due for 10 minutes", "done"
	found, _ = w.verify(verify.Options{})
	require.Equal(t, []verify.Difference{difference}, found)
	_, sum = w.verify(verify.Options{Repair: true})
	require.Zero(t, sum.Remaining)
	_, ok = w.schedules.Take(w.now.Add(4 * time.Minute))
	require.True(t, ok, "its worker is called")
}

func TestVerifier_removesTheLaneOfADeletedWebhook(t *testing.T) {
	t.Parallel()
	const hook = "whk_3f0c1c5e-6a52-4c39-9a0e-0d1b6c2f7a11"
	w := newWorld(t)
	lane := outbox.LaneKey(ann, hook)
	w.put(lane, item.Item{"leaseUntil": item.Int(0)})
	w.put(entity.GoneKey(ann, hook), item.Item{"deletedAt": item.String(item.FormatInstant(w.now))})
	found, _ := w.verify(verify.Options{})
	require.Empty(t, found, "the consumer may not have come to it")
	w.now = w.now.Add(11 * time.Minute)
	found, _ = w.verify(verify.Options{})
	require.Equal(t, []verify.Difference{{
		Kind: verify.Outbox, User: ann, Key: lane.String(), Is: "there",
		ShouldBe: "no row: its endpoint was deleted", Remains: true,
	}}, found)
	_, sum := w.verify(verify.Options{Repair: true})
	require.Zero(t, sum.Remaining)
	found, _ = w.verify(verify.Options{})
	require.Empty(t, found)
}

func TestVerifier_saysThatItReadsNoOutbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.verifier.Devices = nil
	_, sum := w.verify(verify.Options{})
	require.Equal(t, []string{"outbox of devices and webhooks: no scheduler of theirs is known"}, sum.Unchecked)
}
