package simulate

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/entity"
)

// kind says what a worker is.
type kind int

const (
	outside kind = iota // the TTL service and whatever else is no worker
	commanding
	delivering
	notifying
	repairing
)

// crashed unwinds a worker that is never to go on.
type crashed struct{}

// worker is one piece of work: a command, a batch at the consumers of a reader, a call of the scheduler. It is a
// coroutine that runs until it has made as many port calls as it may, and stops before the next.
type worker struct {
	kind kind
	name string
	// isFormer says that the release before does the work.
	isFormer bool
	users    map[string]bool // with whose rows it has any business
	// allowed are their partitions.
	allowed map[string]bool

	ctx    context.Context
	cancel context.CancelFunc
	begun  time.Time
	on     *coroutine
	ended  bool

	ahead    time.Duration // of its clock; below 0 it is behind
	farthest time.Duration // ahead that its clock ever was
	jumps    bool          // its clock is another at each call
	copied   []string      // objects that it put

	budget   int // port calls until it hands back; below 0 without end
	calls    int // made so far
	dead     bool
	deadline int            // the call at which the time of the invocation is over; 0 for none
	consumer string         // whose turn it is, in a batch
	cursed   *curse         // what goes wrong for good in this delivery; nil for nothing
	caught   []*curse       // the store's refusals that met another while this one was at work
	trip     *trip          // the one call that fails; nil for luck at each call
	unrest   *unrest        // what others do at its calls of the store; nil for nothing
	readOnly bool           // it must not write
	junk     []byte         // a record in it that nobody can read
	order    *expectedWrite // what a command was told; nil for other work
	// finished is told how the work ended, unless it crashed.
	finished func()
	// lost is told that it crashed.
	lost func()
}

// start makes a worker of the work. It has done nothing yet.
func (h *history) start(w *worker, work func(ctx context.Context), users ...string) *worker {
	w.begun = h.now
	w.ctx, w.cancel = context.WithCancel(context.Background())
	if h.luck.misfortune(h) && h.luck.one(30) {
		w.deadline = 1 + h.luck.IntN(40)
		w.ctx, w.cancel = context.WithDeadline(context.Background(), farOff)
	}
	w.trip = h.newTrip(w)
	for _, other := range h.workers {
		for _, c := range other.curses() {
			if c.harm == refusal && c.picky {
				h.catch(w, c)
			}
		}
	}
	w.users, w.allowed = map[string]bool{}, map[string]bool{}
	for _, user := range users {
		if w.users[user] = true; user != "" {
			w.allowed[entity.UserPK(user)] = true
		}
	}
	w.on = h.pool.get(func() {
		defer func() {
			w.ended = true
			if value := recover(); value != nil {
				if _, is := value.(crashed); !is {
					h.violate("I10", "", w.name, "panic: %v", value)
				}
				w.dead = true
			}
		}()
		work(w.ctx)
	})
	h.workers = append(h.workers, w)
	return w
}

// run lets a worker go on for a number of port calls, or to its end if that is negative.
func (h *history) run(w *worker, calls int) {
	former := h.current
	if former != nil {
		h.absorb(former) // what it wrote so far is its own
	}
	h.current, w.budget = w, calls
	w.on.resume()
	h.current = former
	h.absorb(w)
	if !w.ended {
		h.happened["held"]++
		return
	}
	h.dismiss(w)
	if w.dead {
		h.happened["crash"]++
		h.note("%s crashes after %d calls", w.name, w.calls)
		if w.lost != nil {
			w.lost()
		}
		return
	}
	if w.finished != nil {
		w.finished()
	}
}

// kill ends a worker where it stands.
func (h *history) kill(w *worker) {
	w.dead = true
	w.cancel()
	h.run(w, -1)
}

func (h *history) dismiss(w *worker) {
	w.cancel()
	h.pool.put(w.on)
	for i, other := range h.workers {
		if other == w {
			h.workers = append(h.workers[:i:i], h.workers[i+1:]...)
			return
		}
	}
}

// fault is what becomes of one port call.
type fault int

const (
	noFault     fault = iota
	failBefore        // nothing happens, an error comes back
	failAfter         // it happens, an error comes back all the same
	crashBefore       // nothing happens, and the worker is gone
	crashAfter        // it happens, and the worker is gone
)

// call is a worker's arrival at a port: the place at which it may be held, and may meet a fault.
func (h *history) call(port, op string) fault {
	w := h.current
	if w == nil {
		return noFault
	}
	if w.budget == 0 && !w.dead {
		w.on.yield(struct{}{})
	}
	if w.dead {
		panic(crashed{})
	}
	w.budget--
	w.calls++
	if w.jumps {
		w.setClock(time.Duration(h.luck.Int64N(int64(2*maxAhead))) - maxAhead)
	}
	if w.calls == w.deadline {
		h.happened["deadline"]++
		h.note("the time of %s is over", w.name)
		w.cancel()
	}
	h.operations++
	if w.calls > maxCalls {
		h.violate("I10", "", w.name, "made %d port calls", w.calls)
		w.die()
	}
	f := h.luck.fault(h, port, op)
	if f != noFault {
		h.happened[port+" "+f.String()]++
		h.note("%s %s of %s: %s", port, op, w.name, f)
	}
	if f == crashBefore {
		w.die()
	}
	return f
}

// farOff is a deadline by real clocks that no history lives to see: in virtual time an invocation ends when it is
// cancelled.
var farOff = time.Date(2200, time.January, 1, 0, 0, 0, 0, time.UTC)

// setClock sets how far the worker's clock is ahead, or behind.
func (w *worker) setClock(ahead time.Duration) {
	w.ahead, w.farthest = ahead, max(w.farthest, ahead)
}

// maxCalls is more port calls than any piece of work here needs.
const maxCalls = 20_000

func (w *worker) die() {
	w.dead = true
	w.cancel()
	panic(crashed{})
}

// after ends a worker that crashes behind its call.
func (h *history) after(f fault) {
	if f == crashAfter {
		h.current.die()
	}
}

func (f fault) String() string {
	return [...]string{"no fault", "fails", "is done and says it failed", "crash before", "crash after"}[f]
}

// describe is used in names of workers.
func describe(format string, args ...any) string { return fmt.Sprintf(format, args...) }
