package simulate

import (
	"fmt"
	"slices"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule/memory"
)

// stumble makes the walk of the last change of a user's settings fail at its first write.
func (h *history) stumble() {
	h.absorb(nil)
	if w := h.walkAgain(h.users[0]); w != nil {
		w.trip = &trip{writes: true, kind: pick(h.luck, failBefore, failAfter)}
		h.run(w, -1)
	}
}

// walkAgain begins the walk of the last change of a user's zone, as a message of it does that comes again; nil if there
// is none.
func (h *history) walkAgain(user string) *worker {
	rec := h.lastZoneChange(user)
	if rec == nil {
		return nil
	}
	if h.mixture.former != nil { // which walks where it gets the record
		return h.handleBeside(h.readerOf(reminders.Name), []*record{rec})
	}
	return h.walks.beside(h.messageOf(entity.ZoneKey(user, rec.New.Int(entity.AttrVersion))))
}

// lastZoneChange returns the record of the last change of a user's zone; nil if there is none.
func (h *history) lastZoneChange(user string) *record {
	for _, rec := range slices.Backward(h.stream.log) {
		if rec.Key == entity.MetaKey(user) && rec.New != nil &&
			rec.Old.Str(product.AttrDefaultTzid) != rec.New.Str(product.AttrDefaultTzid) {
			return rec
		}
	}
	return nil
}

// twoWalks lets two workers carry out one change of a user's zone. The second comes to its end, and the user changes
// items, while the first is at some call. The first dies after its next write. A history with the previous release has
// no two walks: that release leaves nothing in the cursor for the repetition of a worker that it overtakes.
func (h *history) twoWalks(user string) {
	if h.mixture.former != nil {
		return
	}
	h.endAll()
	h.moveZone(h.oracle.users[user])
	h.endAll()
	h.absorb(nil)
	own := slices.DeleteFunc(h.schedules.Entries(),
		func(one memory.Entry) bool { return userOfPayload(one.Payload) != user })
	if len(own) == 0 {
		return
	}
	slow := h.walkAgain(user)
	if slow == nil {
		return
	}
	h.happened["two walks"]++
	if h.luck.one(2) {
		slow.until = "put"
		h.run(slow, -1)
	} else {
		h.run(slow, h.luck.IntN(2*maxStart))
	}
	h.run(h.walkAgain(user), -1)
	if one, exists := h.schedules.Entry(slow.schedule); exists && !slow.ended {
		own = []memory.Entry{one}
	}
	h.changeItems(user, own)
	if !slow.ended {
		slow.trip = &trip{writes: true, kind: crashAfter}
		h.run(slow, -1)
	}
}

// changeSome changes items of the user that have schedules.
func (h *history) changeSome(user string) {
	own := slices.DeleteFunc(h.schedules.Entries(),
		func(one memory.Entry) bool { return userOfPayload(one.Payload) != user })
	if len(own) > 0 {
		h.changeItems(user, own)
	}
}

// changeItems changes up to three of the items whose schedules are given, and lets their records be processed.
func (h *history) changeItems(user string, own []memory.Entry) {
	for range 3 {
		b, ok := h.itemOfCall(own[h.luck.IntN(len(own))].Payload)
		if !ok {
			continue
		}
		a, it := author{h, h.oracle.users[user]}, h.oracle.users[user].items[b.ref.ID]
		switch b.ref.Type {
		case product.TypeTask:
			h.change(b, pick(h.luck, `{"status":"COMPLETED"}`, a.moveDue(it)))
		case product.TypeEvent:
			h.change(b, pick(h.luck, `{"status":"CANCELLED"}`, a.move(it)))
		default:
			h.run(h.send(h.requestAbout(b)), -1)
		}
		h.overtakeInCourse(b, h.readerOf(reminders.Name))
	}
}

// moveZone changes the zone of a user, so that every floating item is reconciled.
func (h *history) moveZone(s *userState) {
	version := s.meta.Int(entity.AttrVersion)
	zone := pick(h.luck, zoneNames...)
	h.begin(h.send(&request{name: "settings " + zone, Request: command.Request{
		User: s.user, Command: command.UpdateMe{Patch: document(fmt.Sprintf(`{"defaultTzid":%q}`, zone))},
		ExpectedVersion: &version,
	}}))
}
