package mutants

import (
	"bytes"
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

// uncounted makes tests ignore the number of requests: a mistake that only such a test catches counts as not caught.
const uncounted = "NEXUS_UNCOUNTED=1"

// Hunter tests mutants by an overlay of the build.
type Hunter struct {
	Root   string // of the module
	Folder string // where it builds; what lies there is overwritten
	Seeds  int    // histories that the simulation plays against each
	Tests  []string
	// Patience bounds each run of a program. A mutant is killed if its run does not end within it.
	Patience time.Duration
	// Least bounds the time of tests with a mutant from below. Above it they have ten times their time without one.
	Least time.Duration
	took  time.Duration // by the tests without a mutant; 0 before Together
}

// slower bounds the time of a program with a mutant, as a multiple of its time without one.
const slower = 10

// patience returns the bound for a program with a mutant, given its time without one.
func (h Hunter) patience(took time.Duration) time.Duration {
	if took == 0 {
		return h.Patience
	}
	return min(h.Patience, max(h.Least, slower*took))
}

// Fate builds a mutant of a package by itself and tests it, and if no test fails lets the simulation look for it.
// Before Together, Patience alone bounds the tests.
func (h Hunter) Fate(ctx context.Context, pkg string, m Mutant) (Fate, error) {
	file := filepath.Join(h.Root, "pkg", pkg, m.File)
	source, err := os.ReadFile(file)
	if err != nil {
		return Survived, fmt.Errorf("mutate: %w", err)
	}
	text, err := m.Apply(source)
	if err != nil {
		return Survived, err
	}
	overlay, err := rig.Overlay(h.Folder, map[string][]byte{file: text})
	if err != nil {
		return Survived, err
	}
	if _, err := h.run(ctx, "go", "build", "-overlay", overlay, "./pkg/"+pkg); err != nil {
		return NoMutant, failure(ctx, err)
	}
	if _, err := h.test(ctx, "-overlay", overlay, "-failfast", "-timeout", h.patience(h.took).String()); err != nil {
		return ByTests, failure(ctx, err)
	}
	if h.Seeds == 0 {
		return Survived, nil
	}
	program := filepath.Join(h.Folder, "nexus")
	if err := rig.Build(ctx, h.Root, program, "-overlay", overlay); err != nil {
		return Survived, err
	}
	text, err = h.run(ctx, program, "simulate", "--json", "--no-shrink", "--seeds", strconv.Itoa(h.Seeds))
	return played(ctx, text, err)
}

// played is the fate of a mutant that no test killed, by the answer of a simulation.
func played(ctx context.Context, answer []byte, err error) (Fate, error) {
	if err != nil && failure(ctx, err) == nil && isBroken(answer) {
		return BySimulation, nil
	}
	return Survived, errors.Join(err, ctx.Err())
}

// failure returns nil for the error of a program that ran and failed, or that did not end within the time. It returns
// every other error: a program that could not be started is no evidence about a mutant, nor is a hunt that was
// stopped.
func failure(ctx context.Context, err error) error {
	var exit *exec.ExitError
	if ctx.Err() == nil && (errors.As(err, &exit) || errors.Is(err, context.DeadlineExceeded)) {
		return nil
	}
	return errors.Join(err, ctx.Err())
}

// isBroken reports whether a failed simulation found a violated invariant, or gave no answer because it did not end.
func isBroken(answer []byte) bool {
	var said struct {
		Violations []any `json:"violations"`
	}
	return len(answer) == 0 || json.Unmarshal(answer, &said) == nil && len(said.Violations) > 0
}

// test runs the tests. Their flags precede the packages: a flag after a package is an argument of the tests.
func (h Hunter) test(ctx context.Context, flags ...string) ([]byte, error) {
	args := append([]string{"test"}, flags...)
	var packages []string
	for _, test := range h.Tests {
		if strings.HasPrefix(test, "-") {
			args = append(args, test)
		} else {
			packages = append(packages, test)
		}
	}
	return h.run(ctx, "go", append(args, packages...)...)
}

// run returns what a program printed, and an error if it did not succeed within the time.
func (h Hunter) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, h.Patience)
	defer cancel()
	cmd := exec.CommandContext(limited, name, args...)
	cmd.Dir = h.Root
	cmd.Env = append(os.Environ(), uncounted)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	return out.Bytes(), err
}
