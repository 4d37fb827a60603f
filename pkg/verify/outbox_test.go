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
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/verify"
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
	w.verifier.Deliverer = deliver.New(deliver.Config{
		Store: w.store, Scheduler: w.schedules, Sender: &service, Now: clock, Random: rand.Reader,
		NameOf: func(string) string { return "" }, Log: slog.New(slog.DiscardHandler), Lead: time.Minute,
	})
	_, err := deliver.NewDevices(w.store, clock).Put(t.Context(), ann,
		deliver.Device{ID: deviceID, Endpoint: "https://push.example.com/1", Name: "x"}, 0)
	require.NoError(t, err)
	at := item.FormatInstant(w.now)
	require.NoError(t, w.verifier.Deliverer.Handle(t.Context(), fmt.Appendf(nil, `{"deliveryId":"d1","userId":"ann",
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
	require.NoError(t, w.verifier.Deliverer.Wake(t.Context(), due.Payload))
	require.Equal(t, "sent", w.get(key).Str("state"))
	w.now = w.now.Add(time.Hour)
	found, _ = w.verify(verify.Options{})
	require.Empty(t, found)

	w.put(device.PushKey(ann, "d2", deviceID), item.Item{"state": item.String("pending")})
	_, sum = w.verify(verify.Options{Repair: true})
	require.EqualValues(t, 1, sum.Found)
	require.EqualValues(t, 1, sum.Remaining, "a row that cannot be read stays")
}
