package hooklaws

import (
	"maps"
	"slices"
	"time"
)

// quiet judges what must be so when all work has ended: nothing waits, and nothing was left out.
func (j *Judge) quiet(q Quiet) {
	j.checkSignatures()
	for _, m := range j.messages {
		if j.gone[m.key.user] {
			continue
		}
		if m.isPending() {
			j.breach("W1", m.key.hookKey, m.id, "all is quiet at %s, and it is pending since %s: %v",
				stamp(q.At), stamp(m.pendingAt), m.out)
		}
		if m.out != nil && !m.isPending() {
			j.breach("outbox", m.key.hookKey, m.id, "all is quiet, and OUT is there beside state %q", m.state())
		}
	}
	for _, t := range j.tried {
		if m := j.byID[t.ID]; m == nil || m.key.hookKey != (hookKey{t.User, t.Hook}) {
			j.breach("W1", hookKey{t.User, t.Hook}, t.ID, "its user was answered this id, and it is no message")
		}
	}
	clear(j.open)
	for key, h := range j.hooks {
		h.running = nil
		isStray := h.now() == nil && h.lane.isThere && !j.gone[key.user]
		if isStray && q.At.Sub(h.states[len(h.states)-1].from) > strayFor+j.tolerance.Clock {
			j.breach("lane", key, "", "all is quiet, and there is a lane of an endpoint that was deleted")
		}
	}
}

// handled judges W1 for an event: each endpoint that was active and asked for it all the time has its message. One of
// the second of the endpoint's creation may have been handled before the endpoint was there.
func (j *Judge) handled(o Handled) {
	if r := j.sequences[o.Sequence]; r != nil && o.Sequence != "" {
		user, _, _ := split(r.PK, r.SK)
		if r.isEvent() {
			j.checkMissing(user, r.event(), r.Created, r.order, o.Began, func(m *message) bool {
				return m.version == r.version() && m.typ == r.event() && m.item() == idOf(r.image(), r.SK)
			})
		}
		return
	}
	for _, d := range j.dues {
		if d.DeliveryID == o.DeliveryID {
			j.checkMissing(d.User, "reminder.due", d.At, d.order, o.Began, func(m *message) bool {
				return m.version == 0 && text(m.parsed().Data, "deliveryId") == d.DeliveryID
			})
		}
	}
}

func (j *Judge) checkMissing(user, typ string, at time.Time, order, began int, isOf func(*message) bool) {
	if j.gone[user] {
		return
	}
	for key, h := range j.hooks {
		isOwed := key.user == user && h.order <= max(order, began) && !at.Truncate(time.Second).Before(h.created) &&
			!slices.ContainsFunc(h.since(max(order, h.order)), func(s state) bool {
				return !isActive(s.row) || !matches(s.row, typ)
			})
		if isOwed && !slices.ContainsFunc(slices.Collect(maps.Values(j.messages)), func(m *message) bool {
			return m.key.hookKey == key && isOf(m)
		}) {
			j.breach("W1", key, "", "the event %s was handled, and has no message", typ)
		}
	}
}
