// Package local is the scheduler of the local platform: schedules in memory and, with a directory, in one file each.
// Its driver says which time it is, and the scheduler then calls what is due. Tests of other packages use
// schedule/memory.
//
// It promises what the port does. A schedule is on disk when Put returns and survives a SIGKILL, and it is called at
// least once; calls begin in the order of instants. A schedule that was called stays listed as completed until it is
// replaced or deleted, as EventBridge Scheduler keeps one without an action after completion.
//
// A call that has begun is independent of its schedule, as in AWS, where the scheduler passes it to the function's
// asynchronous queue:
//   - Its beginning is on disk before the target is called.
//   - From then on every Fire repeats it, also after a restart, until it succeeds, with the payload that was due. Its
//     schedule may change while the call runs: called code may replace or delete its own schedule long before it ends,
//     and crash in between.
//   - A schedule put during its own call waits for its own instant.
//   - Nothing is called twice at once, and without a failure or a crash nothing is called twice.
//   - A call that fails every time is never given up and delays no other. The target decides which error is final, by
//     returning none.
//
// It must never call anything outside Fire. It has no clock, and no goroutine outlives Fire. One directory belongs to
// one scheduler at a time.
package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"nexus/pkg/schedule"
)

// State is the state of a schedule's call.
type State string

const (
	// Pending waits for its instant.
	Pending State = "PENDING"
	// Called has begun and did not succeed yet: it is under way, or every Fire makes it again.
	Called State = "CALLED"
	// Completed was called with success.
	Completed State = "COMPLETED"
)

// Entry is a listed schedule, or the call that remains of one.
type Entry struct {
	schedule.Schedule
	State State
	// Former says that the schedule was replaced or deleted after its call had begun, so that only the call is left. It
	// is Called then, and disappears once it succeeds.
	Former bool
	// Attempts counts the failed attempts of the call since the schedule was put or the process started.
	Attempts int
	// LastError is the error of the last failed attempt.
	LastError string
}

// Target receives the call of a due schedule. An error leaves the call unfinished, so that the next Fire makes it
// again. It may put and delete schedules, including its own, but must not call Fire.
type Target func(ctx context.Context, s schedule.Schedule) error

// Fault is called before (after is false) and after each effect. Its error ends the operation, or replaces its
// success. The operations are "put", "delete", "begin", the mark that a call is about to be made, and "complete", the
// mark that it succeeded.
type Fault func(op, name string, after bool) error

// Config holds the directory of the schedules and their target.
type Config struct {
	Dir    string // created if missing; empty: memory only, as the platform's memory store
	Target Target // required
	// AtOnce is the number of calls that are made at a time; 0 means 1.
	AtOnce int
	Fault  Fault // nil injects nothing
}

// Scheduler is the adapter.
type Scheduler struct {
	target Target
	fault  Fault
	atOnce int
	disk   *disk // nil: memory only

	firing sync.Mutex // held by Fire, so that no call is made by two of them
	fires  uint64     // counts them; under firing

	names [64]sync.Mutex // by a hash of the schedule's name: held during an effect, so that others sync their files, too
	seed  maphash.Seed

	mu        sync.Mutex        // below names; never held while a file is written
	schedules map[string]*entry // the entry of each name: pending, called or completed
	waiting   queue             // the pending ones
	begun     queue             // the calls that have begun and did not succeed, including former ones
	number    uint64            // of the last call that began
	running   map[string]*entry // the calls that Fire is making, by name
}

var _ schedule.Scheduler = (*Scheduler)(nil)

// New returns a scheduler with the schedules and calls found in the directory. A file that cannot be read is an error
// that names it.
func New(cfg Config) (*Scheduler, error) {
	if cfg.Target == nil {
		return nil, errors.New("local scheduler configuration: Target is missing")
	}
	s := &Scheduler{
		target: cfg.Target, fault: cfg.Fault, atOnce: max(cfg.AtOnce, 1),
		schedules: map[string]*entry{}, running: map[string]*entry{}, seed: maphash.MakeSeed(),
	}
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
		s.add(e)
		s.number = max(s.number, e.number)
	}
	return s, nil
}

// Put implements the port. A second Put of an unchanged schedule changes nothing while its call is pending, first or
// after a failure: that call will be made after the put.
func (s *Scheduler) Put(ctx context.Context, in schedule.Schedule) error {
	if err := in.Check(); err != nil {
		return fmt.Errorf("put schedule %q: %w", in.Name, err)
	}
	in.At, in.Payload = in.At.UTC(), bytes.Clone(in.Payload)
	return s.effect(ctx, "put", in.Name, func() error {
		old, isRunning := s.entry(in.Name)
		if old.waitsFor(in) && !isRunning {
			return nil
		}
		if err := s.disk.replace(old, in); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.retire(old)
		s.add(&entry{Entry: Entry{Schedule: in, State: Pending}})
		return nil
	})
}

// Delete implements the port. A call that has begun is not recalled: it is made until it succeeds.
func (s *Scheduler) Delete(ctx context.Context, name string) error {
	if err := schedule.CheckName(name); err != nil {
		return fmt.Errorf("delete schedule %q: %w", name, err)
	}
	return s.effect(ctx, "delete", name, func() error {
		old, _ := s.entry(name)
		if err := s.disk.delete(old, name); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.retire(old)
		return nil
	})
}

// Due returns what Fire would call at now, in its order: the calls that have begun and did not succeed, and the pending
// schedules whose instant is not after now.
func (s *Scheduler) Due(now time.Time) []schedule.Schedule {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []schedule.Schedule
	for e := range inOrder(s.begun, s.waiting.until(now)) {
		due = append(due, e.schedule())
	}
	return due
}

// Next returns the earliest instant of a call that is still to be made or to succeed, including a running one; false
// if there is none. The instant of a call that has begun is past: it is due at once.
func (s *Scheduler) Next() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := earlier(&s.begun, &s.waiting)
	if q == nil {
		return time.Time{}, false
	}
	return (*q)[0].At, true
}

// entry returns the entry of a name, nil for none, and whether its call is being made.
func (s *Scheduler) entry(name string) (e *entry, isRunning bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e = s.schedules[name]
	return e, e != nil && e == s.running[name]
}

// effect makes one change under the lock of the name, between two calls of the fault hook. An entry's state changes
// under that lock and mu, so either is enough to read it.
func (s *Scheduler) effect(ctx context.Context, op, name string, change func() error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s schedule %q: %w: %w", op, name, schedule.ErrUnavailable, err)
	}
	if err := s.fault(op, name, false); err != nil {
		return fmt.Errorf("%s schedule %q: %w", op, name, err)
	}
	of := &s.names[maphash.String(s.seed, name)%uint64(len(s.names))]
	of.Lock()
	err := change()
	of.Unlock()
	if err != nil {
		return fmt.Errorf("%s schedule %q: %w: %w", op, name, schedule.ErrUnavailable, err)
	}
	if err := s.fault(op, name, true); err != nil {
		return fmt.Errorf("%s schedule %q, done: %w", op, name, err)
	}
	return nil
}
