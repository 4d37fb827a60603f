package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"nexus/pkg/local"
)

// options say what `load http` measures.
type options struct {
	stores               []local.Store
	users, items, series int
	clients              int
	long, each           time.Duration
}

// Bounds of the flags: a measurement ends.
const (
	maxUsers   = 1000
	maxItems   = 20_000
	maxSeries  = 1000
	maxClients = 256
	maxLong    = time.Hour
)

var errFlag = errors.New("flag out of bounds")

func parseOptions(args []string) (options, error) {
	var o options
	var stores string
	f := flag.NewFlagSet("load http", flag.ContinueOnError)
	f.SetOutput(os.Stderr)
	f.StringVar(&stores, "stores", "memory,dynamodb",
		"where tables are kept: memory, dynamodb, or both, one after the other")
	f.IntVar(&o.users, "users", 10, "users with data")
	f.IntVar(&o.items, "items", 500, "events, tasks, reminders and notes of each user, over five years")
	f.IntVar(&o.series, "series", 30, "series of each user, a third of them with exceptions")
	f.IntVar(&o.clients, "clients", 8, "clients that ask at the same time")
	f.DurationVar(&o.long, "for", time.Minute, "how long week views are asked for by all clients")
	f.DurationVar(&o.each, "each", 10*time.Second, "how long each kind of request is asked for by one client")
	if err := f.Parse(args); err != nil {
		return options{}, err
	}
	for name := range strings.SplitSeq(stores, ",") {
		if s := local.Store(name); s == local.Memory || s == local.DynamoDB {
			o.stores = append(o.stores, s)
			continue
		}
		return options{}, fmt.Errorf("%w: -stores %q", errFlag, stores)
	}
	for _, bound := range []struct {
		name         string
		value, limit int
	}{
		{"users", o.users, maxUsers}, {"items", o.items, maxItems}, {"series", o.series, maxSeries},
		{"clients", o.clients, maxClients},
	} {
		if bound.value < 1 || bound.value > bound.limit {
			return options{}, fmt.Errorf("%w: -%s is 1 to %d", errFlag, bound.name, bound.limit)
		}
	}
	if min(o.long, o.each) <= 0 || max(o.long, o.each) > maxLong {
		return options{}, fmt.Errorf("%w: -for and -each are at most %v", errFlag, maxLong)
	}
	return o, nil
}
