// Package interleave plays a few workers on one store in every order that their calls can come in, and lets a worker
// die or lose an answer at each call. It is for tests of packages whose promise is to be exact whatever happens between
// two calls.
//
// A play is one order of calls from the beginning to the end, in a world of its own. What a play leads to depends on
// the order of its calls alone, so a worker must not look at the time of day, at chance, or at anything that another
// worker changes besides the store. Of plays that differ in the order of calls which do not touch the same rows only
// one is played (Godefroid's sleep sets); a call that a fault befalls is held to be a neighbour of every other fault.
package interleave

import (
	"context"
	"fmt"
	"strings"

	"nexus/pkg/table"
)

// Worker is one of those that work at the same time.
type Worker struct {
	Name string
	// Run does the worker's work. Every call of the store is one step; between two steps others may work.
	Run func(ctx context.Context, store *Store)
	// Reliable workers never die and always get their answers.
	Reliable bool
}

// World is what one play begins with.
type World struct {
	Store   table.Store
	Workers []Worker
	// Judge says what is wrong at the end of the play, after everybody stopped; nil for nothing.
	Judge func() error
}

// Fault is what befalls one call.
type Fault int

const (
	None Fault = iota
	// Death: the call is carried out, and its worker is never heard of again.
	Death
	// Lost: the call is carried out, and the worker gets [table.ErrUnavailable].
	Lost
	// Refused: the call is not carried out, and the worker gets [table.ErrUnavailable].
	Refused
)

func (f Fault) String() string {
	return [...]string{"", "dies behind", "loses the answer of", "is refused"}[f]
}

// Options bound an exploration.
type Options struct {
	// Faults is how many befall one play at most.
	Faults int
	// Refusals plays refused calls, too, reads among them.
	Refusals bool
	// Plays ends the exploration with an error if there are more; zero for no bound.
	Plays int
}

// Result counts an exploration.
type Result struct {
	Plays int // judged
	Cut   int // given up because another order of the same calls was played
}

// Violation is the first play that was judged to be wrong.
type Violation struct {
	Steps []string
	Err   error
}

func (v *Violation) Error() string {
	return fmt.Sprintf("%v\nafter\n  %s", v.Err, strings.Join(v.Steps, "\n  "))
}

func (v *Violation) Unwrap() error { return v.Err }
