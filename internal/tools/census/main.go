// Command run builds nexus with coverage, plays random histories with it, and prints which part of the covered code
// they executed: make census. It exits with 1 if a package is below the goal, or if a branch was never reached that
// docs/simulation.md does not list with its reason.
//
// It must never change the code: it builds in a temporary folder.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"nexus/internal/simulate/census"
	"nexus/internal/simulate/rig"
)

// document holds the list of branches that are never reached.
const document = "docs/simulation.md"

func main() {
	seeds := flag.String("seeds", "10000", "`histories` to play")
	from := flag.String("from", "0", "the `seed` of the first")
	lines := flag.Bool("lines", false, "print what the list lacks as lines for it")
	flag.Parse()
	rig.Main("census", func(ctx context.Context, folder string) error {
		text, err := os.ReadFile(document)
		if err != nil {
			return fmt.Errorf("the list of branches: %w", err)
		}
		listed, err := census.ReadList(string(text))
		if err != nil {
			return err
		}
		profile, err := play(ctx, folder, "--seeds", *seeds, "--from", *from)
		if err != nil {
			return err
		}
		sources := map[string][]byte{}
		for _, b := range profile {
			if sources[b.File] == nil {
				if sources[b.File], err = os.ReadFile(filepath.Join("pkg", filepath.FromSlash(b.File))); err != nil {
					return fmt.Errorf("the source of the profile: %w", err)
				}
			}
		}
		result, err := census.New(profile, sources)
		if err != nil {
			return err
		}
		return report(result, listed, *lines)
	})
}

func report(result census.Result, listed map[census.Place]string, lines bool) error {
	for _, s := range result.Shares {
		fmt.Printf("pkg/%-11s %5.1f %% of %4d statements\n", s.Package, s.Percent(), s.Statements)
	}
	all, executed := result.Conflicts()
	fmt.Printf("%d of %d branches that handle a conflict; %d branches are listed as never reached\n", executed, all,
		len(listed))
	for _, b := range result.Reached(listed) {
		fmt.Println("reached now, and still listed:", b)
	}
	for _, b := range result.Branches {
		place := census.Place{File: b.File, Function: b.Function, Text: b.Text}
		if _, isListed := listed[place]; lines && !b.Executed && !isListed {
			fmt.Println(b.Line())
		}
	}
	if problems := result.Problems(listed); len(problems) > 0 {
		return fmt.Errorf("%d problems:\n%s", len(problems), strings.Join(problems, "\n"))
	}
	return nil
}

// play builds nexus with coverage, plays the histories, and returns the executed code.
func play(ctx context.Context, folder string, histories ...string) ([]census.Block, error) {
	program, counters, path := filepath.Join(folder, "nexus"), filepath.Join(folder, "counters"),
		filepath.Join(folder, "profile")
	if err := os.Mkdir(counters, 0o700); err != nil {
		return nil, fmt.Errorf("a folder for the counters: %w", err)
	}
	covered := "./cmd/nexus" // whose main writes the counters when it ends
	for _, name := range census.Packages {
		covered += ",./pkg/" + name
	}
	if err := rig.Build(ctx, ".", program, "-cover", "-coverpkg="+covered); err != nil {
		return nil, err
	}
	simulate := exec.CommandContext(ctx, program, append([]string{"simulate"}, histories...)...)
	simulate.Env = append(os.Environ(), "GOCOVERDIR="+counters)
	if text, err := simulate.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("simulate: %w\n%s", err, text)
	}
	convert := exec.CommandContext(ctx, "go", "tool", "covdata", "textfmt", "-i", counters, "-o", path)
	if text, err := convert.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("read the counters: %w\n%s", err, text)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the profile: %w", err)
	}
	return census.ReadProfile(text, census.Packages)
}
