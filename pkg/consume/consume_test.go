package consume_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/port"
)

func TestHandle_isOneCallAndAnEmptyAnswerWithoutTrouble(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats", folds: true}
	b := setup(t, s)
	body, err := b.loop.Handle(t.Context(), event("a1", "b1", "c1"))
	require.NoError(t, err)
	require.JSONEq(t, `{"batchItemFailures":[]}`, string(body))
	require.True(t, consume.Finished(body))
	require.Equal(t, [][]string{{"a1", "b1", "c1"}}, s.calls)
	require.Equal(t, consume.Counts{Records: 3, Done: 3}, b.counts["stats"])
	require.Empty(t, b.waits)
	require.Empty(t, b.log.String())

	require.Empty(t, b.handle(t, []byte(`{"Records":[]}`)))
	require.Len(t, s.calls, 1)
}

func TestHandle_appliesChangesOfAnItemOneAfterAnother(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats", fail: only(retry, 1, "a1")}
	b := setup(t, s)
	require.Empty(t, b.handle(t, event("a1", "b1", "a2", "a3", "b2")))
	require.Equal(t, [][]string{{"a1"}, {"b1"}, {"a1"}, {"b2"}, {"a2"}, {"a3"}}, s.calls)
	require.Equal(t, []string{"b1", "a1", "b2", "a2", "a3"}, s.done)
}

func TestHandle_handsABatchConsumerAnItemsChangesTogether(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats", folds: true, fail: only(retry, 1, "a2")}
	b := setup(t, s)
	require.Empty(t, b.handle(t, event("a1", "b1", "a2", "a3")))
	// Its word that a3 is done does not count while a2 is not.
	require.Equal(t, [][]string{{"a1", "b1", "a2", "a3"}, {"a2", "a3"}}, s.calls)
	require.Equal(t, consume.Counts{Records: 4, Done: 4, Retried: 1}, b.counts["stats"])
}

func TestHandle_repeatsARetryWithGrowingWaits(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats", fail: only(retry, 2, "b1")}
	b := setup(t, s)
	require.Empty(t, b.handle(t, event("a1", "b1", "c1")))
	require.Equal(t, []string{"a1", "c1", "b1"}, s.done)
	require.Equal(t, []time.Duration{consume.DefaultBackoff, 2 * consume.DefaultBackoff}, b.waits)
	require.Equal(t, consume.Counts{Records: 3, Done: 3, Retried: 2}, b.counts["stats"])
	require.Empty(t, b.shelf.objects)
}

func TestHandle_namesAnUnfinishedRecordAndDelaysItsItemOnly(t *testing.T) {
	t.Parallel()
	for _, folds := range []bool{false, true} {
		s := &recordingConsumer{name: "stats", folds: folds, fail: only(retry, always, "b1")}
		b := setup(t, s)
		require.Equal(t, "101", b.handle(t, event("a1", "b1", "c1", "b2", "c2")))
		require.Equal(t, consume.DefaultAttempts, s.tries["101"])
		require.Equal(t, consume.Counts{Records: 5, Done: 3, Unfinished: 2, Retried: 3}, b.counts["stats"])
		require.Empty(t, b.shelf.objects, "an outage parks nothing")
		require.Equal(t, 1, strings.Count(b.log.String(), "\n"), "logged once")
		require.Contains(t, b.log.String(), errBusy.Error())
		if !folds {
			require.NotContains(t, s.done, "b2")
		}
	}
}

func TestHandle_endsInTheSameStateHoweverABatchIsCut(t *testing.T) {
	t.Parallel()
	labels := []string{"a1", "b1", "?", "a2", "c1", "b2", "a3", "c2"}
	for cut := range len(labels) + 1 {
		s := &recordingConsumer{name: "stats", fail: func(c change.Change, try int) change.Outcome {
			switch {
			case label(c) == "b1":
				return poison
			case try == 1:
				return retry
			}
			return change.Outcome{}
		}}
		b := setup(t, s)
		all := records(labels...)
		require.Empty(t, b.handle(t, consume.Event(all[:cut])))
		require.Empty(t, b.handle(t, consume.Event(all[cut:])))
		require.ElementsMatch(t, []string{"a1", "a2", "c1", "b2", "a3", "c2"}, s.done)
		for _, item := range []string{"a", "b", "c"} {
			var versions []string
			for _, l := range s.done {
				if strings.HasPrefix(l, item) {
					versions = append(versions, l)
				}
			}
			require.IsIncreasing(t, versions)
		}
		require.Len(t, b.shelf.objects, 2)
	}
}

func TestHandle_takesUnfinishedRecordsAgainFromTheOneReported(t *testing.T) {
	t.Parallel()
	// The mapping delivers again from the record named, until nothing is named: everything is done at least once.
	labels := []string{"a1", "b1", "a2", "c1", "b2"}
	for failing := range labels {
		s := &recordingConsumer{name: "stats"}
		s.fail = only(retry, consume.DefaultAttempts+1, labels[failing])
		b := setup(t, s)
		rest := records(labels...)
		for deliveries := 0; len(rest) > 0; deliveries++ {
			require.Less(t, deliveries, 3)
			sequence := b.handle(t, consume.Event(rest))
			if sequence == "" {
				break
			}
			require.Equal(t, fmt.Sprint(100+failing), sequence)
			rest = records(labels...)[failing:]
		}
		require.Subset(t, s.done, labels)
	}
}

func TestHandle_parksARepeatedRecordOnce(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats", fail: only(poison, always, "b1")}
	b := setup(t, s)
	for range 3 {
		require.Empty(t, b.handle(t, event("a1", "b1", "?", "a1", "a2")))
	}
	require.Len(t, b.shelf.objects, 2)
	require.Equal(t, []string{"a1", "a1", "a2"}, s.done[:3])
	require.Len(t, s.done, 9)
}

func TestHandle_separatesTheTroubleOfConsumers(t *testing.T) {
	t.Parallel()
	for _, spread := range []func(int, []func()){consume.SideBySide, consume.InTurn} {
		slow := &recordingConsumer{name: "links", fail: only(retry, always, "b1")}
		bad := &recordingConsumer{name: "archive", fail: func(change.Change, int) change.Outcome { panic("broken") }}
		well := &recordingConsumer{name: "stats"}
		b := setupWith(t, func(c *consume.Config) { c.Spread = spread }, slow, bad, well)
		require.Equal(t, "101", b.handle(t, event("a1", "b1", "a2", "c1")))
		require.ElementsMatch(t, []string{"a1", "b1", "c1"}, well.done[:3])
		require.Equal(t, "a2", well.done[3])
		require.ElementsMatch(t, []string{"a1", "c1"}, slow.done[:2])
		require.Equal(t, "a2", slow.done[2])
		require.Equal(t, consume.Counts{Records: 4, Done: 4}, b.counts["stats"])
		require.Equal(t, consume.Counts{Records: 4, Done: 3, Unfinished: 1, Retried: 3}, b.counts["links"])
		require.Equal(t, 4, b.counts["archive"].Parked)
	}
}

func TestHandle_namesTheFirstRecordThatAnyConsumerLeft(t *testing.T) {
	t.Parallel()
	late := &recordingConsumer{name: "stats", fail: only(retry, always, "c1")}
	early := &recordingConsumer{name: "links", fail: only(retry, always, "b1", "d1")}
	require.Equal(t, "101", setup(t, late, early).handle(t, event("a1", "b1", "c1", "d1")))
}

func TestHandle_failsIfOutcomesDoNotFitTheBatch(t *testing.T) {
	t.Parallel()
	b := setupWith(t, func(c *consume.Config) { c.Consumers = []change.Consumer{miscounter{}} })
	body, err := b.loop.Handle(t.Context(), event("a1", "b1"))
	require.NoError(t, err)
	require.JSONEq(t, `{"batchItemFailures":[{"itemIdentifier":"100"}]}`, string(body))
	require.False(t, consume.Finished(body))
	require.Contains(t, b.log.String(), "2 outcomes for 1 changes")
	require.Empty(t, b.shelf.objects)
}

type miscounter struct{}

func (miscounter) Name() string { return "stats" }
func (miscounter) Apply(context.Context, []change.Change) []change.Outcome {
	return make([]change.Outcome, 2)
}

func TestHandle_takesAnUnknownVerdictForNoSuccess(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats", fail: only(change.Outcome{Verdict: 7}, always, "b1")}
	require.Equal(t, "101", setup(t, s).handle(t, event("a1", "b1")))
}

func TestHandle_failsOnAMalformedEvent(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats"}
	b := setup(t, s)
	for _, payload := range []string{``, `{}`, `[]`, `{"Records":[{`} {
		_, err := b.loop.Handle(t.Context(), []byte(payload))
		require.ErrorIs(t, err, change.ErrMalformedEvent)
	}
	require.Empty(t, s.calls)
}

func TestHandle_failsOnAnUnfinishedRecordWithoutSequenceNumber(t *testing.T) {
	t.Parallel()
	b := setup(t, &recordingConsumer{name: "stats"})
	b.shelf.fail = always
	_, err := b.loop.Handle(t.Context(), []byte(`{"Records":[{}]}`))
	require.ErrorContains(t, err, "no sequence number")
}

func TestHandle_stopsBeforeItsDeadlineAndSaysWhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &recordingConsumer{name: "stats", fail: only(retry, always, "b1")}
		b := setupWith(t, func(c *consume.Config) {
			c.Wait, c.Attempts, c.Backoff, c.Margin = port.Sleep, 1000, time.Second, 10*time.Second
		}, s)
		started := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.Equal(t, "101", b.handleWithin(t, ctx, event("a1", "b1", "c1", "b2")))
		require.Equal(t, 50*time.Second, time.Since(started))
		require.Equal(t, []string{"a1", "c1"}, s.done)
		require.Contains(t, b.log.String(), context.DeadlineExceeded.Error())
	})
}

func TestHandle_showsAConsumerTheEndBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &recordingConsumer{name: "stats", before: func(ctx context.Context, _ []change.Change) { <-ctx.Done() }}
		s.fail = only(retry, always, "a1")
		b := setup(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		require.Equal(t, "100", b.handleWithin(t, ctx, event("a1", "b1")))
		require.NoError(t, ctx.Err())
		require.Len(t, s.calls, 1)
	})
}

func TestHandle_startsNothingWithoutTime(t *testing.T) {
	t.Parallel()
	s := &recordingConsumer{name: "stats"}
	b := setup(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // less than the margin
	defer cancel()
	require.Equal(t, "100", b.handleWithin(t, ctx, event("a1", "?")))
	require.Empty(t, s.calls)
	require.Empty(t, b.shelf.objects)
}

func TestNew_refusesAnIncompleteConfiguration(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(*consume.Config){
		"no registry":    func(c *consume.Config) { c.Registry = nil },
		"no consumers":   func(c *consume.Config) { c.Consumers = nil },
		"no parking":     func(c *consume.Config) { c.Parking = nil },
		"no log":         func(c *consume.Config) { c.Log = (*slog.Logger)(nil) },
		"no clock":       func(c *consume.Config) { c.Now = nil },
		"no wait":        func(c *consume.Config) { c.Wait = nil },
		"below zero":     func(c *consume.Config) { c.Attempts = -1 },
		`name "../x"`:    func(c *consume.Config) { c.Consumers = []change.Consumer{&recordingConsumer{name: "../x"}} },
		`name ""`:        func(c *consume.Config) { c.Consumers = []change.Consumer{&recordingConsumer{}} },
		`name "x": want`: func(c *consume.Config) { c.Consumers = append(c.Consumers, c.Consumers[0]) },
	} {
		cfg := config(setup(t, &recordingConsumer{name: "x"}))
		cfg.Consumers = []change.Consumer{&recordingConsumer{name: "x"}}
		spoil(&cfg)
		_, err := consume.New(cfg)
		require.ErrorContains(t, err, want)
	}
}
