package simulate

import (
	"fmt"

	"nexus/pkg/archive"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/stats"
)

// maxStart, maxRepair and maxCopy bound the calls of the worker that is overtaken: more than a delivery of one record,
// a repair of one user, or a cold copy needs.
const (
	maxStart  = 14
	maxRepair = 100
	maxCopy   = 6
)

// overtake pauses one worker at some call while others process the same item, from a command to its effects, and
// perhaps a repair of its user. Then the first continues.
func (h *history) overtake(b contendedItem, r *reader) {
	if h.luck.one(2) {
		h.flicker(b)
	}
	var slow *worker
	calls := maxStart
	switch h.luck.IntN(10) {
	case 0:
		slow, calls = h.repair(b.user), maxRepair
	case 1, 2, 3:
		h.endAll() // time may pass
		if called, of := h.callDue(); called != nil {
			slow, b = called, of
		}
	}
	if slow == nil {
		batch := h.recordsOf(r, b)
		if len(batch) == 0 {
			return
		}
		slow = h.handleBeside(r, batch)
	}
	h.run(slow, h.luck.IntN(1+h.luck.IntN(calls))) // more often at one of its first
	commands := h.luck.IntN(4)
	for range commands {
		h.run(h.send(h.requestAbout(b)), -1)
		if h.luck.one(2) {
			h.overtakeInCourse(b, r)
		} else if batch := h.recordsOf(r, b); len(batch) > 0 {
			h.run(h.handleBeside(r, batch), pick(h.luck, -1, -1, h.luck.IntN(maxStart)))
		}
	}
	if commands == 0 || h.luck.one(6) {
		h.run(h.repair(b.user), -1)
	}
	if !slow.ended {
		h.run(slow, -1)
	}
}

// overtakeInCourse lets the reader reach the end of the item's records.
func (h *history) overtakeInCourse(b contendedItem, r *reader) {
	for range maxAtOnce {
		w := h.deliverNext(r, b)
		if w == nil {
			return
		}
		h.run(w, -1)
	}
}

// lastFirst lets the projections, or a repair, come to the item's last state first. Then the records before it come in
// their course, and the store refuses the writes of one projection for good.
func (h *history) lastFirst(b contendedItem) {
	r := h.readerOf(stats.Name)
	switch b.ref.Type {
	case product.TypeTask:
		h.flickerTask(b)
	case entity.TypeMaster:
		h.flicker(b)
	default:
		h.change(b, fmt.Sprintf(`{"title":"z%04d"}`, h.step)) // the greatest title for a while
		h.change(b, fmt.Sprintf(`{"title":"a%04d"}`, h.step))
	}
	if batch := h.recordsOf(r, b); len(batch) > 0 && h.luck.one(2) {
		h.run(h.handleBeside(r, batch[len(batch)-1:]), -1)
	} else {
		h.run(h.repair(b.user), -1)
	}
	if w := h.deliverNext(r, b); w != nil {
		w.cursed = &curse{harm: refusal, consumer: r.consumers[h.luck.IntN(len(r.consumers))]}
		h.run(w, -1)
	}
}

// flicker makes a user's change, its reversal, and another change, all before any consumer reads them.
func (h *history) flicker(b contendedItem) {
	if b.ref.Type == product.TypeTask && h.luck.one(2) {
		h.flickerTask(b)
		return
	}
	for range 1 + h.luck.IntN(3) {
		h.run(h.send(h.requestAbout(b)), -1)
	}
}

// flickerTask completes a task, takes that back, and moves it.
func (h *history) flickerTask(b contendedItem) {
	a := author{h, h.oracle.users[b.user]}
	h.change(b, `{"status":"COMPLETED"}`)
	h.change(b, `{"status":"BACKLOG"}`)
	h.change(b, a.moveDue(a.items[b.ref.ID]))
}

// takeBack lets a user bring an item into a state that ends with its expiry, and out of it again while the archive
// still works on it. The archive may complete that first. It returns whether the item's kind has such a state.
func (h *history) takeBack(b contendedItem) bool {
	var conclude, undo string
	switch b.ref.Type {
	case product.TypeTask:
		conclude, undo = `{"status":"ARCHIVED"}`, `{"status":"BACKLOG"}`
	case product.TypeEvent:
		conclude, undo = `{"status":"CANCELLED"}`, `{"status":"CONFIRMED"}`
	default:
		return false
	}
	h.change(b, conclude)
	r := h.readerOf(archive.Name)
	batch := h.recordsOf(r, b)
	if len(batch) == 0 {
		return true
	}
	slow := h.handleBeside(r, batch)
	h.run(slow, h.luck.IntN(maxCopy))
	h.change(b, undo)
	if h.luck.one(2) {
		h.overtakeInCourse(b, r)
	}
	if !slow.ended {
		h.run(slow, -1)
	}
	return true
}

// change is a patch of the item as its user sees it.
func (h *history) change(b contendedItem, text string) {
	it := h.oracle.users[b.user].items[b.ref.ID]
	if it == nil {
		return
	}
	version := it.Int(entity.AttrVersion)
	update := command.Update{Type: h.registry.ByName(b.ref.Type), ID: b.ref.ID, Patch: document(text)}
	h.run(h.send(&request{
		name:    "update " + b.ref.ID + " " + text,
		Request: command.Request{User: b.user, Command: update, ExpectedVersion: &version},
	}), -1)
}
