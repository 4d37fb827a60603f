package deliver_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deliver"
	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/register"
	"nexus/pkg/schedule"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

var histories = flag.Int("histories", 60, "how many random histories are played")

// errDead ends a worker: all its later calls fail, too, and have no effect.
var errDead = errors.New("the worker is dead")

// worker is one handling of an event or of a call.
type worker struct{ dead bool }

// published is an event that the bus has, and what the model knows of it.
type published struct {
	id         string
	detail     []byte
	until      time.Time
	handled    bool            // without an error
	owed       bool            // a handling failed: it is repeated
	registered map[string]bool // devices that were registered all through the first handling that succeeded
}

// received is one message that a push service accepted, or that may have reached it.
type received struct {
	at       time.Time
	endpoint string
	topic    string
	ttl      time.Duration
	content  map[string]any
}

// history is a random history of one user's devices, their push services, and deliveries.
type history struct {
	*require.Assertions
	r         *rand.Rand
	now       time.Time
	store     *memory.Store
	schedules *schedulememory.Scheduler
	deliverer *deliver.Deliverer
	devices   *deliver.Devices
	current   *worker // whose calls the hooks see
	depth     int     // of actors between two calls
	quiet     bool    // no faults

	endpoints int
	answers   map[string]int // of an endpoint: what its push service answers
	gave      map[string]int // of an endpoint: the last answer that a worker got
	received  []received
	known     map[string]string // the endpoint of each device that should be registered
	during    []map[string]bool // devices that were registered all through each handling that is under way
	events    []*published
	failed    [][]byte // payloads of calls to be made again
	places    *register.Walk
	untils    map[item.Key]string
	states    map[item.Key]string
	attempts  map[item.Key]int64
	wiped     map[string]bool // deliveries whose rows were removed
}

const user = "ann"

var deviceIDs = []string{
	"00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002", "00000000-0000-4000-8000-000000000003",
}

// statuses are the answers that a push service may give: 0 is none.
var statuses = []int{201, 201, 201, 404, 410, 429, 500, 503, 400, 413, 403, 301, 0}

func newHistory(t *testing.T, seed uint64) *history {
	w := &history{
		Assertions: require.New(t), r: rand.New(rand.NewPCG(seed, 7)),
		now:     time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC),
		answers: map[string]int{}, gave: map[string]int{}, wiped: map[string]bool{}, untils: map[item.Key]string{},
		states: map[item.Key]string{}, attempts: map[item.Key]int64{}, current: &worker{},
		known: map[string]string{},
	}
	clock := func() time.Time { return w.now }
	w.store = memory.New(clock, memory.Options{Fault: func(c memory.Call) error {
		return w.hook(table.ErrUnavailable, c.Stage == memory.After)
	}})
	w.schedules = schedulememory.New(func(_, name string, after bool) error {
		w.True(w.places.Name(register.Scheduler, name), name)
		return w.hook(schedule.ErrUnavailable, after)
	})
	var seed32 [32]byte
	seed32[0], seed32[1] = byte(seed), byte(seed>>8)
	w.deliverer = deliver.New(deliver.Config{
		Outbox: deliver.Outbox{Store: w.store, Scheduler: w.schedules, Now: clock, Lead: time.Minute},
		Sender: w, Random: rand.NewChaCha8(seed32),
		NameOf: func(string) string { return "pseudonym" }, Log: slog.New(slog.DiscardHandler),
		Wait: func(_ context.Context, d time.Duration) error { w.now = w.now.Add(d); return nil },
	})
	w.devices = deliver.NewDevices(w.store, clock)
	return w
}

// hook is asked before and after each call of a port. It may end the worker, lose the answer, or let others act.
func (w *history) hook(lost error, after bool) error {
	if w.current.dead {
		return errDead
	}
	if w.quiet {
		return nil
	}
	switch n := w.r.IntN(100); {
	case n < 2:
		w.current.dead = true
		return errDead
	case n < 5:
		return lost
	case n < 15 && w.depth < 2:
		w.beside(w.act)
	}
	return nil
}

// beside lets another actor act between two calls of the current worker.
func (w *history) beside(act func()) {
	before := w.current
	w.depth++
	w.current = &worker{}
	act()
	w.current = before
	w.depth--
}

// direct runs a step of the judge or of a user, which has no faults.
func (w *history) direct(step func()) {
	before, wasQuiet := w.current, w.quiet
	w.current, w.quiet = &worker{}, true
	step()
	w.current, w.quiet = before, wasQuiet
}

// Send is the push service.
func (w *history) Send(ctx context.Context, p deliver.Push) (deliver.Answer, error) {
	one := received{at: w.now, endpoint: p.Endpoint, topic: p.Topic, ttl: p.TTL}
	if err := w.hook(errors.New("no connection"), false); err != nil {
		return deliver.Answer{}, err
	}
	w.NoError(json.Unmarshal(p.Payload, &one.content))
	w.LessOrEqual(len(p.Payload), deliver.MaxPayload)
	w.checkRequest(ctx, one)
	status := w.answers[p.Endpoint]
	if status == 201 || status == 0 && w.r.IntN(2) == 0 {
		w.received = append(w.received, one)
	}
	w.gave[p.Endpoint] = status
	if err := w.hook(errors.New("the answer is lost"), true); err != nil {
		if errors.Is(err, errDead) {
			return deliver.Answer{}, err
		}
		status = 0
	}
	if status == 0 {
		return deliver.Answer{}, errors.New("no answer in time")
	}
	answer := deliver.Answer{Status: status}
	if status == 429 && w.r.IntN(2) == 0 {
		answer.RetryAfter = time.Duration(1+w.r.IntN(600)) * time.Second
	}
	return answer, nil
}

// checkRequest checks what holds of each request: the row is there first, it is in time, and what comes twice is one.
func (w *history) checkRequest(_ context.Context, m received) {
	id, _ := m.content["deliveryId"].(string)
	e := w.event(id)
	w.True(m.at.Before(e.until), "D4: %s is told at %s, its end was %s", id, m.at, e.until)
	w.Positive(m.ttl, "a push service drops it")
	w.False(m.at.Add(m.ttl).After(e.until), "D4: the push service keeps %s beyond its end", id)
	w.Equal(id[:32], m.topic, "D2")
	w.Equal("pseudonym", m.content["user"])
	w.direct(func() {
		rows := w.rows(device.PushPrefix() + id)
		if !w.wiped[id] {
			w.NotEmpty(rows, "the row of %s is put before the request", id)
		}
		_, hasAct := m.content["act"]
		w.True(hasAct)
	})
}

func (w *history) event(id string) *published {
	at := slices.IndexFunc(w.events, func(e *published) bool { return e.id == id })
	w.GreaterOrEqual(at, 0, id)
	return w.events[at]
}

func (w *history) rows(prefix string) []item.Item {
	rows, err := table.All(context.Background(), w.store, table.Query{
		Partition: entity.UserPK(user), Range: table.Range{Prefix: prefix},
	}, 0)
	w.NoError(err)
	return rows
}

// act makes one step at random.
func (w *history) act() {
	switch n := w.r.IntN(20); {
	case n < 4:
		w.publish()
	case n < 8 && len(w.events) > 0:
		w.handle(w.events[w.r.IntN(len(w.events))])
	case n < 12:
		w.call()
	case n < 14:
		w.register()
	case n == 14:
		id := deviceIDs[w.r.IntN(len(deviceIDs))]
		w.direct(func() { w.NoError(w.devices.Delete(context.Background(), user, id)) })
		delete(w.known, id)
	case n < 17:
		for endpoint := range w.sorted() {
			if w.r.IntN(2) == 0 {
				w.answers[endpoint] = statuses[w.r.IntN(len(statuses))]
			}
		}
	case n == 17 && w.r.IntN(4) == 0 && len(w.events) > 0:
		w.wipe(w.events[w.r.IntN(len(w.events))])
	default:
		w.now = w.now.Add(time.Duration(w.r.IntN(3600)) * time.Second / time.Duration(1+w.r.IntN(60)))
	}
	w.check()
}

// sorted yields the endpoints in the order in which they were made.
func (w *history) sorted() func(func(string) bool) {
	return func(yield func(string) bool) {
		for n := range w.endpoints {
			if !yield(endpointName(n)) {
				return
			}
		}
	}
}

func endpointName(n int) string { return fmt.Sprintf("https://push.example.com/%d", n) }

// register registers a device, or renews one under another endpoint.
func (w *history) register() {
	endpoint := endpointName(w.endpoints)
	w.endpoints++
	w.answers[endpoint] = statuses[w.r.IntN(len(statuses))]
	id := deviceIDs[w.r.IntN(len(deviceIDs))]
	w.direct(func() {
		in := deliver.Device{ID: id, Endpoint: endpoint, Name: "a browser"}
		_, err := w.devices.Put(context.Background(), user, in, 0)
		w.NoError(err)
	})
	w.known[id] = endpoint
}

// publish publishes an event of a reminder that is due about now.
func (w *history) publish() {
	fired := w.now.Truncate(time.Second)
	occurrence := fired.Add(time.Duration(w.r.IntN(40*60)-120) * time.Minute)
	until := occurrence.Add(time.Hour)
	if least := fired.Add(time.Hour); until.Before(least) {
		until = least
	}
	if most := fired.Add(24 * time.Hour); until.After(most) {
		until = most
	}
	id := fmt.Sprintf("delivery-%034d", len(w.events))
	detail, err := json.Marshal(map[string]any{
		"deliveryId": id, "userId": user, "occurredAt": item.FormatInstant(fired), "itemType": "REMINDER",
		"itemId": "rem_1", "title": "Water the plants", "occurrenceUtc": item.FormatInstant(occurrence),
		"dueUtc": item.FormatInstant(fired), "offsetMinutes": 0, "notify": map[string]bool{"browser": true, "sound": true},
	})
	w.NoError(err)
	e := &published{id: id, detail: detail, until: until, registered: map[string]bool{}}
	w.events = append(w.events, e)
	w.handle(e)
}

// handle has a worker handle an event, which may have been handled before.
func (w *history) handle(e *published) {
	registered := w.registered()
	w.during = append(w.during, registered)
	before := w.current
	w.current = &worker{}
	err := w.deliverer.Handle(context.Background(), e.detail)
	w.current = before
	w.during = w.during[:len(w.during)-1]
	if err != nil {
		e.owed = true // also if another one succeeds: its maker repeats each
		return
	}
	if !e.handled {
		e.registered = registered
	}
	e.handled = true
}

// registered returns the devices that are registered now.
func (w *history) registered() map[string]bool {
	out := map[string]bool{}
	w.direct(func() {
		all, err := w.devices.List(context.Background(), user)
		w.NoError(err)
		for _, one := range all {
			out[one.ID] = true
		}
	})
	return out
}

// call makes the call of a schedule that is due, or one that failed or was made before.
func (w *history) call() {
	payload := []byte(nil)
	if len(w.failed) > 0 && w.r.IntN(2) == 0 {
		payload, w.failed = w.failed[0], w.failed[1:]
	} else if one, due := w.schedules.Take(w.now); due {
		payload = one.Payload
	}
	if payload == nil {
		return
	}
	before := w.current
	w.current = &worker{}
	if err := w.deliverer.Wake(context.Background(), payload); err != nil || w.r.IntN(8) == 0 && !w.quiet {
		w.failed = append(w.failed, payload)
	}
	w.current = before
}

// wipe removes all rows of a delivery, as an erasure does and TTL.
func (w *history) wipe(e *published) {
	w.direct(func() {
		for _, row := range w.rows(device.PushPrefix() + e.id) {
			w.NoError(w.store.Delete(context.Background(), table.Delete{Key: row.Key()}))
			delete(w.untils, row.Key())
			delete(w.states, row.Key())
			delete(w.attempts, row.Key())
		}
		w.wiped[e.id] = true
	})
}

// check checks what holds after each step.
func (w *history) check() {
	registered := w.registered()
	for _, of := range w.during {
		maps.DeleteFunc(of, func(id string, _ bool) bool { return !registered[id] })
	}
	for id, endpoint := range w.known {
		if !registered[id] {
			w.Contains([]int{404, 410}, w.gave[endpoint], "D3: %s has left, and its push service did not say so", id)
			delete(w.known, id)
		}
	}
	w.direct(func() {
		for _, row := range w.rows(device.PushPrefix()) {
			w.checkRow(row)
		}
	})
}

func (w *history) checkRow(row item.Item) {
	key := row.Key()
	w.NotEmpty(row.Str("event"), "an outcome has made the row %s", key)
	until, state, attempts := row.Str("until"), row.Str("state"), row.Int("attempts")
	if before, known := w.untils[key]; known {
		w.Equal(before, until, "the end of %s moves", key)
		w.GreaterOrEqual(attempts, w.attempts[key], key)
		if w.states[key] != "pending" {
			w.Equal(w.states[key], state, "%s goes on after its end", key)
		}
	}
	w.untils[key], w.states[key], w.attempts[key] = until, state, attempts
	if state == "sent" {
		id := eventOf(row)
		w.True(slices.ContainsFunc(w.received, func(m received) bool { return m.content["deliveryId"] == id }),
			"%s says that it was told, and no push service has it", key)
	}
	if state == "dead" {
		w.NotEmpty(row.Str("reason"), "D1: %s does not say why", key)
	}
}

func eventOf(row item.Item) string {
	var e struct {
		DeliveryID string `json:"deliveryId"`
	}
	_ = json.Unmarshal([]byte(row.Str("event")), &e)
	return e.DeliveryID
}

// finish ends the faults, has each event handled that was not, and makes all calls until none is left.
func (w *history) finish() {
	w.check()
	w.quiet, w.current = true, &worker{}
	began := w.now
	for endpoint := range w.sorted() {
		w.answers[endpoint] = 201
	}
	for _, e := range w.events {
		if !e.handled || e.owed {
			w.handle(e)
			w.True(e.handled)
		}
	}
	for rounds := 0; ; rounds++ {
		w.Less(rounds, 10_000)
		for len(w.failed) > 0 {
			w.call()
		}
		next, any := w.schedules.Next()
		if !any {
			break
		}
		if next.After(w.now) {
			w.now = next
		}
		w.call()
		w.check()
	}
	w.check()
	w.Empty(w.schedules.Entries(), "what is done has no schedule")
	w.direct(func() { w.checkEnd(began) })
}

// checkEnd checks D1: each device that was registered when the event was handled was told, or the row says why not.
// From an instant on all push services have accepted what they get.
func (w *history) checkEnd(from time.Time) {
	for _, prefix := range []string{device.PushPrefix(), device.DevicePrefix()} {
		for _, row := range w.rows(prefix) {
			w.places.Row(row.Key().PK, row.Key().SK)
		}
	}
	for _, e := range w.events {
		if w.wiped[e.id] {
			continue
		}
		for id := range e.registered {
			row, err := table.Find(context.Background(), w.store, device.PushKey(user, e.id, id))
			w.NoError(err)
			w.NotNil(row, "D1: %s was never told on %s", e.id, id)
			w.NotEqual("pending", row.Str("state"), "D1: %s", row.Key())
			last, _ := row.Time("nextAt")
			if row.Str("reason") == "late" {
				w.False(last.After(from) && e.until.After(last.Add(time.Hour)), "D1: there was time to tell %s", row.Key())
			}
		}
		acts := map[any]map[any]bool{}
		for _, m := range w.received {
			if m.content["deliveryId"] == e.id {
				token, ok := deliver.ParseToken(m.content["act"].(string)[len(deliver.ActPath):])
				w.True(ok)
				if acts[token.DeviceID] == nil {
					acts[token.DeviceID] = map[any]bool{}
				}
				acts[token.DeviceID][token.Act] = true
			}
		}
		for id, of := range acts {
			w.Len(of, 1, "%s has several rights to act on %s", id, e.id)
		}
	}
}

func TestDeliverer_keepsItsLawsInRandomHistories(t *testing.T) {
	t.Parallel()
	var places register.Walk
	for seed := range uint64(*histories) {
		w := newHistory(t, seed)
		w.places = &places
		w.register()
		for range 60 {
			w.act()
		}
		w.finish()
	}
	require.Empty(t, places.Strange())
}
