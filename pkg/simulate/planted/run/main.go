// Command run plants one mistake after another into the code, builds nexus with it, and lets nexus simulate look for it. It
// prints what caught each, and ends with 1 if one was not caught: make planted.
//
// It must never change the tree: what it builds lies in a folder of its own that goes with it.
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
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"nexus/pkg/simulate/planted"
)

// seeds are more histories than any limit leaves time for.
const seeds = "100000000"

type hunt struct {
	root, folder string
	from         uint64
	limit        time.Duration
	compileOnly  bool
}

// catch is what became of one mistake.
type catch struct {
	isCaught          bool
	seed              uint64
	invariant, detail string
	histories         int
	took              time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	only := flag.String("only", "", "plant only the mistakes whose names match this `pattern`")
	list := flag.Bool("list", false, "list the mistakes and the rules that they break")
	h := hunt{}
	flag.DurationVar(&h.limit, "limit", 10*time.Second, "how long the simulation may look for one mistake")
	flag.Uint64Var(&h.from, "from", 0, "the `seed` to begin with")
	flag.BoolVar(&h.compileOnly, "compile", false, "only see whether each mistake compiles")
	flag.Parse()
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("pattern of names: %w", err)
	}
	if h.root, err = os.Getwd(); err != nil {
		return fmt.Errorf("the module's root: %w", err)
	}
	if h.folder, err = os.MkdirTemp("", "planted"); err != nil {
		return fmt.Errorf("a folder to build in: %w", err)
	}
	defer os.RemoveAll(h.folder)
	var names, survived []string
	for _, m := range planted.All() {
		if !wanted.MatchString(m.Name) {
			continue
		}
		if *list {
			fmt.Printf("%-34s %s\n", m.Name, m.Rule)
			continue
		}
		caught, err := h.look(ctx, m)
		if err != nil {
			return err
		}
		names = append(names, m.Name)
		if !caught.isCaught {
			survived = append(survived, m.Name)
		}
		fmt.Printf("%-34s %s\n", m.Name, caught)
	}
	if *list {
		return nil
	}
	fmt.Printf("%d mistakes planted, %d not caught\n", len(names), len(survived))
	if len(survived) > 0 && !h.compileOnly {
		return fmt.Errorf("not caught: %s", strings.Join(survived, ", "))
	}
	return nil
}

func (c catch) String() string {
	if !c.isCaught {
		return fmt.Sprintf("NOT CAUGHT in %d histories, %.1f s", c.histories, c.took.Seconds())
	}
	return fmt.Sprintf("%-4s seed %-6d %5.1f s  %.90s", c.invariant, c.seed, c.took.Seconds(), c.detail)
}

// look builds nexus with the mistake and simulates until a history fails or the time is over.
func (h hunt) look(ctx context.Context, m planted.Mistake) (catch, error) {
	overlay, err := m.Plant(h.root, h.folder)
	if err != nil {
		return catch{}, err
	}
	program := filepath.Join(h.folder, "nexus")
	build := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", program, "./cmd/nexus")
	if out, err := build.CombinedOutput(); err != nil {
		return catch{}, fmt.Errorf("build with %s: %w\n%s", m.Name, err, out)
	}
	if h.compileOnly {
		return catch{}, nil
	}
	begin := time.Now()
	caught, err := h.simulate(ctx, program)
	caught.took = time.Since(begin)
	if err != nil {
		return catch{}, fmt.Errorf("simulate with %s: %w", m.Name, err)
	}
	return caught, nil
}

// simulate reads the answer of nexus simulate, which also comes when it is interrupted.
func (h hunt) simulate(ctx context.Context, program string) (catch, error) {
	limited, cancel := context.WithTimeout(ctx, h.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, program, "simulate", "--json", "--no-shrink", "--seeds", seeds, "--from", fmt.Sprint(h.from))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = h.limit
	text, err := cmd.Output()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return catch{}, ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay), errors.As(err, &ended) && len(text) == 0:
		return catch{isCaught: true, invariant: "I10", detail: "does not come to an end"}, nil
	case err == nil:
		return catch{}, errors.New("it came to the end of its seeds")
	}
	var answer struct {
		Histories  int
		Violations []struct {
			Invariant, Detail, Spec string
		}
	}
	if err := json.Unmarshal(text, &answer, json.MatchCaseInsensitiveNames(true)); err != nil {
		return catch{}, fmt.Errorf("its answer: %w", err)
	}
	c := catch{histories: answer.Histories}
	if len(answer.Violations) == 0 {
		return c, nil
	}
	v := answer.Violations[0]
	c.isCaught, c.invariant, c.detail = true, v.Invariant, v.Detail
	if _, err := fmt.Sscanf(v.Spec, "seed=%d", &c.seed); err != nil {
		return catch{}, fmt.Errorf("its history %q: %w", v.Spec, err)
	}
	return c, nil
}
