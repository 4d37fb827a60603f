// Command run builds nexus with the release before it inside and plays random histories in which both work: make
// beside. It ends with 1 if a history breaks an invariant.
//
// It must never change the code: what it builds lies in a folder of its own that goes with it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"

	"nexus/internal/simulate/beside"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "beside:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("beside", flag.ContinueOnError)
	before := flags.String("before", beside.Before, "the `commit` of the release before")
	keep := flags.String("keep", "", "leave the program at this `path` as well")
	if err := flags.Parse(args); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "beside")
	if err != nil {
		return fmt.Errorf("a folder to build in: %w", err)
	}
	return errors.Join(play(ctx, folder, *before, *keep, flags.Args()), os.RemoveAll(folder))
}

// play builds the program and has it simulate with the arguments given.
func play(ctx context.Context, folder, before, keep string, args []string) error {
	program := keep
	if program == "" {
		program = filepath.Join(folder, "nexus")
	}
	root, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("the tree: %w", err)
	}
	if err := beside.Build(ctx, root, before, folder, program); err != nil {
		return err
	}
	simulate := exec.CommandContext(ctx, program, append([]string{"simulate"}, args...)...)
	simulate.Stdout, simulate.Stderr = os.Stdout, os.Stderr
	if err := simulate.Run(); err != nil {
		return fmt.Errorf("simulate: %w", err)
	}
	return nil
}
