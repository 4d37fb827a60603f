// Package interleave runs a few workers on one store in every possible order of their calls. At each call it can kill
// a worker or lose its answer. It is for tests of packages that promise exact results for any event between two calls.
//
// A play is one order of calls from the beginning to the end, in a fresh world. Its result depends on the order of its
// calls alone. A worker must therefore not read the clock, use randomness, or read state outside the store that
// another worker changes. Of plays that differ only in the order of calls on different rows, only one runs
// (Godefroid's sleep sets). A call with a fault counts as dependent on every other fault.
package interleave

import (
	"context"
	"fmt"
	"strings"

	"nexus/pkg/table"
)

// Worker is one of the concurrent workers.
type Worker struct {
	Name string
	// Run does the worker's work. Every call of the store is one step; between two steps others may work.
	Run func(ctx context.Context, store *Store)
	// Reliable workers never die and always get their answers.
	Reliable bool
}

// World is the initial state of one play.
type World struct {
	Store   table.Store
	Workers []Worker
	// Judge checks the end of the play, after all workers stopped, and returns an error if the result is wrong.
	Judge func() error
}

// Fault is the fault of one call.
type Fault int

const (
	None Fault = iota
	// Death carries out the call and ends its worker there.
	Death
	// Lost carries out the call, and the worker gets [table.ErrUnavailable].
	Lost
	// Refused does not carry out the call, and the worker gets [table.ErrUnavailable].
	Refused
)

func (f Fault) String() string {
	return [...]string{"", "dies behind", "loses the answer of", "is refused"}[f]
}

// Options bound an exploration.
type Options struct {
	// Faults bounds the faults of one play.
	Faults int
	// Refusals plays refused calls, too, reads among them.
	Refusals bool
	// Plays bounds the plays: the exploration ends with an error if there are more; zero for no bound.
	Plays int
}

// Result counts an exploration.
type Result struct {
	Plays int // played to the end and checked
	Cut   int // given up because another order of the same calls was played
}

// Violation is the first play with a wrong result.
type Violation struct {
	Steps []string
	Err   error
}

func (v *Violation) Error() string {
	return fmt.Sprintf("%v\nafter\n  %s", v.Err, strings.Join(v.Steps, "\n  "))
}

func (v *Violation) Unwrap() error { return v.Err }
