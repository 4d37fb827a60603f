package memory

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"sync"
	"time"

	"nexus/pkg/item"
)

// Errors on which a reader of the feed decides. They are matched with errors.Is.
var (
	// ErrUnknownShard says that there is no such shard, or that it was trimmed away whole.
	ErrUnknownShard = errors.New("unknown shard")
	// ErrTrimmed says that records after the position are trimmed; the reader continues from the oldest record left.
	ErrTrimmed = errors.New("records behind the position are trimmed")
	// ErrClosedShard says that the shard was split before.
	ErrClosedShard = errors.New("shard is closed")
)

// Feed is the table's stream. Each write that changes a row appends one record to a shard, chosen by the hash of the
// row's key. So the rows of one user are on several shards, and order holds only per row, along the line from a shard
// to its children. The records of a transaction are separate. Records stay until [Feed.Trim].
type Feed struct {
	sourceARN string
	now       func() time.Time

	mu      sync.Mutex
	shards  []*shard      // all that exist, oldest first
	open    []*shard      // by the hashes they take
	made    int           // shards ever made
	last    uint64        // number of the last record
	changed chan struct{} // nil while no reader waits
}

// shard takes the rows with hashes from low to high, both included.
type shard struct {
	id, parent string
	low, high  uint64
	records    []logged
	head       uint64 // number of the last record ever, 0 for none
	trimmed    uint64 // number of the last record trimmed
	closed     bool
	closedAt   int64 // seconds since the epoch
}

func newFeed(shards int, sourceARN string, now func() time.Time) *Feed {
	f := &Feed{sourceARN: sourceARN, now: now}
	width := math.MaxUint64/uint64(shards) + 1
	for i := range shards {
		low, high := uint64(i)*width, uint64(i+1)*width-1
		if i == shards-1 {
			high = math.MaxUint64
		}
		f.open = append(f.open, f.newShard("", low, high))
	}
	return f
}

func (f *Feed) newShard(parent string, low, high uint64) *shard {
	f.made++
	made := &shard{id: fmt.Sprintf("shardId-%020d", f.made), parent: parent, low: low, high: high}
	f.shards = append(f.shards, made)
	return made
}

// append adds the record of a change. The caller holds the store's lock, so records are in the order of the writes.
func (f *Feed) append(c edit, expired bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	h := hash(c.key)
	to := f.open[sort.Search(len(f.open), func(i int) bool { return f.open[i].high >= h })]
	to.records = append(to.records, logged{number: f.last, at: f.now().Unix(), old: c.old, new: c.new, expired: expired})
	to.head = f.last
	f.signal()
}

// Mask replaces the records of the rows for which insteadOf returns another key, by inserts of that key alone. So the
// feed keeps its order and no word of the rows. It returns how many it replaced.
func (f *Feed) Mask(insteadOf func(item.Key) (item.Key, bool)) (masked int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.shards {
		for i, r := range s.records {
			key, masks := insteadOf(r.record("").Key)
			if !masks {
				continue
			}
			s.records[i] = logged{number: r.number, at: r.at, new: &row{item: key.Item(), size: item.Size(key.Item())}}
			masked++
		}
	}
	return masked
}

// signal wakes all readers that wait for the present channel.
func (f *Feed) signal() {
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// Changed returns a channel that is closed at the next record or split. A reader takes it before it reads, and waits
// on it once it has read everything. So it misses no record.
func (f *Feed) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return f.changed
}

// find returns the shard with the id; the caller holds the feed's lock.
func (f *Feed) find(id string) (*shard, error) {
	for _, s := range f.shards {
		if s.id == id {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%w %q", ErrUnknownShard, clip(id))
}
