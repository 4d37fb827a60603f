package projection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/stats"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// fixture is a table whose items are written at random, and whose records are delivered in any order, any number of
// times.
type fixture struct {
	t         *testing.T
	random    *rand.Rand
	now       time.Time
	store     *memory.Store
	faults    bool
	calls     int
	consumers []*projection.Consumer
	records   []change.Change // every record of an entity so far
	unseen    []change.Change // those not delivered yet
	read      string          // how far the feed was read
}

var errInjected = fmt.Errorf("injected: %w", table.ErrUnavailable)

func newWorld(t *testing.T, seed uint64) *fixture {
	w := &fixture{t: t, random: rand.New(rand.NewPCG(seed, 0)), now: time.Date(2025, 6, 1, 8, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return w.now }
	w.store = memory.New(clock, memory.Options{Fault: func(memory.Call) error {
		w.calls++
		if w.faults && w.random.IntN(12) == 0 {
			return errInjected
		}
		return nil
	}, Witnessed: true})
	t.Cleanup(func() { require.Empty(t, w.store.Tampered(), "what was read is not to be changed") })
	w.consumers = []*projection.Consumer{
		projection.NewConsumer(stats.Projection(), w.store, clock),
		projection.NewConsumer(links.Projection(), w.store, clock),
	}
	return w
}

var (
	users    = []string{"ann", "bob"}
	registry = product.Registry()
)

// write makes one random change of one of a few items. Ids are not reused, so a deleted item stays gone.
func (w *fixture) write(gone map[item.Key]bool) {
	ctx := context.Background()
	types := []*entity.Type{
		product.Event(), product.Task(), product.Note(), product.Master(), product.Instance(), product.Instance(),
	}
	typ := types[w.random.IntN(len(types))]
	user, id := users[w.random.IntN(2)], fmt.Sprintf("%s_%d", typ.IDPrefix, w.random.IntN(4))
	if typ.Name == entity.TypeInstance {
		master := fmt.Sprintf("mst_%d", w.random.IntN(4))
		if _, err := w.store.Get(ctx, entity.ItemKey(user, entity.Ref{Type: entity.TypeMaster, ID: master})); err != nil {
			return
		}
		id = entity.InstanceID(master, fmt.Sprintf("2025060%d", 2+w.random.IntN(3)))
	}
	key := entity.ItemKey(user, entity.Ref{Type: typ.Name, ID: id})
	if gone[key] {
		return
	}
	before, err := w.store.Get(ctx, key)
	prefs := product.NewUserMeta(user, w.now).Map(product.AttrPreferences)
	switch {
	case err != nil:
		fields := item.Item{entity.AttrTitle: item.String("t")}
		w.decorate(typ, fields)
		require.NoError(w.t, w.store.Put(ctx, table.Put{Item: typ.NewItem(user, id, fields, w.now, prefs)}))
	case typ.Name != entity.TypeInstance && w.random.IntN(5) == 0:
		require.NoError(w.t, w.store.Delete(ctx, table.Delete{Key: key}))
		gone[key] = true
		w.deleteExceptions(user, id)
	default:
		after := before.Clone()
		w.decorate(typ, after)
		_, err := w.store.Update(ctx,
			table.Diff(before, typ.NextVersion(entity.ByUser, user, before, after, w.now, prefs), table.Condition{}))
		require.NoError(w.t, err)
	}
}

func (w *fixture) decorate(typ *entity.Type, it item.Item) {
	switch typ.Name {
	case entity.TypeMaster:
		it.SetTime(product.AttrStartUtc, w.now.Add(time.Duration(w.random.IntN(100))*time.Hour))
		it[product.AttrRRule] = item.String([]string{"FREQ=DAILY", "FREQ=DAILY;COUNT=3"}[w.random.IntN(2)])
		it[entity.AttrStatus] = item.String([]string{product.StatusConfirmed, product.StatusCancelled}[w.random.IntN(2)])
	case entity.TypeInstance:
		it.SetTime(product.AttrStartUtc, w.now.Add(time.Duration(w.random.IntN(100))*time.Hour))
		it.Set(product.AttrModifiedFields, item.List{item.String(product.AttrStartUtc), item.String(entity.AttrLinks)})
		if w.random.IntN(3) == 0 { // undone
			it.Set(product.AttrModifiedFields, nil)
			entity.SetLinks(it, nil)
			return
		}
	case product.TypeEvent:
		it.SetTime(product.AttrStartUtc, w.now.Add(time.Duration(w.random.IntN(100))*time.Hour))
		it[entity.AttrStatus] = item.String([]string{product.StatusConfirmed, product.StatusCancelled}[w.random.IntN(2)])
	case product.TypeTask:
		it[entity.AttrStatus] = item.String(product.TaskStatuses()[w.random.IntN(4)])
		it.Set(product.AttrDueUtc, nil)
		if w.random.IntN(2) == 0 {
			it.SetTime(product.AttrDueUtc, w.now.Add(time.Hour))
		}
	}
	var targets []entity.Link
	for i := range w.random.IntN(4) {
		targets = append(targets, entity.Link{
			Target: entity.Ref{Type: product.TypeNote, ID: fmt.Sprintf("note_%d", 10+i+w.random.IntN(2)*5)},
		})
	}
	entity.SetLinks(it, targets)
}

// deleteExceptions follows the delete of an item, if it is a series.
func (w *fixture) deleteExceptions(user, id string) {
	w.rows(entity.TypeInstance, func(owner string, key entity.SortKey, row item.Item) {
		if owner == user && key.Components[0] == id {
			require.NoError(w.t, w.store.Delete(context.Background(), table.Delete{Key: row.Key()}))
		}
	})
}

// drain takes what the stream has to hand.
func (w *fixture) drain() {
	shards, err := w.store.Feed().Shards(context.Background())
	require.NoError(w.t, err)
	slice, err := w.store.Feed().Read(context.Background(), shards[0].ID, w.read, 1_000_000)
	require.NoError(w.t, err)
	for _, rec := range slice.Records {
		w.read = rec.Sequence
		if key, err := entity.ParseSortKey(rec.Key.SK); err != nil || key.IsRow() || key.Prefix == entity.TypeUserMeta {
			continue
		}
		c, err := change.Interpret(registry, rec)
		require.NoError(w.t, err)
		w.records = append(w.records, c)
		w.unseen = append(w.unseen, c)
	}
}

// deliver hands a batch to one consumer and checks the invariant that holds at every instant.
func (w *fixture) deliver(consumer *projection.Consumer, batch []change.Change) bool {
	finished := true
	for _, o := range consumer.Apply(context.Background(), batch) {
		require.NotEqual(w.t, change.Poison, o.Verdict, "%v", o.Err)
		finished = finished && o.Verdict == change.Done
	}
	w.checkLedger()
	return finished
}

// rows walks the table without faults.
func (w *fixture) rows(prefix string, visit func(user string, key entity.SortKey, row item.Item)) {
	faults := w.faults
	w.faults = false
	defer func() { w.faults = faults }()
	require.NoError(w.t, w.store.Walk(context.Background(), 0, 1, func(row item.Item) error {
		user, err := entity.ParseUserPK(row.Key().PK)
		require.NoError(w.t, err)
		key, err := entity.ParseSortKey(row.Key().SK)
		require.NoError(w.t, err)
		if prefix == "" || key.Prefix == prefix {
			visit(user, key, row)
		}
		return nil
	}))
}

// lastEntries returns the ledger's pending entries in the sums' rows, by the key of the row that each is for.
func (w *fixture) lastEntries() map[item.Key]item.Item {
	last := map[item.Key]item.Item{}
	w.rows(entity.TypeUserMeta, func(user string, _ entity.SortKey, row item.Item) {
		if e := row.Map(product.AttrStatsLast); e != nil {
			last[entity.LedgerKey(user, stats.Name, e.Str("item"))] = e
		}
	})
	return last
}

// checkLedger: the sum of the ledger's contributions equals the projection (I1), and exactly the rows without a
// contribution expire. A pending entry counts in the place of its row, until that has caught up.
func (w *fixture) checkLedger() {
	totals, edges := map[string]int64{}, map[item.Key]bool{}
	last := w.lastEntries()
	add := func(user, c string) (amounts projection.Amounts) {
		if _, body, ok := strings.Cut(c, " "); ok {
			require.NoError(w.t, json.Unmarshal([]byte(body), &amounts))
		}
		for name, n := range amounts.Add {
			totals[user+" "+name] += n
		}
		return amounts
	}
	w.rows(entity.RowLedger, func(user string, key entity.SortKey, row item.Item) {
		if e, ok := last[row.Key()]; ok && row.Int("v") < e.Int("v") {
			return
		}
		delete(last, row.Key())
		c := row.Str("c")
		require.Equal(w.t, c == "", row.Has(entity.AttrTTL), "ttl of %s", row.Key())
		_, body, _ := strings.Cut(c, " ")
		switch {
		case c == "":
		case key.Components[0] == stats.Name:
			require.Equal(w.t, add(user, c).Open, row.Str(item.AttrGSI3SK))
		default:
			ref := entity.Ref{Type: registry.ByID(key.Components[1]).Name, ID: key.Components[1]}
			for edge := range strings.SplitSeq(body, "\n") {
				edges[links.Row(user, ref, edge).Key()] = true
			}
		}
	})
	for key, e := range last {
		user, err := entity.ParseUserPK(key.PK)
		require.NoError(w.t, err)
		add(user, e.Str("c"))
	}
	w.requireDerived(totals, edges)
}

// checkRecount: everything derived equals a recount of the items (I2, I3).
func (w *fixture) checkRecount() {
	totals, edges := map[string]int64{}, map[item.Key]bool{}
	names := map[string]string{
		product.TypeEvent: product.StatTotalEvents, entity.TypeMaster: product.StatTotalEvents,
		product.TypeTask: product.StatTotalTasks, product.TypeNote: product.StatTotalNotes,
	}
	w.rows("", func(user string, key entity.SortKey, row item.Item) {
		name, counts := names[key.Prefix]
		if counts {
			totals[user+" "+name]++
		}
		if !counts && key.Prefix != entity.TypeInstance {
			return
		}
		for _, l := range entity.LinksOf(row) {
			edges[entity.LinkKey(user, key.Ref(), l.Target)] = true
		}
	})
	w.requireDerived(totals, edges)
}

func (w *fixture) requireDerived(totals map[string]int64, edges map[item.Key]bool) {
	got, rows := map[string]int64{}, map[item.Key]bool{}
	w.rows("", func(user string, key entity.SortKey, row item.Item) {
		switch key.Prefix {
		case entity.TypeUserMeta:
			require.Equal(w.t, int64(0), row.Int(entity.AttrVersion))
			for name := range row.Map(product.AttrStats) {
				if n := row.Map(product.AttrStats).Int(name); n != 0 {
					got[user+" "+name] = n
				}
			}
		case entity.RowLink:
			rows[row.Key()] = true
		}
	})
	maps.DeleteFunc(totals, func(_ string, n int64) bool { return n == 0 })
	require.Equal(w.t, totals, got)
	require.Equal(w.t, edges, rows)
}

// checkMaxima: the latest-ever fields hold the greatest of every record delivered.
func (w *fixture) checkMaxima() {
	want := map[string]string{}
	for _, c := range w.records {
		for _, image := range []item.Item{c.Old, c.New} {
			if c.Type.Name == product.TypeTask {
				want[c.User] = max(want[c.User], image.Str(product.AttrCompletedAt))
			}
		}
	}
	for _, user := range users {
		row, err := w.store.Get(context.Background(), entity.MetaKey(user))
		if err == nil {
			require.Equal(w.t, want[user], row.Map(product.AttrStats).Str(product.StatLastTaskCompleted))
		}
	}
}

func TestConsumer_isExactWhateverIsDelivered(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		w := newWorld(t, seed)
		gone := map[item.Key]bool{}
		open := map[*projection.Consumer][]change.Change{}
		for range 60 {
			switch w.random.IntN(6) {
			case 0, 1, 2:
				w.write(gone)
				w.now = w.now.Add(time.Duration(w.random.IntN(40)) * time.Minute)
			case 3: // time passes, and tombstones with it
				w.now = w.now.Add(time.Duration(w.random.IntN(20*24)) * time.Hour)
				w.store.Sweep(w.now, 1000)
			default:
				w.drain()
				for _, consumer := range w.consumers {
					open[consumer] = append(open[consumer], w.unseen...)
				}
				w.unseen = nil
				consumer := w.consumers[w.random.IntN(2)]
				w.faults = true
				open[consumer] = w.deliverSome(consumer, open[consumer])
				w.faults = false
			}
		}
		w.drain()
		for _, consumer := range w.consumers {
			rest := append(open[consumer], w.unseen...)
			for len(rest) > 0 {
				rest = w.deliverSome(consumer, rest)
			}
			for range 3 { // late duplicates of anything
				w.deliver(consumer, []change.Change{w.records[w.random.IntN(len(w.records))]})
			}
		}
		w.checkRecount()
		w.checkMaxima()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// deliverSome takes a few records out of those a consumer has not finished, in any order, adds a duplicate of an old
// one, and returns what is still unfinished.
func (w *fixture) deliverSome(consumer *projection.Consumer, open []change.Change) []change.Change {
	w.random.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	n := min(len(open), 1+w.random.IntN(6))
	batch := append([]change.Change{}, open[:n]...)
	if len(w.records) > 0 && w.random.IntN(2) == 0 {
		old := w.records[w.random.IntN(len(w.records))]
		if w.deliveredTo(open, old) {
			batch = append(batch, old)
		}
	}
	if w.deliver(consumer, batch) {
		return open[n:]
	}
	return open
}

func (w *fixture) deliveredTo(open []change.Change, c change.Change) bool {
	for _, o := range open {
		if o.Sequence == c.Sequence {
			return false
		}
	}
	return true
}
