package consume_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/consume"
)

func TestPark_waitsForAnEarlierRecordOfTheItem(t *testing.T) {
	t.Parallel()
	for _, folds := range []bool{false, true} {
		s := &recordingConsumer{name: "stats", folds: folds, fail: only(retry, always, "a1")}
		b := setup(t, s)
		require.Equal(t, "100", b.handle(t, event("a1", "?", "b1")))
		require.Empty(t, b.shelf.objects)
		require.Equal(t, []string{"b1"}, slices.Compact(s.done))
	}
}

func TestHandle_letsAnItemWaitForItsUnparkedRecord(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats", folds: true}
	b := setup(t, s)
	b.shelf.fail = always
	require.Equal(t, "100", b.handle(t, event("?", "a2", "b1")))
	require.Equal(t, []string{"b1"}, s.done)
}

func TestHandle_letsTheNextChangeWaitAfterAPanic(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats", folds: true}
	s.fail = func(c change.Change, _ int) change.Outcome {
		if label(c) == "a1" {
			panic("always")
		}
		return change.Outcome{}
	}
	b := setup(t, s)
	require.Empty(t, b.handle(t, event("a1", "a2", "b1")))
	require.Equal(t, [][]string{{"a1", "a2", "b1"}, {"a1"}, {"b1"}, {"a1"}, {"a1"}, {"a2"}}, s.calls)
}

func TestPark_hasAttemptsOfItsOwnAfterAPanic(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats", before: func(context.Context, []change.Change) { panic("always") }}
	b := setup(t, s)
	b.shelf.fail = consume.DefaultAttempts - 1
	require.Empty(t, b.handle(t, event("a1")))
	require.Len(t, s.calls, consume.DefaultAttempts)
	require.Len(t, b.shelf.objects, 1)
}

func TestPause_stopsGrowing(t *testing.T) {
	t.Parallel()
	b := setupWith(t, func(c *consume.Config) { c.Attempts = 200 },
		&recordingConsumer{name: "stats", fail: only(retry, always, "a1")})
	require.Equal(t, "100", b.handle(t, event("a1")))
	require.Len(t, b.waits, 199)
	require.Equal(t, 64*consume.DefaultBackoff, slices.Max(b.waits))
}

func TestPark_endsWithTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := &slowShelf{shelf: &shelf{objects: map[string][]byte{}}}
		b := setupWith(t, func(c *consume.Config) { c.Parking = slow }, &recordingConsumer{name: "stats"})
		// the margin begins between two of the slow steps
		ctx, cancel := context.WithTimeout(t.Context(), 19500*time.Millisecond)
		defer cancel()
		_, err := b.loop.Handle(ctx, []byte(`{"Records":[{"x":1},{"x":2},{"x":3},{"x":4}]}`))
		require.ErrorContains(t, err, "record 2")
		require.NoError(t, ctx.Err())
		require.Len(t, slow.objects, 2)
	})
}

// slowShelf takes nine seconds for each object.
type slowShelf struct{ *shelf }

func (s *slowShelf) Put(ctx context.Context, name string, body []byte) error {
	time.Sleep(9 * time.Second)
	return s.shelf.Put(ctx, name, body)
}

func TestHandle_isolatesAPanicUntilTheTimeEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &recordingConsumer{name: "stats", before: func(_ context.Context, batch []change.Change) {
			if len(batch) > 1 {
				panic("too many")
			}
			time.Sleep(9 * time.Second)
		}}
		b := setup(t, s)
		// the margin begins between two of the slow steps
		ctx, cancel := context.WithTimeout(t.Context(), 19500*time.Millisecond)
		defer cancel()
		require.Equal(t, "102", b.handleWithin(t, ctx, event("a1", "b1", "c1", "d1")))
		require.Equal(t, []string{"a1", "b1"}, s.done)
	})
}

func TestHandle_goesOnWithOthersBeforeTheNextPause(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(change.Change, int) change.Outcome{
		"together": only(retry, always, "a1"),
		"alone": func(c change.Change, _ int) change.Outcome {
			if label(c) == "a1" {
				panic("always")
			}
			return change.Outcome{}
		},
	} {
		s := &recordingConsumer{name: "stats", folds: true, fail: fail}
		b := setupWith(t, func(c *consume.Config) {
			waits := 0
			c.Wait = func(context.Context, time.Duration) error {
				if waits++; waits > 1 {
					panic("a wait that failed is the end")
				}
				return context.DeadlineExceeded
			}
		}, s)
		require.Equal(t, "100", b.handle(t, event("a1", "a2", "b1")), name)
		require.Contains(t, s.done, "b1", name)
		require.Equal(t, consume.Counts{Records: 3, Done: 1, Unfinished: 2, Retried: 1}, b.counts["stats"], name)
	}
}
