package interleave

import (
	"context"
	"fmt"
	"runtime"
)

// lane is one worker of a play. It continues only on the play's signal.
type lane struct {
	worker Worker
	next   call // valid while the worker waits
	ended  bool
	// came signals the play that the worker waits or has ended; turn sends the worker the fault of its call.
	came chan bool
	turn chan Fault
	quit chan struct{} // closed when the play is over before the worker
	err  error         // of a worker that panicked
}

func start(ctx context.Context, w Worker, world World) *lane {
	l := &lane{worker: w, came: make(chan bool), turn: make(chan Fault), quit: make(chan struct{})}
	go func() {
		defer func() {
			if value := recover(); value != nil {
				l.err = fmt.Errorf("%s panicked: %v", w.Name, value)
			}
			l.ended = true
			close(l.came)
		}()
		w.Run(ctx, &Store{store: world.Store, lane: l})
	}()
	<-l.came
	return l
}

// wait blocks the worker before each of its steps.
func (l *lane) wait(c call) Fault {
	l.next = c
	l.came <- true
	select {
	case fault := <-l.turn:
		return fault
	case <-l.quit:
		runtime.Goexit()
		return Death
	}
}

// take lets the worker take its step, and returns when it waits again or has ended.
func (l *lane) take(f Fault) {
	l.turn <- f
	<-l.came
}

// stop ends a worker that waits.
func (l *lane) stop() {
	if !l.ended {
		close(l.quit)
		<-l.came
	}
}
