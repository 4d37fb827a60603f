package changes_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/changes"
	"nexus/pkg/changes/changelog"
	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// The model plays random histories of a user's log: the consumer with other workers between its calls, records again
// and in any order, TTL that deletes rows late and in any order, reads that lag, and devices that read the log at any
// time and stop between pages. Whatever a device has taken in, at the end it holds exactly what is there. A history is
// named by its seed.

var histories = flag.Int("histories", 1500, "the number of histories of the model")

// The mistakes that the model must find. Those of the consumer are made by its store.
const (
	noMistake           = ""
	dedupeByID          = "an entry is left out if its thing has any"
	putUnconditional    = "a row is put over another"
	skipOnFailed        = "a failed condition counts as appended"
	noFirst             = "no row is marked first"
	ttlOffAtItsVersion  = "a ttl is taken off without a version"
	tokenFromTheEnd     = "the token of a snapshot is of its end"
	numberAlone         = "a token is a number alone"
	noGapCheck          = "a gap is passed over"
	emptyForEver        = "the token of an empty log is good for ever"
	staleItem           = "an item is served as a read that lags has it"
	oldRowsTrusted      = "a row is trusted as long as it is there"
	lapsingNotAnnounced = "a ttl is not announced"
)

// modelItem is an item as the table has it, and as a device holds it; without ttl if that is zero.
type modelItem struct {
	version int64
	ttl     time.Time
}

func (it modelItem) isOver(now time.Time) bool { return !it.ttl.IsZero() && !now.Before(it.ttl) }

type model struct {
	random  *rand.Rand
	mistake string
	now     time.Time
	store   *memory.Store
	depth   int // of calls between calls
	workers []*changes.Consumer

	items   map[string]modelItem
	highest map[string]int64
	// What reads that lag may return: earlier states of the items and of the log.
	pastItems []map[string]modelItem
	pastRows  [][]changelog.Row
	log       []changelog.Row // as it is, until the next write

	pending, done []change.Change
	devices       [3]modelDevice
}

func newModel(seed uint64, mistake string) *model {
	m := &model{
		random: rand.New(rand.NewPCG(seed, 1)), mistake: mistake, now: noon, items: map[string]modelItem{},
		highest: map[string]int64{},
	}
	m.store = memory.New(func() time.Time { return m.now }, memory.Options{})
	watch := device.WatchKey(ann).Item()
	if err := m.store.Put(context.Background(), table.Put{Item: watch}); err != nil { // an app is open all the time
		panic(err)
	}
	bits := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)})
	for range 2 {
		m.workers = append(m.workers, changes.New(changes.Config{
			Store: modelStore{m.store, m}, Now: func() time.Time { return m.now }, Random: bits,
		}))
	}
	m.remember()
	return m
}

// modelStore lets others act before each call of the consumer, and makes its mistakes.
type modelStore struct {
	table.Store
	m *model
}

func (s modelStore) Query(ctx context.Context, q table.Query) (table.Page, error) {
	s.m.interfere()
	page, err := s.Store.Query(ctx, q)
	if s.m.mistake == dedupeByID {
		for i, it := range page.Items {
			it = it.Clone()
			entries, _ := it["e"].(item.List) // the watch has none
			for k, e := range entries {
				entry, _ := changelog.ParseEntry(string(e.(item.String)))
				entry.Version += 1000
				entries[k] = item.String(entry.String())
			}
			page.Items[i] = it
		}
	}
	return page, err
}

func (s modelStore) Put(ctx context.Context, p table.Put) error {
	s.m.interfere()
	switch s.m.mistake {
	case putUnconditional:
		p.If = table.Condition{}
	case noFirst:
		delete(p.Item, "first")
	}
	err := s.Store.Put(ctx, p)
	if failed := (*table.ConditionError)(nil); errors.As(err, &failed) && s.m.mistake == skipOnFailed {
		err = nil
	}
	s.m.log = nil
	s.m.remember()
	if err == nil && s.m.one(12) {
		return table.ErrUnavailable // its answer is lost
	}
	return err
}

// one reports whether a thing happens that happens one time in so many.
func (m *model) one(in int) bool { return m.random.IntN(in) == 0 }

// interfere lets another worker act between two calls of a worker. The clock stands: no worker is days slow.
func (m *model) interfere() {
	if m.depth++; m.depth < 4 && m.one(3) {
		switch m.random.IntN(3) {
		case 0:
			m.deliver()
		case 1:
			m.write()
		case 2:
			m.read(&m.devices[0])
		}
	}
	m.depth--
}

// remember keeps the present state for reads that lag.
func (m *model) remember() {
	m.pastItems = append(m.pastItems, maps.Clone(m.items))
	m.pastRows = append(m.pastRows, m.rows())
	m.pastItems, m.pastRows = m.pastItems[max(0, len(m.pastItems)-6):], m.pastRows[max(0, len(m.pastRows)-6):]
}

// forget ends the time in which a read may lag.
func (m *model) forget() {
	m.pastItems, m.pastRows = nil, nil
	m.remember()
}

// rows returns the log, oldest row first.
func (m *model) rows() []changelog.Row {
	if m.log == nil {
		m.log = append(make([]changelog.Row, 0, 1), m.readRows()...)
	}
	return m.log
}

func (m *model) readRows() (rows []changelog.Row) {
	for row, err := range changelog.Rows(context.Background(), m.store, changelog.Read{User: ann, From: 1}) {
		if err != nil {
			panic(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// record notes what the stream says of an item.
func (m *model) record(id string, kind change.Kind) {
	it, isThere := m.items[id]
	c := change.Change{
		Kind: kind, Type: product.Task(), User: ann, Ref: entity.Ref{Type: product.TypeTask, ID: id},
		Version: m.highest[id], Created: m.now,
	}
	c.Key = entity.ItemKey(ann, c.Ref)
	if isThere {
		c.New = c.Key.Item()
		if !it.ttl.IsZero() && m.mistake != lapsingNotAnnounced {
			c.New[entity.AttrTTL] = item.Int(it.ttl.Unix())
		}
	}
	m.pending = append(m.pending, c)
	m.remember()
}

// write changes an item: a client, the archive that lets it lapse, or a repair that takes a ttl off.
func (m *model) write() {
	id := fmt.Sprintf("task_%d", m.random.IntN(5))
	it, isThere := m.items[id]
	switch {
	case isThere && m.one(4):
		delete(m.items, id)
		m.highest[id]++
		m.record(id, change.Removed)
		return
	case isThere && it.ttl.IsZero() && m.one(3):
		it.ttl = m.now.Add(time.Duration(1+m.random.IntN(40)) * day)
		m.items[id] = it
	case isThere && !it.ttl.IsZero() && m.one(2) && m.mistake == ttlOffAtItsVersion:
		m.items[id] = modelItem{version: it.version}
	default:
		m.highest[id]++
		m.items[id] = modelItem{version: m.highest[id]}
	}
	m.record(id, change.Modified)
}

const day = 24 * time.Hour

// sweep has TTL remove some of what is over: rows of the log, and items.
func (m *model) sweep() {
	for _, row := range slices.Clone(m.rows()) {
		if !m.now.Before(row.Until) && m.one(2) {
			if err := m.store.Delete(context.Background(), table.Delete{Key: device.ChangeKey(ann, row.N)}); err != nil {
				panic(err)
			}
			m.log = nil
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.items)) {
		if m.items[id].isOver(m.now) && m.one(2) {
			delete(m.items, id)
			m.highest[id]++
			m.record(id, change.Expired)
		}
	}
	m.remember()
}

// deliver gives a worker some records: new ones, in any order, or some again.
func (m *model) deliver() {
	var batch []change.Change
	from := &m.pending
	if m.one(5) {
		from = &m.done
	}
	for range min(len(*from), 1+m.random.IntN(3)) {
		i := m.random.IntN(len(*from))
		batch = append(batch, (*from)[i])
		*from = slices.Delete(*from, i, i+1)
	}
	for i, o := range m.workers[m.random.IntN(2)].Apply(context.Background(), batch) {
		if o.Verdict == change.Done {
			m.done = append(m.done, batch[i])
		} else {
			m.pending = append(m.pending, batch[i])
		}
	}
}

// play plays the history, and returns what is wrong; nil if nothing is.
func (m *model) play() error {
	quiet := false
	for step := range 20 + m.random.IntN(70) {
		if step%13 == 0 {
			quiet = m.random.IntN(5) < 2
		}
		k := m.random.IntN(100)
		if quiet {
			k = []int{20, 95, 95, 96, 0, 30}[m.random.IntN(6)] // time and TTL above all
		}
		switch {
		case k == 20 || k > 85 && k < 95:
			m.now = m.now.Add([]time.Duration{time.Minute, day, 5 * day, 20 * day, 45 * day, 60 * day, 85 * day,
				89 * day}[m.random.IntN(8)])
			m.forget()
		case k < 30:
			m.write()
		case k < 60:
			m.deliver()
		case k < 86:
			m.read(&m.devices[min(2, m.random.IntN(6))])
		default:
			m.sweep()
		}
		if err := m.check(); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
	}
	for len(m.pending) > 0 {
		m.deliver()
	}
	return m.settled()
}

// check holds C2 and C5 after each step: rows are numbered without a hole that nothing tells of, and each has bits,
// time, end and 1 to 100 entries.
func (m *model) check() error {
	if m.mistake != noMistake {
		return nil // the devices are to find it
	}
	rows := m.rows()
	for i, row := range rows {
		if !row.Until.Equal(row.At.Add(changelog.Life)) || len(row.Entries) == 0 || len(row.Entries) > changelog.MaxEntries {
			return fmt.Errorf("row %+v", row)
		}
		isHole := i > 0 && row.N != rows[i-1].N+1 || i == 0 && row.N > 1
		if isHole && !row.First && i > 0 && m.now.Before(rows[i-1].Until) {
			return fmt.Errorf("C2: a hole before row %d", row.N)
		}
	}
	return nil
}

// settled holds C1 and C7 at the end: each device has exactly what is there and drops it when it is over, and of what
// was written in the last 80 days the log has an entry.
func (m *model) settled() error {
	m.depth = 9 // no worker interferes any more
	m.forget()
	known := map[string]changelog.Entry{}
	for _, row := range m.rows() {
		for _, e := range row.Entries {
			if was, isThere := known[e.ID]; !isThere || was.Compare(e) < 0 {
				known[e.ID] = e
			}
		}
	}
	if m.mistake == noMistake {
		for _, c := range m.done {
			if e, _ := changes.EntryOf(c); m.now.Sub(c.Created) < changelog.Trusted && known[c.Ref.ID].Compare(e) < 0 {
				return fmt.Errorf("C1: no entry %s, but %s", e, known[c.Ref.ID])
			}
		}
	}
	want := visible(m.items, m.now)
	for i := range m.devices {
		for range 60 {
			m.read(&m.devices[i])
		}
		if got := visible(m.devices[i].view, m.now); !maps.Equal(want, got) {
			return fmt.Errorf("device %d holds %v, and there is %v", i, got, want)
		}
	}
	return nil
}

func TestConsumer_keepsEveryDeviceInStep(t *testing.T) {
	t.Parallel()
	for seed := range uint64(*histories) {
		require.NoError(t, newModel(seed, noMistake).play(), "history %d", seed)
	}
}

// mostHistories bounds the histories in which a mistake must show.
const mostHistories = 20_000

func TestConsumer_isFoundOutByTheModelIfItErrs(t *testing.T) {
	t.Parallel()
	for _, mistake := range []string{
		dedupeByID, putUnconditional, skipOnFailed, noFirst, ttlOffAtItsVersion, tokenFromTheEnd, numberAlone, noGapCheck,
		emptyForEver, staleItem, oldRowsTrusted, lapsingNotAnnounced,
	} {
		t.Run(mistake, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(mostHistories) {
				if err := newModel(seed, mistake).play(); err != nil {
					t.Logf("history %d: %v", seed, err)
					return
				}
			}
			t.Fatal("no history shows it")
		})
	}
}
