// Package fifo orders the messages of a queue that a process keeps itself: which one comes next, which have to wait for
// another of their group, and which are dead letters.
//
// It promises the order of the port. It has no lock, no clock and no disk: its adapter has them.
package fifo

import (
	"slices"
	"time"

	"nexus/pkg/queue"
)

// Entry is a message in the line.
type Entry struct {
	queue.Message
	Number   uint64 // its place: the order of putting
	Attempts int    // that failed
	// NotBefore is the instant of its next attempt; zero for at once.
	NotBefore time.Time
	// Begun says that a worker has it.
	Begun bool
	// LastError is the error of the last attempt.
	LastError string
}

// Line is the messages that wait or are being worked on, in their order, and the dead letters. The zero Line is empty.
type Line struct {
	entries []*Entry
	dead    []*Entry
	number  uint64
}

// Add adds a message at the end, and returns its entry. It returns nil if a message with its id waits already.
func (l *Line) Add(m queue.Message) *Entry {
	if slices.ContainsFunc(l.entries, func(e *Entry) bool { return e.ID == m.ID }) {
		return nil
	}
	l.number++
	e := &Entry{Message: m, Number: l.number}
	l.entries = append(l.entries, e)
	return e
}

// Restore adds an entry with the number that it has, as it was read from a disk, in the order of numbers.
func (l *Line) Restore(e *Entry, isDead bool) {
	l.number = max(l.number, e.Number)
	if isDead {
		l.dead = append(l.dead, e)
		return
	}
	l.entries = append(l.entries, e)
}

// Ready returns the entries that may begin at the instant: the first of each group, if no worker has it and its next
// attempt has come. They are in the order of putting.
func (l *Line) Ready(now time.Time) []*Entry {
	var ready []*Entry
	for _, e := range l.heads() {
		if !e.Begun && !e.NotBefore.After(now) {
			ready = append(ready, e)
		}
	}
	return ready
}

// Next returns the earliest instant at which an entry may begin that no worker has; false if there is none.
func (l *Line) Next() (at time.Time, any bool) {
	for _, e := range l.heads() {
		if !e.Begun && (!any || e.NotBefore.Before(at)) {
			at, any = e.NotBefore, true
		}
	}
	return at, any
}

// heads returns the first entry of each group.
func (l *Line) heads() []*Entry {
	var heads []*Entry
	groups := map[string]bool{}
	for _, e := range l.entries {
		if !groups[e.Group] {
			groups[e.Group] = true
			heads = append(heads, e)
		}
	}
	return heads
}

// Remove takes out an entry that is done.
func (l *Line) Remove(e *Entry) {
	l.entries = slices.DeleteFunc(l.entries, func(other *Entry) bool { return other == e })
}

// Fail notes that an attempt failed, and reports whether the entry is a dead letter by that.
func (l *Line) Fail(e *Entry, err error, next time.Time) (isDead bool) {
	e.Begun, e.NotBefore, e.LastError = false, next, err.Error()
	if e.Attempts++; e.Attempts < queue.MaxReceives {
		return false
	}
	l.Remove(e)
	l.dead = append(l.dead, e)
	return true
}

// Redrive puts a dead letter at the end of the line, with a new number and all attempts before it.
func (l *Line) Redrive(e *Entry) {
	l.dead = slices.DeleteFunc(l.dead, func(other *Entry) bool { return other == e })
	l.number++
	e.Number, e.Attempts, e.NotBefore = l.number, 0, time.Time{}
	l.entries = append(l.entries, e)
}

// Upcoming returns the number that the next entry gets.
func (l *Line) Upcoming() uint64 { return l.number + 1 }

// Waiting returns the entries that wait or that a worker has, in their order.
func (l *Line) Waiting() []*Entry { return slices.Clone(l.entries) }

// Dead returns the dead letters, the oldest first.
func (l *Line) Dead() []*Entry { return slices.Clone(l.dead) }
