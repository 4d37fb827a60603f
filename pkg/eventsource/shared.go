package eventsource

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/item"
)

// The bounds of what [Shared] keeps of a shard. A reader that is farther behind the first one reads for itself.
const (
	maxKept      = 5_000
	maxKeptBytes = 8 << 20 // of the images, by item.Size; in memory they take several times that
)

const (
	// maxLast is the size of the images of the last slice before a shard's end, at most: a larger one may have been cut
	// at 1 MB, which is the service's bound, with more records behind it.
	maxLast = 512 << 10
	// endHolds is how long a shard's end is known: less than a poll, so that each poll reads.
	endHolds = DefaultPoll / 2
)

// Shared is a source for several readers of one stream in one process: each record is read once, by the reader that
// comes first, and kept for the others. Only one reader reads a shard at a time. Readers must not change records. It
// is safe for concurrent use.
type Shared struct {
	Source
	// Clock is optional. With it the end of a shard, too, is found once for all readers: it holds until [Shared.Wake], for
	// half a poll at most. Then each write must be followed by a wake.
	Clock func() time.Time

	mu     sync.Mutex
	shards map[string]*window
	wakes  atomic.Int64
}

// NewShared returns a source that reads from another.
func NewShared(source Source) *Shared { return &Shared{Source: source, shards: map[string]*window{}} }

// window is the part of a shard that is kept: the records after the sequence number after.
type window struct {
	turn chan struct{} // holds one token; a reader takes it to read from the source

	mu      sync.Mutex
	isSet   bool
	after   string
	records []change.Record
	bytes   int
	end     bool

	// What is kept reaches to the shard's end as of a moment, after so many wakes. Zero if that is not known.
	ended      time.Time
	endedWakes int64
}

// Wake says that records may have come.
func (s *Shared) Wake() { s.wakes.Add(1) }

// Read implements [Source].
func (s *Shared) Read(ctx context.Context, shard, after string, limit int) (change.Slice, error) {
	w := s.window(shard)
	if kept, ok := s.kept(w, after, limit); ok {
		return kept, nil
	}
	select {
	case <-w.turn:
		defer func() { w.turn <- struct{}{} }()
	case <-ctx.Done():
		return change.Slice{}, ctx.Err()
	}
	if kept, ok := s.kept(w, after, limit); ok { // read by the reader before
		return kept, nil
	}
	wakes, began := s.wakes.Load(), s.now() // before the read: what comes during it may not be in it
	slice, err := s.Source.Read(ctx, shard, after, limit)
	if err == nil {
		w.add(after, slice, limit, began, wakes)
	}
	return slice, err
}

// now returns the clock's reading, zero without a clock.
func (s *Shared) now() time.Time {
	if s.Clock == nil {
		return time.Time{}
	}
	return s.Clock()
}

// Shards implements [Source]. What was kept of shards that are gone goes, too.
func (s *Shared) Shards(ctx context.Context) ([]change.Shard, error) {
	shards, err := s.Source.Shards(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.shards, func(id string, _ *window) bool {
		return !slices.ContainsFunc(shards, func(shard change.Shard) bool { return shard.ID == id })
	})
	return shards, nil
}

func (s *Shared) window(shard string) *window {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.shards[shard]
	if w == nil {
		w = &window{turn: make(chan struct{}, 1)}
		w.turn <- struct{}{}
		s.shards[shard] = w
	}
	return w
}

// kept returns records after a position, if the window has any or if it is known that there are none.
func (s *Shared) kept(w *window, after string, limit int) (change.Slice, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at, isKept := w.find(after)
	if !isKept {
		return change.Slice{}, false
	}
	if at == len(w.records) {
		isEnd := !w.ended.IsZero() && w.endedWakes == s.wakes.Load() && s.now().Sub(w.ended) < endHolds
		return change.Slice{End: w.end}, isEnd
	}
	rest := w.records[at:]
	cut := min(len(rest), max(limit, 1))
	return change.Slice{Records: slices.Clone(rest[:cut]), End: w.end && cut == len(rest)}, true
}

// Forget drops all records that are kept, so that each is read again. It waits for reads under way.
func (s *Shared) Forget() {
	s.mu.Lock()
	windows := slices.Collect(maps.Values(s.shards))
	s.mu.Unlock()
	for _, w := range windows {
		<-w.turn
		w.mu.Lock()
		w.isSet, w.after, w.records, w.bytes, w.ended = false, "", nil, 0, time.Time{}
		w.mu.Unlock()
		w.turn <- struct{}{}
	}
}

// find returns the place of the first record after a position, if the window has it.
func (w *window) find(after string) (int, bool) {
	if !w.isSet || change.CompareSequence(after, w.after) < 0 {
		return 0, false
	}
	if after == w.after {
		return 0, true
	}
	at, isKept := slices.BinarySearchFunc(w.records, after, func(r change.Record, after string) int {
		return change.CompareSequence(r.Sequence, after)
	})
	return at + 1, isKept
}

// isAhead reports whether a position is after all that is kept, so that the window goes there.
func (w *window) isAhead(after string) bool {
	if len(w.records) == 0 {
		return !w.isSet || change.CompareSequence(after, w.after) > 0
	}
	return change.CompareSequence(after, w.records[len(w.records)-1].Sequence) > 0
}

// add keeps what was read after a position, if that is the window's end or later, and drops the oldest records above
// the bounds. The read began at a moment, after so many wakes.
func (w *window) add(after string, slice change.Slice, limit int, began time.Time, wakes int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at, isKept := w.find(after)
	switch {
	case isKept && at == len(w.records):
	case !isKept && w.isAhead(after):
		w.isSet, w.after, w.records, w.bytes = true, after, nil, 0
	default:
		return
	}
	bytes := 0
	for _, record := range slice.Records {
		w.records = append(w.records, record)
		bytes += sizeOf(record)
	}
	w.bytes += bytes
	w.end, w.ended, w.endedWakes = slice.End, time.Time{}, wakes
	if len(slice.Records) < limit && bytes < maxLast {
		w.ended = began
	}
	drop := 0
	for ; len(w.records)-drop > maxKept || w.bytes > maxKeptBytes && drop < len(w.records); drop++ {
		w.bytes -= sizeOf(w.records[drop])
		w.after = w.records[drop].Sequence
	}
	clear(w.records[:drop]) // so that memory does not keep what is dropped
	w.records = w.records[drop:]
}

func sizeOf(r change.Record) int { return item.Size(r.Old) + item.Size(r.New) }
