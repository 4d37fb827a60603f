package stream_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/functions/internal/stream"
	"nexus/pkg/change"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/port"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// named is a consumer that has nothing to do.
type named string

func (n named) Name() string { return string(n) }

func (named) Apply(_ context.Context, batch []change.Change) []change.Outcome {
	return make([]change.Outcome, len(batch))
}

type nowhere struct{}

func (nowhere) Put(context.Context, string, []byte) error { return nil }

func config(f env.Function, consumers ...change.Consumer) stream.Config {
	meter := func(string) *table.Meter { return new(table.Meter) }
	return stream.Config{
		Function: f, Registry: product.Registry(), Consumers: consumers, Meter: meter, Parking: nowhere{},
		Log:     slog.New(slog.DiscardHandler),
		Metrics: metric.NewWriter(&bytes.Buffer{}, time.Now), Now: time.Now, Wait: port.Sleep,
	}
}

func TestConfig_runsExactlyTheConsumersOfItsLine(t *testing.T) {
	t.Parallel()
	_, err := stream.New(config(env.Projections, named("stats"), named("links")))
	require.NoError(t, err)
	for _, wrong := range []stream.Config{
		config(env.Projections),
		config(env.Projections, named("stats")),
		config(env.Projections, named("links"), named("stats")),
		config(env.Projections, named("stats"), named("links"), named("archive")),
		config(env.Effects, named("stats"), named("links")),
		config(env.Query, named("stats"), named("links")),
	} {
		_, err := stream.New(wrong)
		require.ErrorContains(t, err, "deployment table")
	}
	unmetered := config(env.Projections, named("stats"), named("links"))
	unmetered.Meter = func(string) *table.Meter { return nil }
	_, err = stream.New(unmetered)
	require.ErrorContains(t, err, "consumer stats")
}
