package reminders_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/long"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/port"
	"nexus/pkg/product"
	"nexus/pkg/queue"
	queuememory "nexus/pkg/queue/memory"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
	"nexus/pkg/table/interleave"
	"nexus/pkg/table/memory"
)

// turns is the scheduler as one worker of a play sees it: each call waits for its turn.
type turns struct {
	store *interleave.Store
	at    map[string]time.Time
}

func (s turns) Put(_ context.Context, in schedule.Schedule) error {
	return s.call("schedule", in.Name, func() error { s.at[in.Name] = in.At; return in.Check() })
}

func (s turns) Delete(_ context.Context, name string) error {
	return s.call("unschedule", name, func() error { delete(s.at, name); return nil })
}

func (s turns) call(op, name string, act func() error) error {
	if s.store == nil {
		return act()
	}
	err := s.store.Call(op, act, item.Key{PK: "scheduler", SK: name})
	if errors.Is(err, table.ErrUnavailable) {
		return schedule.ErrUnavailable
	}
	return err
}

// scene is the beginning of a play: rows, schedules, and the records that no consumer has received yet.
type scene struct {
	now     time.Time
	rows    []item.Item
	at      map[string]time.Time
	records []change.Change
}

// scene returns the present state of a world, with the records since the last call.
func (w *fixture) scene(at map[string]time.Time) scene {
	s := scene{now: w.now, at: at, records: w.records()}
	require.NoError(w, w.store.Walk(w.Context(), 0, 1, func(row item.Item) error {
		s.rows = append(s.rows, row)
		return nil
	}))
	return s
}

func (w *fixture) scheduled() map[string]time.Time {
	out := map[string]time.Time{}
	for _, e := range w.scheduler.Entries() {
		out[e.Name] = e.At
	}
	return out
}

func (s scene) config(store table.Store, scheduler schedule.Scheduler, q *queuememory.Queue) reminders.Config {
	ids := 0
	return reminders.Config{
		Store: store, Registry: product.Registry(), Scheduler: scheduler, Bus: busmemory.New(nil), Queue: q,
		NewID: func() string { ids++; return fmt.Sprint("m", ids) },
		Now:   func() time.Time { return s.now }, Log: slog.New(slog.DiscardHandler),
	}
}

// world is one play: a walker for each message, and everything delivered again afterwards. Then the schedules are those
// wanted, and no cursor stands still.
func (s scene) world(want map[string]time.Time, edits []change.Change, messages ...[]byte) func() interleave.World {
	return func() interleave.World {
		store := memory.New(func() time.Time { return s.now }, memory.Options{})
		at := maps.Clone(s.at)
		if err := store.Load(context.Background(), s.rows); err != nil {
			panic(err)
		}
		w := interleave.World{Store: store}
		if len(edits) > 0 {
			w.Workers = append(w.Workers, client(edits))
		}
		for i, body := range messages {
			w.Workers = append(w.Workers,
				interleave.Worker{Name: fmt.Sprint("worker ", i), Run: func(ctx context.Context, mine *interleave.Store) {
					walker := reminders.NewWalker(s.config(mine, turns{mine, at}, queuememory.New(nil)))
					if err := walker.Handle(ctx, body); errors.Is(err, port.ErrInvalid) {
						panic(err)
					}
				}})
		}
		w.Judge = func() error { return s.check(store, at, want, messages) }
		return w
	}
}

// check gives the messages to walkers again, and the records to consumers, until all is done.
func (s scene) check(store *memory.Store, at, want map[string]time.Time, messages [][]byte) error {
	ctx, q := context.Background(), queuememory.New(nil)
	config := s.config(store, turns{nil, at}, q)
	consumer, walker := reminders.New(config), reminders.NewWalker(config)
	for _, body := range messages {
		if err := walker.Handle(ctx, body); err != nil {
			return err
		}
	}
	for _, c := range s.records {
		if err := consumer.Apply(ctx, []change.Change{c})[0].Err; err != nil {
			return err
		}
	}
	q.Work(func(m queue.Message) error { return walker.Handle(ctx, m.Body) })
	if dead := q.Dead(); len(dead) > 0 {
		return fmt.Errorf("walk fails: %s", dead[0].Body)
	}
	if !maps.Equal(at, want) {
		return fmt.Errorf("schedules are at %v, not at %v", at, want)
	}
	return store.Walk(ctx, 0, 1, func(row item.Item) error {
		if isCursorKey(row.Key()) && (!row.Bool("done") || len(row.Map("open")) > 0) {
			return fmt.Errorf("cursor %s stands still: %v", row.Key(), row)
		}
		return nil
	})
}

// client is a worker that writes the items of records.
func client(records []change.Change) interleave.Worker {
	return interleave.Worker{Name: "client", Reliable: true, Run: func(ctx context.Context, store *interleave.Store) {
		for _, c := range records {
			if err := store.Put(ctx, table.Put{Item: c.New}); err != nil {
				panic(err)
			}
		}
	}}
}

func TestConsumer_walksExactlyInEveryOrderOfTwoWorkers(t *testing.T) {
	t.Parallel()
	long.Only(t, "plays every order")
	due := func(at string) func(w *fixture) {
		return func(w *fixture) { w.set("task_1", product.AttrDueUtc, item.String(at)) }
	}
	for name, c := range map[string]struct {
		zones []string
		edit  func(w *fixture) // by a client, while the workers walk
	}{
		"a change of zone":                     {[]string{"Europe/Berlin"}, nil},
		"two changes of zone":                  {[]string{"Europe/Berlin", "Asia/Tokyo"}, nil},
		"a change of zone and one of an item":  {[]string{"Europe/Berlin"}, due("2025-12-02T10:00:00Z")},
		"a change of zone and one to the past": {[]string{"Europe/Berlin"}, due("2025-11-02T10:00:00Z")},
		"a change of zone and another":         {[]string{"Europe/Berlin"}, func(w *fixture) { w.moveTo("Asia/Tokyo") }},
	} {
		isFull := os.Getenv("NEXUS_INTERLEAVE") != ""
		isQuick := c.edit == nil && len(c.zones) == 1 || name == "a change of zone and one of an item"
		if !isQuick && !isFull {
			continue
		}
		w := setup(t)
		w.create("task_1", fmt.Sprintf(floatingTask, "2025-12-02T09:00:00", "0"))
		w.create("task_2", fmt.Sprintf(floatingTask, "2025-12-02T09:00:00", "0"))
		w.runUntilIdle()
		before := w.scheduled()
		var records []change.Change
		var messages [][]byte
		for _, zone := range c.zones {
			w.moveTo(zone)
			records = append(records, w.records()...)
			w.setOff(records[len(records)-1])
			waiting := w.queue.Waiting()
			messages = append(messages, waiting[len(waiting)-1].Body)
		}
		s := w.scene(before)
		s.records = records
		one, other := messages[0], messages[len(messages)-1]
		var edits []change.Change
		if c.edit != nil {
			c.edit(w)
			edits = w.records()
			s.records = append(s.records, edits...)
		}
		w.deliver(s.records...)
		want := w.scheduled()
		require.NotEqual(t, before, want)
		faults := interleave.Options{}
		if c.edit == nil || isFull {
			faults.Faults = 1
		}
		result, err := interleave.Explore(t.Context(), s.world(want, edits, one, other), faults)
		require.NoError(t, err, name)
		t.Logf("%s: %d plays", name, result.Plays)
	}
}
