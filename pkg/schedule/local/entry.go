package local

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"time"

	"nexus/pkg/schedule"
)

// entry is a schedule, or what is left of one when its call has begun. Its Schedule never changes.
type entry struct {
	Entry
	// number tells the calls of one name apart and is their order; zero until the call begins.
	number uint64
	// tried is the last Fire that took it up.
	tried uint64
	// unsaved: a write of its files failed, so they may show this state or the one that was not reached.
	unsaved bool
}

// waitsFor reports whether the entry is this schedule, with a call still to come, and surely on disk.
func (e *entry) waitsFor(s schedule.Schedule) bool {
	return e != nil && !e.unsaved && e.State != Completed && e.At.Equal(s.At) && bytes.Equal(e.Payload, s.Payload)
}

// schedule returns a copy of what never changes; unlike [entry.copied] it needs no lock.
func (e *entry) schedule() schedule.Schedule {
	out := e.Schedule
	out.Payload = bytes.Clone(e.Payload)
	return out
}

func (e *entry) copied() Entry {
	out := e.Entry
	out.Schedule = e.schedule()
	return out
}

// compare is the order of calls. Of one name and instant, what began earlier comes earlier, and what has not begun
// last.
func (e *entry) compare(f *entry) int {
	return cmp.Or(e.At.Compare(f.At), cmp.Compare(e.Name, f.Name), cmp.Compare(e.number-1, f.number-1))
}

// queue holds entries in the order of their calls.
type queue []*entry

func (q *queue) insert(e *entry) {
	i, _ := slices.BinarySearchFunc(*q, e, (*entry).compare)
	*q = slices.Insert(*q, i, e)
}

func (q *queue) remove(e *entry) {
	if i, found := slices.BinarySearchFunc(*q, e, (*entry).compare); found {
		*q = slices.Delete(*q, i, i+1)
	}
}

// until returns those that are due at now.
func (q queue) until(now time.Time) queue {
	n, _ := slices.BinarySearchFunc(q, now, func(e *entry, now time.Time) int {
		if e.At.After(now) {
			return 1
		}
		return -1
	})
	return q[:n]
}

// earlier returns the queue whose first entry is called before the other's; nil if both are empty.
func earlier(a, b *queue) *queue {
	switch {
	case len(*a) == 0 && len(*b) == 0:
		return nil
	case len(*a) == 0 || len(*b) > 0 && (*b)[0].compare((*a)[0]) < 0:
		return b
	}
	return a
}

// inOrder yields the entries of both in the order of calls.
func inOrder(a, b queue) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for q := earlier(&a, &b); q != nil; q = earlier(&a, &b) {
			if !yield((*q)[0]) {
				return
			}
			*q = (*q)[1:]
		}
	}
}

// add takes up an entry; a former one is a call alone, any other is what its name stands for from now on.
func (s *Scheduler) add(e *entry) {
	if !e.Former {
		s.schedules[e.Name] = e
	}
	switch e.State {
	case Pending:
		s.waiting.insert(e)
	case Called:
		s.begun.insert(e)
	}
}

// retire takes its name from an entry, if there is one. A call that has begun goes on without it.
func (s *Scheduler) retire(e *entry) {
	if e == nil {
		return
	}
	delete(s.schedules, e.Name)
	switch e.State {
	case Pending:
		s.waiting.remove(e)
	case Called:
		e.Former = true
	}
}

// All returns every schedule, the completed ones included, in the order of names, and before the schedule of a name its
// former calls that did not succeed yet.
func (s *Scheduler) All() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Entry, 0, len(s.schedules))
	for _, e := range s.begun {
		if e.Former {
			all = append(all, e.copied())
		}
	}
	for _, e := range s.schedules {
		all = append(all, e.copied())
	}
	// Former calls stand before all others and among themselves in the order of calls: a stable sort keeps that.
	slices.SortStableFunc(all, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
