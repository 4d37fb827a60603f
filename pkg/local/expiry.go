package local

import (
	"container/heap"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"nexus/pkg/account"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// expiries holds every row that will expire, with its time, so that no scan of the table is needed: one walk at the
// start, and from then on the stream, whose readers pass all its records to it. It lags behind the table by the unread
// records.
//
// It may contain a row that has changed since. The sweep deletes a row only if it equals the recorded one, so this
// costs an attempt; the record of the change will correct it.
type expiries struct {
	types []*entity.Type // of the items
	// gone returns those of the users whose rows are removed by an erasure, or were. Set before the first sweep.
	gone func(ctx context.Context, users []string) (map[string]bool, error)

	mu    sync.Mutex
	rows  map[item.Key]expiring
	all   expiryHeap // by instant; entries that rows no longer confirms are skipped
	steps expiryHeap // those whose expiry has consequences: timers and entities

	seen    map[string]string     // by shard: the last record taken in
	touched map[item.Key]struct{} // rows that the stream reported before the walk was done; nil afterwards
	added   chan struct{}         // closed and replaced when an expiry is added
}

type expiring struct {
	at           int64 // seconds since the epoch
	ttl, version item.Number
}

func newExpiries(types []*entity.Type) *expiries {
	return &expiries{
		types: types, rows: map[item.Key]expiring{}, seen: map[string]string{},
		touched: map[item.Key]struct{}{}, added: make(chan struct{}),
	}
}

// walk adds the existing rows. Records of the stream since its start are newer.
func (e *expiries) walk(ctx context.Context, walker table.Walker) error {
	err := walker.Walk(ctx, 0, 1, func(row item.Item) error {
		if !row.Has(entity.AttrTTL) {
			return nil
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		if _, newer := e.touched[row.Key()]; !newer {
			e.set(row.Key(), row)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look for rows that will expire: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.touched = nil
	return nil
}

// observe applies the records of a shard, once each, however often they are read.
func (e *expiries) observe(shard string, records []change.Record) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range records {
		if change.CompareSequence(r.Sequence, e.seen[shard]) <= 0 {
			continue
		}
		e.seen[shard] = r.Sequence
		if e.touched != nil {
			e.touched[r.Key] = struct{}{}
		}
		e.set(r.Key, r.New)
	}
}

// set records the row as it is now; nil if it is gone.
func (e *expiries) set(key item.Key, row item.Item) {
	ttl, expires := row[entity.AttrTTL].(item.Number)
	at := row.Int(entity.AttrTTL)
	if !expires || at <= 0 {
		delete(e.rows, key)
		return
	}
	version, _ := row[entity.AttrVersion].(item.Number)
	e.put(key, expiring{at, ttl, version})
}

func (e *expiries) put(key item.Key, x expiring) {
	before, known := e.rows[key]
	e.rows[key] = x
	if known && before.at == x.at {
		return // its place in the heaps is right
	}
	heap.Push(&e.all, expiryPlace{x.at, key})
	if e.hasConsequences(key) {
		heap.Push(&e.steps, expiryPlace{x.at, key})
	}
	close(e.added)
	e.added = make(chan struct{})
}

// hasConsequences reports whether the row's expiry has effects, so that a moving clock must stop there.
func (e *expiries) hasConsequences(key item.Key) bool {
	sk, err := entity.ParseSortKey(key.SK, e.types...)
	return err == nil && (!sk.IsRow() || sk.Prefix == entity.RowTimer)
}

// take removes and returns the rows that have expired at the instant, reduced to the attributes that identify them.
func (e *expiries) take(at time.Time) []item.Item {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []item.Item
	for e.current(&e.all) && e.all[0].at <= at.Unix() {
		key := heap.Pop(&e.all).(expiryPlace).key
		x := e.rows[key]
		delete(e.rows, key)
		row := key.Item()
		row[entity.AttrTTL] = x.ttl
		if x.version != "" {
			row[entity.AttrVersion] = x.version
		}
		out = append(out, row)
	}
	return out
}

// toSweep returns the rows but those of users who are gone. A record that was read behind an erasure may have added one
// of these again.
func (e *expiries) toSweep(ctx context.Context, rows []item.Item) ([]item.Item, error) {
	owners := map[string]bool{}
	for _, row := range rows {
		if user, ok := account.OwnerOf(row.Key().PK); ok {
			owners[user] = true
		}
	}
	if len(owners) == 0 {
		return rows, nil
	}
	gone, err := e.gone(ctx, slices.Sorted(maps.Keys(owners)))
	return slices.DeleteFunc(slices.Clone(rows), func(row item.Item) bool {
		user, ok := account.OwnerOf(row.Key().PK)
		return ok && gone[user]
	}), err
}

// forget drops the rows, which are removed now by what does not wait for their expiry.
func (e *expiries) forget(are func(item.Key) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.rows, func(key item.Key, _ expiring) bool { return are(key) })
}

// restore adds rows again that were taken and could not be removed, unless a newer state is known.
func (e *expiries) restore(rows []item.Item) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, row := range rows {
		if _, newer := e.rows[row.Key()]; !newer {
			e.set(row.Key(), row)
		}
	}
}

// next returns the instant of the earliest expiry, or of the earliest one that has consequences; false if there is
// none.
func (e *expiries) next(consequences bool) (time.Time, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	places := &e.all
	if consequences {
		places = &e.steps
	}
	if !e.current(places) {
		return time.Time{}, false
	}
	return time.Unix((*places)[0].at, 0).UTC(), true
}

// news returns a channel that is closed when an expiry is added.
func (e *expiries) news() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.added
}

// current drops what is outdated at the top and reports whether anything is left.
func (e *expiries) current(places *expiryHeap) bool {
	for len(*places) > 0 {
		top := (*places)[0]
		if x, known := e.rows[top.key]; known && x.at == top.at {
			return true
		}
		heap.Pop(places)
	}
	return false
}

// expiryPlace is the place of a row in the order of expiry.
type expiryPlace struct {
	at  int64
	key item.Key
}

type expiryHeap []expiryPlace

func (h expiryHeap) Len() int           { return len(h) }
func (h expiryHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h expiryHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *expiryHeap) Push(x any)        { *h = append(*h, x.(expiryPlace)) }
func (h *expiryHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
