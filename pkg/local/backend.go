package local

import (
	"context"
	"time"

	"nexus/pkg/eventsource"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// backend is the table with its stream, in any of its stores. A function that a backend cannot offer is nil.
type backend struct {
	// newStore returns a store on the table that reports its calls to the observer. One that serves requests
	// has few calls under way at once, if the engine runs beside it.
	newStore func(o table.Observer, servesRequests bool) table.Store
	walker   table.Walker

	stream    string // ARN
	tableName string
	endpoint  string // for other tools, if they may see it; empty for the memory store

	// newSource returns a source of the stream for one reader.
	newSource func() eventsource.Source
	// changed returns a channel that is closed at the stream's next record.
	changed func() <-chan struct{}
	// heads returns the last record of every shard; "" for a shard without one. Nil if the stream's end is unknown.
	heads func(ctx context.Context) (map[string]string, error)
	// sweep removes the rows that have expired at the instant and returns their number. Nil if the service does that
	// itself, by the real clock.
	sweep func(ctx context.Context, at time.Time) (int, error)
	// forget removes what is kept of rows that have expired, and returns of how many; if it counts, of how many there is
	// something. Nil if nothing is kept.
	forget func(are func(item.Key) bool, counts bool) (int, error)
	// mask replaces the records of the stream that have rows of the partitions for which insteadOf returns a key. Nil if
	// the service ends its records itself.
	mask func(ctx context.Context, insteadOf func(partition string) (item.Key, bool)) (int, error)

	// done is closed when the store has ended by itself, and err says why. Nil if it cannot end by itself.
	done <-chan struct{}
	err  func() error
	stop func(ctx context.Context) error
}
