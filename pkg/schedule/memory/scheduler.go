// Package memory is a scheduler in memory for the simulation, the instruments and tests of the code above the port.
//
// It promises what the port does, except that nothing outlives the process and that its driver makes the calls. It lets
// faults be injected around every call. It has no clock and starts no goroutine.
package memory

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"nexus/pkg/schedule"
)

// Fault is asked before (after is false) and after each call; its error is returned instead of going on, or of the
// success. The operations are "put", "delete", "find" and "each", the name the schedule's or the prefix.
type Fault func(op, name string, after bool) error

// Entry is a schedule, and whether its call was begun.
type Entry struct {
	schedule.Schedule
	Called bool
}

// Scheduler is the adapter.
type Scheduler struct {
	fault Fault

	mu    sync.Mutex
	named map[string]Entry
	due   appointments
}

var (
	_ schedule.Scheduler = (*Scheduler)(nil)
	_ schedule.Lister    = (*Scheduler)(nil)
)

// New returns an empty scheduler. A nil fault injects nothing.
func New(fault Fault) *Scheduler {
	if fault == nil {
		fault = func(string, string, bool) error { return nil }
	}
	return &Scheduler{fault: fault, named: map[string]Entry{}}
}

// Put implements the port.
func (s *Scheduler) Put(ctx context.Context, in schedule.Schedule) error {
	return s.do(ctx, "put", in.Name, in.Check(), func() error {
		in.At, in.Payload = in.At.UTC(), bytes.Clone(in.Payload)
		s.named[in.Name] = Entry{Schedule: in}
		heap.Push(&s.due, in)
		return nil
	})
}

// Delete implements the port.
func (s *Scheduler) Delete(ctx context.Context, name string) error {
	return s.do(ctx, "delete", name, schedule.CheckName(name), func() error {
		delete(s.named, name)
		return nil
	})
}

// Find implements [schedule.Lister]. Like Each, it is made also for a caller that has given up, who gets the error of
// its context after it.
func (s *Scheduler) Find(ctx context.Context, name string) (found schedule.Schedule, err error) {
	err = s.do(context.WithoutCancel(ctx), "find", name, nil, func() error {
		one, exists := s.named[name]
		if !exists {
			return schedule.ErrNotFound
		}
		found = one.Schedule
		return nil
	})
	if err == nil {
		err = ctx.Err()
	}
	return found, err
}

// Each implements [schedule.Lister]. Visit may use the scheduler.
func (s *Scheduler) Each(ctx context.Context, prefix string, visit func(name string) error) error {
	var all []Entry
	err := s.do(context.WithoutCancel(ctx), "each", prefix, nil, func() error {
		all = s.sorted()
		return nil
	})
	for _, one := range all {
		if err == nil && strings.HasPrefix(one.Name, prefix) {
			err = visit(one.Name)
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// do runs one call under the lock, between the questions to the fault hook.
func (s *Scheduler) do(ctx context.Context, op, name string, invalid error, call func() error) error {
	err := invalid
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", schedule.ErrUnavailable, ctx.Err())
	}
	if err == nil {
		err = s.fault(op, name, false)
	}
	if err == nil {
		s.mu.Lock()
		err = call()
		s.mu.Unlock()
	}
	if err == nil {
		err = s.fault(op, name, true)
	}
	if err != nil {
		return fmt.Errorf("%s schedule %q: %w", op, name, err)
	}
	return nil
}

// Entries returns all schedules by name, those included whose calls were begun.
func (s *Scheduler) Entries() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sorted()
}

func (s *Scheduler) sorted() []Entry {
	return slices.SortedFunc(maps.Values(s.named), func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
}

// Waiting returns the schedules that wait for their calls, by instant and then by name.
func (s *Scheduler) Waiting() []schedule.Schedule {
	var out appointments
	for _, one := range s.Entries() {
		if !one.Called {
			out = append(out, one.Schedule)
		}
	}
	slices.SortFunc(out, compare)
	return out
}

// Entry returns the schedule of that name, if there is one. No fault is injected.
func (s *Scheduler) Entry(name string) (Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, exists := s.named[name]
	return one, exists
}

// Call begins the call of a schedule: it waits no longer. False if none of that name waits.
func (s *Scheduler) Call(name string) (schedule.Schedule, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, exists := s.named[name]
	if !exists || one.Called {
		return schedule.Schedule{}, false
	}
	one.Called = true
	s.named[name] = one
	return one.Schedule, true
}

// Take begins the call of the first schedule that is due by the instant; false if none is.
func (s *Scheduler) Take(by time.Time) (schedule.Schedule, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, waits := s.first()
	if !waits || one.At.After(by) {
		return schedule.Schedule{}, false
	}
	one.Called = true
	s.named[one.Name] = one
	return one.Schedule, true
}

// Next returns the earliest instant of a schedule that waits for its call; false if there is none.
func (s *Scheduler) Next() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, waits := s.first()
	return one.At, waits
}

// first removes the appointments of schedules that no longer wait up to the first that does, and returns its schedule.
func (s *Scheduler) first() (Entry, bool) {
	for ; len(s.due) > 0; heap.Pop(&s.due) {
		if one, exists := s.named[s.due[0].Name]; exists && !one.Called && one.At.Equal(s.due[0].At) {
			return one, true
		}
	}
	return Entry{}, false
}

// appointments are a heap by instant, then name. One that was replaced, deleted or called stays until it is the first.
type appointments []schedule.Schedule

func compare(a, b schedule.Schedule) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Name, b.Name))
}

func (a appointments) Len() int           { return len(a) }
func (a appointments) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a appointments) Less(i, j int) bool { return compare(a[i], a[j]) < 0 }
func (a *appointments) Push(x any)        { *a = append(*a, x.(schedule.Schedule)) }
func (a *appointments) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}
