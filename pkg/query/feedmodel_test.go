package query_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nexus/pkg/changes/changelog"
	"nexus/pkg/changes/token"
	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/text/fold"
)

const modelDay = 24 * time.Hour

// feedWorld is a user's table with writers of the log, TTL in any order, reads that lag, and devices that sync.
type feedWorld struct {
	*rapid.T
	*rand.Rand // rapid's own numbers are small ones mostly: days would hardly pass
	now        time.Time
	store      *memory.Store // the present
	rows       map[item.Key]item.Item
	before     []map[item.Key]item.Item // earlier states, which a read that may lag can meet
	pending    []changelog.Entry        // of records that were not yet announced
	done       []changelog.Entry        // of those that were; they may come again
	writers    []*logWriter
	devices    []*phone
	highest    map[entity.Ref]int64 // the version that each entity ever reached
	x          uint64
	settled    bool
	meddle     func() // called before each consistent query of a reader; nil for nothing
	resets     map[query.ResetReason]int
}

// logWriter appends a batch to the log in two steps: it reads, then it puts. Others may act in between.
type logWriter struct {
	batch []changelog.Entry
	read  []changelog.Row // the newest rows; nil before the read
}

// phone is a client with its copy.
type phone struct {
	types  []string
	token  string
	cursor string
	copy   *phoneCopy
	next   *phoneCopy // of a snapshot that is under way
}

// phoneCopy has the things that a device knows, and the version at which others went.
type phoneCopy struct {
	things map[entity.Ref]query.Change
	gone   map[entity.Ref]int64
}

func newCopy() *phoneCopy {
	return &phoneCopy{things: map[entity.Ref]query.Change{}, gone: map[entity.Ref]int64{}}
}

// apply follows the rules of docs/sync.md.
func (c *phoneCopy) apply(ch query.Change) {
	if ch.Version < max(c.things[ch.Ref].Version, c.gone[ch.Ref]) {
		return
	}
	delete(c.things, ch.Ref)
	if ch.Gone {
		c.gone[ch.Ref] = ch.Version
		return
	}
	c.things[ch.Ref] = ch
}

// texts are the entries of what the copy shows at the instant, without plans.
func (c *phoneCopy) texts(now time.Time) []string {
	out := []string{}
	for ref, ch := range c.things {
		switch {
		case ref.Type == changelog.TypePlan, !ch.ExpiresAt.IsZero() && !ch.ExpiresAt.After(now):
		case ref.Type == changelog.TypeValues:
			out = append(out, "VALUES "+ch.RevID)
		case ch.ExpiresAt.IsZero():
			out = append(out, fmt.Sprintf("%s %s %d", ref.Type, ref.ID, ch.Version))
		default:
			out = append(out, fmt.Sprintf("%s %s %d!", ref.Type, ref.ID, ch.Version))
		}
	}
	slices.Sort(out)
	return out
}

func (w *feedWorld) chance(percent int) bool {
	return w.IntN(100) < percent
}

func pick[E any](w *feedWorld, list []E) E {
	return list[w.IntN(len(list))]
}

// change begins a change of the table: a read may still lag behind it.
func (w *feedWorld) change(key item.Key, row item.Item) {
	w.before = append(w.before, maps.Clone(w.rows))
	w.before = w.before[max(0, len(w.before)-5):]
	if row == nil {
		delete(w.rows, key)
		require.NoError(w, w.store.Delete(ctx, table.Delete{Key: key}))
		return
	}
	w.rows[key] = row
	require.NoError(w, w.store.Put(ctx, table.Put{Item: row}))
}

// storeOf returns a state of the table as a store.
func (w *feedWorld) storeOf(rows map[item.Key]item.Item) *memory.Store {
	store := memory.New(func() time.Time { return w.now }, memory.Options{})
	open := device.WatchKey(ann).Item() // an app is open all the time
	require.NoError(w, store.Load(ctx, append(slices.Collect(maps.Values(rows)), open)))
	return store
}

// reader reads the present table, and where it may lag any state of a moment ago, each row another one.
type reader struct {
	table.Reader
	w *feedWorld
}

func (r reader) moment() table.Reader {
	if len(r.w.before) == 0 || r.w.chance(50) {
		return r.Reader
	}
	return r.w.storeOf(pick(r.w, r.w.before))
}

func (r reader) Peek(ctx context.Context, keys []item.Key) (out []item.Item, err error) {
	for _, key := range keys {
		rows, err := r.moment().Peek(ctx, []item.Key{key})
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

func (r reader) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if q.Eventual {
		return r.moment().Query(ctx, q)
	}
	if r.w.meddle != nil {
		r.w.meddle()
	}
	return r.Reader.Query(ctx, q)
}

func (w *feedWorld) service() *query.Service {
	return query.New(query.Config{
		Store: reader{w.store, w}, Registry: product.Registry(), Now: func() time.Time { return w.now },
		Fold: fold.String,
	})
}

// isLost reports whether an answer does not arrive, or the device dies before it has stored it.
func (w *feedWorld) isLost() bool { return !w.settled && w.chance(10) }

// write changes one thing, and leaves the entry of its record to be announced.
func (w *feedWorld) write() {
	if w.chance(10) {
		at := repository.Address{User: ann}
		if w.chance(30) {
			at.Date = "2025-12-05"
		}
		row := head(at, w.now)
		w.change(row.Key(), row)
		w.pending = append(w.pending, changelog.Head(at, row.Str("headRevId")))
		return
	}
	ref := pick(w, []entity.Ref{
		{Type: product.TypeNote, ID: "note_1"}, {Type: product.TypeNote, ID: "note_2"},
		{Type: product.TypeTask, ID: "task_1"},
		{Type: entity.TypeInstance, ID: entity.InstanceID("mst_1", "20251201")}, {Type: entity.TypeUserMeta, ID: ann},
	})
	key := entity.ItemKey(ann, ref)
	if old := w.rows[key]; old != nil && ref.Type != entity.TypeUserMeta {
		switch {
		case old.Has(entity.AttrTTL) && w.now.Unix() >= old.Int(entity.AttrTTL) && w.chance(50):
			w.remove(ref, old) // swept
			return
		case w.chance(20) && ref.Type != entity.TypeInstance:
			w.remove(ref, old)
			return
		case w.chance(25) && !old.Has(entity.AttrTTL) && ref.Type != entity.TypeInstance: // its cold copy was made
			row := old.Clone()
			row[entity.AttrTTL] = item.Int(w.now.Add(time.Duration(1+w.IntN(40)) * modelDay).Unix())
			w.change(key, row)
			w.pending = append(w.pending, entryOf(row))
			return
		}
	}
	row := key.Item()
	row[entity.AttrType] = item.String(ref.Type)
	row[product.Registry().ByName(ref.Type).IDAttr] = item.String(ref.ID)
	if ref.Type == entity.TypeInstance && w.chance(60) { // else it was undone
		row[product.AttrModifiedFields] = item.Strings("title")
	}
	w.highest[ref]++ // restored, swept or not, is above every version before
	row[entity.AttrVersion] = item.Int(w.highest[ref])
	row[entity.AttrTitle] = item.String(titleOf(w.highest[ref]))
	w.change(key, row)
	w.pending = append(w.pending, entryOf(row))
}

func (w *feedWorld) remove(ref entity.Ref, old item.Item) {
	w.change(old.Key(), nil)
	w.highest[ref]++
	w.pending = append(w.pending, removal(old))
}

// step lets a writer make its next step, by the rules of docs/correctness.md, and reports whether it is done.
func (w *feedWorld) step(a *logWriter) bool {
	if a.read == nil {
		a.read = []changelog.Row{}
		for row, err := range changelog.Rows(ctx, w.store, changelog.Read{User: ann}) {
			require.NoError(w, err)
			if a.read = append(a.read, row); len(a.read) == changelog.Newest {
				break
			}
		}
		return false
	}
	known := map[entity.Ref]changelog.Entry{}
	n, first := int64(1), true
	if len(a.read) > 0 {
		n, first = a.read[0].N+1, a.read[0].Old(w.now)
	}
	for _, row := range a.read {
		for _, e := range row.Entries {
			if known[e.Ref].Compare(e) < 0 {
				known[e.Ref] = e
			}
		}
	}
	fresh := slices.DeleteFunc(slices.Clone(a.batch), func(e changelog.Entry) bool {
		k, ok := known[e.Ref]
		return ok && k.Compare(e) >= 0
	})
	if len(fresh) > 0 {
		w.x++
		row := changelog.NewRow(n, fresh, w.x, first, w.now).Item(ann)
		if w.rows[row.Key()] != nil { // the condition fails
			a.read = nil
			return false
		}
		w.change(row.Key(), row)
	}
	w.done = append(w.done, a.batch...)
	return true
}

// sweep removes some of the log's rows that are past their ttl, in any order.
func (w *feedWorld) sweep() {
	keys := slices.SortedFunc(maps.Keys(w.rows), func(a, b item.Key) int { return strings.Compare(a.SK, b.SK) })
	for _, key := range keys {
		lapsed := entity.Expired(w.rows[key], w.now)
		if strings.HasPrefix(key.SK, "CHANGE#") && lapsed && w.chance(50) {
			w.change(key, nil)
		}
	}
}

// sync makes one request of a device, whose answer may be lost.
func (w *feedWorld) sync(d *phone) {
	service := w.service()
	var got []query.Change
	room := 1 + w.IntN(4)
	add := func(c query.Change) bool {
		if c.Item != nil && c.Type != entity.TypeUserMeta {
			if room--; room < 0 {
				return false
			}
		}
		got = append(got, c)
		return true
	}
	if d.token == "" {
		q := query.SnapshotQuery{Types: d.types, Cursor: d.cursor}
		page, err := service.Snapshot(ctx, ann, q, add)
		var reset *query.ResetError
		if d.cursor != "" && errors.As(err, &reset) {
			w.resets[reset.Reason]++
			d.cursor = ""
			return
		}
		require.NoError(w, err)
		if w.isLost() {
			return
		}
		if d.cursor == "" {
			d.next = newCopy()
		}
		for _, c := range got {
			d.next.apply(c)
		}
		if d.cursor = page.Cursor; page.Next != "" {
			d.token, d.copy, d.next = page.Next, d.next, nil
		}
		return
	}
	page, err := service.Since(ctx, ann, query.SinceQuery{
		Token: d.token, Limit: 1 + w.IntN(6),
	}, add)
	var reset *query.ResetError
	if errors.As(err, &reset) {
		w.resets[reset.Reason]++
		d.token = ""
		return
	}
	require.NoError(w, err)
	w.atLeastAnnounced(d.token, page.Next, got)
	if w.isLost() {
		return
	}
	for _, c := range got {
		if c.Omitted {
			t := product.Registry().ByName(c.Type)
			row := w.rows[entity.ItemKey(ann, c.Ref)] // as its own GET would have it
			c = query.Change{Ref: c.Ref, Version: c.Version, Gone: true}
			undone := t.Name == entity.TypeInstance && !row.Has(product.AttrModifiedFields)
			if row != nil && !entity.Expired(row, w.now) && !undone {
				c.Version, c.Gone = row.Int(entity.AttrVersion), false
				if row.Has(entity.AttrTTL) {
					c.ExpiresAt = time.Unix(row.Int(entity.AttrTTL), 0)
				}
			}
		}
		d.copy.apply(c)
	}
	d.token = page.Next
}

// atLeastAnnounced checks C4: what was served of each entry between the tokens has come as far as the entry says.
func (w *feedWorld) atLeastAnnounced(from, to string, got []query.Change) {
	begin, err := token.Parse(from)
	require.NoError(w, err)
	end, err := token.Parse(to)
	require.NoError(w, err)
	served := map[entity.Ref]query.Change{}
	for _, c := range got {
		served[c.Ref] = c
	}
	for row, err := range changelog.Rows(ctx, w.store, changelog.Read{User: ann, From: begin.N + 1}) {
		require.NoError(w, err)
		if row.N > end.N {
			break
		}
		for _, e := range row.Entries {
			c, ok := served[e.Ref]
			if !ok {
				require.NotNil(w, begin.Types, "%s was not served", e)
				continue
			}
			require.GreaterOrEqual(w, c.Version, e.Version, "%s", e)
			require.GreaterOrEqual(w, c.RevID, e.RevisionID, "%s", e)
			if e.Lapsing && c.Version == e.Version && !c.Omitted {
				require.True(w, c.Gone || !c.ExpiresAt.IsZero(), "%s", e)
			}
		}
	}
}

// truth are the entries of what there is.
func (w *feedWorld) truth(types []string) []string {
	out := []string{}
	follows := func(name string) bool { return len(types) == 0 || slices.Contains(types, name) }
	if w.rows[entity.MetaKey(ann)] == nil {
		out = append(out, "USER_META ann 0")
	}
	for key, row := range w.rows {
		name := row.Str(entity.AttrType)
		switch {
		case key == (repository.Address{User: ann}).HeadKey() && follows("VALUES"):
			out = append(out, "VALUES "+row.Str("headRevId"))
		case name == entity.TypeUserMeta:
			out = append(out, entryOf(row).String())
		case name == "" || !follows(name) || entity.Expired(row, w.now):
		case name == entity.TypeInstance && !row.Has(product.AttrModifiedFields):
		default:
			out = append(out, entryOf(row).String())
		}
	}
	slices.Sort(out)
	return out
}

// announceAndCompare announces everything, lets each device sync until nothing is new, and compares its copy with what
// there is.
func (w *feedWorld) announceAndCompare() {
	for len(w.pending) > 0 {
		w.writers = append(w.writers, &logWriter{batch: w.pending[:1]})
		w.pending = w.pending[1:]
	}
	for _, a := range w.writers {
		for turns := 0; !w.step(a); turns++ {
			require.Less(w, turns, 50)
		}
	}
	w.writers, w.before, w.settled = nil, nil, true
	for i, d := range w.devices {
		for turns, last := 0, "none"; d.token == "" || d.token != last; turns++ {
			require.Less(w, turns, 100)
			last = d.token
			w.sync(d)
		}
		want := w.truth(d.types)
		require.Equal(w, want, d.copy.texts(w.now), "device %d", i)
		check, err := w.service().Check(ctx, ann, d.types)
		require.NoError(w, err)
		require.Equal(w, len(want), check.Count)
		require.Equal(w, digestOf(want...), hex.EncodeToString(check.Digest[:]))
		if at, err := token.Parse(check.Next); at.N > 0 {
			require.NoError(w, err)
			require.Equal(w, d.token, check.Next, "device %d is up to date", i)
		}
	}
}

// act does one random thing. In calm times days pass and TTL sweeps, so that logs grow old.
func (w *feedWorld) act(calm bool) {
	k := w.IntN(100)
	if calm {
		k = 60 + k*2/5
	}
	switch {
	case k < 25:
		w.write()
	case k < 35 && len(w.pending) > 0:
		n := 1 + w.IntN(min(3, len(w.pending)))
		i := w.IntN(len(w.pending) - n + 1)
		w.writers = append(w.writers, &logWriter{batch: slices.Clone(w.pending[i : i+n])})
		w.pending = slices.Delete(w.pending, i, i+n)
	case k < 40 && len(w.done) > 0:
		w.writers = append(w.writers, &logWriter{batch: []changelog.Entry{pick(w, w.done)}})
	case k < 65 && len(w.writers) > 0:
		i := w.IntN(len(w.writers))
		if w.step(w.writers[i]) {
			w.writers = slices.Delete(w.writers, i, i+1)
		}
	case k < 80:
		w.sync(pick(w, w.devices))
	case k < 92 && len(w.writers) == 0: // no writer is older than a row lives, and no read is days old
		w.now = w.now.Add(time.Duration(pick(w, []int{1, 5, 20, 45, 60, 79, 85, 89})) * modelDay)
		w.before = nil
	default:
		w.sweep()
	}
}

// TestService_bringsEveryDeviceInStep plays histories of one user by the rules of the change log.
func TestService_bringsEveryDeviceInStep(t *testing.T) {
	t.Parallel()
	resets := map[query.ResetReason]int{}
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		for history := range historiesOfACheck() {
			w := &feedWorld{
				T: t, Rand: rand.New(rand.NewPCG(seed, history)), now: noon, rows: map[item.Key]item.Item{},
				highest: map[entity.Ref]int64{}, resets: resets,
				devices: []*phone{{}, {}, {types: []string{product.TypeNote, changelog.TypeValues}}},
			}
			w.store = w.storeOf(nil)
			calm := false
			for i := range 20 + w.IntN(80) {
				if i%13 == 0 {
					calm = w.chance(40)
				}
				w.act(calm)
			}
			w.announceAndCompare()
		}
	})
	require.NotZero(t, resets[query.ResetExpired], "no log was lost: %v", resets)
}
