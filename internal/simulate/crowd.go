package simulate

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// crowd gives the first user more of something than fits into one page of a walk, one transaction, or one call.
func (h *history) crowd() {
	if h.luck.crowd == 0 {
		return
	}
	h.settling = true // nothing fails
	defer func() { h.settling = false }()
	h.happened["crowd"]++
	user := h.users[0]
	do := func(cmd command.Command, expected *int64) {
		h.asked++
		h.run(h.send(&request{name: "fill", Request: command.Request{User: user, Command: cmd, ExpectedVersion: expected}}),
			-1)
	}
	kind := pick(h.luck, product.TypeReminder, product.TypeReminder, product.TypeNote, entity.TypeMaster)
	if h.luck.crowd == town {
		kind = product.TypeTask
	}
	typ := h.registry.ByName(kind)
	at := h.now.Add(30 * time.Hour).Truncate(time.Minute)
	switch kind {
	case entity.TypeMaster:
		do(command.CreateSeries{Fields: document(
			fmt.Sprintf(`{"title":"f","startUtc":%q,"reminderMinutes":[0],"rrule":"FREQ=DAILY"}`, at.Format(wallLayout)))}, nil)
		id := h.oracle.users[user].ids[kind][0]
		for i := range min(h.luck.crowd, most*maxHeld*maxAtOnce) {
			version := int64(1)
			day := at.AddDate(0, 0, i)
			text := fmt.Sprintf(`{"startUtc":%q,"reminderMinutes":[%d]}`, day.Add(time.Hour).Format(wallLayout), i%3)
			do(command.PutInstance{MasterID: id, Date: day.Format("20060102"), Fields: document(text)}, &version)
		}
	case product.TypeTask: // without a time, so that no zone of their user matters to them
		for i := range h.luck.crowd {
			do(command.Create{Type: typ, Fields: document(fmt.Sprintf(`{"title":"f%d"}`, i))}, nil)
		}
		h.moveZone(h.oracle.users[user])
		h.endAll()
		h.settling = false
		h.stumble()
	default:
		for i := range h.luck.crowd {
			text := fmt.Sprintf(`{"title":"f%d","body":"b"}`, i)
			if kind == product.TypeReminder {
				text = fmt.Sprintf(`{"title":"f%d","triggerUtc":%q}`, i, at.Add(time.Duration(i%5)*time.Hour).Format(wallLayout))
			}
			do(command.Create{Type: typ, Fields: document(text)}, nil)
		}
		ids := h.oracle.users[user].ids[kind]
		for i, id := range ids {
			do(command.AddLink{Type: typ, ID: id, Target: entity.Ref{Type: kind, ID: ids[(i+1)%len(ids)]}}, nil)
		}
	}
}

// firstDelivery is the key of an item's delivery of the earliest occurrence.
func firstDelivery(s *userState, id string) (item.Key, bool) {
	for _, sk := range slices.Sorted(maps.Keys(s.deliveries)) {
		if row := s.deliveries[sk]; row.Str(deliveryItem) == id {
			return row.Key(), true
		}
	}
	return item.Key{}, false
}

// town is more items than a walk passes in one call.
const town = 2_050

// overhaul begins a repair of the first user of a crowd while the stream may be far behind. Nothing fails in it until
// it has staged rows of a sum. Some calls later it pauses for longer than its lease lasts, or dies.
func (h *history) overhaul() {
	h.settling = true
	defer func() { h.settling = false }()
	w := h.repair(h.users[0])
	for slices.Contains(h.workers, w) && !h.oracle.users[h.users[0]].isStaged() {
		h.run(w, 1)
	}
	if slices.Contains(h.workers, w) {
		h.run(w, h.luck.IntN(12))
	}
	if h.luck.one(2) && slices.Contains(h.workers, w) {
		h.kill(w)
	}
	h.pass(time.Minute) // its lease expires
}

// manyMoves are more than a page of deliveries.
const manyMoves = 205

// fidget moves an event from minute to minute, so often that its deliveries exceed a page, and then back.
func (h *history) fidget() {
	h.settling = true
	defer func() { h.settling = false }()
	h.endAll()
	user := h.users[h.luck.IntN(len(h.users))]
	s, typ := h.oracle.users[user], h.registry.ByName(product.TypeEvent)
	first := h.now.Add(time.Minute)
	at := func(t time.Time) string {
		return fmt.Sprintf(`"startUtc":%q,"startTzid":"UTC"`, t.Format(time.RFC3339))
	}
	h.asked++
	h.run(h.send(&request{name: "create events", Request: command.Request{User: user, Command: command.Create{
		Type: typ, Fields: document(fmt.Sprintf(`{"title":"m%d",%s,"reminderMinutes":[0]}`, h.asked, at(first))),
	}}}), -1)
	ids := s.ids[product.TypeEvent]
	if len(ids) == 0 {
		return
	}
	id := ids[len(ids)-1]
	h.happened["more than a page of fences"]++
	move := func(to time.Time) {
		version := s.items[id].Int(entity.AttrVersion)
		h.run(h.send(&request{name: "update " + id, Request: command.Request{
			User: user, ExpectedVersion: &version,
			Command: command.Update{Type: typ, ID: id, Patch: document("{" + at(to) + "}")},
		}}), -1)
		h.catchUp()
	}
	for range manyMoves {
		if h.violation != nil || s.items[id] == nil {
			return
		}
		h.now = h.now.Add(2 * time.Minute)
		h.callAllDue()
		move(h.now.Add(time.Minute))
	}
	if key, ok := firstDelivery(s, id); ok && h.luck.one(2) {
		h.label(key, entity.AttrForm)
	}
	move(first)
	move(h.now.Add(time.Hour))
}
