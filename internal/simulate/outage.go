package simulate

import (
	"time"
)

// fail has a call of the scheduler die somewhere, again and again until the next of its schedule is about to come, and
// then go through while that comes: what was decided before its instant is finished behind it.
func (h *history) fail() {
	if h.endAll(); h.luck.calm {
		return
	}
	names := h.schedules.names()
	if len(names) == 0 {
		return
	}
	name := names[h.luck.IntN(len(names))]
	one := h.schedules.named[name]
	if one.called || one.At.Sub(h.now) > 2*lateLimit {
		return
	}
	h.happened["outage"]++
	h.now = maxTime(h.now, one.At)
	w := h.schedules.fire(name)
	if h.run(w, 1+h.luck.IntN(10)); !w.ended {
		h.kill(w)
	}
	h.absorb(nil)
	payload := one.Payload
	if next := h.schedules.named[name]; next != nil && !next.called {
		if wait := next.At.Sub(h.now) - time.Second; wait > 0 && wait <= lateLimit {
			h.now = h.now.Add(wait)
			h.tell("time passes: %s", wait)
			h.giveUp()
		}
	}
	w = h.schedules.deliver(payload)
	h.run(w, h.luck.IntN(10))
	h.now = h.now.Add(2 * time.Second)
	if !w.ended {
		h.run(w, -1)
	}
}
