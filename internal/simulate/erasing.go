package simulate

import (
	"context"
	"errors"
	"slices"
	"time"

	"nexus/pkg/account"
	"nexus/pkg/port"
)

// eraseSome calls the job that erases accounts, or a shell does.
func (h *history) eraseSome() {
	l := h.leaver
	h.endOld(0)
	if !l.begun.IsZero() && h.luck.one(2) {
		h.pass(time.Duration(2+h.luck.IntN(70)) * time.Minute)
	}
	h.begin(h.erasing(h.luck.one(4)))
	if len(l.shells) > 0 && h.luck.one(12) {
		h.wake(l.shells[0])
	}
	if h.luck.one(4) {
		h.askAsLeaver()
	}
}

// errNoTime says that the invocation has no time for a wait.
var errNoTime = errors.New("the time of the invocation is over")

// erasing returns a call of the job, or of a shell that takes the erasure over.
func (h *history) erasing(fromShell bool) *worker {
	l := h.leaver
	w := &worker{kind: erasing, name: "erasure of " + l.user}
	var err error
	w.finished = func() {
		h.note("%s: %v", w.name, err)
		for _, passes := range []error{errNoTime, account.ErrOvertaken, account.ErrNotDue} {
			if errors.Is(err, passes) {
				return
			}
		}
		if err != nil && !isPassing(err) && !port.IsOutage(err) {
			h.violate("E1", "", w.name, "is answered %v", err)
		}
	}
	return h.start(w, func(ctx context.Context) {
		if fromShell {
			_, err = h.system.Eraser.Erase(ctx, l.user)
			return
		}
		_, err = h.system.Eraser.Run(ctx)
	}, l.user)
}

// waitErasing waits in the time of an erasure: others go on, or its invocation ends.
func (h *history) waitErasing(ctx context.Context, d time.Duration) error {
	h.call("eraser", "wait")
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case d < time.Second:
		return nil
	case !h.settling && h.luck.one(3):
		return errNoTime
	}
	h.endOld(d)
	h.now = h.now.Add(d)
	return nil
}

// endOld ends the functions whose time is over once d has passed.
func (h *history) endOld(d time.Duration) {
	for _, w := range slices.Clone(h.workers) {
		if w.kind != erasing && w != h.current && !w.ended && h.now.Add(d).Sub(w.begun) > h.life() {
			h.run(w, -1)
		}
	}
}

const (
	// asking is the call that reads the state of an account consistently, as a shell does before each of its writes.
	asking = "ask for the state"
	// shellWrites bounds the writes of a repair from a shell before it stands still.
	shellWrites = 6
)

// standStill lets a shell make some writes, and takes it aside before it asks for the state again, to write more: its
// process may not run for days.
func (h *history) standStill(w *worker) {
	for n := 2 + h.luck.IntN(shellWrites); n > 0 && !w.ended; n-- { // the first is no write's
		w.until = asking
		h.run(w, -1)
	}
	if !w.ended {
		h.happened["shell stands still"]++
		h.note("%s stands still", w.name)
		h.workers = slices.DeleteFunc(h.workers, func(other *worker) bool { return other == w })
		h.leaver.shells = append(h.leaver.shells, w)
	}
}

// wake lets a shell go on among the others.
func (h *history) wake(w *worker) {
	h.happened["shell goes on"]++
	h.note("%s goes on", w.name)
	h.leaver.shells = slices.DeleteFunc(h.leaver.shells, func(other *worker) bool { return other == w })
	w.begun = h.now
	h.workers = append(h.workers, w)
}
