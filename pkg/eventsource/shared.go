package eventsource

import (
	"context"
	"maps"
	"slices"
	"sync"

	"nexus/pkg/change"
	"nexus/pkg/item"
)

// The bounds of what [Shared] keeps of a shard. A reader that is farther behind the first one reads for itself.
const (
	maxKept      = 5_000
	maxKeptBytes = 8 << 20 // of the images, by item.Size; in memory they take several times that
)

// Shared is a source for several readers of one stream in one process: each record is read once, by the reader that
// comes first, and kept for the others. Only one reader reads a shard at a time. Readers must not change records. It
// is safe for concurrent use.
type Shared struct {
	Source

	mu     sync.Mutex
	shards map[string]*window
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
}

// Read implements [Source].
func (s *Shared) Read(ctx context.Context, shard, after string, limit int) (change.Slice, error) {
	w := s.window(shard)
	if kept, ok := w.kept(after, limit); ok {
		return kept, nil
	}
	select {
	case <-w.turn:
		defer func() { w.turn <- struct{}{} }()
	case <-ctx.Done():
		return change.Slice{}, ctx.Err()
	}
	if kept, ok := w.kept(after, limit); ok { // read by the reader before
		return kept, nil
	}
	slice, err := s.Source.Read(ctx, shard, after, limit)
	if err == nil {
		w.add(after, slice)
	}
	return slice, err
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

// kept returns records after a position, if the window has any.
func (w *window) kept(after string, limit int) (change.Slice, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at, isKept := w.find(after)
	if !isKept || at == len(w.records) {
		return change.Slice{}, false
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
		w.isSet, w.after, w.records, w.bytes = false, "", nil, 0
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
// the bounds.
func (w *window) add(after string, slice change.Slice) {
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
	for _, record := range slice.Records {
		w.records = append(w.records, record)
		w.bytes += sizeOf(record)
	}
	w.end = slice.End
	drop := 0
	for ; len(w.records)-drop > maxKept || w.bytes > maxKeptBytes && drop < len(w.records); drop++ {
		w.bytes -= sizeOf(w.records[drop])
		w.after = w.records[drop].Sequence
	}
	clear(w.records[:drop]) // so that memory does not keep what is dropped
	w.records = w.records[drop:]
}

func sizeOf(r change.Record) int { return item.Size(r.Old) + item.Size(r.New) }
