package simulate

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/repository"
)

// kind is the kind of a worker.
type kind int

const (
	outside kind = iota // the TTL service and everything else that is no worker
	commanding
	delivering
	notifying
	telling
	walking
	repairing
	serving // a request that reads
	erasing // the erasure of an account
)

// crashed unwinds a worker that never continues.
type crashed struct{}

// worker is one piece of work: a command, a batch at the consumers of a reader, a call of the scheduler. It is a
// coroutine that runs until it has made as many port calls as it may, and stops before the next.
type worker struct {
	kind   kind
	name   string
	number int // no other worker of the history has it
	// isFormer says that the release before does the work.
	isFormer bool
	users    map[string]bool // the users whose rows it may touch
	// allowed are their partitions.
	allowed map[string]bool

	ctx    context.Context
	cancel context.CancelFunc
	begun  time.Time
	on     *coroutine
	ended  bool

	ahead    time.Duration // of its clock; negative if it is late
	farthest time.Duration // ahead that its clock ever was
	jumps    bool          // its clock is another at each call
	copied   []string      // objects that it put

	budget int // port calls until it hands back; below 0 without end
	// until is the call before which it hands back, too; "" for none. schedule is the last that it wrote or deleted.
	until, schedule string
	calls           int // made so far
	dead            bool
	failed          bool // a consumer has not finished a change in one of its attempts
	// overtaken says that another worker moved the cursor of a walk of its users while it worked, and that one of the two
	// was of the release before.
	overtaken bool
	deadline  int             // the call at which the time of the invocation is over; 0 for none
	post                      // outside of a strand
	strand    *strand         // the current one, in a batch; nil for none
	held      bool            // it hands back, and its strand has stopped already
	turns     map[turn]string // the sequence number of each change that is at a consumer, or has to come again
	cursed    *curse          // the permanent fault of this delivery; nil for none
	caught    []*curse        // the store's refusals to a concurrent worker during this one's work
	trip      *trip           // the one call that fails; nil for a random fault at each call
	unrest    *unrest         // the work of others at its calls of the store; nil for none
	readOnly  bool            // it must not write
	hookRead  int             // the moment of its last read of an endpoint
	outRead   int             // and that of the outbox
	junk      []byte          // an unreadable record in it
	order     *expectedWrite  // the expected write of a command; nil for other work
	dated     string          // the day that the command gives to a completion; empty for none
	since     int             // the length of the log when it began
	batch     []*edit         // of a device, which the worker carries out
	knocks    bool            // it sends a request over HTTP, where limits are played
	reply     *reply          // to that
	wrote     []*record       // by that
	// finished receives how the work ended, unless it crashed.
	finished func()
	// lost is called after a crash.
	lost func()
}

// start makes a worker of the work. It has done nothing yet.
func (h *history) start(w *worker, work func(ctx context.Context), users ...string) *worker {
	h.started++
	w.number, w.begun, w.since = h.started, h.now, len(h.stream.log)
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
			w.allowed[entity.UserPK(user)], w.allowed[repository.UserPK(user)] = true, true
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

// run lets a worker continue for a number of port calls, or to its end if that is negative.
func (h *history) run(w *worker, calls int) {
	former := h.current
	if former != nil {
		h.absorb(former) // its writes so far are its own
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

// kill ends a worker at its present call.
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

// fault is the fault of one port call.
type fault int

const (
	noFault     fault = iota
	failBefore        // nothing happens, and an error is returned
	failAfter         // it happens, and an error is returned all the same
	crashBefore       // nothing happens, and the worker is gone
	crashAfter        // it happens, and the worker is gone
)

// call is a worker's arrival at a port: there it may be paused, and get a fault.
func (h *history) call(port, op string) fault {
	w := h.current
	if w == nil {
		return noFault
	}
	switch isDue := w.budget == 0 || op == w.until; {
	case w.dead:
	case isDue:
		w.until, w.held = "", w.strand != nil
		w.hand()
	case w.strand != nil:
		w.hand()
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

// farOff is a deadline by real clocks that no history reaches: in virtual time an invocation ends when it is
// cancelled.
var farOff = time.Date(2200, time.January, 1, 0, 0, 0, 0, time.UTC)

// setClock sets how far the worker's clock is ahead, or late.
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

// after ends a worker that crashes after its call.
func (h *history) after(f fault) {
	if f == crashAfter {
		h.current.die()
	}
}

func (f fault) String() string {
	return [...]string{"no fault", "fails", "is done and says it failed", "crash before", "crash after"}[f]
}

// describe formats names of workers.
func describe(format string, args ...any) string { return fmt.Sprintf(format, args...) }
