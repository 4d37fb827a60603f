// Command run takes a report of gremlins and prints what became of its mutants: make mutants. It ends with 1 if one
// survived that the document does not list as equivalent.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"nexus/internal/simulate/mutants"
	"nexus/internal/simulate/rig"
)

// document holds the list of equivalent mutants.
const document = "docs/simulation.md"

func main() {
	var h mutants.Hunter
	report := flag.String("report", "", "the `file` that gremlins wrote")
	pkg := flag.String("pkg", "", "the `package` under pkg that it is about")
	tests := flag.String("tests", "", "other `packages` whose tests are to kill mutants, besides its own")
	flag.IntVar(&h.Seeds, "seeds", 1000, "histories that are played against each mutant that no test killed")
	workers := flag.Int("workers", 1, "how many mutants are tested at a time")
	only := flag.String("only", "", "a `pattern`: take up those mutants alone whose file:line:column and type match it")
	flag.DurationVar(&h.Patience, "patience", 5*time.Minute,
		"how long a program may take at most; a mutant that takes longer is killed")
	flag.DurationVar(&h.Least, "least", 30*time.Second,
		"how long tests with a mutant may take at least, if ten times their usual time is less")
	flag.Parse()
	rig.Main("mutants", func(ctx context.Context, folder string) (err error) {
		h.Tests, h.Folder = append([]string{"./pkg/" + *pkg}, strings.Fields(*tests)...), folder
		if h.Root, err = os.Getwd(); err != nil {
			return fmt.Errorf("the module's root: %w", err)
		}
		text, err := os.ReadFile(*report)
		if err != nil {
			return fmt.Errorf("the report: %w", err)
		}
		all, err := mutants.Read(text)
		if err != nil {
			return err
		}
		if all, err = mutants.Matching(all, *only); err != nil {
			return err
		}
		t, err := h.Together(ctx, *pkg, all)
		if err != nil {
			return err
		}
		return hunt(ctx, t, *pkg, all, *workers)
	})
}

// hunt prints what becomes of each mutant, and of all.
func hunt(ctx context.Context, t *mutants.Together, pkg string, all []mutants.Mutant, workers int) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return fmt.Errorf("the list of equivalent mutants: %w", err)
	}
	equivalent, err := mutants.ReadEquivalent(string(text))
	if err != nil {
		return err
	}
	sources := map[string][]byte{}
	for _, m := range all {
		if sources[m.File], err = os.ReadFile(filepath.Join("pkg", pkg, m.File)); err != nil {
			return fmt.Errorf("the source of a mutant: %w", err)
		}
	}
	isListed := func(m mutants.Mutant) bool { return equivalent.Has(pkg, m, sources[m.File]) }
	fates, err := fatesOf(ctx, t, all, isListed, workers)
	if err != nil {
		return err
	}
	tally := mutants.Tally{Package: pkg}
	for i, m := range all {
		tally.Count(m, fates[i], isListed(m))
	}
	for _, m := range tally.Survivors {
		fmt.Println(mutants.Row(pkg, m, sources[m.File]))
	}
	fmt.Println(tally.Line())
	if len(tally.Survivors) > 0 {
		return fmt.Errorf("%d mutants of %s survive and are not listed as equivalent", len(tally.Survivors), pkg)
	}
	return nil
}

// fatesOf returns the fates of all mutants, in their order.
func fatesOf(
	ctx context.Context, t *mutants.Together, all []mutants.Mutant, isListed func(mutants.Mutant) bool, workers int,
) ([]mutants.Fate, error) {
	fates := make([]mutants.Fate, len(all))
	var group errgroup.Group
	group.SetLimit(workers)
	var printing sync.Mutex
	for i, m := range all {
		group.Go(func() (err error) {
			if fates[i], err = t.Fate(ctx, i, m, isListed(m)); err != nil {
				return fmt.Errorf("%s: %w", m, err)
			}
			printing.Lock()
			defer printing.Unlock()
			fmt.Printf("%-50s %s\n", m,
				[...]string{"SURVIVES", "killed by tests", "killed by the simulation", "does not compile"}[fates[i]])
			return nil
		})
	}
	return fates, group.Wait()
}
