package reminders_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/bus"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/mask"
	"nexus/pkg/pepper/peppertest"
	"nexus/pkg/product"
	"nexus/pkg/queue"
	queuememory "nexus/pkg/queue/memory"
	"nexus/pkg/reminders"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

const user = "ann"

// isUncounted says that tests which count what a piece of work costs are not to judge.
var isUncounted = os.Getenv("NEXUS_UNCOUNTED") != ""

func skipUncounted(t *testing.T) {
	t.Helper()
	if isUncounted {
		t.Skip("counts what work costs")
	}
}

// noon is a Monday in December: London is at UTC, New York at UTC-5.
var noon = time.Date(2025, 12, 1, 12, 0, 0, 0, time.UTC)

// maxTries bounds every repetition in these tests.
const maxTries = 50

// maxCalls bounds the schedules that are called while time moves.
const maxCalls = 1000

// fixture is one user's table, scheduler and bus with the consumer and the notifier between them.
type fixture struct {
	*testing.T
	now       time.Time
	registry  *entity.Registry
	store     *memory.Store
	scheduler scheduler
	bus       recorder
	fault     *fault
	commands  *command.Service
	queue     *queuememory.Queue
	consumer  *reminders.Consumer
	walker    *reminders.Walker
	notifier  *reminders.Notifier
	counts    map[reminders.Outcome]int
	log       bytes.Buffer
	level     slog.LevelVar // from which on is logged: nothing, until a test reads it
	read      string        // sequence number of the last record taken from the feed
	history   []change.Change
	states    map[item.Key]string     // of every delivery, as last seen
	revisions map[item.Key]int64      // of every cursor
	random    bool                    // what is asked for may be refused
	usage     func(table.Consumption) // of each call to the store, if a test counts
	step      int                     // at which the fault strikes, for those who look at a failure
	ids       int                     // given to messages
}

func setup(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{
		T: t, now: noon, registry: product.Registry(), fault: &fault{}, counts: map[reminders.Outcome]int{},
		states: map[item.Key]string{}, revisions: map[item.Key]int64{},
	}
	w.level.Set(slog.LevelError + 1)
	clock := func() time.Time { return w.now }
	w.store = memory.New(clock, memory.Options{Fault: func(c memory.Call) error {
		w.watchRows(c)
		return w.fault.step()
	}, Observer: func(u table.Consumption) {
		if w.usage != nil {
			w.usage(u)
		}
	}, Witnessed: true})
	t.Cleanup(func() { require.Empty(t, w.store.Tampered(), "what was read is not to be changed") })
	w.scheduler = scheduler{schedulememory.New(func(string, string, bool) error { return w.fault.step() })}
	w.bus = recorder{busmemory.New(func([]bus.Event, bool) error { return w.fault.step() })}
	w.queue = queuememory.New(func(queue.Message, bool) error { return w.fault.step() })
	w.wire(w.config())
	w.commands = command.New(command.Config{
		Store: w.store, Registry: w.registry, Now: clock, NewID: func() string { return "" },
		Pause: func(context.Context, time.Duration) error { return nil },
	})
	return w
}

// config returns the configuration of the world's parts.
func (w *fixture) config() reminders.Config {
	return reminders.Config{
		Store: w.store, Registry: w.registry, Scheduler: w.scheduler, Bus: w.bus, Queue: w.queue, NewID: w.newID,
		Now:     func() time.Time { return w.now },
		Log:     slog.New(mask.New(slog.NewJSONHandler(&w.log, &slog.HandlerOptions{Level: &w.level}), peppertest.Fixed(w))),
		Observe: func(o reminders.Observation) { w.counts[o.Outcome]++ },
	}
}

// wire makes the world's parts.
func (w *fixture) wire(config reminders.Config) {
	w.consumer, w.walker, w.notifier = reminders.New(config), reminders.NewWalker(config), reminders.NewNotifier(config)
}

func (w *fixture) newID() string {
	w.ids++
	return fmt.Sprintf("message-%d", w.ids)
}

// records returns the stream records since the last call.
func (w *fixture) records() []change.Change {
	w.Helper()
	ctx := w.Context()
	shards, err := w.store.Feed().Shards(ctx)
	require.NoError(w, err)
	slice, err := w.store.Feed().Read(ctx, shards[0].ID, w.read, 0)
	require.NoError(w, err)
	var out []change.Change
	for _, rec := range slice.Records {
		w.read = rec.Sequence
		if strings.HasPrefix(rec.Key.SK, entity.RowFired) || isCursorKey(rec.Key) {
			continue // the mapping's filter
		}
		c, err := change.Interpret(w.registry, rec)
		require.NoError(w, err)
		out = append(out, c)
	}
	w.history = append(w.history, out...)
	return out
}

// deliver hands the changes over one by one, each until it is done, and carries out the walks that they set off.
func (w *fixture) deliver(changes ...change.Change) {
	w.Helper()
	for _, c := range changes {
		w.repeat(func(ctx context.Context) error {
			outcome := w.consumer.Apply(ctx, []change.Change{c})[0]
			require.NotEqual(w, change.Poison, outcome.Verdict, "%v", outcome.Err)
			return outcome.Err
		})
		w.carryOut()
	}
}

// carryOut works on the messages in the queue, on each until it is done, and returns how many there were.
func (w *fixture) carryOut() (messages int) {
	w.Helper()
	for ready := w.queue.Ready(); len(ready) > 0; ready = w.queue.Ready() {
		for _, m := range ready {
			messages++
			require.Less(w, messages, maxCalls)
			_, isReady := w.queue.Begin(m.ID)
			require.True(w, isReady)
			w.repeat(func(ctx context.Context) error { return w.walker.Handle(ctx, m.Body) })
			w.queue.Done(m.ID)
		}
	}
	return messages
}

// slowly makes every reading of the clock a tenth of a second later than the one before.
func (w *fixture) slowly() {
	config := w.config()
	config.Now = func() time.Time {
		w.now = w.now.Add(100 * time.Millisecond)
		return w.now
	}
	w.wire(config)
}

// message returns the body of the first message that may begin.
func (w *fixture) message() []byte {
	w.Helper()
	ready := w.queue.Ready()
	require.NotEmpty(w, ready)
	return ready[0].Body
}

// setOff applies a record that sets off a walk, and returns the body of its message.
func (w *fixture) setOff(record change.Change) []byte {
	w.Helper()
	require.Equal(w, change.Done, w.consumer.Apply(w.Context(), []change.Change{record})[0].Verdict)
	return w.message()
}

// repeat does the work under faults until it succeeds.
func (w *fixture) repeat(work func(context.Context) error) {
	w.Helper()
	var err error
	for range maxTries {
		err = w.fault.under(func() error { return work(w.Context()) })
		if err == nil {
			return
		}
	}
	require.NoError(w, err, "after %d tries", maxTries)
}

// runUntilIdle delivers records and calls due schedules until there are no more.
func (w *fixture) runUntilIdle() {
	w.Helper()
	for range maxTries {
		records := w.records()
		w.deliver(records...)
		calls := w.scheduler.due(w.now)
		for _, payload := range calls {
			w.repeat(func(ctx context.Context) error { return w.notifier.Handle(ctx, payload) })
		}
		if len(records)+len(calls) == 0 {
			return
		}
	}
	w.Fatal("does not settle")
}

// advance moves the clock, stopping wherever a schedule falls due.
func (w *fixture) advance(d time.Duration) {
	w.Helper()
	end := w.now.Add(d)
	w.runUntilIdle()
	for range maxCalls {
		waiting := w.scheduler.Waiting()
		if len(waiting) == 0 || waiting[0].At.After(end) {
			break
		}
		w.to(waiting[0].At)
		w.runUntilIdle()
	}
	w.to(end)
	w.runUntilIdle()
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	doc := map[string]any{}
	require.NoError(t, d.Decode(&doc))
	return doc
}

// create writes an item as the create command does.
func (w *fixture) create(id, doc string) {
	w.Helper()
	typ := w.registry.ByID(id)
	patch, errs := typ.Parse(decode(w.T, doc))
	require.Empty(w, errs)
	merged, errs := typ.Merge(nil, patch)
	require.Empty(w, errs)
	it := typ.NewItem(user, id, merged, w.now, nil)
	require.Empty(w, typ.Validate(it))
	if typ.Dues != nil && len(typ.Dues(it)) > 0 {
		it.SetTime(product.AttrDueSetAt, w.now)
	}
	require.NoError(w, w.store.Put(w.Context(), table.Put{Item: it, If: table.NotExists()}))
}

// edit changes an item as a command does.
func (w *fixture) edit(id string, change func(it item.Item)) {
	w.Helper()
	typ, before := w.registry.ByID(id), w.item(id)
	after := before.Clone()
	change(after)
	after = typ.NextVersion(entity.ByUser, user, before, after, w.now, nil)
	require.Empty(w, typ.Validate(after))
	if !slices.Equal(typ.Dues(before), typ.Dues(after)) {
		after.SetTime(product.AttrDueSetAt, w.now)
	}
	_, err := w.store.Update(w.Context(), table.Diff(before, after, table.AtVersion(before.Int(entity.AttrVersion))))
	require.NoError(w, err)
}

func (w *fixture) set(id, attr string, v item.Value) {
	w.Helper()
	w.edit(id, func(it item.Item) { it.Set(attr, v) })
}

func (w *fixture) snooze(id string, until time.Time) {
	w.Helper()
	w.edit(id, func(it item.Item) {
		occurrence := it.Str(product.AttrTriggerUtc)
		count := int64(1)
		if s := it.Map(product.AttrSnoozeState); s != nil {
			occurrence, count = s.Str(product.SnoozeOccurrenceUtc), s.Int(product.SnoozeCount)+1
		}
		it[entity.AttrStatus] = item.String(product.StatusSnoozed)
		it[product.AttrSnoozeState] = item.Map{
			product.SnoozeUntilUtc: item.String(item.FormatInstant(until)), product.SnoozeCount: item.Int(count),
			product.SnoozeOccurrenceUtc: item.String(occurrence),
		}
	})
}

// moveTo sets the user's zone as the UpdateMe command does.
func (w *fixture) moveTo(zone string) {
	w.Helper()
	w.editMeta(func(it item.Item) { it[product.AttrDefaultTzid] = item.String(zone) })
}

func (w *fixture) editMeta(change func(it item.Item)) {
	w.Helper()
	key := entity.MetaKey(user)
	before, err := w.store.Get(w.Context(), key)
	condition := table.AtVersion(before.Int(entity.AttrVersion))
	base := before
	if err != nil {
		require.ErrorIs(w, err, table.ErrNotFound)
		base, condition = product.NewUserMeta(user, w.now), table.NotExists()
	}
	after := base.Clone()
	change(after)
	after = w.registry.ByName(entity.TypeUserMeta).NextVersion(entity.ByUser, user, base, after, w.now, nil)
	_, err = w.store.Update(w.Context(), table.Diff(before, after, condition))
	require.NoError(w, err)
}

func (w *fixture) remove(id string) {
	w.Helper()
	require.NoError(w, w.store.Delete(w.Context(), table.Delete{Key: w.key(id)}))
}

func (w *fixture) key(id string) item.Key {
	return entity.ItemKey(user, entity.Ref{Type: w.registry.ByID(id).Name, ID: id})
}

func (w *fixture) item(id string) item.Item {
	w.Helper()
	it, err := w.store.Get(w.Context(), w.key(id))
	require.NoError(w, err)
	return it
}

func (w *fixture) rows(prefix string) []item.Item {
	w.Helper()
	page, err := w.store.Query(w.Context(), table.Query{
		Partition: entity.UserPK(user), Range: table.Range{Prefix: prefix},
	})
	require.NoError(w, err)
	require.Empty(w, page.Next)
	return page.Items
}

// schedules lists what waits for its call: item, offset, instant of the call.
func (w *fixture) schedules() []string {
	out := []string{}
	for _, e := range w.scheduler.Entries() {
		call := callingOf(w.T, e.Schedule)
		line := fmt.Sprintf("%s -%d %s", call.ItemID, call.OffsetMinutes, e.At.Format("02T15:04"))
		if e.Called {
			line += " called"
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

// published lists the distinct deliveries in order: item, offset, due instant.
func (w *fixture) published() []string {
	out := []string{}
	seen := map[string]bool{}
	for _, e := range w.bus.details(w.T) {
		if !seen[e.DeliveryID] {
			seen[e.DeliveryID] = true
			out = append(out, fmt.Sprintf("%s -%d %s", e.ItemID, e.OffsetMinutes, e.DueUtc[8:16]))
		}
	}
	return out
}

// to lets the time come; a clock never goes back.
func (w *fixture) to(t time.Time) {
	if t.After(w.now) {
		w.now = t
	}
}

func isCursorKey(key item.Key) bool {
	return strings.HasPrefix(key.SK, entity.ItemPrefix(entity.RowZone)) ||
		strings.HasPrefix(key.SK, entity.ItemPrefix(entity.RowSeries))
}
