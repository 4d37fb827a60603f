package local

import (
	"context"
	"time"

	"nexus/pkg/eventsource"
	"nexus/pkg/table"
)

// backend is the table with its stream, wherever it is kept. Some keep more promises than others: what a backend cannot
// do is nil.
type backend struct {
	// newStore returns a store on the table, whose calls the observer is told of.
	newStore func(table.Observer) table.Store
	walker   table.Walker

	stream    string // ARN
	tableName string
	endpoint  string // for other tools, if they may know it; empty for the memory store

	// newSource returns a source of the stream for one reader.
	newSource func() eventsource.Source
	// changed returns a channel that is closed at the stream's next record.
	changed func() <-chan struct{}
	// heads returns the last record of every shard; "" for a shard without one. Nil where the stream's end is not known.
	heads func(ctx context.Context) (map[string]string, error)
	// sweep removes what has expired at the instant and returns how many rows. Nil where the service does that itself, by
	// the real clock.
	sweep func(ctx context.Context, at time.Time) (int, error)

	// done is closed when the store has ended by itself, and err says why. Nil where nothing can end.
	done <-chan struct{}
	err  func() error
	stop func(ctx context.Context) error
}
