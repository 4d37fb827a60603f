package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"nexus/pkg/product"
)

// streamRun says how much `load stream` measures.
type streamRun struct {
	records int           // in each batch that is decoded
	measure time.Duration // of each reader
	users   int
	batch   int // changes in a batch that consumers get
}

// fullStream is P3 and P4 of the performance goals: 100 records of two images of 1.9 KB, and 10,000 changes of 500
// users.
var fullStream = streamRun{records: 100, measure: 2 * time.Second, users: 500, batch: 100}

// streamTable prints how fast stream records become changes, and what the projections make of changes.
func streamTable(ctx context.Context, out io.Writer, run streamRun) error {
	registry := product.Registry()
	fmt.Fprintf(out, "reading stream batches of %d records; %s\n", run.records, machine())
	if err := decodeTable(ctx, out, registry, run); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nprojections, %d changes of %d users, on a memory store\n", run.users*len(story), run.users)
	return projectionTable(ctx, out, registry, run)
}
