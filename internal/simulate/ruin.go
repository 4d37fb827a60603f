package simulate

// maxRuinWrite bounds the write at which a worker dies.
const maxRuinWrite = 3

// ruin kills a delivery or a call at some point, and verifies or repairs its remains at once. A later release may have
// written some of them.
func (h *history) ruin() {
	h.endAll()
	h.absorb(nil)
	b, ok := h.aContendedItem()
	if !ok || !h.luck.misfortune(h) {
		return
	}
	r := h.readers[h.luck.IntN(len(h.readers))]
	h.run(h.send(h.requestAbout(b)), -1)
	w := h.deliverNext(r, b)
	if called, of := h.callDue(); called != nil && (w == nil || h.luck.one(2)) {
		if w != nil {
			h.kill(w)
		}
		w, b = called, of
	}
	if w == nil {
		return
	}
	h.happened["ruin"]++
	w.trip = &trip{writes: h.luck.one(2), kind: pick(h.luck, crashBefore, crashAfter, crashAfter)}
	w.trip.left = h.luck.IntN(maxStart)
	if w.trip.writes {
		w.trip.left = h.luck.IntN(maxRuinWrite)
	}
	h.run(w, -1)
	if h.luck.one(4) {
		h.labelLast()
	}
	if h.luck.one(2) {
		h.now = h.now.Add(unattended)
	}
	if h.luck.one(2) {
		h.run(h.inspect(b.user), -1)
		return
	}
	if h.luck.damaging && h.luck.one(2) {
		h.damageSum(h.oracle.users[b.user])
	}
	w = h.repair(b.user)
	if h.luck.one(2) {
		w.cursed = &curse{harm: refusal, picky: true, item: b.ref.ID}
	}
	h.run(w, -1)
}

// justWritten is the number of last records that belong to a dead worker.
const justWritten = 4

// labelLast has a later release write what was written last.
func (h *history) labelLast() {
	for _, rec := range h.stream.log[max(0, len(h.stream.log)-justWritten):] {
		s := h.oracle.users[rec.user]
		if s == nil || h.later[rec.Key] != "" {
			continue
		}
		if name := s.rowsOfForms()[rec.Key]; name != "" {
			h.label(rec.Key, name)
		}
	}
}
