package memory

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"nexus/pkg/change"
)

// maxRead bounds the records of one read of a shard, as in the service.
const maxRead = 1000

// Shards returns all shards that still have records or may get some, parents before their children. A shard whose
// parent is trimmed away has none.
func (f *Feed) Shards(ctx context.Context) ([]change.Shard, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]change.Shard, 0, len(f.shards))
	for _, s := range f.shards {
		parent := s.parent
		if _, err := f.find(parent); err != nil {
			parent = ""
		}
		out = append(out, change.Shard{ID: s.id, Parent: parent})
	}
	return out, nil
}

// Read returns the records of a shard after the sequence number, in order; "" is the beginning of what is left. A
// limit outside 1 to 1,000 means 1,000. The caller owns the images. Errors: [ErrUnknownShard], and [ErrTrimmed] if a
// record after the position is lost.
func (f *Feed) Read(ctx context.Context, id, after string, limit int) (change.Slice, error) {
	if err := ctx.Err(); err != nil {
		return change.Slice{}, err
	}
	records, end, err := f.read(id, after, limit)
	if err != nil {
		return change.Slice{}, fmt.Errorf("read %s after %q: %w", clip(id), clip(after), err)
	}
	out := change.Slice{Records: make([]change.Record, len(records)), End: end}
	for i, r := range records {
		out.Records[i] = r.record(f.sourceARN)
	}
	return out, nil
}

func (f *Feed) read(id, after string, limit int) (records []logged, end bool, err error) {
	number, err := parseSequence(after)
	if err != nil {
		return nil, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.find(id)
	if err != nil {
		return nil, false, err
	}
	if after != "" && number < s.trimmed {
		return nil, false, ErrTrimmed
	}
	if limit < 1 || limit > maxRead {
		limit = maxRead
	}
	from := sort.Search(len(s.records), func(i int) bool { return s.records[i].number > number })
	to := min(from+limit, len(s.records))
	// A copy, because a trim moves the shard's records.
	return slices.Clone(s.records[from:to]), s.closed && to == len(s.records), nil
}

// Head returns the sequence number of the last record of the shard, trimmed or not; "" if there never was one. A
// reader whose position is every shard's head has caught up.
func (f *Feed) Head(id string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.find(id)
	if err != nil {
		return "", fmt.Errorf("head of %s: %w", clip(id), err)
	}
	return formatSequence(s.head), nil
}

// Last returns the sequence number of the last record of the whole feed, "" before the first. It grows with every
// record, so two equal answers mean that nothing was written between them.
func (f *Feed) Last() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return formatSequence(f.last)
}

// Split closes the shard and returns the two that take its rows from now on, by hash of the row's key. Errors:
// [ErrUnknownShard], [ErrClosedShard].
func (f *Feed) Split(id string) (children [2]string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, err := f.find(id)
	if err != nil {
		return children, fmt.Errorf("split %s: %w", clip(id), err)
	}
	if s.closed {
		return children, fmt.Errorf("split %s: %w", id, ErrClosedShard)
	}
	if s.low == s.high {
		return children, fmt.Errorf("split %s: it takes a single hash", id)
	}
	s.closed, s.closedAt = true, f.now().Unix()
	middle := s.low + (s.high-s.low)/2
	left, right := f.newShard(id, s.low, middle), f.newShard(id, middle+1, s.high)
	at := slices.Index(f.open, s)
	f.open = slices.Replace(f.open, at, at+1, left, right)
	f.signal()
	return [2]string{left.id, right.id}, nil
}

// Trim forgets the records made before the time, as the service does after 24 hours. Then it forgets the shards that
// were closed before it and have no records left.
func (f *Feed) Trim(before time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.shards {
		n := 0
		for n < len(s.records) && time.Unix(s.records[n].at, 0).Before(before) {
			n++
		}
		if n > 0 {
			s.trimmed = s.records[n-1].number
			s.records = slices.Clone(s.records[n:])
		}
	}
	f.shards = slices.DeleteFunc(f.shards, func(s *shard) bool {
		return s.closed && len(s.records) == 0 && time.Unix(s.closedAt, 0).Before(before)
	})
}
