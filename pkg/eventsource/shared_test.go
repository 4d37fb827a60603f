package eventsource_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/eventsource"
	"nexus/pkg/item"
)

// shardOf is a source with one shard, of records that all exist. It counts the reads.
type shardOf struct {
	records []change.Record
	closed  bool
	reads   atomic.Int64
	reading atomic.Int64
	most    atomic.Int64
	fail    error
	held    chan struct{} // reads wait until it is closed; nil for none
	gone    bool
}

func newShard(n, bytes int) *shardOf {
	s := &shardOf{}
	for i := range n {
		s.records = append(s.records, change.Record{
			Sequence: strconv.Itoa(1000 + i), New: item.Item{"x": item.String(strings.Repeat("x", bytes))},
		})
	}
	return s
}

func (s *shardOf) Shards(context.Context) ([]change.Shard, error) {
	if s.gone {
		return nil, nil
	}
	return []change.Shard{{ID: "s"}}, nil
}

func (s *shardOf) Read(_ context.Context, _, after string, limit int) (change.Slice, error) {
	s.reads.Add(1)
	s.most.Store(max(s.most.Load(), s.reading.Add(1)))
	defer s.reading.Add(-1)
	if s.held != nil {
		<-s.held
	}
	if s.fail != nil {
		return change.Slice{}, s.fail
	}
	from := 0
	for from < len(s.records) && after != "" && change.CompareSequence(s.records[from].Sequence, after) <= 0 {
		from++
	}
	to := min(len(s.records), from+limit)
	return change.Slice{Records: s.records[from:to], End: s.closed && to == len(s.records)}, nil
}

// all reads to the end, in pages of random sizes, and returns the sequence numbers.
func all(t *testing.T, source eventsource.Source, after string, seed uint64) (sequences []string) {
	t.Helper()
	luck := rand.New(rand.NewPCG(seed, 0))
	for {
		limit := 1 + luck.IntN(200)
		slice, err := source.Read(t.Context(), "s", after, limit)
		if err != nil {
			t.Error(err)
			return nil
		}
		for _, r := range slice.Records {
			sequences = append(sequences, r.Sequence)
		}
		if slice.End || len(slice.Records) == 0 {
			return sequences
		}
		if len(slice.Records) > limit {
			t.Errorf("%d records, and at most %d were asked for", len(slice.Records), limit)
		}
		after = sequences[len(sequences)-1]
	}
}

func sequences(from, to int) (out []string) {
	for i := from; i < to; i++ {
		out = append(out, strconv.Itoa(1000+i))
	}
	return out
}

func TestShared_givesEachReaderAllRecordsInOrder(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		source := newShard(3000, 1)
		source.closed = closed
		shared := eventsource.NewShared(source)
		var readers sync.WaitGroup
		for i := range 8 {
			readers.Go(func() {
				from := i * 100
				after := ""
				if from > 0 {
					after = strconv.Itoa(1000 + from - 1)
				}
				if got := all(t, shared, after, uint64(i)); fmt.Sprint(got) != fmt.Sprint(sequences(from, 3000)) {
					t.Errorf("reader %d from %d got %v", i, from, got)
				}
			})
		}
		readers.Wait()
		require.EqualValues(t, 1, source.most.Load(), "one at a time")
	}
}

func TestShared_readsEachRecordOnceForReadersSideBySide(t *testing.T) {
	t.Parallel()
	source := newShard(1000, 1)
	shared := eventsource.NewShared(source)
	after := ""
	for range 10 {
		first, err := shared.Read(t.Context(), "s", after, 100)
		require.NoError(t, err)
		reads := source.reads.Load()
		for range 3 {
			again, err := shared.Read(t.Context(), "s", after, 100)
			require.NoError(t, err)
			require.Equal(t, first, again)
		}
		require.Equal(t, reads, source.reads.Load())
		after = first.Records[99].Sequence
	}
}

// A reader who is farther behind than what is kept reads for itself, and takes nothing from the others.
func TestShared_keepsNoMoreThanItsBounds(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct{ records, bytes, kept int }{
		"by number": {7000, 1, 5000}, "by size": {1000, 200_000, (8 << 20) / 200_001},
	} {
		source := newShard(of.records, of.bytes)
		shared := eventsource.NewShared(source)
		require.Len(t, all(t, shared, "", 1), of.records, name)
		reads := source.reads.Load()
		after := func(back int) string { return strconv.Itoa(1000 + of.records - back - 1) }
		_, err := shared.Read(t.Context(), "s", after(of.kept-1), 10)
		require.NoError(t, err)
		require.Equal(t, reads, source.reads.Load(), name)
		slice, err := shared.Read(t.Context(), "s", after(of.kept+1), 10)
		require.NoError(t, err)
		require.Equal(t, reads+1, source.reads.Load(), name)
		require.Len(t, slice.Records, 10)
		_, err = shared.Read(t.Context(), "s", after(of.kept-1), 10)
		require.NoError(t, err)
		require.Equal(t, reads+1, source.reads.Load(), name)
	}
}

func TestShared_keepsNothingOfAReadThatFails(t *testing.T) {
	t.Parallel()
	source := newShard(10, 1)
	shared := eventsource.NewShared(source)
	source.fail = context.DeadlineExceeded
	_, err := shared.Read(t.Context(), "s", "", 5)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	source.fail = nil
	require.Equal(t, sequences(0, 10), all(t, shared, "", 1))

}

func TestShared_letsAReaderStopWhileAnotherReads(t *testing.T) {
	t.Parallel()
	source := newShard(10, 1)
	source.held = make(chan struct{})
	shared := eventsource.NewShared(source)
	var reader sync.WaitGroup
	reader.Go(func() { _, _ = shared.Read(t.Context(), "s", "", 5) })
	for source.reading.Load() == 0 {
		runtime.Gosched()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := shared.Read(ctx, "s", "", 5)
	require.ErrorIs(t, err, context.Canceled)
	close(source.held)
	reader.Wait()
	require.Equal(t, sequences(0, 10), all(t, shared, "", 1))
}

func TestShared_forgetsShardsThatAreGone(t *testing.T) {
	t.Parallel()
	source := newShard(10, 1)
	shared := eventsource.NewShared(source)
	require.Len(t, all(t, shared, "", 1), 10)
	reads := source.reads.Load()
	shards, err := shared.Shards(t.Context())
	require.NoError(t, err)
	require.Len(t, shards, 1)
	_, err = shared.Read(t.Context(), "s", "", 5)
	require.NoError(t, err)
	require.Equal(t, reads, source.reads.Load(), "it is kept")
	source.gone = true
	_, err = shared.Shards(t.Context())
	require.NoError(t, err)
	_, err = shared.Read(t.Context(), "s", "", 5)
	require.NoError(t, err)
	require.Equal(t, reads+1, source.reads.Load())
}

// With a clock the end is found once for all readers, until a wake or for half a poll; what cannot be the end is not
// taken for it.
func TestShared_findsTheEndOnce(t *testing.T) {
	t.Parallel()
	source := newShard(10, 1)
	shared, now := eventsource.NewShared(source), time.Unix(0, 0)
	shared.Clock = func() time.Time { return now }
	reads := func(after string, limit int) (records int, more int64) {
		before := source.reads.Load()
		slice, err := shared.Read(t.Context(), "s", after, limit)
		require.NoError(t, err)
		return len(slice.Records), source.reads.Load() - before
	}
	expect := func(after string, limit, records int, more int64, message string) {
		gotRecords, gotMore := reads(after, limit)
		require.Equal(t, records, gotRecords, message)
		require.Equal(t, more, gotMore, message)
	}
	expect("", 10, 10, 1, "as many as were asked for")
	expect("1009", 10, 0, 1, "so this may not have been the end")
	expect("1009", 10, 0, 0, "it is known")
	now = now.Add(eventsource.DefaultPoll / 2)
	expect("1009", 10, 0, 1, "half a poll later it is not")
	source.records = append(source.records, newShard(12, 1).records[10:]...)
	expect("1009", 10, 0, 0, "known as it was")
	expect("1002", 10, 7, 0, "what is kept before it")
	shared.Wake()
	expect("1009", 10, 2, 1, "read after the wake")
	expect("1011", 10, 0, 0, "fewer than were asked for: the end")

	source.records = append(source.records, newShard(14, 300<<10).records[12:]...)
	shared.Wake()
	expect("1011", 10, 2, 1, "as large as a slice that was cut")
	expect("1013", 10, 0, 1, "so this may not have been the end")
}

// A reader that comes from far behind finds the end, but not that of what is kept.
func TestShared_takesNoEndOfAnotherPlace(t *testing.T) {
	t.Parallel()
	source := newShard(6000, 1)
	shared := eventsource.NewShared(source)
	shared.Clock = func() time.Time { return time.Unix(0, 0) }
	require.Len(t, all(t, shared, "", 1), 6000)
	source.records = append(source.records, newShard(6001, 1).records[6000:]...)
	shared.Wake()
	slice, err := shared.Read(t.Context(), "s", "1000", 7000)
	require.NoError(t, err)
	require.Len(t, slice.Records, 6000)
	slice, err = shared.Read(t.Context(), "s", "6999", 10)
	require.NoError(t, err)
	require.Len(t, slice.Records, 1)
}
