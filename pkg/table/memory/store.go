// Package memory is the store port in one process: the table, its indexes, its stream and its TTL service, for tests,
// the simulation and the local platform.
//
// It promises what pkg/table promises, and more where a test needs certainty:
//   - A transaction is one instant, and indexes never lag.
//   - The stream has the record of every write as soon as the write returns.
//   - The same calls in the same order give the same answers, sequence numbers and event ids.
//
// Bounds, page sizes and consumed units follow DynamoDB's rules, so that code which works here works there. Faults
// come only from [Options.Fault].
//
// Rows are immutable. The store copies an item on its way in, so a caller may change the item that it passed. It never
// copies on the way out, so a caller must not change an item that it received, as the port says. It must never be the
// store of data that has to outlive the process.
package memory

import (
	"fmt"
	"sync"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

var (
	_ table.Store  = (*Store)(nil)
	_ table.Walker = (*Store)(nil)
)

// Options configure a store. The zero Options give a store with one shard, no faults and no observer.
type Options struct {
	// Shards is the number of shards the stream begins with; 0 means 1.
	Shards int
	// SourceARN names the stream in every record; empty means an ARN of the schema's table name.
	SourceARN string
	// Fault is called before and after the effect of each call; see [Call].
	Fault func(Call) error
	// Observer receives the consumption of each call.
	Observer table.Observer
	// Witnessed keeps a second copy of every row, so that [Store.Tampered] can find rows that a reader changed.
	Witnessed bool
}

// Store is the table. All its methods are safe for concurrent use.
type Store struct {
	*state
	observe table.Observer
}

// state is the table itself, which several stores may share.
type state struct {
	schema table.Schema
	fault  func(Call) error
	feed   *Feed
	// witnessed is fixed when the store is made.
	witnessed bool

	mu      sync.RWMutex
	base    partitions
	indexes []partitions // in the order of schema.Indexes
	expiry  order        // rows with a ttl, by ttl
}

// New returns an empty table of [table.ProductSchema]. The clock dates the records of the stream; nothing else depends
// on it. It panics on a nil clock or a number of shards below 0, which are mistakes in the program.
func New(now func() time.Time, o Options) *Store {
	if now == nil {
		panic("memory: no clock")
	}
	if o.Shards < 0 {
		panic(fmt.Sprintf("memory: %d shards", o.Shards))
	}
	schema := table.ProductSchema()
	if o.SourceARN == "" {
		o.SourceARN = fmt.Sprintf("arn:aws:dynamodb:local:000000000000:table/%s/stream/memory", schema.Name)
	}
	s := &state{
		schema: schema, fault: o.Fault, witnessed: o.Witnessed,
		feed: newFeed(max(o.Shards, 1), o.SourceARN, now), base: partitions{},
	}
	for range schema.Indexes {
		s.indexes = append(s.indexes, partitions{})
	}
	return &Store{s, o.Observer}
}

// Observed returns a store on the same table that reports its calls to this observer only.
func (s *Store) Observed(observe table.Observer) *Store { return &Store{s.state, observe} }

// Feed returns the table's stream.
func (s *Store) Feed() *Feed { return s.feed }

// Len returns the number of rows in the table.
func (s *Store) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	rows := 0
	for _, p := range s.base {
		rows += p.size
	}
	return rows
}

// Tampered returns the keys of the rows in the table that a caller changed after it received them, in no order. It
// needs [Options.Witnessed].
func (s *Store) Tampered() []item.Key {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var keys []item.Key
	for _, rows := range s.base {
		for _, chunk := range rows.chunks {
			for _, e := range chunk {
				if w := e.row.witness; w != nil && !w.Equal(e.row.item) {
					keys = append(keys, e.key)
				}
			}
		}
	}
	return keys
}

// partitions are the rows of the table or of one index, by partition key. It has no empty partition.
type partitions map[string]*order

func (p partitions) find(key item.Key) *slot {
	rows := p[key.PK]
	if rows == nil {
		return nil
	}
	return rows.find(place{key.SK, key})
}

func (p partitions) insert(partition string, e entry) {
	rows := p[partition]
	if rows == nil {
		rows = &order{}
		p[partition] = rows
	}
	rows.insert(e)
}

func (p partitions) remove(partition string, at place) {
	rows := p[partition]
	if rows == nil {
		return
	}
	rows.remove(at)
	if rows.size == 0 {
		delete(p, partition)
	}
}
