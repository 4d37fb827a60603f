// Command run builds nexus with coverage, plays random histories with it, and prints what of the code under judgement
// they executed: make census. It ends with 1 if a package is below the goal, or if a branch was never reached that
// docs/simulation.md does not list with its reason.
//
// It must never change the code: what it builds lies in a folder of its own that goes with it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"nexus/internal/simulate/census"
)

// document holds the list of branches that are never reached.
const document = "docs/simulation.md"

// options are what the command line asks for.
type options struct {
	seeds int
	from  uint64
	lines bool // print what is missing in the list as lines for it
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "census:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var o options
	flags := flag.NewFlagSet("census", flag.ContinueOnError)
	flags.IntVar(&o.seeds, "seeds", 10_000, "histories to play")
	flags.Uint64Var(&o.from, "from", 0, "the `seed` of the first")
	flags.BoolVar(&o.lines, "lines", false, "print what the list lacks as lines for it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "census")
	if err != nil {
		return fmt.Errorf("a folder to build in: %w", err)
	}
	return errors.Join(o.count(ctx, folder, out), os.RemoveAll(folder))
}

// count plays, and judges what was executed.
func (o options) count(ctx context.Context, folder string, out io.Writer) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return fmt.Errorf("the list of branches: %w", err)
	}
	listed, err := census.ReadList(string(text))
	if err != nil {
		return err
	}
	profile, err := o.profile(ctx, folder)
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
	return o.report(out, result, listed)
}

func (o options) report(out io.Writer, result census.Result, listed map[census.Place]string) error {
	for _, s := range result.Shares {
		fmt.Fprintf(out, "pkg/%-11s %5.1f %% of %4d statements\n", s.Package, s.Percent(), s.Statements)
	}
	all, executed := result.Conflicts()
	fmt.Fprintf(out, "%d of %d branches that handle a conflict; %d branches are listed as never reached\n", executed, all,
		len(listed))
	for _, b := range result.Reached(listed) {
		fmt.Fprintln(out, "reached now, and still listed:", b)
	}
	for _, b := range result.Branches {
		place := census.Place{File: b.File, Function: b.Function, Text: b.Text}
		if _, isListed := listed[place]; o.lines && !b.Executed && !isListed {
			fmt.Fprintln(out, b.Line())
		}
	}
	if problems := result.Judge(listed); len(problems) > 0 {
		return fmt.Errorf("%d problems:\n%s", len(problems), strings.Join(problems, "\n"))
	}
	return nil
}

// profile builds nexus with coverage, plays the histories, and returns what they executed.
func (o options) profile(ctx context.Context, folder string) ([]census.Block, error) {
	program, counters := filepath.Join(folder, "nexus"), filepath.Join(folder, "counters")
	if err := os.Mkdir(counters, 0o700); err != nil {
		return nil, fmt.Errorf("a folder for the counters: %w", err)
	}
	covered := []string{"./cmd/nexus"} // whose main writes the counters when it ends
	for _, name := range census.Packages {
		covered = append(covered, "./pkg/"+name)
	}
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-cover", "-coverpkg="+strings.Join(covered, ","),
		"-o", program, "./cmd/nexus")
	if text, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build with coverage: %w\n%s", err, text)
	}
	play := exec.CommandContext(ctx, program, "simulate", "--seeds", strconv.Itoa(o.seeds), "--from",
		strconv.FormatUint(o.from, 10))
	play.Env = append(os.Environ(), "GOCOVERDIR="+counters)
	if text, err := play.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("simulate: %w\n%s", err, text)
	}
	path := filepath.Join(folder, "profile")
	if text, err := exec.CommandContext(ctx, "go", "tool", "covdata", "textfmt", "-i", counters, "-o",
		path).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("read the counters: %w\n%s", err, text)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the profile: %w", err)
	}
	return census.ReadProfile(text, census.Packages)
}
