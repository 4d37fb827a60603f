package simulate

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	"nexus/pkg/deliver"
	keys "nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

const (
	// deviceLife is how long a device that is not renewed is kept.
	deviceLife = 180 * 24 * time.Hour
	// pushLife is how long the row of a delivery on a device is kept.
	pushLife = 30 * 24 * time.Hour
	// topicLength is that of a topic.
	topicLength = 32
)

// checkMessage checks a message when it reaches a push service, and returns the delivery that it names (D2, D4). It was
// sent at now; the clock of a worker may be another at each of its calls.
func (p *phones) checkMessage(s *pushService, in deliver.Push, now time.Time) (delivery string) {
	h := p.h
	var m struct{ DeliveryID, User, Act string }
	if err := json.Unmarshal(in.Payload, &m); err != nil {
		h.violate("D2", s.user, s.id, "gets no JSON: %v", err)
		return ""
	}
	e := p.events[m.DeliveryID]
	if e == nil || e.user != s.user {
		h.violate("I9", s.user, m.DeliveryID, "is told on a device of %s", s.user)
		return ""
	}
	if m.User != h.leaver.pepper.Pseudonym(s.user) {
		h.violate("I9", s.user, m.DeliveryID, "is told as of %s", m.User)
	}
	if in.Topic != m.DeliveryID[:min(topicLength, len(m.DeliveryID))] {
		h.violate("D2", s.user, m.DeliveryID, "has the topic %s, so a repetition replaces nothing", in.Topic)
	}
	if before, known := e.acts[s.id]; known && before != m.Act {
		h.violate("D2", s.user, m.DeliveryID, "has another action when it comes again")
	}
	e.acts[s.id] = m.Act
	if in.TTL <= 0 || now.Add(in.TTL).After(e.until.Add(2*maxAhead)) {
		h.violate("D4", s.user, m.DeliveryID, "is told at %s for %s, and ends at %s", item.FormatInstant(now), in.TTL,
			item.FormatInstant(e.until))
	}
	if row := h.rowOf(keys.PushKey(s.user, e.id, s.id)); row == nil && !h.isGone(s.user) && h.now.Before(e.until) {
		h.violate("D1", s.user, m.DeliveryID, "is told before its row is put")
	}
	return m.DeliveryID
}

// rowOf reads a row past the ports; nil without one.
func (h *history) rowOf(key item.Key) item.Item {
	row, err := table.Find(noContext, h.store, key)
	if err != nil {
		h.violate("port", "", key.String(), "%v", err)
	}
	return row
}

// checkPhones checks that a device left only by the answer about its present endpoint (D3).
func (p *phones) checkPhones() {
	for _, user := range slices.Sorted(maps.Keys(p.of)) {
		for _, id := range slices.Sorted(maps.Keys(p.of[user])) {
			one := p.of[user][id]
			if p.h.isGone(user) || p.h.now.Sub(one.at) > deviceLife-24*time.Hour {
				p.leave(user, id)
				continue
			}
			if p.h.rowOf(keys.DeviceKey(user, id)) != nil {
				continue
			}
			gave := p.services[one.endpoint].gave
			if !gave[http.StatusNotFound] && !gave[http.StatusGone] {
				p.h.violate("D3", user, id, "has left, and its push service said no such thing of %s", one.endpoint)
			}
			p.h.happened["device gone"]++
			p.leave(user, id)
		}
	}
}

// checkTold checks, when all is quiet, that each device that was registered when an event was handled was told, will
// be, or has a row that says why not (D1).
func (p *phones) checkTold() {
	if p == nil {
		return
	}
	p.checkPhones()
	for _, id := range slices.Sorted(maps.Keys(p.events)) {
		e := p.events[id]
		if p.h.isGone(e.user) || p.h.now.Sub(e.until) > pushLife-48*time.Hour {
			continue
		}
		for _, on := range slices.Sorted(maps.Keys(e.owed)) {
			p.checkToldOn(e, on)
		}
	}
}

func (p *phones) checkToldOn(e *ringing, on string) {
	h := p.h
	row := h.rowOf(keys.PushKey(e.user, e.id, on))
	if row == nil {
		h.violate("D1", e.user, e.id, "was handled, and has no row of device %s", on)
		return
	}
	var gave, accepted = map[int]bool{}, false
	for _, s := range p.services {
		if s.user == e.user && s.id == on {
			maps.Copy(gave, s.gave)
			accepted = accepted || s.accepted[e.id]
		}
	}
	some := func(statuses ...int) bool {
		return slices.ContainsFunc(statuses, func(status int) bool { return gave[status] })
	}
	state, reason := row.Str("state"), row.Str("reason")
	h.happened["delivery on a device "+state+" "+reason]++
	isRight := false
	switch state + " " + reason {
	case "sent ":
		isRight = accepted
	case "pending ":
		one, exists := h.schedules.Entry(deliver.ScheduleName(e.user, e.id, on))
		// A worker died between row and request, and the device left before the event came again.
		isRight = exists && !one.Called || e.without[on]
	case "dead gone":
		isRight = some(http.StatusNotFound, http.StatusGone)
	case "dead keys":
		isRight = some(http.StatusForbidden)
	case "dead refused":
		isRight = some(http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusMovedPermanently)
	case "dead late", "dead removed":
		isRight = true
	}
	if !isRight {
		h.violate("D1", e.user, e.id, "is %q on device %s, accepted %t, answers %v", state+" "+reason, on, accepted, gave)
	}
}

// isLeft reports whether a row waits for ever: a worker died, and its device left before the event came again.
func (p *phones) isLeft(key string) bool {
	if p == nil {
		return false
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(p.events)), func(e *ringing) bool {
		return slices.ContainsFunc(phoneIDs, func(id string) bool {
			return e.without[id] && key == keys.PushKey(e.user, e.id, id).String()
		})
	})
}
