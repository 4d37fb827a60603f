package planted

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"nexus/internal/simulate/rig"
)

// endless are more histories than any limit leaves time for.
const endless = 100_000_000

// Hunter builds nexus with a mistake in it and lets nexus simulate look for it. If the mistake names a test, the Hunter
// runs that test with the mistake in the code.
type Hunter struct {
	Root string // of the module
	// Folder is the build folder; its content is overwritten.
	Folder string
	From   uint64 // the first seed
	// Limit bounds the simulation's search for one mistake, in the time of two otherwise idle cores. It is measured in
	// processor time, so that it has the same meaning on a busy machine.
	Limit time.Duration
}

const (
	// cores is the number of cores of the simulation.
	cores = 2
	// patience bounds the search by the clock, as a multiple of the limit.
	patience = 4
)

// Catch is the outcome of one mistake.
type Catch struct {
	Caught    bool
	Seed      uint64 // of the history that caught it
	Invariant string // that broke there, or the test that failed
	Detail    string
	Histories int           // played
	Took      time.Duration // on two cores that have nothing else to do
}

func (c Catch) String() string {
	switch {
	case !c.Caught:
		return fmt.Sprintf("NOT CAUGHT in %d histories, %.1f s", c.Histories, c.Took.Seconds())
	case c.Histories == 0:
		return fmt.Sprintf("%s, %.1f s", c.Invariant, c.Took.Seconds())
	}
	return fmt.Sprintf("%-4s seed %-6d %5.1f s  %.90s", c.Invariant, c.Seed, c.Took.Seconds(), c.Detail)
}

// Build builds nexus, or the tests of the mistake's package, with the mistake. It returns the program's path.
func (h Hunter) Build(ctx context.Context, m Mistake) (string, error) {
	overlay, err := m.Plant(h.Root, h.Folder)
	if err != nil {
		return "", err
	}
	if m.Test != (Test{}) {
		program := filepath.Join(h.Folder, "tests")
		if err := rig.BuildTests(ctx, h.Root, m.Test.Package, program, "-overlay", overlay); err != nil {
			return "", fmt.Errorf("%s: %w", m.Name, err)
		}
		return program, nil
	}
	program := filepath.Join(h.Folder, "nexus")
	if err := rig.Build(ctx, h.Root, program, "-overlay", overlay); err != nil {
		return "", fmt.Errorf("%s: %w", m.Name, err)
	}
	return program, nil
}

// Hunt builds nexus with the mistake and simulates until a history breaks an invariant or the time is over; or it
// runs the mistake's test.
func (h Hunter) Hunt(ctx context.Context, m Mistake) (Catch, error) {
	program, err := h.Build(ctx, m)
	if err != nil {
		return Catch{}, err
	}
	if m.Test != (Test{}) {
		return h.test(ctx, program, m.Test)
	}
	c, err := h.simulate(ctx, program)
	if err != nil {
		return Catch{}, fmt.Errorf("simulate with %s: %w", m.Name, err)
	}
	c.Caught = c.Caught && c.Took <= h.Limit
	return c, nil
}

// patienceOfTests bounds one test by the clock.
const patienceOfTests = 2 * time.Minute

// test runs one test of the program in its package's folder. A test that fails or never ends has caught the mistake.
func (h Hunter) test(ctx context.Context, program string, t Test) (Catch, error) {
	cmd := exec.CommandContext(ctx, program, "-test.run", "^"+t.Name+"$", "-test.v", "-test.timeout",
		patienceOfTests.String())
	cmd.Dir = filepath.Join(h.Root, filepath.FromSlash(t.Package))
	text, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return Catch{}, ctx.Err()
	}
	var took time.Duration
	if cmd.ProcessState != nil {
		took = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()) / cores
	}
	var ended *exec.ExitError
	switch {
	case !strings.Contains(string(text), "=== RUN   "+t.Name+"\n"):
		return Catch{}, fmt.Errorf("%s has no %s: %w", t.Package, t.Name, errors.Join(err, ErrOutdated))
	case errors.As(err, &ended):
		return Catch{Caught: true, Invariant: t.Name, Took: took}, nil
	}
	return Catch{Took: took}, err
}

// simulate reads the answer of nexus simulate, which also comes when it is interrupted.
func (h Hunter) simulate(ctx context.Context, program string) (Catch, error) {
	limited, cancel := context.WithTimeout(ctx, patience*h.Limit)
	defer cancel()
	cmd := exec.CommandContext(limited, program, "simulate", "--json", "--no-shrink", "--workers", strconv.Itoa(cores),
		"--seeds", strconv.Itoa(endless), "--from", strconv.FormatUint(h.From, 10))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 2 * h.Limit
	text, err := cmd.Output()
	var took time.Duration
	if cmd.ProcessState != nil {
		took = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()) / cores
	}
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Catch{}, ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay), errors.As(err, &ended) && len(text) == 0:
		if took < h.Limit/2 { // one core of the two, fully used
			return Catch{}, tooBusy(took)
		}
		return Catch{Caught: true, Invariant: "I10", Detail: "does not come to an end", Took: h.Limit}, nil
	case err == nil:
		return Catch{}, errors.New("it came to the end of its seeds")
	}
	c, err := readAnswer(text)
	if c.Took = took; err == nil && !c.Caught && took < h.Limit {
		return c, tooBusy(took)
	}
	return c, err
}

// tooBusy says that the result for a mistake is unknown: the simulation had less processor time than its limit.
func tooBusy(took time.Duration) error {
	return fmt.Errorf("the machine was too busy: no more than %.1f s on two cores", took.Seconds())
}

func readAnswer(text []byte) (Catch, error) {
	var answer struct {
		Histories  int `json:"histories"`
		Violations []struct {
			Invariant string `json:"invariant"`
			Detail    string `json:"detail"`
			Spec      string `json:"spec"`
		} `json:"violations"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return Catch{}, fmt.Errorf("its answer: %w", err)
	}
	c := Catch{Histories: answer.Histories}
	if len(answer.Violations) == 0 {
		return c, nil
	}
	first := answer.Violations[0]
	c.Caught, c.Invariant, c.Detail = true, first.Invariant, first.Detail
	if _, err := fmt.Sscanf(first.Spec, "seed=%d", &c.Seed); err != nil {
		return Catch{}, fmt.Errorf("its history %q: %w", first.Spec, err)
	}
	return c, nil
}
