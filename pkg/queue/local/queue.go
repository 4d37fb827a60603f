// Package local is the queue of the local platform: messages in memory and, with a directory, in one file each. Its
// driver says which time it is, and gives the messages to the worker. Tests of other packages use queue/memory.
//
// It promises what the port does. A message is on disk when Put returns and survives a SIGKILL. It leaves the disk when
// its worker has succeeded, so a crash in between repeats it, and with it all its attempts. A message whose worker
// fails waits for a second, then twice as long each time. A dead letter stays until it is redriven. A message that
// waits is put once, whatever its caller repeats.
//
// It must never give a message to the worker outside Work. It has no clock and starts no goroutine. One directory
// belongs to one queue at a time.
package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"nexus/pkg/queue"
	"nexus/pkg/queue/fifo"
)

// firstPause is the wait after a message's first failure; it doubles with each attempt.
const firstPause = time.Second

// Worker does the work of a message. An error leaves the message for another attempt. It may put messages, and must not
// call Work.
type Worker func(ctx context.Context, m queue.Message) error

// Config holds the directory of the messages and their worker.
type Config struct {
	Dir    string // created if missing; empty: memory only, as the platform's memory store
	Worker Worker // required
}

// Queue is the adapter.
type Queue struct {
	worker Worker
	disk   *disk // nil: memory only

	mu    sync.Mutex
	line  fifo.Line
	ended chan struct{} // closed and made again when a message is done or its attempt has failed
}

var _ queue.Queue = (*Queue)(nil)

// New returns a queue with the messages found in the directory. A file that cannot be read is an error that names it.
func New(cfg Config) (*Queue, error) {
	if cfg.Worker == nil {
		return nil, errors.New("local queue configuration: Worker is missing")
	}
	q := &Queue{worker: cfg.Worker, ended: make(chan struct{})}
	if cfg.Dir == "" {
		return q, nil
	}
	opened, err := openDisk(cfg.Dir, q.line.Restore)
	if err != nil {
		return nil, fmt.Errorf("open messages in %s: %w", cfg.Dir, err)
	}
	q.disk = opened
	return q, nil
}

// Put implements the port.
func (q *Queue) Put(ctx context.Context, m queue.Message) error {
	if err := m.Check(); err != nil {
		return fmt.Errorf("put message %s: %w", m.ID, err)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("put message %s: %w: %w", m.ID, queue.ErrUnavailable, err)
	}
	m.Body = bytes.Clone(m.Body)
	q.mu.Lock()
	defer q.mu.Unlock()
	if slices.ContainsFunc(q.line.Waiting(), func(e *fifo.Entry) bool { return e.ID == m.ID }) {
		return nil
	}
	if err := q.disk.save(q.line.Upcoming(), m); err != nil {
		return fmt.Errorf("put message %s: %w: %w", m.ID, queue.ErrUnavailable, err)
	}
	q.line.Add(m)
	return nil
}

// Work gives the first message that may begin at the instant to the worker, and returns when that has ended; false if
// none may begin. The error is the worker's, or that of the disk.
func (q *Queue) Work(ctx context.Context, now time.Time) (worked bool, err error) {
	e := q.begin(now)
	if e == nil {
		return false, nil
	}
	failure := q.worker(ctx, e.Message)
	q.mu.Lock()
	defer q.mu.Unlock()
	close(q.ended)
	q.ended = make(chan struct{})
	if failure == nil {
		if failure = q.disk.drop(e.Number); failure == nil {
			q.line.Remove(e)
			return true, nil
		}
	}
	if q.line.Fail(e, failure, now.Add(firstPause<<e.Attempts)) {
		failure = errors.Join(failure, q.disk.bury(e.Number))
	}
	return true, fmt.Errorf("message %s: %w", e.ID, failure)
}

func (q *Queue) begin(now time.Time) *fifo.Entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	ready := q.line.Ready(now)
	if len(ready) == 0 {
		return nil
	}
	ready[0].Begun = true
	return ready[0]
}

// Next returns the earliest instant at which a message may begin that no worker has, zero for at once; false if there
// is none.
func (q *Queue) Next() (at time.Time, any bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.line.Next()
}

// Ended returns a channel that is closed when a worker that has a message now, or gets one, has ended.
func (q *Queue) Ended() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ended
}

// Entry is a listed message.
type Entry struct {
	queue.Message
	// Begun says that a worker has it, Dead that it is a dead letter.
	Begun, Dead bool
	// Attempts counts the failed attempts since the message was put, redriven or the process started.
	Attempts int
	// LastError is the error of the last failed attempt.
	LastError string
}

// All returns the messages that are left, in their order, and then the dead letters.
func (q *Queue) All() []Entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := []Entry{}
	add := func(entries []*fifo.Entry, isDead bool) {
		for _, e := range entries {
			m := e.Message
			m.Body = bytes.Clone(m.Body)
			out = append(out, Entry{m, e.Begun, isDead, e.Attempts, e.LastError})
		}
	}
	add(q.line.Waiting(), false)
	add(q.line.Dead(), true)
	return out
}

// Redrive puts all dead letters back, after all that waits, and returns how many there were.
func (q *Queue) Redrive() (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	dead := q.line.Dead()
	for n, e := range dead {
		if err := q.disk.redrive(e.Number, q.line.Upcoming(), e.Message); err != nil {
			return n, fmt.Errorf("redrive message %s: %w", e.ID, err)
		}
		q.line.Redrive(e)
	}
	return len(dead), nil
}

// String describes a message that is left, for an error.
func (e Entry) String() string {
	words := []string{"message", e.ID, "of group", e.Group}
	if e.Begun {
		words = append(words, "is being worked on")
	}
	if e.LastError != "" {
		words = append(words, fmt.Sprintf("failed %d times, the last with: %s", e.Attempts, e.LastError))
	}
	return strings.Join(words, " ")
}
