package archive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	blobs "nexus/pkg/blob/memory"
	"nexus/pkg/bus"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

const ann = "ann"

var (
	registry    = product.Registry()
	errInjected = errors.New("injected")
)

// fixture is a table with its commands, stream, TTL service, object store and bus, under a clock that the test moves.
type fixture struct {
	t        *testing.T
	ctx      context.Context
	random   *rand.Rand
	now      time.Time
	store    *memory.Store
	copies   *blobs.Store
	bus      *busmemory.Bus
	commands *command.Service
	archive  *archive.Archive
	consumer *archive.Consumer
	// replicated says that a replica removes what expires.
	replicated bool
	faulty     bool // the consumer's calls may fail, and others may act between them

	beforePut func() // done once, before the next copy is written

	expired map[string]item.Item // what each item was when it was last seen with a ttl

	records []change.Change
	open    []change.Change // not yet finished by the consumer
	read    string
	ids     int
}

func newWorld(t *testing.T, seed uint64) *fixture {
	w := &fixture{t: t, ctx: t.Context(), random: rand.New(rand.NewPCG(seed, 0)),
		now:     time.Date(2025, 6, 1, 8, 0, 0, 0, time.UTC),
		expired: map[string]item.Item{}}
	clock := func() time.Time { return w.now }
	fault := func() error {
		switch {
		case !w.faulty:
			return nil
		case w.random.IntN(12) == 0:
			w.interfere()
		}
		if w.random.IntN(10) == 0 {
			return errInjected
		}
		return nil
	}
	w.store = memory.New(clock, memory.Options{Fault: func(memory.Call) error { return fault() }, Witnessed: true})
	t.Cleanup(func() { require.Empty(t, w.store.Tampered(), "what was read is not to be changed") })
	w.copies = blobs.New(func(op, _ string, after bool) error {
		if act := w.beforePut; act != nil && op == "put" && !after {
			w.beforePut = nil
			act()
		}
		return fault()
	})
	w.bus = busmemory.New(func([]bus.Event, bool) error { return fault() })
	w.commands = command.New(command.Config{Store: w.store, Registry: registry, Now: clock,
		Pause: func(context.Context, time.Duration) error { return nil }, NewID: func() string {
			w.ids++
			return fmt.Sprintf("00000000-0000-4000-8000-%012d", w.ids)
		}})
	cfg := archive.Config{Store: w.store, Registry: registry, Copies: w.copies, Bus: w.bus, Announces: archive.Events(),
		Now: clock}
	w.archive, w.consumer = archive.New(cfg), archive.NewConsumer(cfg)
	return w
}

func (w *fixture) create(t *entity.Type, fields map[string]any) item.Item {
	result, err := w.commands.Do(w.ctx, command.Request{User: ann, Command: command.Create{Type: t, Fields: fields}})
	require.NoError(w.t, err)
	return result.Item
}

func (w *fixture) patch(t *entity.Type, it item.Item, patch map[string]any) item.Item {
	version := it.Int(entity.AttrVersion)
	result, err := w.commands.Do(w.ctx, command.Request{User: ann, ExpectedVersion: &version,
		Command: command.Update{Type: t, ID: it.Str(t.IDAttr), Patch: patch}})
	require.NoError(w.t, err)
	return result.Item
}

func (w *fixture) delete(t *entity.Type, it item.Item) {
	version := it.Int(entity.AttrVersion)
	_, err := w.commands.Do(w.ctx, command.Request{
		User: ann, ExpectedVersion: &version, Command: command.Delete{Type: t, ID: it.Str(t.IDAttr)},
	})
	require.NoError(w.t, err)
}

// get returns a row as it is stored, nil for none.
func (w *fixture) get(key item.Key) item.Item {
	row, err := table.Find(w.ctx, w.store, key)
	require.NoError(w.t, err)
	return row
}

func (w *fixture) drain() {
	shards, err := w.store.Feed().Shards(w.ctx)
	require.NoError(w.t, err)
	slice, err := w.store.Feed().Read(w.ctx, shards[0].ID, w.read, 1_000_000)
	require.NoError(w.t, err)
	for _, rec := range slice.Records {
		w.read = rec.Sequence
		key, err := entity.ParseSortKey(rec.Key.SK)
		require.NoError(w.t, err)
		if key.IsRow() && (key.Prefix != entity.RowTimer || !rec.Expired) {
			continue
		}
		rec.Expired = rec.Expired && !w.replicated // a replica removed it
		c, err := change.Interpret(registry, rec)
		require.NoError(w.t, err)
		w.records, w.open = append(w.records, c), append(w.open, c)
	}
}

// deliverAll delivers until nothing is left to do, which must come to an end.
func (w *fixture) deliverAll() {
	rounds := 0
	for w.drain(); len(w.open) > 0; w.drain() {
		w.deliver(len(w.open))
		rounds++
		require.Less(w.t, rounds, 100, "%d records are never finished", len(w.open))
	}
}

// deliver hands the consumer n of its open records; what it does not finish stays open.
func (w *fixture) deliver(n int) {
	batch := w.open[:n]
	w.open = append([]change.Change{}, w.open[n:]...)
	for i, o := range w.consumer.Apply(w.ctx, batch) {
		require.NotEqual(w.t, change.Poison, o.Verdict, "%v", o.Err)
		if o.Verdict == change.Retry {
			require.Error(w.t, o.Err)
			w.open = append(w.open, batch[i])
		}
	}
}

// advance moves the clock and lets the TTL service remove what has expired.
func (w *fixture) advance(d time.Duration) {
	w.now = w.now.Add(d)
	w.store.Sweep(w.now.Add(time.Second), 1000) // the service removes what is older than now
}

func (w *fixture) published(eventType string) []archive.Detail {
	var details []archive.Detail
	for _, e := range w.bus.Events() {
		if e.Type == eventType {
			var d archive.Detail
			require.NoError(w.t, json.Unmarshal(e.Detail, &d))
			details = append(details, d)
		}
	}
	return details
}

// checkCopies: every row that names a copy has it, no copy is without such a row, every item that will expire has the
// copy of its very version, and no other item has one.
func (w *fixture) checkCopies() {
	names, err := w.copies.List(w.ctx, "archive/", 1000, "")
	require.NoError(w.t, err)
	named := []string{}
	cold := map[string]int64{}
	require.NoError(w.t, w.store.Walk(w.ctx, 0, 1, func(row item.Item) error {
		if key, _ := entity.ParseSortKey(row.Key().SK); key.Prefix == entity.RowCold {
			named = append(named, row.Str("object"))
			cold[key.Components[0]] = row.Int(entity.AttrVersion)
		}
		return nil
	}))
	require.ElementsMatch(w.t, names, named)
	require.NoError(w.t, w.store.Walk(w.ctx, 0, 1, func(row item.Item) error {
		key, _ := entity.ParseSortKey(row.Key().SK)
		if t := registry.ByName(key.Prefix); t != nil && t.HasCollection() {
			require.Equal(w.t, row.Has(entity.AttrTTL), cold[key.Components[0]] == row.Int(entity.AttrVersion), "%v", row)
		}
		return nil
	}))
}

func TestConsumer_losesNothingWhateverIsDeliveredAndFails(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		w := newWorld(t, seed)
		w.replicated = seed%4 == 3
		for range 70 {
			w.randomStep()
		}
		w.faulty = false
		w.deliverAll()
		for range 5 { // late duplicates of anything
			if len(w.records) > 0 {
				w.open = append(w.open, w.records[w.random.IntN(len(w.records))])
				w.deliverAll()
			}
		}
		w.checkCopies()
		w.checkRestores()
		w.checkSeriesStay()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func (w *fixture) randomStep() {
	types := []*entity.Type{product.Task(), product.Event(), product.Reminder()}
	switch w.random.IntN(9) {
	case 8:
		w.touchSeries()
	case 0, 1:
		t := types[w.random.IntN(3)]
		w.create(t, map[string]any{
			"title": "x",
			map[string]string{"TASK": "startUtc", "EVENT": "startUtc", "REMINDER": "triggerUtc"}[t.Name]: "2025-07-01T00:00:00",
		})
	case 2, 3:
		w.touchSomething()
	case 4:
		w.noteExpiring()
		w.advance([]time.Duration{time.Hour, 25 * time.Hour, 8 * 24 * time.Hour, 800 * 24 * time.Hour}[w.random.IntN(4)])
	case 5:
		if ids := slices.Sorted(maps.Keys(w.expired)); len(ids) > 0 {
			id := ids[w.random.IntN(len(ids))]
			w.restore(id, w.expired[id])
		}
	default:
		w.drain()
		w.random.Shuffle(len(w.open), func(i, j int) { w.open[i], w.open[j] = w.open[j], w.open[i] })
		if len(w.records) > 0 && w.random.IntN(3) == 0 {
			w.open = append(w.open, w.records[w.random.IntN(len(w.records))])
		}
		w.faulty = true
		w.deliver(w.random.IntN(len(w.open) + 1))
		w.faulty = false
	}
}

// interfere acts as others between two calls of the consumer: a user changes something, and another invocation
// handles the records of it.
func (w *fixture) interfere() {
	w.faulty = false
	defer func() { w.faulty = true }()
	w.touchSomething()
	known := len(w.open)
	w.drain()
	if w.random.IntN(2) == 0 {
		for _, o := range w.consumer.Apply(w.ctx, w.open[known:]) {
			require.Equal(w.t, change.Done, o.Verdict, "%v", o.Err)
		}
	}
}

// noteExpiring remembers every item that has a ttl: if TTL removes one, it must come back as it is now.
func (w *fixture) noteExpiring() {
	w.eachItem(func(t *entity.Type, it item.Item) {
		if it.Has(entity.AttrTTL) {
			w.expired[it.Str(t.IDAttr)] = it
		}
	})
}

func (w *fixture) eachItem(visit func(t *entity.Type, it item.Item)) {
	require.NoError(w.t, w.store.Walk(w.ctx, 0, 1, func(row item.Item) error {
		if t := registry.ByName(row.Str(entity.AttrType)); t != nil && t.HasCollection() && !t.OwnCommands {
			visit(t, row)
		}
		return nil
	}))
}

// touchSomething changes, completes, reopens or deletes one living item.
func (w *fixture) touchSomething() {
	type candidate struct {
		t  *entity.Type
		it item.Item
	}
	var alive []candidate
	w.eachItem(func(t *entity.Type, it item.Item) {
		if seen, ok := t.VisibleAt(it, w.now); ok {
			alive = append(alive, candidate{t, seen})
		}
	})
	if len(alive) == 0 {
		return
	}
	c := alive[w.random.IntN(len(alive))]
	delete(w.expired, c.it.Str(c.t.IDAttr))
	states := map[string][]any{
		"TASK":  {"BACKLOG", "IN_PROGRESS", "COMPLETED", "COMPLETED", "ARCHIVED"},
		"EVENT": {"CONFIRMED", "CANCELLED", "CANCELLED"},
	}[c.t.Name]
	switch {
	case w.random.IntN(8) == 0:
		w.delete(c.t, c.it)
	case w.random.IntN(4) == 0:
		w.patch(c.t, c.it, map[string]any{"title": fmt.Sprintf("y%d", w.random.IntN(100))})
	case c.t.Name == product.TypeReminder:
		end := []command.Command{
			command.CompleteReminder{ID: c.it.Str(c.t.IDAttr)}, command.DismissReminder{ID: c.it.Str(c.t.IDAttr)},
		}
		// refused for one that ended otherwise
		_, _ = w.commands.Do(w.ctx, command.Request{User: ann, Command: end[w.random.IntN(2)]})
	default:
		w.patch(c.t, c.it, map[string]any{"status": states[w.random.IntN(len(states))]})
	}
}

func (w *fixture) restore(id string, left item.Item) {
	t := registry.ByID(id)
	if it := w.get(entity.ItemKey(ann, entity.Ref{Type: t.Name, ID: id})); it != nil && !entity.Expired(it, w.now) {
		_, err := w.archive.Restore(w.ctx, t, ann, id)
		require.ErrorIs(w.t, err, archive.ErrAlive)
		return
	}
	back, err := w.archive.Restore(w.ctx, t, ann, id)
	require.NoError(w.t, err, "%s left as %v", id, left)
	requireSame(w.t, left, back)
	require.Greater(w.t, back.Int(entity.AttrVersion), left.Int(entity.AttrVersion))
	delete(w.expired, id)
}

// requireSame requires that a restored item is as it was, except for the fields that a restore may change.
func requireSame(t *testing.T, left, back item.Item) {
	left, back = left.Clone(), back.Clone()
	for _, attr := range []string{
		entity.AttrTTL, entity.AttrVersion, entity.AttrEditVersion, entity.AttrSystemVersion, entity.AttrUpdatedAt,
		entity.AttrRestoredAt,
	} {
		delete(left, attr)
		delete(back, attr)
	}
	require.Equal(t, left, back)
}

func (w *fixture) checkRestores() {
	for id, left := range w.expired {
		if w.get(entity.ItemKey(ann, entity.Ref{Type: registry.ByID(id).Name, ID: id})) == nil {
			w.restore(id, left)
		}
	}
	w.deliverAll()
	w.checkCopies()
}
