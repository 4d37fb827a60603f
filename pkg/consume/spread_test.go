package consume_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/consume"
)

// slowConsumer takes a second for each call, in which it holds nothing.
type slowConsumer struct {
	panics string // at this change

	mu         sync.Mutex
	underWay   map[string]bool // items
	most       int
	same, many bool // two changes of an item were under way, or a call had several
	done       []string
}

func (*slowConsumer) Name() string { return "effects" }

func (s *slowConsumer) Apply(ctx context.Context, batch []change.Change) []change.Outcome {
	id := batch[0].Ref.ID
	s.begin(id, len(batch))
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.underWay, id)
	if label(batch[0]) == s.panics {
		panic("index out of range")
	}
	if ctx.Err() != nil {
		return []change.Outcome{retry}
	}
	s.done = append(s.done, label(batch[0]))
	return []change.Outcome{{}}
}

func (s *slowConsumer) begin(id string, records int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.many = s.many || records > 1
	s.same = s.same || s.underWay[id]
	s.underWay[id] = true
	s.most = max(s.most, len(s.underWay))
}

func setupSlow(t *testing.T, panics string) (*fixture, *slowConsumer) {
	t.Helper()
	s := &slowConsumer{panics: panics, underWay: map[string]bool{}}
	return setupWith(t, func(c *consume.Config) {
		c.Consumers, c.Spread, c.Width, c.Wait = []change.Consumer{s}, nil, 8, waitWithout
	}), s
}

func waitWithout(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// twice has two changes of each of n items, those of an item apart.
func twice(n int) (labels []string) {
	for version := 1; version <= 2; version++ {
		for i := range n {
			labels = append(labels, fmt.Sprintf("%c%d", 'a'+i, version))
		}
	}
	return labels
}

func TestHandle_worksOnItemsSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, s := setupSlow(t, "")
		begun := time.Now()
		require.Empty(t, b.handle(t, event(twice(20)...)))
		require.Equal(t, 6*time.Second, time.Since(begun), "two waves of 20 items, 8 at a time")
		require.Equal(t, 8, s.most)
		require.False(t, s.same, "two changes of an item were under way")
		require.False(t, s.many, "a call had several changes")
		for i := range 20 {
			first, second := fmt.Sprintf("%c1", 'a'+i), fmt.Sprintf("%c2", 'a'+i)
			require.Less(t, slices.Index(s.done, first), slices.Index(s.done, second))
		}
	})
}

func TestHandle_parksThePanickingRecordAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, s := setupSlow(t, "c1")
		require.Empty(t, b.handle(t, event(twice(8)...)))
		require.Len(t, s.done, 15)
		require.Len(t, b.shelf.objects, 1)
		require.Contains(t, b.shelf.names()[0], "task_c/")
		require.Equal(t, consume.Counts{Records: 16, Done: 15, Parked: 1, Retried: consume.DefaultAttempts},
			b.counts["effects"])
	})
}

func TestHandle_countsNoAttemptOfWhatItHadNoTimeToBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, s := setupSlow(t, "")
		ctx, cancel := context.WithTimeout(t.Context(), consume.DefaultMargin+1500*time.Millisecond)
		defer cancel()
		require.Equal(t, "108", b.handleWithin(t, ctx, event(twice(10)...)))
		require.Len(t, s.done, 8)
		require.Equal(t, consume.Counts{Records: 20, Done: 8, Unfinished: 12, Retried: 2}, b.counts["effects"])
	})
}
