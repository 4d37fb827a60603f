package stream_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/functions/env"
	"nexus/functions/internal/stream"
	"nexus/functions/metric"
)

func TestTheTableIsMeasuredEverySixHoursAndCostsNoBatch(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	c := config(env.Projections)
	c.Now = func() time.Time { return now }
	c.Metrics = metric.NewWriter(&out, c.Now)
	asked, failed := 0, false
	var broken error
	handle := stream.Sized(c,
		func(context.Context, []byte) ([]byte, error) { return []byte("answer"), broken },
		func(ctx context.Context) (int64, error) {
			asked++
			if _, bounded := ctx.Deadline(); !bounded || failed {
				return 0, errors.New("not now")
			}
			return 81e9, nil
		})
	for _, step := range []struct {
		after         time.Duration
		broken        error
		failed        bool
		asked, counts int
	}{
		{broken: errors.New("no batch"), asked: 0},
		{asked: 1, counts: 1},
		{after: time.Hour, asked: 1, counts: 1},
		{after: 5 * time.Hour, asked: 2, counts: 2},
		{after: 6 * time.Hour, failed: true, asked: 3, counts: 2},
		{after: time.Minute, asked: 3, counts: 2},
		{after: 6 * time.Hour, asked: 4, counts: 3},
	} {
		now, broken, failed = now.Add(step.after), step.broken, step.failed
		answer, err := handle(t.Context(), nil)
		require.ErrorIs(t, err, step.broken)
		require.Equal(t, "answer", string(answer))
		require.Equal(t, [2]int{step.asked, step.counts}, [2]int{asked, strings.Count(out.String(), `"TableBytes":81000000000`)})
	}
}
