package local

import (
	"context"
	"math"
	"sync"

	"nexus/pkg/change"
	"nexus/pkg/eventsource"
)

// watchedSource is a mapping's source that passes its records to a watcher. It records when it last read a shard to
// its end: if the stream's end is unknown, only that shows that the mapping has caught up.
type watchedSource struct {
	eventsource.Source
	watch func(shard string, records []change.Record)

	mu      sync.Mutex
	reads   uint64            // begun
	emptied map[string]uint64 // by shard: the last read that found nothing
}

func newWatchedSource(source eventsource.Source, watch func(string, []change.Record)) *watchedSource {
	return &watchedSource{Source: source, watch: watch, emptied: map[string]uint64{}}
}

// Read implements [eventsource.Source].
func (s *watchedSource) Read(ctx context.Context, shard, after string, limit int) (change.Slice, error) {
	s.mu.Lock()
	s.reads++
	ticket := s.reads
	s.mu.Unlock()
	slice, err := s.Source.Read(ctx, shard, after, limit)
	if err != nil {
		return slice, err
	}
	s.watch(shard, slice.Records)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(slice.Records) > 0: // the reader delivers them first
	case slice.End:
		s.emptied[shard] = math.MaxUint64
	default:
		s.emptied[shard] = max(s.emptied[shard], ticket)
	}
	return slice, nil
}

// mark returns a point in the order of reads.
func (s *watchedSource) mark() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

// emptySince reports whether a read of the shard that began after the mark found nothing.
func (s *watchedSource) emptySince(mark uint64, shard string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emptied[shard] > mark
}
