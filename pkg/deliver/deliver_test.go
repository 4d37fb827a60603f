package deliver_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deliver"
	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/register"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// fixture is a deliverer beside one push service, whose answers a test gives.
type fixture struct {
	*require.Assertions
	t         *testing.T
	now       time.Time
	store     *memory.Store
	schedules *schedulememory.Scheduler
	devices   *deliver.Devices
	acts      *deliver.Acts
	deliverer *deliver.Deliverer
	answer    func(deliver.Push) (deliver.Answer, error)
	sent      []deliver.Push
	outcomes  []deliver.Outcome
	gone      bool
}

// Send implements the port.
func (f *fixture) Send(_ context.Context, p deliver.Push) (deliver.Answer, error) {
	f.sent = append(f.sent, p)
	return f.answer(p)
}

var noon = time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Assertions: require.New(t), t: t, now: noon, schedules: schedulememory.New(nil)}
	f.answers(201)
	clock := func() time.Time { return f.now }
	f.store = memory.New(clock, memory.Options{})
	f.devices, f.acts = deliver.NewDevices(f.store, clock), deliver.NewActs(f.store, clock)
	f.deliverer = deliver.New(deliver.Config{
		Outbox: deliver.Outbox{Store: f.store, Scheduler: f.schedules, Now: clock, Lead: time.Minute},
		Sender: f, Random: rand.Reader,
		NameOf: func(string) string { return "pseudonym" }, Log: slog.New(slog.DiscardHandler),
		IsGone:  func(context.Context, string) (bool, error) { return f.gone, nil },
		Observe: func(o deliver.Outcome) { f.outcomes = append(f.outcomes, o) },
	})
	return f
}

// answers has the push service answer with the status.
func (f *fixture) answers(status int) {
	f.answer = func(deliver.Push) (deliver.Answer, error) { return deliver.Answer{Status: status}, nil }
}

func (f *fixture) register(of, id, endpoint string) {
	f.t.Helper()
	_, err := f.devices.Put(f.t.Context(), of, deliver.Device{ID: id, Endpoint: endpoint, Name: "x"}, 0)
	f.NoError(err)
}

// due returns an event about an item, with what a test changes.
func (f *fixture) due(change map[string]any) []byte {
	f.t.Helper()
	content := map[string]any{
		"deliveryId": strings.Repeat("d", 43), "userId": user, "occurredAt": item.FormatInstant(f.now),
		"itemType": "REMINDER", "itemId": "rem_1", "title": "Water the plants", "occurrenceUtc": item.FormatInstant(f.now),
		"dueUtc": item.FormatInstant(f.now), "notify": map[string]bool{"browser": true, "sound": true},
	}
	for name, value := range change {
		content[name] = value
	}
	detail, err := json.Marshal(content)
	f.NoError(err)
	return detail
}

func (f *fixture) told() map[string]any {
	f.t.Helper()
	f.NotEmpty(f.sent)
	var content map[string]any
	f.NoError(json.Unmarshal(f.sent[len(f.sent)-1].Payload, &content))
	return content
}

func (f *fixture) row(id string) item.Item {
	f.t.Helper()
	row, err := table.Find(f.t.Context(), f.store, device.PushKey(user, strings.Repeat("d", 43), id))
	f.NoError(err)
	return row
}

func TestDeliverer_tellsWhatADeviceNeedsAndNothingElse(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.register(user, deviceIDs[0], "https://push.example.com/1")
	f.register("bob", deviceIDs[1], "https://push.example.com/1")
	f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)))
	f.Len(f.sent, 1, "the devices of other users are not told")
	act, _ := f.told()["act"].(string)
	token, ok := deliver.ParseToken(strings.TrimPrefix(act, deliver.ActPath))
	f.True(ok, act)
	f.Equal(deliver.Token{
		User: user, DeliveryID: strings.Repeat("d", 43), DeviceID: deviceIDs[0], Act: f.row(deviceIDs[0]).Str("act"),
	}, token)
	f.Len(token.Act, 22, "128 bits")
	f.Equal(map[string]any{
		"v": 1.0, "deliveryId": strings.Repeat("d", 43), "user": "pseudonym", "itemType": "REMINDER", "itemId": "rem_1",
		"title": "Water the plants", "occurrenceUtc": "2030-03-01T12:00:00Z", "dueUtc": "2030-03-01T12:00:00Z",
		"silent": false, "act": act,
	}, f.told())
	f.Equal(time.Hour, f.sent[0].TTL)
	f.Equal(strings.Repeat("d", 32), f.sent[0].Topic)
	f.Equal([]deliver.Outcome{deliver.Told}, f.outcomes)

	f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)))
	f.Len(f.sent, 1, "what was told is told once")
}

func TestDeliverer_testsOneDevice(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.register(user, deviceIDs[0], "https://push.example.com/1")
	f.register(user, deviceIDs[1], "https://push.example.com/2")
	test := deliver.NewTest(user, deviceIDs[0], f.now.Add(59*time.Second))
	payload, err := test.Payload()
	f.NoError(err)
	for range 2 {
		f.NoError(f.deliverer.Test(t.Context(), payload))
	}
	f.Len(f.sent, 1)
	f.Equal("https://push.example.com/1", f.sent[0].Endpoint)
	f.Equal(time.Hour, f.sent[0].TTL)
	f.Equal(map[string]any{
		"v": 1.0, "deliveryId": test.DeliveryID(), "user": "pseudonym", "itemType": "TEST", "itemId": deviceIDs[0],
		"title": "x", "occurrenceUtc": "2030-03-01T12:00:00Z", "dueUtc": "2030-03-01T12:00:00Z", "silent": false,
	}, f.told(), "there is nothing to act on")
	for _, other := range []deliver.Test{
		deliver.NewTest(user, deviceIDs[2], f.now), deliver.NewTest("bob", deviceIDs[0], f.now),
	} {
		payload, err := other.Payload()
		f.NoError(err)
		f.NoError(f.deliverer.Test(t.Context(), payload))
	}
	for _, bad := range []string{`null`, `{}`, `{"userId":"ann","testDeviceId":"x","at":"2030-03-01T12:00:00Z"}`, `[`} {
		malformed := (*deliver.EventError)(nil)
		f.ErrorAs(f.deliverer.Test(t.Context(), []byte(bad)), &malformed, bad)
	}
	f.gone = true
	payload, err = deliver.NewTest(user, deviceIDs[1], f.now).Payload()
	f.NoError(err)
	f.NoError(f.deliverer.Test(t.Context(), payload))
	f.Len(f.sent, 1)
}

func TestDeliverer_tellsUntilAnHourBehindTheOccurrenceWithinADay(t *testing.T) {
	t.Parallel()
	for occurrence, want := range map[time.Duration]time.Duration{
		-2 * time.Hour: time.Hour, 0: time.Hour, 5 * time.Hour: 6 * time.Hour, 48 * time.Hour: 24 * time.Hour,
	} {
		f := setup(t)
		f.register(user, deviceIDs[0], "https://push.example.com/1")
		f.NoError(f.deliverer.Handle(t.Context(), f.due(map[string]any{
			"occurrenceUtc": item.FormatInstant(f.now.Add(occurrence)),
		})))
		f.Equal(want, f.sent[0].TTL)
	}
}

func TestDeliverer_keepsTheTitleBackAndMakesNoSoundAsItsUserAsks(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.register(user, deviceIDs[0], "https://push.example.com/1")
	meta := entity.MetaKey(user).Item()
	meta["version"] = item.Int(1)
	meta["defaultTzid"] = item.String("Asia/Tokyo") // where noon UTC is 21:00
	meta["preferences"] = item.Map{
		"notificationDetail": item.String("none"),
		"quietHours":         item.Map{"from": item.Int(20 * 60), "to": item.Int(7 * 60)},
	}
	f.NoError(f.store.Put(t.Context(), table.Put{Item: meta}))
	tell := func(at time.Time) map[string]any {
		f.now = at
		f.NoError(f.deliverer.Handle(t.Context(), f.due(map[string]any{
			"deliveryId": "delivery-" + strings.ReplaceAll(item.FormatInstant(at), ":", "-"),
		})))
		return f.told()
	}
	quiet := tell(noon)
	f.NotContains(quiet, "title")
	f.Equal(true, quiet["silent"])
	f.Equal(true, tell(noon.Add(9*time.Hour + 59*time.Minute))["silent"], "06:59 there")
	f.Equal(false, tell(noon.Add(10 * time.Hour))["silent"], "07:00 there")
	f.Len(f.sent, 3, "quiet hours delay nothing")
}

func TestDeliverer_tellsNothingWhereNobodyWantsIt(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)), "no device")
	f.register(user, deviceIDs[0], "https://push.example.com/1")
	f.NoError(f.deliverer.Handle(t.Context(), f.due(map[string]any{"notify": map[string]bool{"browser": false}})))
	f.gone = true
	f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)))
	f.gone = false
	f.now = f.now.Add(deliver.DeviceLife)
	f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)), "a device that was not seen for 180 days")
	f.Empty(f.sent)
	f.Nil(f.row(deviceIDs[0]))
}

func TestDeliverer_ofAnswersThatEndADeliverySaysWhy(t *testing.T) {
	t.Parallel()
	for status, reason := range map[int]string{
		301: "refused", 302: "refused", 400: "refused", 413: "refused", 203: "refused", 401: "keys", 403: "keys", 404: "gone",
		410: "gone",
	} {
		f := setup(t)
		f.register(user, deviceIDs[0], "https://push.example.com/1")
		f.answers(status)
		f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)))
		f.Equal("dead", f.row(deviceIDs[0]).Str("state"))
		f.Equal(reason, f.row(deviceIDs[0]).Str("reason"))
		f.EqualValues(status, f.row(deviceIDs[0]).Int("lastStatus"))
		f.Empty(f.schedules.Entries())
		all, err := f.devices.List(t.Context(), user)
		f.NoError(err)
		f.Equal(reason != "gone", len(all) == 1)
	}
	f := setup(t)
	f.register(user, deviceIDs[0], "https://push.example.com/1")
	f.answer = func(deliver.Push) (deliver.Answer, error) { return deliver.Answer{}, deliver.ErrAddress }
	f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)))
	f.Equal("address", f.row(deviceIDs[0]).Str("reason"))
	f.Equal([]deliver.Outcome{deliver.Failed}, f.outcomes)
}

func TestDeliverer_triesAgainUntilItsEnd(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.register(user, deviceIDs[0], "https://push.example.com/1")
	f.answers(503)
	f.NoError(f.deliverer.Handle(t.Context(), f.due(map[string]any{
		"occurrenceUtc": item.FormatInstant(f.now.Add(4 * time.Hour)),
	})))
	var waits []time.Duration
	for {
		next, any := f.schedules.Next()
		if !any {
			break
		}
		waits, f.now = append(waits, next.Sub(f.now).Round(time.Minute)), next
		one, _ := f.schedules.Take(f.now)
		f.NoError(f.deliverer.Wake(t.Context(), one.Payload))
	}
	f.Equal([]time.Duration{
		time.Minute, time.Minute, 4 * time.Minute, 15 * time.Minute, time.Hour, time.Hour, time.Hour, time.Hour,
	}, waits)
	f.Equal("late", f.row(deviceIDs[0]).Str("reason"))
	f.Equal(deliver.Late, f.outcomes[len(f.outcomes)-1])
}

func TestDeliverer_waitsAsLongAsItIsAsked(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.register(user, deviceIDs[0], "https://push.example.com/1")
	f.answer = func(deliver.Push) (deliver.Answer, error) {
		return deliver.Answer{Status: 429, RetryAfter: 20 * time.Minute}, nil
	}
	f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)))
	next, any := f.schedules.Next()
	f.True(any)
	f.WithinDuration(noon.Add(20*time.Minute), next, 2*time.Second)
	f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)))
	f.Len(f.sent, 1, "a repetition of the event does not come before")
}

// A device that is renewed while its former endpoint is asked is told under the new one, and stays.
func TestDeliverer_removesADeviceByTheAnswerAboutItsPresentEndpointAlone(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.register(user, deviceIDs[0], "https://push.example.com/old")
	f.answer = func(p deliver.Push) (deliver.Answer, error) {
		if strings.HasSuffix(p.Endpoint, "old") {
			f.register(user, deviceIDs[0], "https://push.example.com/new")
			return deliver.Answer{Status: 410}, nil
		}
		return deliver.Answer{Status: 201}, nil
	}
	f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)))
	all, err := f.devices.List(t.Context(), user)
	f.NoError(err)
	f.Len(all, 1)
	f.Equal("sent", f.row(deviceIDs[0]).Str("state"))
}

func TestDeliverer_refusesWhatItDidNotWrite(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var wrong *deliver.EventError
	for _, detail := range []string{
		"", "[]", `{"userId":"a#b"}`, string(f.due(map[string]any{"deliveryId": "a.b"})),
		string(f.due(map[string]any{"deliveryId": ""})), string(f.due(map[string]any{"occurredAt": "now"})),
		string(f.due(map[string]any{"occurrenceUtc": ""})),
	} {
		f.ErrorAs(f.deliverer.Handle(t.Context(), []byte(detail)), &wrong, detail)
	}
	for _, payload := range []string{"", "{}", `{"userId":"ann","deliveryId":"d","deviceId":"x"}`} {
		f.ErrorAs(f.deliverer.Wake(t.Context(), []byte(payload)), &wrong, payload)
	}
	f.NoError(f.deliverer.Wake(t.Context(),
		[]byte(`{"userId":"ann","deliveryId":"d","deviceId":"`+deviceIDs[0]+`"}`)), "its row has gone")
}

func TestDevices_areAsManyAsThereMayBe(t *testing.T) {
	t.Parallel()
	f := setup(t)
	put := func(id string) error {
		_, err := f.devices.Put(t.Context(), user, deliver.Device{ID: id, Endpoint: "https://x.example/" + id}, 2)
		return err
	}
	f.NoError(put(deviceIDs[0]))
	f.NoError(put(deviceIDs[1]))
	f.ErrorIs(put(deviceIDs[2]), deliver.ErrFull)
	f.now = f.now.Add(time.Hour)
	f.NoError(put(deviceIDs[1]), "a renewal is none more")
	all, err := f.devices.List(t.Context(), user)
	f.NoError(err)
	f.Equal(noon, all[1].CreatedAt)
	f.NoError(f.devices.Delete(t.Context(), user, deviceIDs[0]))
	f.NoError(f.devices.Delete(t.Context(), user, deviceIDs[0]))
	f.NoError(put(deviceIDs[2]))
	f.ErrorIs(put("x"), deliver.ErrDeviceID)
	f.ErrorIs(f.devices.Delete(t.Context(), user, strings.ToUpper(deviceIDs[0])+"A"), deliver.ErrDeviceID)
}

func TestDevice_isCheckedBeforeItIsRegistered(t *testing.T) {
	t.Parallel()
	good := deliver.Device{Endpoint: "https://push.example.com/1", Keys: deliver.Keys{
		P256dh: "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM",
		Auth:   "tBHItJI5svbpez7KI4CCXg",
	}}
	refuses := func(string) error { return errors.New("may not be called") }
	require.Empty(t, good.Check(func(string) error { return nil }))
	require.Len(t, deliver.Device{}.Check(refuses), 3)
	for _, key := range []string{"", "AAAA", strings.TrimSuffix(good.Keys.P256dh, "M") + "A"} {
		bad := good
		bad.Keys.P256dh = key
		require.Len(t, bad.Check(func(string) error { return nil }), 1, key)
	}
}

func TestCheckHost_takesTheSuffixesOfPushServices(t *testing.T) {
	t.Parallel()
	known := []string{"push.example.com", "example.net"}
	for _, host := range []string{"push.example.com", "a.push.example.com", "example.net", "x.y.example.net"} {
		require.NoError(t, deliver.CheckHost(host, known), host)
	}
	for _, host := range []string{"example.com", "evilexample.net", "push.example.com.evil.example", ""} {
		require.Error(t, deliver.CheckHost(host, known), host)
	}
	require.NoError(t, deliver.CheckHost("anything.example", nil))
}

// token returns the right to act that a device was told.
func (f *fixture) token() deliver.Token {
	f.t.Helper()
	act, _ := f.told()["act"].(string)
	token, ok := deliver.ParseToken(strings.TrimPrefix(act, deliver.ActPath))
	f.True(ok)
	return token
}

func admitted() error { return nil }

func TestActs_takeTheFirstChoiceOfADeliveryOnWhicheverDevice(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.register(user, deviceIDs[0], "https://push.example.com/1")
	f.register(user, deviceIDs[1], "https://push.example.com/2")
	f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)))
	f.Len(f.sent, 2)
	second := f.token()
	f.sent = f.sent[:1]
	first := f.token()
	f.NotEqual(first.Act, second.Act)

	snooze := deliver.Choice{Action: deliver.ActSnooze, Minutes: 10}
	of, err := f.acts.Choose(t.Context(), first, snooze, admitted)
	f.NoError(err)
	f.Equal(deliver.Target{ItemType: "REMINDER", ItemID: "rem_1", OccurrenceUtc: "2030-03-01T12:00:00Z"}, of)
	_, err = f.acts.Choose(t.Context(), second, deliver.Choice{Action: deliver.ActComplete}, admitted)
	f.ErrorIs(err, deliver.ErrActed, "another, from the other device")
	_, err = f.acts.Choose(t.Context(), second, snooze, admitted)
	f.NoError(err, "the same, from the other device")
	_, err = f.acts.Choose(t.Context(), first, deliver.Choice{Action: deliver.ActSnooze, Minutes: 20}, admitted)
	f.ErrorIs(err, deliver.ErrActed)

	var places register.Walk
	rows, err := table.All(t.Context(), f.store, table.Query{Partition: entity.UserPK(user)}, 0)
	f.NoError(err)
	for _, row := range rows {
		f.True(places.Row(row.Key().PK, row.Key().SK), row.Key())
	}
	f.answers(503)
	f.NoError(f.deliverer.Handle(t.Context(), f.due(map[string]any{"deliveryId": "another"})))
	for _, one := range f.schedules.Entries() {
		f.True(places.Name(register.Scheduler, one.Name))
	}
	f.Empty(places.Missing(register.Deliveries))
}

func TestActs_askForTheWholeToken(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.register(user, deviceIDs[0], "https://push.example.com/1")
	f.NoError(f.deliverer.Handle(t.Context(), f.due(nil)))
	good := f.token()
	complete := deliver.Choice{Action: deliver.ActComplete}
	choose := func(change func(*deliver.Token)) error {
		token := good
		change(&token)
		asked := false
		_, err := f.acts.Choose(t.Context(), token, complete, func() error { asked = true; return nil })
		f.Equal(err == nil, asked, "a stranger uses up no rate")
		return err
	}
	for _, change := range []func(*deliver.Token){
		func(t *deliver.Token) { t.User = "bob" }, func(t *deliver.Token) { t.DeliveryID = "x" },
		func(t *deliver.Token) { t.DeviceID = deviceIDs[1] }, func(t *deliver.Token) { t.Act = "x" },
		func(t *deliver.Token) { t.Act = "" },
	} {
		f.ErrorIs(choose(change), deliver.ErrNoAct)
	}
	f.now = f.now.Add(deliver.ActLife)
	f.ErrorIs(choose(func(*deliver.Token) {}), deliver.ErrNoAct)
	f.now = f.now.Add(-time.Second)
	f.NoError(choose(func(*deliver.Token) {}))
	for _, text := range []string{"", "a.b.c", "a.b.c.d", good.String() + ".x", "a#b." + good.String()} {
		_, ok := deliver.ParseToken(text)
		f.False(ok, text)
	}
}

func TestActs_areThoseOfTheItem(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.register(user, deviceIDs[0], "https://push.example.com/1")
	f.NoError(f.deliverer.Handle(t.Context(), f.due(map[string]any{"itemType": "TASK", "itemId": "task_1"})))
	_, err := f.acts.Choose(t.Context(), f.token(), deliver.Choice{Action: deliver.ActSnooze, Minutes: 5}, admitted)
	f.ErrorIs(err, deliver.ErrNoSuchAction)
	f.NoError(f.deliverer.Handle(t.Context(), f.due(map[string]any{"itemType": "EVENT", "deliveryId": "event"})))
	f.NotContains(f.told(), "act")
}
