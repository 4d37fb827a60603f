package simulate

import "slices"

// trip makes one call of a worker fail, and spares it the faults of all others. Work of many calls seldom reaches its
// last ones if each may fail.
type trip struct {
	writes bool // only calls that change something count
	left   int  // calls that go well before
	kind   fault
}

const (
	// tripOneIn workers trip, and one of tripRepairOneIn repairs.
	tripOneIn, tripRepairOneIn = 12, 2
	// maxTripRepair and maxTrip bound the call at which a repair, or other work, trips. maxTripWrite bounds it among
	// writes.
	maxTripRepair, maxTrip, maxTripWrite = 160, 16, 6
)

// writing are the calls of all ports that change something.
var writing = []string{"Put", "Update", "Delete", "Transact", "put", "delete", "publish"}

// newTrip draws the call at which a worker trips; nil for most.
func (h *history) newTrip(w *worker) *trip {
	oneIn, most := tripOneIn, maxTrip
	if w.kind == repairing {
		oneIn, most = tripRepairOneIn, maxTripRepair
	}
	if !h.luck.misfortune(h) || !h.luck.one(oneIn) {
		return nil
	}
	kind := pick(h.luck, failBefore, failBefore, failAfter, failAfter, crashBefore, crashAfter)
	t := &trip{writes: h.luck.one(2), kind: kind}
	if t.writes {
		most = maxTripWrite
	}
	t.left = h.luck.IntN(most)
	return t
}

// fault returns the fault of a call.
func (t *trip) fault(h *history, op string) fault {
	if t.left < 0 || op == "wait" || op == "pause" || t.writes && !slices.Contains(writing, op) {
		return noFault
	}
	if t.left--; t.left >= 0 {
		return noFault
	}
	h.happened["trip"]++
	return t.kind
}
