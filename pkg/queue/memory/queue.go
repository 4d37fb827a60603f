// Package memory is a queue in memory for the simulation, the instruments and tests of the code above the port.
//
// It promises what the port does, except that nothing outlives the process and that its driver does the work. It drops
// a message with an id that was put before, however long ago. It lets faults be injected around every call. It has no
// clock and starts no goroutine.
package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"nexus/pkg/queue"
	"nexus/pkg/queue/fifo"
)

// Fault is asked before (after is false) and after each put; its error is returned instead of going on, or of the
// success.
type Fault func(m queue.Message, after bool) error

// Queue is the adapter.
type Queue struct {
	fault Fault

	mu   sync.Mutex
	line fifo.Line
	seen map[string]bool // ids
}

var _ queue.Queue = (*Queue)(nil)

// New returns an empty queue. A nil fault injects nothing.
func New(fault Fault) *Queue {
	if fault == nil {
		fault = func(queue.Message, bool) error { return nil }
	}
	return &Queue{fault: fault, seen: map[string]bool{}}
}

// Put implements the port.
func (q *Queue) Put(ctx context.Context, m queue.Message) error {
	err := m.Check()
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", queue.ErrUnavailable, ctx.Err())
	}
	if err == nil {
		err = q.fault(m, false)
	}
	if err == nil {
		q.add(m)
		err = q.fault(m, true)
	}
	if err != nil {
		return fmt.Errorf("put message %s: %w", m.ID, err)
	}
	return nil
}

func (q *Queue) add(m queue.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.seen[m.ID] {
		q.seen[m.ID] = true
		m.Body = bytes.Clone(m.Body)
		q.line.Add(m)
	}
}

// Ready returns the messages that may begin: the first of each group that no worker has.
func (q *Queue) Ready() []queue.Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	return messages(q.line.Ready(time.Time{}))
}

// Begin gives a message that is ready to a worker; false if none of that id is.
func (q *Queue) Begin(id string) (queue.Message, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.line.Ready(time.Time{}) {
		if e.ID == id {
			e.Begun = true
			return e.Message, true
		}
	}
	return queue.Message{}, false
}

// Done removes a message whose worker was successful.
func (q *Queue) Done(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e := entry(q.line.Waiting(), id); e != nil {
		q.line.Remove(e)
	}
}

// errFailed stands for the error of a worker, which no test reads here.
var errFailed = errors.New("its worker failed")

// Fail gives a message back whose worker failed, and reports whether it is a dead letter by that.
func (q *Queue) Fail(id string) (isDead bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := entry(q.line.Waiting(), id)
	return e != nil && q.line.Fail(e, errFailed, time.Time{})
}

// Work gives the messages to the worker, the first of each group, until none is left but dead letters.
func (q *Queue) Work(worker func(m queue.Message) error) {
	for ready := q.Ready(); len(ready) > 0; ready = q.Ready() {
		for _, one := range ready {
			if m, isReady := q.Begin(one.ID); !isReady {
				continue
			} else if err := worker(m); err != nil {
				q.Fail(m.ID)
			} else {
				q.Done(m.ID)
			}
		}
	}
}

// Waiting returns the messages that wait or that a worker has.
func (q *Queue) Waiting() []queue.Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	return messages(q.line.Waiting())
}

// Dead returns the dead letters.
func (q *Queue) Dead() []queue.Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	return messages(q.line.Dead())
}

// Redrive puts a dead letter back.
func (q *Queue) Redrive(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e := entry(q.line.Dead(), id); e != nil {
		q.line.Redrive(e)
	}
}

func entry(of []*fifo.Entry, id string) *fifo.Entry {
	for _, e := range of {
		if e.ID == id {
			return e
		}
	}
	return nil
}

func messages(of []*fifo.Entry) []queue.Message {
	out := make([]queue.Message, len(of))
	for i, e := range of {
		out[i] = e.Message
	}
	return out
}
