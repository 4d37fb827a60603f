package stream

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"nexus/functions/internal/boot"
	"nexus/functions/metric"
)

const (
	// sizeEvery is how often DynamoDB counts what a table holds (DynamoDB API Reference, TableDescription).
	sizeEvery = 6 * time.Hour
	// sizePatience bounds the measurement, whose batch waits to be acknowledged.
	sizePatience = 2 * time.Second
)

// Sized emits now and then what the table holds. It hangs on to batches, because a table to which nothing is written does
// not grow; a measurement that fails costs no batch, and is tried again when the next is due.
func Sized(c Config, next boot.Handler, bytes func(context.Context) (int64, error)) boot.Handler {
	var mu sync.Mutex
	var due time.Time
	isDue := func() bool {
		mu.Lock()
		defer mu.Unlock()
		now := c.Now()
		if now.Before(due) {
			return false
		}
		due = now.Add(sizeEvery)
		return true
	}
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		out, err := next(ctx, payload)
		if err != nil || !isDue() {
			return out, err
		}
		bounded, stop := context.WithTimeout(ctx, sizePatience)
		defer stop()
		n, failure := bytes(bounded)
		if failure != nil {
			c.Log.LogAttrs(ctx, slog.LevelWarn, "table not measured", slog.String("error", failure.Error()))
			return out, nil
		}
		c.Metrics.Write(metric.ByFunction, string(c.Function), metric.Values{metric.TableBytes: float64(n)}, nil)
		return out, nil
	}
}
