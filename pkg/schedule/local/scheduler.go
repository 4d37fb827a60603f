// Package local is the scheduler of the local platform and of the simulation: schedules in memory and, given a
// directory, in one file each, called when its driver says that their time has come.
//
// It promises what the port does: a schedule put is on disk when Put returns and survives a SIGKILL; it is called at
// least once, in the order of instants, and again after a crash between the call and the mark that it was made. A
// schedule that was called stays listed as completed until it is replaced or deleted, as EventBridge Scheduler keeps
// one without an action after completion. It has no clock and starts no goroutine: it must never call anything outside
// Fire. One directory belongs to one scheduler at a time.
package local

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"nexus/pkg/schedule"
)

// State says whether a schedule's call is still to be made.
type State string

const (
	Pending   State = "PENDING"
	Completed State = "COMPLETED"
)

// Entry is a schedule as it is listed.
type Entry struct {
	schedule.Schedule
	State State
	// Attempts counts the calls of this schedule that failed since it was put or the process started.
	Attempts int
	// LastError is what the last of them failed with.
	LastError string
}

// Target is what a due schedule calls. An error leaves it pending, so that the next Fire calls it again. It may put and
// delete schedules, its own included, but must not call Fire.
type Target func(ctx context.Context, s schedule.Schedule) error

// Fault is asked before (after is false) and after each effect; its error is returned instead of going on, or of the
// success. The operations are "put", "delete" and "complete", the mark that a call was made.
type Fault func(op, name string, after bool) error

// Config says where schedules live and what they call.
type Config struct {
	Dir    string // created if missing; empty keeps schedules in memory only
	Target Target // needed
	Fault  Fault  // nil injects nothing
}

// Scheduler is the adapter.
type Scheduler struct {
	target Target
	fault  Fault
	disk   *disk // nil: memory only

	firing sync.Mutex // held by Fire, so that no schedule is called by two of them

	mu         sync.Mutex
	entries    map[string]*entry
	order      []place // the pending ones in the order of their calls
	generation uint64
}

type entry struct {
	Entry
	// generation differs between any two puts, so that a mark can tell whether the schedule it called is still there.
	generation uint64
	// unsaved: a write of its file failed, so the file may hold this state or the one that was not reached.
	unsaved bool
}

// place is where a pending schedule stands in the order of calls.
type place struct {
	at   time.Time
	name string
}

func (p place) compare(q place) int {
	return cmp.Or(p.at.Compare(q.at), cmp.Compare(p.name, q.name))
}

var _ schedule.Scheduler = (*Scheduler)(nil)

// New returns a scheduler with the schedules found in the directory. A file that cannot be read is an error that names it.
func New(cfg Config) (*Scheduler, error) {
	if cfg.Target == nil {
		return nil, errors.New("local scheduler configuration: Target is missing")
	}
	s := &Scheduler{target: cfg.Target, fault: cfg.Fault, entries: map[string]*entry{}}
	if s.fault == nil {
		s.fault = func(string, string, bool) error { return nil }
	}
	if cfg.Dir == "" {
		return s, nil
	}
	found, err := openDisk(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("open schedules in %s: %w", cfg.Dir, err)
	}
	s.disk = found.disk
	for _, e := range found.entries {
		s.set(e)
	}
	return s, nil
}

// Put implements the port. Putting a pending schedule again as it is writes nothing.
func (s *Scheduler) Put(ctx context.Context, in schedule.Schedule) error {
	if err := in.Check(); err != nil {
		return fmt.Errorf("put schedule %q: %w", in.Name, err)
	}
	in.At, in.Payload = in.At.UTC(), bytes.Clone(in.Payload)
	return s.effect(ctx, "put", in.Name, func() error {
		e := Entry{Schedule: in, State: Pending}
		old, exists := s.entries[in.Name]
		same := exists && !old.unsaved && old.State == Pending && old.At.Equal(in.At) && bytes.Equal(old.Payload, in.Payload)
		if s.disk != nil && !same {
			if err := s.disk.save(e); err != nil {
				s.doubt(in.Name)
				return err
			}
		}
		s.set(e)
		return nil
	})
}

// Delete implements the port.
func (s *Scheduler) Delete(ctx context.Context, name string) error {
	if err := schedule.CheckName(name); err != nil {
		return fmt.Errorf("delete schedule %q: %w", name, err)
	}
	return s.effect(ctx, "delete", name, func() error {
		if s.disk != nil {
			if err := s.disk.remove(name); err != nil {
				s.doubt(name)
				return err
			}
		}
		s.unset(name)
		return nil
	})
}

// All returns every schedule in the order of names, the completed ones included.
func (s *Scheduler) All() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Entry, 0, len(s.entries))
	for _, e := range s.entries {
		all = append(all, e.copied())
	}
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Due returns the pending schedules whose instant is not after now, in the order in which Fire calls them.
func (s *Scheduler) Due(now time.Time) []schedule.Schedule {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []schedule.Schedule
	for _, p := range s.order {
		if p.at.After(now) {
			break
		}
		due = append(due, s.entries[p.name].copied().Schedule)
	}
	return due
}

// Next returns the instant of the earliest pending schedule, one that is being called included; false if none is.
func (s *Scheduler) Next() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) == 0 {
		return time.Time{}, false
	}
	return s.order[0].at, true
}

// effect runs one change under the lock, between the questions to the fault hook.
func (s *Scheduler) effect(ctx context.Context, op, name string, change func() error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s schedule %q: %w: %w", op, name, schedule.ErrUnavailable, err)
	}
	if err := s.fault(op, name, false); err != nil {
		return fmt.Errorf("%s schedule %q: %w", op, name, err)
	}
	s.mu.Lock()
	err := change()
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s schedule %q: %w: %w", op, name, schedule.ErrUnavailable, err)
	}
	if err := s.fault(op, name, true); err != nil {
		return fmt.Errorf("%s schedule %q, done: %w", op, name, err)
	}
	return nil
}

// set puts the entry in place of any of its name, under a new generation.
func (s *Scheduler) set(e Entry) {
	s.unset(e.Name)
	s.generation++
	s.entries[e.Name] = &entry{Entry: e, generation: s.generation}
	if e.State == Pending {
		p := place{e.At, e.Name}
		i, _ := slices.BinarySearchFunc(s.order, p, place.compare)
		s.order = slices.Insert(s.order, i, p)
	}
}

func (s *Scheduler) unset(name string) {
	old, exists := s.entries[name]
	if !exists {
		return
	}
	delete(s.entries, name)
	if i, pending := slices.BinarySearchFunc(s.order, place{old.At, name}, place.compare); pending {
		s.order = slices.Delete(s.order, i, i+1)
	}
}

// doubt remembers that the file may differ from the entry.
func (s *Scheduler) doubt(name string) {
	if e, exists := s.entries[name]; exists {
		e.unsaved = true
	}
}

func (e *entry) copied() Entry {
	out := e.Entry
	out.Payload = bytes.Clone(e.Payload)
	return out
}
