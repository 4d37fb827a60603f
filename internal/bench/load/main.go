// Command load measures how fast the system answers reads over HTTP, from clients on the same machine: week views, the
// board and single items, on each store.
//
// It prints a table and fails on an error only, never on a slow machine: absolute figures are reported with the machine
// beside them. Everything it makes, it makes in a store of its own that is gone afterwards. The benchmarks of this
// package measure the same reads in one process, and what the consumers make of the stream.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"nexus/pkg/local"
)

// options say what is measured.
type options struct {
	stores               []local.Store
	users, items, series int
	clients              int
	long, each           time.Duration
}

// maxLong bounds how long one kind of request is measured.
const maxLong = time.Hour

var errFlag = errors.New("flag out of bounds")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	o, err := parseOptions(os.Args[1:])
	if err == nil {
		err = httpTable(ctx, os.Stdout, o)
	}
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func parseOptions(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("load", flag.ContinueOnError)
	f.SetOutput(os.Stderr)
	stores := f.String("stores", "memory,dynamodb",
		"where tables are kept: memory, dynamodb, or both, one after the other")
	limits := map[string]int{}
	number := func(p *int, name string, value, limit int, usage string) {
		f.IntVar(p, name, value, usage)
		limits[name] = limit
	}
	number(&o.users, "users", 10, 1000, "users with data")
	number(&o.items, "items", 500, 20_000, "events, tasks, reminders and notes of each user, over five years")
	number(&o.series, "series", 30, 1000, "series of each user, a third of them with exceptions")
	number(&o.clients, "clients", 8, 256, "clients that ask at the same time")
	f.DurationVar(&o.long, "for", time.Minute, "how long week views are asked for by all clients")
	f.DurationVar(&o.each, "each", 10*time.Second, "how long each kind of request is asked for by one client")
	if err := f.Parse(args); err != nil {
		return options{}, err
	}
	for name := range strings.SplitSeq(*stores, ",") {
		s := local.Store(name)
		if s != local.Memory && s != local.DynamoDB {
			return options{}, fmt.Errorf("%w: -stores %q", errFlag, *stores)
		}
		o.stores = append(o.stores, s)
	}
	for name, limit := range limits {
		if value := f.Lookup(name).Value.(flag.Getter).Get().(int); value < 1 || value > limit {
			return options{}, fmt.Errorf("%w: -%s is 1 to %d", errFlag, name, limit)
		}
	}
	if min(o.long, o.each) <= 0 || max(o.long, o.each) > maxLong {
		return options{}, fmt.Errorf("%w: -for and -each are at most %v", errFlag, maxLong)
	}
	return o, nil
}
