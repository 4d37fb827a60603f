// Command load measures how fast the system answers reads and follows its stream, on this machine and in one run.
//
//	load agenda   the agenda of a week in this process, beside one bare query of the same store, and on the engine
//	load stream   stream batches read and projected, beside the stock event type and one transaction for each record
//	load scale    reads and consumers on ever larger tables
//	load http     week views, board and single items over HTTP, from clients on the same machine
//
// It prints tables and fails on an error only, never on a slow machine: absolute figures are reported with the machine
// beside them. Everything it makes, it makes in a store of its own that is gone afterwards.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// errUsage: the command line names nothing to do.
var errUsage = errors.New(
	"usage: load agenda | load stream | load scale [flags] | load http [flags]; -help lists the flags")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	switch args[0] {
	case "agenda":
		return agendaTable(ctx, out, fullAgenda)
	case "stream":
		return streamTable(ctx, out, fullStream)
	case "scale":
		r, err := parseScale(args[1:])
		if err != nil {
			return err
		}
		return scaleTable(ctx, out, r)
	case "http":
		o, err := parseOptions(args[1:])
		if err != nil {
			return err
		}
		return httpTable(ctx, out, o)
	}
	return errUsage
}
