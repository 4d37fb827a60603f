package interleave

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// ErrTooMany says that there are more plays than the options allow.
var ErrTooMany = errors.New("more plays than allowed")

// step is a possible next step of a play: a worker's call and its fault.
type step struct {
	lane  int
	fault Fault
	call  call
}

// commutes reports whether two steps of different workers can be exchanged. Two faults cannot, because the number of
// faults of a play is bounded.
func (s step) commutes(other step) bool {
	return s.lane != other.lane && s.call.commutes(other.call) && (s.fault == None || other.fault == None)
}

func (s step) is(other step) bool { return s.lane == other.lane && s.fault == other.fault }

// node is a position in the tree of all plays.
type node struct {
	options []step
	at      int
	// asleep are steps that lead to no new result from here.
	asleep []step
}

// below returns the steps that are asleep after the current option.
func (n *node) below() []step {
	taken := n.options[n.at]
	var asleep []step
	for _, s := range append(slices.Clone(n.asleep), n.options[:n.at]...) {
		if s.commutes(taken) {
			asleep = append(asleep, s)
		}
	}
	return asleep
}

// Explore plays every order. It returns a [*Violation] for the first play with a wrong result.
func Explore(ctx context.Context, world func() World, o Options) (Result, error) {
	e := exploration{world: world, o: o}
	for {
		if err := e.play(ctx); err != nil {
			return e.result, err
		}
		if !e.advance() {
			return e.result, nil
		}
		if o.Plays > 0 && e.result.Plays >= o.Plays {
			return e.result, fmt.Errorf("%w: %d", ErrTooMany, o.Plays)
		}
	}
}

type exploration struct {
	world  func() World
	o      Options
	path   []*node
	result Result
}

// advance moves to the next play and reports whether there is one.
func (e *exploration) advance() bool {
	for len(e.path) > 0 {
		last := e.path[len(e.path)-1]
		if last.at++; last.at < len(last.options) {
			return true
		}
		e.path = e.path[:len(e.path)-1]
	}
	return false
}

// play starts a fresh world, replays the path, and from its end on takes the first possible step.
func (e *exploration) play(ctx context.Context) error {
	w := e.world()
	lanes := make([]*lane, len(w.Workers))
	for i, worker := range w.Workers {
		lanes[i] = start(ctx, worker, w)
	}
	defer func() {
		for _, l := range lanes {
			l.stop()
		}
	}()
	var asleep []step
	var trace []step
	faults := 0
	for depth := 0; ; depth++ {
		all := e.enabled(lanes, e.o.Faults-faults)
		if len(all) == 0 {
			break
		}
		if depth == len(e.path) {
			n := &node{asleep: asleep}
			for _, s := range all {
				if !slices.ContainsFunc(asleep, s.is) {
					n.options = append(n.options, s)
				}
			}
			if len(n.options) == 0 {
				e.result.Cut++
				return nil
			}
			e.path = append(e.path, n)
		}
		n := e.path[depth]
		s := n.options[n.at]
		asleep = n.below()
		trace = append(trace, s)
		if s.fault != None {
			faults++
		}
		lanes[s.lane].take(s.fault)
	}
	e.result.Plays++
	return checkEnd(w, lanes, trace)
}

// enabled returns the possible next steps, those without a fault first.
func (e *exploration) enabled(lanes []*lane, faults int) []step {
	var sound, faulty []step
	for i, l := range lanes {
		if l.ended {
			continue
		}
		sound = append(sound, step{i, None, l.next})
		if l.worker.Reliable || faults <= 0 {
			continue
		}
		if l.next.writes {
			faulty = append(faulty, step{i, Death, l.next}, step{i, Lost, l.next})
		}
		if e.o.Refusals {
			faulty = append(faulty, step{i, Refused, l.next})
		}
	}
	return append(sound, faulty...)
}

func checkEnd(w World, lanes []*lane, trace []step) error {
	var errs []error
	for _, l := range lanes {
		errs = append(errs, l.err)
	}
	err := errors.Join(errs...)
	if err == nil {
		err = w.Judge()
	}
	if err == nil {
		return nil
	}
	v := &Violation{Err: err}
	for _, s := range trace {
		line := lanes[s.lane].worker.Name + ": " + s.call.String()
		if s.fault != None {
			line = lanes[s.lane].worker.Name + " " + s.fault.String() + ": " + s.call.String()
		}
		v.Steps = append(v.Steps, line)
	}
	return v
}
