package simulate

import (
	"slices"
	"time"
)

const (
	// maxTug bounds the turns while two repairs run.
	maxTug = 160
	// lapse exceeds the duration of a repair's lease unless it is renewed.
	lapse = 31 * time.Second
	// soonOver is about when a lease is renewed.
	soonOver = 11 * time.Second
)

// tug runs two repairs of one user at once, beside commands, deliveries and each other. Time passes: a lease is
// renewed, or expires during its owner's work.
func (h *history) tug(user string) {
	h.endAll()
	if h.luck.damaging {
		for range 1 + h.luck.IntN(4) {
			h.damage(user)
		}
	}
	h.happened["two repairs"]++
	h.note("two repairs of %s at once", user)
	at := []*worker{h.repair(user), h.repair(user)}
	for _, w := range at {
		h.mistime(w)
	}
	favourite := h.readers[h.luck.IntN(len(h.readers))]
	for turn := 0; turn < maxTug && len(at) > 0 && h.violation == nil; turn++ {
		if b, ok := h.aContendedItem(); ok && b.user == user && h.luck.one(6) {
			at = h.join(at, b, favourite)
		}
		h.run(at[h.luck.IntN(len(at))], pick(h.luck, 1, 1, 2, 5, 20, 60))
		at = slices.DeleteFunc(at, func(w *worker) bool { return w.ended })
		switch n := h.luck.IntN(40); {
		case n == 0:
			h.now = h.now.Add(lapse)
		case n < 3:
			h.now = h.now.Add(soonOver)
		}
	}
}
