package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// DefaultSteps is the default length of a history.
const DefaultSteps = 100

// maxSteps bounds a history.
const maxSteps = 1_000_000

// Spec names one history. Equal specs are equal histories.
type Spec struct {
	Seed  uint64
	Steps int
	// Skip are steps that do not take place; Calm are steps in which nothing fails. The rest of a history stays
	// unchanged, because each step draws its own random numbers: this allows a failing history to be shrunk.
	Skip, Calm []int
}

// ErrSpec says that the text names no history.
var ErrSpec = errors.New("not a history")

// String is the spec as [ParseSpec] reads it: "seed=7 steps=100 skip=0-4,9 calm=12".
func (s Spec) String() string {
	out := fmt.Sprintf("seed=%d steps=%d", s.Seed, s.Steps)
	if len(s.Skip) > 0 {
		out += " skip=" + formatSteps(s.Skip)
	}
	if len(s.Calm) > 0 {
		out += " calm=" + formatSteps(s.Calm)
	}
	return out
}

// Command is the command line that plays the history.
func (s Spec) Command() string {
	program := "nexus simulate"
	if newFormer != nil {
		program = "go run ./internal/tools/beside --"
	}
	out := fmt.Sprintf("%s --from %d --seeds 1 --steps %d", program, s.Seed, s.Steps)
	if len(s.Skip) > 0 {
		out += " --skip " + formatSteps(s.Skip)
	}
	if len(s.Calm) > 0 {
		out += " --calm " + formatSteps(s.Calm)
	}
	return out
}

// ParseSpec is the inverse of [Spec.String].
func ParseSpec(text string) (Spec, error) {
	s := Spec{Steps: DefaultSteps}
	for _, part := range strings.Fields(text) {
		name, value, _ := strings.Cut(part, "=")
		var err error
		switch name {
		case "seed":
			s.Seed, err = strconv.ParseUint(value, 10, 64)
		case "steps":
			s.Steps, err = strconv.Atoi(value)
		case "skip":
			s.Skip, err = ParseSteps(value)
		case "calm":
			s.Calm, err = ParseSteps(value)
		default:
			err = errors.New("unknown name")
		}
		if err != nil {
			return Spec{}, fmt.Errorf("%w: %q: %w", ErrSpec, part, err)
		}
	}
	return s, s.check()
}

func (s Spec) check() error {
	if s.Steps < 1 || s.Steps > maxSteps {
		return fmt.Errorf("%w: %d steps, want 1 to %d", ErrSpec, s.Steps, maxSteps)
	}
	return nil
}

// ParseSteps reads a list of steps such as "0-4,9".
func ParseSteps(text string) ([]int, error) {
	var out []int
	for _, part := range strings.Split(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		if err != nil {
			return nil, fmt.Errorf("%w: steps %q: %w", ErrSpec, part, err)
		}
		to, err := strconv.Atoi(last)
		if err != nil {
			return nil, fmt.Errorf("%w: steps %q: %w", ErrSpec, part, err)
		}
		if from < 0 || to < from || to >= maxSteps {
			return nil, fmt.Errorf("%w: steps %q, want 0 to %d", ErrSpec, part, maxSteps-1)
		}
		for i := from; i <= to; i++ {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func formatSteps(steps []int) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(steps)))
	var parts []string
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		part := strconv.Itoa(sorted[i])
		if j > i {
			part += "-" + strconv.Itoa(sorted[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// Violation is one invariant that did not hold.
type Violation struct {
	Invariant string `json:"invariant"` // of docs/correctness.md, push.md or webhooks.md
	User      string `json:"user,omitempty"`
	Item      string `json:"item,omitempty"`
	Detail    string `json:"detail"`
	Step      int    `json:"step"` // of the history; its number of steps for what was found at the end
}

func (v Violation) String() string {
	return fmt.Sprintf("%s at step %d: user %s, %s: %s", v.Invariant, v.Step, v.User, v.Item, v.Detail)
}

// Result is the outcome of one history.
type Result struct {
	Spec       Spec
	Operations int64 // calls of the store and the scheduler, and records delivered
	Violation  *Violation
	// Happened counts events: commands that were carried out, faults, deliveries, and everything that follows.
	Happened map[string]int
	// Trace lists the events in order, if it was requested.
	Trace []string
}
