package stream_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/functions/internal/stream"
	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/deploy/readers"
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
		Config: consume.Config{
			Registry: product.Registry(), Consumers: consumers, Parking: nowhere{},
			Log: slog.New(slog.DiscardHandler), Now: time.Now, Wait: port.Sleep,
		},
		Function: f, Meter: meter, Metrics: metric.NewWriter(&bytes.Buffer{}, time.Now),
	}
}

func TestConfig_runsExactlyTheConsumersOfItsLine(t *testing.T) {
	t.Parallel()
	line := readers.Table(product.Registry())[0]
	require.Equal(t, string(env.Projections), line.Name)
	var right []change.Consumer
	for _, name := range line.Consumers {
		right = append(right, named(name))
	}
	_, err := stream.New(config(env.Projections, right...))
	require.NoError(t, err)
	reversed := slices.Clone(right)
	slices.Reverse(reversed)
	for _, wrong := range []stream.Config{
		config(env.Projections),
		config(env.Projections, right[:len(right)-1]...),
		config(env.Projections, reversed...),
		config(env.Projections, append(slices.Clone(right), named("archive"))...),
		config(env.Effects, right...),
		config(env.Query, right...),
	} {
		_, err := stream.New(wrong)
		require.ErrorContains(t, err, "deployment table")
	}
	unmetered := config(env.Projections, right...)
	unmetered.Meter = func(string) *table.Meter { return nil }
	_, err = stream.New(unmetered)
	require.ErrorContains(t, err, "consumer "+right[0].Name())
}
