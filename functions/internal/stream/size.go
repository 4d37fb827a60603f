package stream

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"nexus/functions/internal/boot"
	"nexus/pkg/consume"
	"nexus/pkg/deploy/metric"
)

const (
	// sizeEvery is the interval at which DynamoDB updates the size of a table (DynamoDB API Reference, TableDescription).
	sizeEvery = 6 * time.Hour
	// sizeAgain is the pause after a failed measurement, so that a service that hangs delays only one batch of many.
	sizeAgain = time.Minute
	// sizePatience bounds the measurement, whose batch waits to be acknowledged.
	sizePatience = 2 * time.Second
	// sizeMargin is the part of the invocation's time that a measurement leaves for the answer.
	sizeMargin = 500 * time.Millisecond
)

// Sized emits the size of the table at intervals. It runs after batches, because a table without writes does not grow.
// A measurement costs no batch:
//
//   - it follows only a batch that left nothing unfinished: a store that failed the batch gets no further call;
//   - it ends while there is still time to answer;
//   - one that fails changes nothing in the answer, and is tried again with a batch a minute later.
func Sized(c Config, next boot.Handler, bytes func(context.Context) (int64, error)) boot.Handler {
	m := &measurement{Config: c, bytes: bytes}
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		out, err := next(ctx, payload)
		if err == nil && consume.Finished(out) {
			m.take(ctx)
		}
		return out, err
	}
}

// measurement records when the table is to be measured next.
type measurement struct {
	Config
	bytes func(context.Context) (int64, error)

	mu  sync.Mutex
	due time.Time
}

// take measures if it is due. Of two concurrent batches one measures: the other does not wait.
func (m *measurement) take(ctx context.Context) {
	if !m.mu.TryLock() {
		return
	}
	defer m.mu.Unlock()
	if m.Now().Before(m.due) {
		return
	}
	bounded, stop := context.WithTimeout(ctx, sizePatience)
	defer stop()
	if deadline, ok := ctx.Deadline(); ok {
		var stopToo context.CancelFunc
		bounded, stopToo = context.WithDeadline(bounded, deadline.Add(-sizeMargin))
		defer stopToo()
	}
	n, err := m.bytes(bounded)
	if err != nil {
		m.due = m.Now().Add(sizeAgain)
		m.Log.LogAttrs(ctx, slog.LevelWarn, "table not measured", slog.String("error", err.Error()))
		return
	}
	m.due = m.Now().Add(sizeEvery)
	m.Metrics.Write(metric.ByFunction, string(m.Function), metric.Values{metric.TableBytes: float64(n)}, nil)
}
