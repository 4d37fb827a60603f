package projection_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/insights"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// lifetime is a table with a few tasks that are completed, reopened, archived, deleted, expire and come back at random,
// with what the archive leaves of them. The records go to the index in any order and any number of times.
type lifetime struct {
	t        *testing.T
	random   *rand.Rand
	now      time.Time
	store    *memory.Store
	faults   bool
	between  func() // another actor between two calls; nil for none
	consumer *projection.Consumer
	index    *projection.Projection
	records  []change.Change
	open     []change.Change
	read     string
	copies   map[item.Key]item.Item // the cold copies, by the keys of their rows
	// completions is the log of what users did: the day and the priority of each task that is completed, whatever became
	// of its row.
	completions map[string]string
	gone        map[string]bool
	bare        bool // the COLD rows are those of a release before
}

func newLifetime(t *testing.T, seed uint64) *lifetime {
	l := &lifetime{
		t: t, random: rand.New(rand.NewPCG(seed, 1)), now: morning, copies: map[item.Key]item.Item{},
		completions: map[string]string{}, gone: map[string]bool{}, index: insights.Projection(),
	}
	clock := func() time.Time { return l.now }
	l.store = memory.New(clock, memory.Options{Fault: func(memory.Call) error {
		if !l.faults {
			return nil
		}
		if act := l.between; act != nil && l.random.IntN(6) == 0 {
			l.between, l.faults = nil, false
			act()
			l.faults = true
		}
		if l.random.IntN(10) == 0 {
			return errInjected
		}
		return nil
	}, Witnessed: true})
	t.Cleanup(func() { require.Empty(t, l.store.Tampered(), "what was read is not to be changed") })
	l.consumer = projection.NewConsumer(l.index, l.store, clock)
	return l
}

var zones = []string{"Pacific/Kiritimati", "Pacific/Pago_Pago", "UTC", "Europe/London"}

// write does one thing to one of a few tasks.
func (l *lifetime) write() {
	typ, id := product.Task(), fmt.Sprintf("task_%d", l.random.IntN(4))
	ref := entity.Ref{Type: typ.Name, ID: id}
	key, coldKey := entity.ItemKey("ann", ref), entity.ColdKey("ann", id)
	it, cold := l.row(key), l.row(coldKey)
	settings := item.Item{product.AttrDefaultTzid: item.String(zones[l.random.IntN(len(zones))])}
	switch {
	case l.gone[id]:
	case it == nil && cold != nil:
		if l.random.IntN(3) == 0 { // restored: its removal counted as a version
			was := l.copies[coldKey].Clone()
			was[entity.AttrVersion] = item.Int(was.Int(entity.AttrVersion) + 1)
			back := typ.NextVersion(entity.ByUser, "ann", was, l.copies[coldKey], l.now, nil)
			back.SetTime(entity.AttrRestoredAt, l.now)
			l.transact(table.Put{Item: back, If: table.NotExists()}, table.Delete{Key: coldKey})
		}
	case it == nil:
		fields := item.Item{entity.AttrTitle: item.String("t"), entity.AttrStatus: item.String(product.StatusBacklog)}
		fields[product.AttrPriority] = item.Int(1 + l.random.Int64N(5))
		l.decide(fields)
		l.transact(table.Put{Item: typ.NewItem("ann", id, fields, l.now, settings)})
	case it.Has(entity.AttrTTL) && l.random.IntN(3) > 0:
		l.now = time.Unix(it.Int(entity.AttrTTL), 0).UTC().Add(time.Hour)
		l.store.Sweep(l.now, 1000)
	case it.Str(entity.AttrStatus) == product.StatusArchived && !it.Has(entity.AttrTTL) &&
		!it.Has(entity.AttrRestoredAt) && l.random.IntN(3) > 0:
		l.archive(typ, it)
	case l.random.IntN(6) == 0:
		deletion := entity.GoneKey("ann", id).Item()
		l.transact(table.Delete{Key: key}, table.Put{Item: deletion})
		l.gone[id] = true
	default:
		after := it.Clone()
		l.decide(after)
		next := typ.NextVersion(entity.ByUser, "ann", it, after, l.now, settings)
		l.transact(table.Diff(it, next, table.AtVersion(it.Int(entity.AttrVersion))))
		if cold != nil && l.random.IntN(2) == 0 { // or later: the archive's consumer may be behind
			l.transact(table.Delete{Key: coldKey})
		}
	}
	l.note(id)
}

func (l *lifetime) decide(it item.Item) {
	switch l.random.IntN(6) {
	case 0:
		it[product.AttrPriority] = item.Int(1 + l.random.Int64N(5))
	case 1:
		it[entity.AttrStatus] = item.String(product.StatusBacklog)
	case 2:
		it[entity.AttrStatus] = item.String(product.StatusArchived)
	default:
		if it.Str(entity.AttrStatus) != product.StatusCompleted {
			delete(it, product.AttrCompletedOn)
		}
		it[entity.AttrStatus] = item.String(product.StatusCompleted)
	}
}

// archive lets an archived task expire, as the archive does: the copy first.
func (l *lifetime) archive(typ *entity.Type, it item.Item) {
	key := entity.ColdKey("ann", it.Str("taskId"))
	l.copies[key] = it
	cold := key.Item()
	cold[entity.AttrVersion] = it[entity.AttrVersion]
	if !l.bare {
		typ.LeaveIn(cold, it)
	}
	ttl := item.Item{entity.AttrTTL: item.Int(l.now.Add(7 * 24 * time.Hour).Unix())}
	l.transact(table.Update{Key: it.Key(), Set: ttl, If: table.AtVersion(it.Int(entity.AttrVersion))},
		table.Put{Item: cold})
}

// note records in the log what the user's last act made of a task: an expiry is none, and leaves it.
func (l *lifetime) note(id string) {
	it := l.row(entity.ItemKey("ann", entity.Ref{Type: product.TypeTask, ID: id}))
	switch {
	case l.gone[id]:
		delete(l.completions, id)
	case it == nil:
	case it.Has(product.AttrCompletedAt):
		l.completions[id] = fmt.Sprintf("DONE#TASK#%s %d", it.Str(product.AttrCompletedOn), it.Int(product.AttrPriority))
	default:
		delete(l.completions, id)
	}
}

func (l *lifetime) row(key item.Key) item.Item {
	faults := l.faults
	l.faults = false
	defer func() { l.faults = faults }()
	row, err := table.Find(context.Background(), l.store, key)
	require.NoError(l.t, err)
	return row
}

func (l *lifetime) transact(actions ...table.Action) {
	require.NoError(l.t, l.store.Transact(context.Background(), actions...))
}

// drain takes what the stream has. Of the removals by TTL, one in four arrives as from another region.
func (l *lifetime) drain() {
	shards, err := l.store.Feed().Shards(context.Background())
	require.NoError(l.t, err)
	slice, err := l.store.Feed().Read(context.Background(), shards[0].ID, l.read, 1_000_000)
	require.NoError(l.t, err)
	for _, rec := range slice.Records {
		l.read = rec.Sequence
		if key, err := entity.ParseSortKey(rec.Key.SK); err != nil || key.IsRow() {
			continue
		}
		c, err := change.Interpret(registry, rec)
		require.NoError(l.t, err)
		if c.Kind == change.Expired && l.random.IntN(4) == 0 {
			c.Kind = change.Removed
		}
		l.records, l.open = append(l.records, c), append(l.open, c)
	}
}

// deliver hands some open records to the consumer, in any order, and old ones again.
func (l *lifetime) deliver() {
	l.random.Shuffle(len(l.open), func(i, j int) { l.open[i], l.open[j] = l.open[j], l.open[i] })
	n := min(len(l.open), l.random.IntN(5))
	batch := append([]change.Change{}, l.open[:n]...)
	rest := append([]change.Change{}, l.open[n:]...)
	for range l.random.IntN(3) {
		if len(l.records) > 0 {
			batch = append(batch, l.records[l.random.IntN(len(l.records))])
		}
	}
	l.faults = true
	outcomes := l.consumer.Apply(context.Background(), batch)
	l.faults = false
	for i, o := range outcomes {
		require.NotEqual(l.t, change.Poison, o.Verdict, "%v", o.Err)
		if o.Verdict != change.Done && i < n {
			rest = append(rest, batch[i])
		}
	}
	l.open = rest
}

// standing returns what stands in the ledger, by the task.
func (l *lifetime) standing() map[string]string {
	got := map[string]string{}
	require.NoError(l.t, l.store.Walk(context.Background(), 0, 1, func(row item.Item) error {
		key, err := entity.ParseSortKey(row.Key().SK)
		require.NoError(l.t, err)
		if key.Prefix != entity.RowLedger {
			return nil
		}
		c := row.Str("c")
		require.Equal(l.t, c == "", row.Has(entity.AttrTTL), "ttl of %s", row.Key())
		require.Equal(l.t, c == "", !row.Has(item.AttrGSI3SK), "place of %s", row.Key())
		if c != "" {
			got[key.Components[1]] = c[len("i1 "):]
			day, priority, ok := product.Completion(row)
			require.True(l.t, ok)
			require.Equal(l.t, got[key.Components[1]], fmt.Sprintf("DONE#TASK#%s %d", day, priority))
		}
		return nil
	}))
	return got
}

func (l *lifetime) play(steps int) {
	for range steps {
		switch l.random.IntN(8) {
		case 0, 1, 2, 3:
			l.write()
			l.now = l.now.Add(time.Duration(l.random.IntN(40)) * time.Minute)
		case 4: // time passes, and tombstones with it
			l.now = l.now.Add(time.Duration(l.random.IntN(20*24)) * time.Hour)
			l.store.Sweep(l.now, 1000)
		default:
			l.drain()
			l.between = l.write
			l.deliver()
			l.between = nil
		}
	}
	l.drain()
	for len(l.open) > 0 {
		l.deliver()
	}
}

// What is completed by the log of what users did stands in the ledger, whatever expired, in any order of records.
func TestIndex_equalsTheLogOfWritesWhateverExpires(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		l := newLifetime(t, seed)
		l.play(60)
		require.Equal(t, l.completions, l.standing(), "seed %d", seed)
		for range 5 { // late duplicates of anything
			l.consumer.Apply(t.Context(), []change.Change{l.records[l.random.IntN(len(l.records))]})
			require.Equal(t, l.completions, l.standing(), "seed %d", seed)
		}
	}
}

// A replay of everything, a year later, writes nothing: only tombstones that had expired may come back.
func TestIndex_writesNothingForAReplayOfAYear(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		l := newLifetime(t, seed)
		l.play(40)
		l.now = l.now.AddDate(1, 0, 0)
		l.store.Sweep(l.now, 1000)
		l.drain()
		for len(l.open) > 0 {
			l.deliver()
		}
		before := l.rows()
		for _, o := range l.consumer.Apply(t.Context(), l.records) {
			require.Equal(t, change.Done, o.Verdict, "%v", o.Err)
		}
		require.Equal(t, before, l.rows(), "seed %d", seed)
	}
}

// rows returns all rows but tombstones, by their keys.
func (l *lifetime) rows() map[item.Key]item.Item {
	rows := map[item.Key]item.Item{}
	require.NoError(l.t, l.store.Walk(context.Background(), 0, 1, func(row item.Item) error {
		if !row.Has("c") || row.Str("c") != "" {
			rows[row.Key()] = row
		}
		return nil
	}))
	return rows
}
