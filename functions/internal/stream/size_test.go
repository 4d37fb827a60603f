package stream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/functions/internal/stream"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
)

func TestSized_measuresEverySixHoursAndDelaysNoBatch(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	c := config(env.Projections)
	c.Now = func() time.Time { return now }
	c.Metrics = metric.NewWriter(&out, c.Now)
	asked, failed := 0, false
	var broken error
	answers := `{"batchItemFailures":[]}`
	handle := stream.Sized(c,
		func(context.Context, []byte) ([]byte, error) { return []byte(answers), broken },
		func(ctx context.Context) (int64, error) {
			asked++
			if _, bounded := ctx.Deadline(); !bounded || failed {
				return 0, errors.New("not now")
			}
			return 81e9, nil
		})
	const left = `{"batchItemFailures":[{"itemIdentifier":"1"}]}`
	for i, step := range []struct {
		after         time.Duration
		broken        error
		left, failed  bool
		asked, counts int
	}{
		{broken: errors.New("no batch"), asked: 0},
		{left: true, asked: 0}, // the store has enough to do
		{asked: 1, counts: 1},
		{after: time.Hour, asked: 1, counts: 1},
		{after: 5 * time.Hour, left: true, asked: 1, counts: 1},
		{after: time.Second, asked: 2, counts: 2},
		{after: 6 * time.Hour, failed: true, asked: 3, counts: 2},
		{after: 59 * time.Second, asked: 3, counts: 2},
		{after: time.Second, failed: true, asked: 4, counts: 2},
		{after: time.Minute, asked: 5, counts: 3}, // it stays due until it succeeds
		{after: 5 * time.Hour, asked: 5, counts: 3},
	} {
		now, broken, failed = now.Add(step.after), step.broken, step.failed
		answers = `{"batchItemFailures":[]}`
		if step.left {
			answers = left
		}
		answer, err := handle(t.Context(), nil)
		require.ErrorIs(t, err, step.broken)
		require.Equal(t, answers, string(answer))
		require.Equal(t, [2]int{step.asked, step.counts},
			[2]int{asked, strings.Count(out.String(), `"TableBytes":81000000000`)}, "step %d", i)
	}
}

func TestSized_leavesTimeToAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := config(env.Projections)
		c.Now, c.Metrics = time.Now, metric.NewWriter(io.Discard, time.Now)
		handle := stream.Sized(c,
			func(context.Context, []byte) ([]byte, error) { return []byte(`{"batchItemFailures":[]}`), nil },
			func(ctx context.Context) (int64, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			})
		for limit, took := range map[time.Duration]time.Duration{
			time.Minute: 2 * time.Second, 3 * time.Second: 2 * time.Second, 2 * time.Second: 1500 * time.Millisecond,
			400 * time.Millisecond: 0,
		} {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			began := time.Now()
			_, err := handle(ctx, nil)
			cancel()
			require.NoError(t, err)
			require.Equal(t, took, time.Since(began), "of %s", limit)
			time.Sleep(time.Minute) // until it is due again
		}
	})
}
