package local

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"time"

	"nexus/pkg/schedule"
)

// entry is a schedule, or the call that remains of one. Its Schedule never changes.
type entry struct {
	Entry
	// number distinguishes the calls of one name and orders them; zero until the call begins.
	number uint64
	// tried is the last Fire that tried it.
	tried uint64
	// unsaved says that a write of its files failed: they may show this state or the one that was not reached.
	unsaved bool
}

// waitsFor reports whether the entry is this schedule, not yet called, and certainly on disk.
func (e *entry) waitsFor(s schedule.Schedule) bool {
	return e != nil && !e.unsaved && e.State != Completed && e.At.Equal(s.At) && bytes.Equal(e.Payload, s.Payload)
}

// schedule returns a copy of the immutable part; unlike [entry.copied] it needs no lock.
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

// compare orders calls. Of one name and instant, an earlier beginning sorts first; a call that has not begun sorts
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

// add registers an entry. A former one is only a call; any other becomes the entry of its name.
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

// retire removes an entry, if there is one, from its name. A call that has begun continues without it.
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

// All returns every schedule, including completed ones, in the order of names. The unfinished former calls of a name
// precede its schedule.
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
	// Former calls are before all others and in the order of calls: a stable sort preserves that.
	slices.SortStableFunc(all, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
