package verify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	blobmemory "nexus/pkg/blob/memory"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/queue"
	queuememory "nexus/pkg/queue/memory"
	"nexus/pkg/reminders"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/verify"
)

const ann = "ann"

var (
	registry = product.Registry()
	morning  = time.Date(2026, time.March, 2, 8, 0, 0, 0, time.UTC)
)

// fixture is the whole system on the memory store, in one goroutine and on a clock of its own.
type fixture struct {
	t         testing.TB
	store     *memory.Store
	now       time.Time
	fault     func(memory.Call) error
	commands  *command.Service
	consumers []change.Consumer
	copies    *blobmemory.Store
	schedules *schedulememory.Scheduler
	walks     *queuememory.Queue
	walker    *reminders.Walker
	notifier  *reminders.Notifier
	verifier  *verify.Verifier
	// waiting is called at each pause of the verifier, found for each difference before its repair.
	waiting func()
	found   func(verify.Difference)
	read    string
	ids     int
}

// newWorld has the product's projections, and the others as well.
func newWorld(t testing.TB, besides ...*projection.Projection) *fixture {
	return newLimitedWorld(t, nil, besides...)
}

// newLimitedWorld has other limits of a user than the default.
func newLimitedWorld(t testing.TB, limits limit.Numbers, besides ...*projection.Projection) *fixture {
	w := &fixture{t: t, now: morning, copies: blobmemory.New(nil), schedules: schedulememory.New(nil)}
	w.walks = queuememory.New(nil)
	clock := func() time.Time { return w.now }
	w.store = memory.New(clock, memory.Options{Fault: func(c memory.Call) error {
		if w.fault == nil {
			return nil
		}
		return w.fault(c)
	}, Witnessed: true})
	t.Cleanup(func() { require.Empty(t, w.store.Tampered(), "what was read is not to be changed") })
	assembled, err := system.New(registry, system.Ports{
		Store: func(string) table.Store { return w.store }, Now: clock,
		NewID: func() string {
			w.ids++
			return fmt.Sprintf("00000000-0000-4000-8000-%012d", w.ids)
		},
		NewRevisionID: func() string { panic("a verification publishes nothing") }, Random: rand.NewChaCha8([32]byte{}),
		Pause:     func(context.Context, time.Duration) error { return nil },
		Scheduler: w.schedules, Bus: busmemory.New(nil), Copies: w.copies, Queue: w.walks,
		Limits: limits, Walker: w.store, Lister: w.schedules, Telling: w.schedules, Grace: time.Second,
		Wait: func(ctx context.Context, d time.Duration) error {
			if w.waiting != nil {
				w.waiting()
			}
			return ctx.Err()
		},
	}, besides...)
	require.NoError(t, err)
	w.commands, w.consumers, w.verifier = assembled.Commands, assembled.Consumers, assembled.Verifier
	w.notifier, w.walker = assembled.Notifier, assembled.Walker
	return w
}

// fire makes the calls that are due.
func (w *fixture) fire() {
	w.t.Helper()
	for due, ok := w.schedules.Take(w.now); ok; due, ok = w.schedules.Take(w.now) {
		require.NoError(w.t, w.notifier.Handle(w.t.Context(), due.Payload))
	}
}

// do carries out a command; a version of 0 is none.
func (w *fixture) do(user string, c command.Command, version int64) item.Item {
	w.t.Helper()
	request := command.Request{User: user, Command: c}
	if version > 0 {
		request.ExpectedVersion = &version
	}
	result, err := w.commands.Do(w.t.Context(), request)
	require.NoError(w.t, err)
	return result.Item
}

func (w *fixture) create(user, typ string, fields map[string]any) item.Item {
	w.t.Helper()
	return w.do(user, command.Create{Type: registry.ByName(typ), Fields: fields}, 0)
}

// drain has every consumer apply what the stream has to hand; who is held off keeps the rest for the next time.
func (w *fixture) drain() (finished bool) {
	w.t.Helper()
	shards, err := w.store.Feed().Shards(w.t.Context())
	require.NoError(w.t, err)
	for {
		slice, err := w.store.Feed().Read(w.t.Context(), shards[0].ID, w.read, 100)
		require.NoError(w.t, err)
		if len(slice.Records) == 0 {
			w.walks.Work(func(m queue.Message) error { return w.walker.Handle(w.t.Context(), m.Body) })
			return true
		}
		for _, rec := range slice.Records {
			key, err := entity.ParseSortKey(rec.Key.SK)
			if strings.HasPrefix(rec.Key.SK, repository.HeadPrefix()) || err == nil &&
				(!key.IsRow() && !rec.New.Has(product.AttrStatsWritten) || key.Prefix == entity.RowTimer && rec.New == nil) {
				c, err := change.Interpret(registry, rec)
				require.NoError(w.t, err)
				for _, consumer := range w.consumers {
					for _, o := range consumer.Apply(w.t.Context(), []change.Change{c}) {
						if o.Verdict != change.Done {
							return false
						}
					}
				}
			}
			w.read = rec.Sequence
		}
	}
}

// lose has no consumer see what the stream has to hand.
func (w *fixture) lose() {
	w.t.Helper()
	consumers := w.consumers
	w.consumers = nil
	w.drain()
	w.consumers = consumers
}

// verify runs a verification.
func (w *fixture) verify(o verify.Options) ([]verify.Difference, verify.Summary) {
	w.t.Helper()
	var found []verify.Difference
	sum, err := w.verifier.Run(w.t.Context(), o, func(d verify.Difference) error {
		found = append(found, d)
		if w.found != nil {
			w.found(d)
		}
		return nil
	})
	require.NoError(w.t, err)
	return found, sum
}

// rows returns the rows of a user whose sort keys begin with the prefix.
func (w *fixture) rows(user, prefix string) []item.Item {
	w.t.Helper()
	q := table.Query{Partition: entity.UserPK(user), Range: table.Range{Prefix: prefix}}
	var out []item.Item
	for {
		page, err := w.store.Query(w.t.Context(), q)
		require.NoError(w.t, err)
		out = append(out, page.Items...)
		if q.Start = page.Next; len(q.Start) == 0 {
			return out
		}
	}
}

func (w *fixture) remove(rows ...item.Item) {
	w.t.Helper()
	for _, row := range rows {
		require.NoError(w.t, w.store.Delete(w.t.Context(), table.Delete{Key: row.Key()}))
	}
}

func (w *fixture) set(key item.Key, name string, v item.Value) {
	w.t.Helper()
	_, err := w.store.Update(w.t.Context(), table.Update{Key: key, Set: item.Item{name: v}})
	require.NoError(w.t, err)
}

func (w *fixture) get(key item.Key) item.Item {
	w.t.Helper()
	row, err := w.store.Get(w.t.Context(), key)
	require.NoError(w.t, err)
	return row
}

func (w *fixture) put(key item.Key, attributes item.Item) {
	w.t.Helper()
	row := key.Item()
	for name, v := range attributes {
		row[name] = v
	}
	require.NoError(w.t, w.store.Put(w.t.Context(), table.Put{Item: row}))
}

// bogus adds a link row that the item does not have.
func (w *fixture) bogus(source item.Item, target string) {
	t := registry.ByName(source.Str(entity.AttrType))
	row := links.Row(ann, t.Ref(source), product.TypeNote+"/"+target)
	w.put(row.Key(), row)
}

func (w *fixture) unschedule(id string, offset int64) {
	w.t.Helper()
	require.NoError(w.t, w.schedules.Delete(w.t.Context(), reminders.ScheduleName(ann, id, offset)))
}

func (w *fixture) dropCopies() {
	w.t.Helper()
	names, err := w.copies.List(w.t.Context(), archive.CopiesPrefix(ann), 1000, "")
	require.NoError(w.t, err)
	for _, name := range names {
		require.NoError(w.t, w.copies.Delete(w.t.Context(), name))
	}
}

// numbers are numbers as a request brings them.
func numbers(of ...int) []any {
	out := make([]any, len(of))
	for i, n := range of {
		out[i] = json.Number(fmt.Sprint(n))
	}
	return out
}
