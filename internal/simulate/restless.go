package simulate

import (
	"fmt"
	"slices"
	"strings"

	"nexus/pkg/archive"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/stats"
	"nexus/pkg/table"
)

const (
	// maxPests bounds the interruptions of one running worker.
	maxPests = 60
	// maxSpared bounds the undisturbed calls at the beginning.
	maxSpared = 4
	// lately is how many of the last records may be the TTL service's.
	lately = 40
)

// unrest is repeated work of others between the calls of one worker, until it gives up.
type unrest struct {
	act        func(writes []table.Action)
	writesOnly bool // only before calls that write
	spared     int  // calls that are left alone first
	often      int  // others act before one of that many calls
	left       int
}

// disturb lets others act before a call of the worker.
func (h *history) disturb(w *worker, writes []table.Action) {
	u := w.unrest
	if u.left == 0 || h.settling || h.violation != nil || u.writesOnly && len(writes) == 0 || !h.luck.one(u.often) {
		return
	}
	if u.spared > 0 {
		u.spared--
		return
	}
	u.left--
	w.unrest = nil
	u.act(writes)
	w.unrest = u
}

// disturbance is a kind of unrest.
type disturbance int

const (
	renaming      disturbance = iota // the item gets other titles, and stays the same otherwise
	linking                          // the item gets links and loses them
	neighbouring                     // its user changes another item
	laterWriting                     // a later release writes what is about to be written
	anythingGoing                    // its user does anything with it
)

// unsettle chooses the work of others while the worker works on the item: often one of those that are named. They use
// reader r, nil for any reader.
func (h *history) unsettle(w *worker, b contendedItem, r *reader, likely ...disturbance) {
	h.happened["restless item"]++
	h.note("%s of %s never rests", b.ref, b.user)
	u := &unrest{writesOnly: h.luck.one(2), often: pick(h.luck, 1, 1, 2, 4), left: maxPests}
	if h.luck.one(3) {
		u.spared = h.luck.IntN(maxSpared)
	}
	readBy := func(names ...string) *reader {
		if r != nil {
			return r
		}
		return h.readerOf(pick(h.luck, names...))
	}
	of := pick(h.luck, renaming, renaming, linking, neighbouring, neighbouring, laterWriting, anythingGoing)
	if len(likely) > 0 && h.luck.one(2) {
		of, u.often = pick(h.luck, likely...), 1
	}
	switch of {
	case renaming:
		u.act = func([]table.Action) { h.rename(b) }
	case linking:
		r = readBy(links.Name)
		u.act = func([]table.Action) { h.relink(b, r) }
	case neighbouring:
		r = readBy(stats.Name, ownName)
		u.act = func([]table.Action) { h.beNeighbour(b, r) }
	case laterWriting:
		u.act = func(writes []table.Action) { h.overwriteLater(writes) }
	case anythingGoing:
		r = readBy(stats.Name, ownName, links.Name)
		u.act = func([]table.Action) { h.provoke(b, r) }
	}
	w.unrest = u
}

// readerOf is the reader of a consumer.
func (h *history) readerOf(consumer string) *reader {
	return h.readers[slices.IndexFunc(h.readers, func(r *reader) bool { return slices.Contains(r.consumers, consumer) })]
}

// pest lets others repeatedly change a worker's item between its calls.
func (h *history) pest() {
	h.endAll()
	h.absorb(nil)
	w, b, r := h.victim()
	if w == nil {
		return
	}
	if r != nil && h.luck.one(4) {
		h.curse(w, r.consumers)
	}
	var likely []disturbance
	if w.kind == notifying || r != nil && slices.Contains(r.consumers, archive.Name) {
		likely = append(likely, renaming)
	}
	h.unsettle(w, b, r, likely...)
	var holder *worker
	if r != nil && h.luck.damaging && h.luck.one(3) {
		holder = h.leaseSums(b.user)
	}
	h.run(w, -1)
	if holder != nil && !holder.ended {
		h.run(holder, -1)
	}
}

// maxUntilHeld bounds the turns in which a repair reaches its lease.
const maxUntilHeld = 80

// leaseSums returns a repair that has a lease on one of the user's sums, or has ended.
func (h *history) leaseSums(user string) *worker {
	s := h.oracle.users[user]
	h.damageSum(s)
	w := h.repair(user)
	w.trip, w.cursed = nil, nil
	for turn := 0; turn < maxUntilHeld && !w.ended && !s.isHeld(); turn++ {
		h.run(w, 2)
	}
	return w
}

// provoke changes the item, and lets its records be processed.
func (h *history) provoke(b contendedItem, r *reader) {
	if h.oracle.users[b.user].items[b.ref.ID] == nil || h.luck.one(3) {
		h.run(h.send(h.requestAbout(b)), -1)
	} else {
		h.rename(b)
	}
	if batch := h.recordsOf(r, b); len(batch) > 0 && h.luck.one(2) {
		h.run(h.handleBeside(r, batch), -1)
	}
}

// rename gives the item another title, longer or shorter, and leaves the rest unchanged.
func (h *history) rename(b contendedItem) {
	it := h.oracle.users[b.user].items[b.ref.ID]
	if it == nil {
		return
	}
	h.asked++
	text := fmt.Sprintf(`{"title":"p%d%s"}`, h.asked, strings.Repeat("x", h.luck.IntN(4)))
	if b.ref.Type != entity.TypeMaster {
		h.change(b, text)
		return
	}
	version := it.Int(entity.AttrVersion)
	h.run(h.send(&request{name: "change " + b.ref.ID, Request: command.Request{
		User: b.user, ExpectedVersion: &version, Command: command.UpdateSeries{ID: b.ref.ID, Patch: document(text)},
	}}), -1)
}

// relink adds a link to the item or removes one, and lets that be processed.
func (h *history) relink(b contendedItem, r *reader) {
	h.run(h.send(h.requestLink(b)), -1)
	h.deliverLast(r, b)
}

// beNeighbour lets the user complete another task than the item, or reopen it, and lets that be processed: a sum of
// the user's is written.
func (h *history) beNeighbour(b contendedItem, r *reader) {
	s, typ := h.oracle.users[b.user], h.registry.ByName(product.TypeTask)
	isOther := func(id string) bool { return id != b.ref.ID && s.items[id] != nil }
	h.asked++
	at := slices.IndexFunc(s.ids[typ.Name], isOther)
	if at < 0 {
		text := fmt.Sprintf(`{"title":"n%d"}`, h.asked)
		h.run(h.send(&request{name: "create tasks", Request: command.Request{
			User: b.user, Command: command.Create{Type: typ, Fields: document(text)},
		}}), -1)
	} else {
		other := contendedItem{b.user, entity.Ref{Type: typ.Name, ID: s.ids[typ.Name][at]}}
		status := product.StatusCompleted
		if s.items[other.ref.ID].Str(entity.AttrStatus) != product.StatusBacklog {
			status = product.StatusBacklog
		}
		h.change(other, fmt.Sprintf(`{"status":%q,"title":"n%d%s"}`, status, h.asked, strings.Repeat("x", h.luck.IntN(4))))
	}
	if at = slices.IndexFunc(s.ids[typ.Name], isOther); at >= 0 {
		h.deliverLast(r, contendedItem{b.user, entity.Ref{Type: typ.Name, ID: s.ids[typ.Name][at]}})
	}
}

// deliverLast lets a reader process the last record of the item.
func (h *history) deliverLast(r *reader, b contendedItem) {
	for _, rec := range slices.Backward(h.stream.log) {
		if rec.item == b && r.filter.Match(rec.arrives) {
			h.run(h.handleBeside(r, []*record{rec}), -1)
			return
		}
	}
}
