package simulate

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"nexus/pkg/bus"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/register"
	"nexus/pkg/reminders"
)

// Attributes of a delivery (docs/data-model.md, FIRED).
const (
	deliveryID    = "deliveryId"
	deliveryState = "state"
	deliveryItem  = "itemId"
	deliverySent  = "sent"
)

// checkDelivery checks a delivery when it is put, by the items at that time (I5). Nothing is announced without a
// request, early, more than a day late, or that was past when it was requested.
func (h *history) checkDelivery(s *userState, row item.Item) {
	sk := row.Str(item.AttrSK)
	id := row.Str(deliveryItem)
	if s.raised[sk] != "" {
		h.violate("I5", s.user, sk, "was put twice")
	}
	delivery := row.Str(deliveryID)
	if other, known := s.deliveryOf[delivery]; known && other != sk {
		h.violate("I5", s.user, sk, "has the deliveryId of %s", other)
	}
	s.deliveryOf[delivery] = sk
	it := s.items[id]
	if strings.HasPrefix(id, "inst_") {
		masterID, _, err := entity.ParseInstanceID(id)
		if err != nil {
			h.violate("I5", s.user, sk, "names no item: %v", err)
		}
		it = s.items[masterID]
	}
	if it == nil {
		h.violate("I5", s.user, sk, "announces an item that is not there")
		return
	}
	var reasons []string
	for _, w := range append(s.wantsOf(it, h.now), h.rungWants(s, it, h.byFormer())...) {
		if w.id != id || w.delivery(s.user) != sk {
			continue
		}
		switch {
		case w.due.After(h.now.Add(h.writer.farthest)):
			reasons = append(reasons, "it is early")
		case h.now.Sub(w.due) > lateLimit+maxLife: // decided earlier, by a worker that was paused
			reasons = append(reasons, "it is more than a day late")
		case w.due.Before(w.asked):
			reasons = append(reasons, "it was past at "+item.FormatInstant(w.asked)+", when it was asked for")
		case w.over():
			reasons = append(reasons, "it was done by "+item.FormatInstant(w.last))
		default:
			h.countDelivery(it, w)
			return
		}
	}
	h.violate("I5", s.user, sk, "announces what nobody wants at %s: %s", item.FormatInstant(h.now),
		strings.Join(reasons, "; "))
}

// countDelivery counts the kinds of reminders.
func (h *history) countDelivery(it item.Item, w expectedDelivery) {
	h.happened["reminder of "+it.Str(entity.AttrType)]++
	for what, is := range map[string]bool{
		"reminder late": h.now.Sub(w.due) > 2*time.Minute, "reminder on time": h.now.Sub(w.due) <= 2*time.Minute,
		"reminder snoozed": w.snooze, "reminder of INSTANCE": strings.HasPrefix(w.id, "inst_"),
		"reminder by a clock ahead": w.due.After(h.now), "reminder recurring": it.Has(product.AttrRRule),
	} {
		if is {
			h.happened[what]++
		}
	}
}

// published checks an event when it reaches the bus.
func (h *history) published(e bus.Event) {
	if !h.places.Name(register.Bus, e.Type) {
		h.violate("I9", "", e.Type, "is an event that the register does not know")
	}
	if h.publishedOfAccount(e) {
		return
	}
	if e.Type != reminders.DetailType {
		h.announced(e)
		return
	}
	var detail struct {
		DeliveryID, UserID, ItemID, DueUtc string
	}
	if err := json.Unmarshal(e.Detail, &detail); err != nil {
		h.violate("I5", "", string(e.Detail), "%v", err)
		return
	}
	h.note("  published %s", e.Detail)
	s := h.oracle.users[detail.UserID]
	if s == nil || h.current != nil && !h.current.users[detail.UserID] {
		h.violate("I9", detail.UserID, detail.ItemID, "an event for somebody else")
		return
	}
	sk, known := s.deliveryOf[detail.DeliveryID]
	if !known || !strings.Contains(sk, detail.ItemID) || !strings.HasSuffix(sk, detail.DueUtc) {
		h.violate("I5", s.user, detail.ItemID, "was published for %s without a delivery", detail.DueUtc)
		return
	}
	h.phones.published(e)
	h.watch.due(e.Detail)
	h.hooks.published(e.Detail)
	if s.told[sk]++; s.told[sk] > 1 {
		h.happened["reminder published again"]++
	}
}

// checkDelivered checks, when all is quiet, that every instant which came due in the last day and was requested in
// time has its delivery, and that each delivery is closed and was published (I5).
func (h *history) checkDelivered(s *userState) {
	for _, sk := range slices.Sorted(maps.Keys(s.deliveries)) {
		if row := s.deliveries[sk]; row.Str(deliveryState) != deliverySent || s.told[sk] == 0 {
			h.violate("I5", s.user, sk, "is %s, and was published %d times", row.Str(deliveryState), s.told[sk])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.items)) {
		for _, w := range s.wantsOf(s.items[id], h.now) {
			h.requireTold(s, w, "")
		}
	}
	h.checkPassed(s)
}

// requireTold requires the delivery, unless a worker whose clock is ahead may have found it missed already.
func (h *history) requireTold(s *userState, w expectedDelivery, why string) {
	isDue := !w.due.After(h.now) && h.now.Add(maxAhead).Sub(w.due) <= lateLimit && !w.due.Before(w.asked) && !w.over()
	if isDue && s.raised[w.delivery(s.user)] == "" {
		h.violate("I5", s.user, w.id, "was due at %s, asked for at %s, and nobody was told%s", item.FormatInstant(w.due),
			item.FormatInstant(w.asked), why)
	}
}

// checkPassed checks that a recurring reminder that its user left unchanged was delivered for each trigger since then,
// however far it has moved on by itself (I5).
func (h *history) checkPassed(s *userState) {
	zoneMoved, _ := s.meta.Time(product.AttrZoneSetAt)
	for _, id := range slices.Sorted(maps.Keys(s.ordered)) {
		it := s.ordered[id].New
		if it.Str(entity.AttrType) != product.TypeReminder || !it.Has(product.AttrRRule) || s.items[id] == nil {
			continue
		}
		left := h.instantOf(it)
		if !zoneMoved.Before(left) && !it.Has(product.AttrTzid) {
			continue // a reading that had passed on the old clocks may occur again on the new ones
		}
		wants := s.wantsOf(it, h.now)
		for _, w := range wants {
			if !w.due.Before(left.Add(time.Second)) && !s.coveredBySnooze(w, wants) {
				h.requireTold(s, w, ", though it passed")
				h.requirePassed(s, w)
			}
		}
	}
}

// coveredBySnooze reports whether a snooze that ended before its occurrence was delivered for it. Another trigger can
// be at that instant: where a day is left out, the next one is.
func (s *userState) coveredBySnooze(w expectedDelivery, all []expectedDelivery) bool {
	return !w.snooze && slices.ContainsFunc(all, func(o expectedDelivery) bool {
		return o.snooze && s.raised[o.delivery(s.user)] != "" && !w.due.After(o.occurrence)
	})
}

// requirePassed checks that the trigger of a recurring reminder is past the deliveries since its user left it
// unchanged (I5). A clock that is ahead may have delivered a trigger that its user still makes recur.
func (h *history) requirePassed(s *userState, w expectedDelivery) {
	it := s.items[w.id]
	if w.snooze || change.CompareSequence(s.raised[w.delivery(s.user)], s.ordered[w.id].Sequence) < 0 ||
		!it.Has(product.AttrRRule) || it.Has(product.AttrDoneTriggerUtc) {
		return
	}
	trigger, _ := it.Time(product.AttrTriggerUtc)
	if !it.Has(product.AttrTzid) {
		trigger = resolve(trigger, s.zone())
	}
	if !trigger.After(w.occurrence) {
		h.violate("I5", s.user, w.id, "was told of %s, and its trigger stays at %s", item.FormatInstant(w.occurrence),
			item.FormatInstant(trigger))
	}
}

// checkSchedules checks that each item has one schedule for each offset, for its next due instant, and that there is
// no other (I4).
func (h *history) checkSchedules() {
	wanted := map[string]expectedDelivery{}
	for _, user := range h.users {
		s := h.oracle.users[user]
		for _, id := range slices.Sorted(maps.Keys(s.items)) {
			for _, w := range s.wantsOf(s.items[id], h.now) {
				name := h.scheduleName(user, w.id, w.offset)
				if before, ok := wanted[name]; w.due.After(h.now) && !w.over() && s.raised[w.delivery(user)] == "" &&
					(!ok || w.due.Before(before.due)) {
					wanted[name] = w
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		w := wanted[name]
		one, exists := h.schedules.Entry(name)
		switch {
		case !exists:
			h.violate("I4", "", w.id, "has no schedule for %d minutes before, due %s", w.offset, item.FormatInstant(w.due))
		case one.Called || one.At.Before(w.due) || one.At.After(w.due.Add(leastLead)) || !namesDue(one.Payload, w):
			h.violate("I4", "", w.id, "due %s, is scheduled for %s (called %t): %s", item.FormatInstant(w.due),
				item.FormatInstant(one.At), one.Called, one.Payload)
		}
	}
	for _, one := range h.schedules.Entries() {
		if _, ok := wanted[one.Name]; !ok {
			isOwn := !isPush(one.Payload) && hookOfPayload(one.Payload) == "" // of reminders; the others have laws of their own
			if !isOwn || h.isOfRung(one.Schedule) || h.schedules.isAbandoned(one.Name) || h.isOutdated(one.Schedule) {
				continue
			}
			h.violate("I4", userOfPayload(one.Payload), string(one.Payload),
				"is scheduled for %s (called %t), and no reminder wants it", item.FormatInstant(one.At), one.Called)
		}
	}
}

func namesDue(payload []byte, w expectedDelivery) bool {
	var call struct{ ItemID, DueUtc string }
	return json.Unmarshal(payload, &call) == nil && call.ItemID == w.id && call.DueUtc == item.FormatInstant(w.due)
}
