package simulate

import (
	"time"
)

// fail makes a call of the scheduler die repeatedly until the next call of its schedule is due. Then it succeeds
// beside that one: decisions made before that instant are completed after it.
func (h *history) fail() {
	if h.endAll(); h.luck.calm {
		return
	}
	all := h.schedules.Entries()
	if len(all) == 0 {
		return
	}
	one := all[h.luck.IntN(len(all))]
	if one.Called || one.At.Sub(h.now) > 2*lateLimit {
		return
	}
	h.happened["outage"]++
	h.now = maxTime(h.now, one.At)
	w := h.schedules.fire(one.Name)
	if h.run(w, 1+h.luck.IntN(10)); !w.ended {
		h.kill(w)
	}
	h.absorb(nil)
	payload := one.Payload
	if next, exists := h.schedules.Entry(one.Name); exists && !next.Called {
		if wait := next.At.Sub(h.now) - time.Second; wait > 0 && wait <= lateLimit {
			h.now = h.now.Add(wait)
			h.note("time passes: %s", wait)
			h.handOverAged()
		}
	}
	w = h.schedules.deliver(payload)
	h.run(w, h.luck.IntN(10))
	h.now = h.now.Add(2 * time.Second)
	if !w.ended {
		h.run(w, -1)
	}
}
