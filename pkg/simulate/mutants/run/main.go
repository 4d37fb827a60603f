// Command run takes a report of gremlins and prints what became of its mutants: make mutants. It ends with 1 if one survived that the
// document does not list as equivalent.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"nexus/pkg/simulate/mutants"
)

// document holds the list of equivalent mutants.
const document = "docs/simulation.md"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var h mutants.Hunter
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	report := flags.String("report", "", "the `file` that gremlins wrote")
	pkg := flags.String("pkg", "", "the `package` under pkg that it is about")
	tests := flags.String("tests", "", "other `packages` whose tests are to kill mutants, besides its own")
	flags.IntVar(&h.Seeds, "seeds", 1000, "histories that are played against each mutant that no test killed")
	flags.DurationVar(&h.Patience, "patience", 5*time.Minute, "how long tests or histories may take; what takes longer is killed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	h.Tests = append([]string{"./pkg/" + *pkg}, strings.Fields(*tests)...)
	text, err := os.ReadFile(*report)
	if err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	all, err := mutants.Read(text)
	if err != nil {
		return err
	}
	if h.Root, err = os.Getwd(); err != nil {
		return fmt.Errorf("the module's root: %w", err)
	}
	if h.Folder, err = os.MkdirTemp("", "mutants"); err != nil {
		return fmt.Errorf("a folder to build in: %w", err)
	}
	return errors.Join(hunt(ctx, h, *pkg, all, out), os.RemoveAll(h.Folder))
}

// hunt takes up what gremlins left open.
func hunt(ctx context.Context, h mutants.Hunter, pkg string, all []mutants.Mutant, out io.Writer) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return fmt.Errorf("the list of equivalent mutants: %w", err)
	}
	equivalent, err := mutants.ReadEquivalent(string(text))
	if err != nil {
		return err
	}
	tally := mutants.Tally{Package: pkg}
	for _, m := range all {
		fate := mutants.ByTests
		source, err := os.ReadFile(filepath.Join(h.Root, "pkg", pkg, m.File))
		if err != nil {
			return fmt.Errorf("the source of a mutant: %w", err)
		}
		isListed := equivalent.Has(pkg, m, source)
		if m.IsOpen() && isListed {
			fate = mutants.Survived
		} else if m.IsOpen() {
			if fate, err = h.Fate(ctx, pkg, m); err != nil {
				return fmt.Errorf("%s: %w", m, err)
			}
			fmt.Fprintf(out, "%-50s %s\n", m, [...]string{"SURVIVES", "killed by tests", "killed by the simulation", "does not compile"}[fate])
		}
		tally.Count(m, fate, isListed)
	}
	for _, m := range tally.Survivors {
		source, err := os.ReadFile(filepath.Join(h.Root, "pkg", pkg, m.File))
		if err != nil {
			return fmt.Errorf("the source of a mutant: %w", err)
		}
		fmt.Fprintln(out, mutants.Row(pkg, m, source))
	}
	fmt.Fprintln(out, tally.Line())
	if len(tally.Survivors) > 0 {
		return fmt.Errorf("%d mutants of %s survive and are not listed as equivalent", len(tally.Survivors), pkg)
	}
	return nil
}
