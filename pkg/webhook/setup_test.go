package webhook_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/webhook"
)

// received is one request as its receiver saw it.
type received struct {
	url, id, stamp, signature, body string
	at                              time.Time
}

// fixture is a store, a scheduler, and a receiver that answers as the test says.
type fixture struct {
	*require.Assertions
	t         *testing.T
	now       time.Time
	store     *memory.Store
	schedules *schedulememory.Scheduler
	box       webhook.Outbox
	worker    *webhook.Worker
	endpoints *webhook.Endpoints
	master    webhook.Master
	invoked   [][]byte
	outcomes  []webhook.Outcome

	mu     sync.Mutex
	got    []received
	answer func(received) (*http.Response, error)
}

func setup(t *testing.T, change ...func(*webhook.Config)) *fixture {
	t.Helper()
	f := &fixture{Assertions: require.New(t), t: t, now: time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return f.now }
	f.store = memory.New(clock, memory.Options{})
	f.schedules = schedulememory.New(nil)
	f.answers(http.StatusNoContent)
	master, err := webhook.NewMaster(strings.NewReader(strings.Repeat("m", 32)))
	f.NoError(err)
	f.box = webhook.Outbox{
		Store: f.store, Scheduler: f.schedules, Now: clock, Lead: time.Minute,
		Invoke: func(_ context.Context, payload []byte) error {
			f.invoked = append(f.invoked, payload)
			return nil
		},
	}
	n := 0
	newID := func() string { n++; return fmt.Sprintf("id-%d", n) }
	c := webhook.Config{
		Outbox: f.box, Client: f, Master: master, NewID: newID, Draw: func() float64 { return 0.5 },
		Log: slog.New(slog.DiscardHandler), Observe: func(o webhook.Outcome) { f.outcomes = append(f.outcomes, o) },
	}
	for _, one := range change {
		one(&c)
	}
	f.worker = webhook.NewWorker(c)
	f.master = master
	f.endpoints = &webhook.Endpoints{
		Outbox: f.box, NewID: newID, Master: func(context.Context) (webhook.Master, error) { return master, nil },
	}
	return f
}

func reply(status int, header ...string) *http.Response {
	r := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("an answer"))}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func (f *fixture) answers(status int, header ...string) {
	f.answer = func(received) (*http.Response, error) { return reply(status, header...), nil }
}

func (f *fixture) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	one := received{
		r.URL.String(), r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), r.Header.Get("webhook-signature"),
		string(body), f.now,
	}
	f.got = append(f.got, one)
	return f.answer(one)
}

// hook puts an endpoint.
func (f *fixture) hook(id string, members ...string) item.Item {
	fields := item.Item{
		"url": item.String("https://hooks.example.com/" + id), "types": item.Strings("*"),
		"ordering": item.String("parallel"), "content": item.String("thin"), "status": item.String("ACTIVE"),
		"generation": item.Int(1),
	}
	for i := 0; i < len(members); i += 2 {
		fields[members[i]] = item.String(members[i+1])
	}
	made := webhookType.NewItem(user, id, fields, f.now, nil)
	f.NoError(f.store.Put(f.t.Context(), table.Put{Item: made}))
	return made
}

func (f *fixture) read(id string) item.Item {
	row, err := table.Find(f.t.Context(), f.store, hookKey(id))
	f.NoError(err)
	return row
}

func (f *fixture) put(row item.Item) { f.NoError(f.store.Put(f.t.Context(), table.Put{Item: row})) }

// set changes an endpoint as a client does.
func (f *fixture) set(id, name, value string) {
	before := f.read(id)
	after := before.Clone()
	after[name] = item.String(value)
	next := webhookType.NextVersion(entity.ByUser, user, before, after, f.now, nil)
	f.NoError(f.store.Put(f.t.Context(), table.Put{Item: next}))
}

// task returns the record of a task's version.
func (f *fixture) task(id string, version int64) change.Change {
	key := entity.ItemKey(user, entity.Ref{Type: "TASK", ID: id})
	image := func(v int64) item.Item {
		it := key.Item()
		it["entityType"], it["taskId"], it["version"] = item.String("TASK"), item.String(id), item.Int(v)
		it["title"], it["status"] = item.String("Water the plants"), item.String("TODO")
		return it
	}
	ch := change.Change{
		Kind: change.Modified, Type: taskType, User: user, Ref: entity.Ref{Type: "TASK", ID: id}, Key: key,
		Old: image(version - 1), New: image(version), Version: version, Created: f.now.Truncate(time.Second), Sequence: "1",
	}
	if version == 1 {
		ch.Kind, ch.Old = change.Inserted, nil
	}
	return ch
}

func (f *fixture) apply(batch ...change.Change) {
	f.t.Helper()
	for _, outcome := range webhook.NewConsumer(f.box, 1).Apply(f.t.Context(), batch) {
		f.NoError(outcome.Err)
	}
}

// work makes the calls that were asked for.
func (f *fixture) work() {
	f.t.Helper()
	for len(f.invoked) > 0 {
		one := f.invoked[0]
		f.invoked = f.invoked[1:]
		f.NoError(f.worker.Work(f.t.Context(), one))
	}
}

// next moves the clock to the next schedule and makes its call; false without one.
func (f *fixture) next() bool {
	f.t.Helper()
	at, any := f.schedules.Next()
	if !any {
		return false
	}
	if at.After(f.now) {
		f.now = at
	}
	one, due := f.schedules.Take(f.now)
	f.True(due)
	f.NoError(f.worker.Work(f.t.Context(), one.Payload))
	return true
}

func (f *fixture) rows(prefix string) []item.Item {
	rows, err := table.All(f.t.Context(), f.store, table.Query{
		Partition: entity.UserPK(user), Range: table.Range{Prefix: prefix},
	}, 0)
	f.NoError(err)
	return rows
}

// message returns the one row MSG#.
func (f *fixture) message() item.Item {
	rows := f.rows(outbox.RowMessage)
	f.Len(rows, 1)
	return rows[0]
}

const hook1, hook2 = "whk_00000000-0000-4000-8000-000000000001", "whk_00000000-0000-4000-8000-000000000002"
