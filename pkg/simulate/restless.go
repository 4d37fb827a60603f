package simulate

import (
	"nexus/pkg/command"
	"nexus/pkg/entity"
)

// maxPests bounds how often an item changes while one worker looks at it.
const maxPests = 60

// pest has somebody change what a worker works on, again and again between its calls, and others see each change through.
func (h *history) pest() {
	h.endAll()
	h.absorb(nil)
	b, ok := h.aBone()
	if !ok {
		return
	}
	r := h.readers[h.luck.IntN(len(h.readers))]
	var w *worker
	switch h.luck.IntN(4) {
	case 0:
		w = h.repair(b.user)
	case 1:
		w = h.callOf(b)
	}
	if batch := h.recordsOf(r, b); w == nil && len(batch) > 0 {
		w = h.handleBeside(r, batch)
	}
	if w == nil {
		return
	}
	h.happened["restless item"]++
	h.tell("%s of %s never rests", b.ref, b.user)
	often := pick(h.luck, 1, 1, 2, 4)
	left := maxPests
	w.pest = func() {
		if left == 0 || h.settling || h.violation != nil || !h.luck.one(often) {
			return
		}
		left--
		pest := w.pest
		w.pest = nil
		h.provoke(b, r)
		w.pest = pest
	}
	h.run(w, -1)
}

// callOf is a call of the scheduler about the item, if there is one that is due; nil otherwise.
func (h *history) callOf(b bone) *worker {
	for _, name := range h.schedules.due() {
		if payload := h.schedules.named[name].Payload; userOfPayload(payload) == b.user {
			return h.schedules.fire(name)
		}
	}
	return nil
}

// provoke changes the item, and has its records seen through by the same reader.
func (h *history) provoke(b bone, r *reader) {
	it := h.known.shelves[b.user].items[b.ref.ID]
	switch {
	case it == nil || h.luck.one(3):
		h.run(h.send(h.requestAbout(b)), -1)
	default:
		typ, version := h.registry.Named(b.ref.Type), it.Int(entity.AttrVersion)
		h.asked++
		fields := document(describe(`{"title":"p%d"}`, h.asked))
		r := &request{name: "update " + b.ref.ID, Request: command.Request{User: b.user, ExpectedVersion: &version}}
		r.Command = command.Update{Type: typ, ID: b.ref.ID, Patch: fields}
		if typ.Name == entity.TypeMaster {
			r.Command = command.UpdateSeries{ID: b.ref.ID, Patch: fields}
		}
		h.run(h.send(r), -1)
	}
	if batch := h.recordsOf(r, b); len(batch) > 0 && h.luck.one(2) {
		h.run(h.handleBeside(r, batch), -1)
	}
}
