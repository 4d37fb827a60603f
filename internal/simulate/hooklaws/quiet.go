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
	for key, h := range j.hooks {
		if j.gone[key.user] {
			continue
		}
		j.checkDisabled(h)
	}
	clear(j.open)
	for _, h := range j.hooks {
		h.running = nil
	}
}

// handled judges W1 for an event: each endpoint that was active and asked for it all the time has its message. One of
// the second of the endpoint's creation may have been handled before the endpoint was there.
func (j *Judge) handled(o Handled) {
	if r := j.sequences[o.Sequence]; r != nil && o.Sequence != "" {
		user, _, _ := split(r.PK, r.SK)
		if r.isEvent() {
			j.checkMissing(user, r.event(), r.Created, r.order, func(m *message) bool {
				return m.version == r.version() && m.typ == r.event() && m.item() == idOf(r.image(), r.SK)
			})
		}
		return
	}
	for _, d := range j.dues {
		if d.DeliveryID == o.DeliveryID {
			j.checkMissing(d.User, "reminder.due", d.At, d.order, func(m *message) bool {
				return m.version == 0 && text(m.parsed().Data, "deliveryId") == d.DeliveryID
			})
		}
	}
}

func (j *Judge) checkMissing(user, typ string, at time.Time, order int, isOf func(*message) bool) {
	if j.gone[user] {
		return
	}
	for key, h := range j.hooks {
		isOwed := key.user == user && h.order < order && !at.Truncate(time.Second).Before(h.created) &&
			!slices.ContainsFunc(h.since(order), func(s state) bool {
				return !isActive(s.row) || !matches(s.row, typ)
			})
		if isOwed && !slices.ContainsFunc(slices.Collect(maps.Values(j.messages)), func(m *message) bool {
			return m.key.hookKey == key && isOf(m)
		}) {
			j.breach("W1", key, "", "the event %s was handled, and has no message", typ)
		}
	}
}

// checkDisabled judges W5: an endpoint whose last answer was 410, or that has failed for 5 days, is DISABLED.
func (j *Judge) checkDisabled(h *hook) {
	if j.tolerance.AreSlow || !isActive(h.now()) || len(h.answers) == 0 {
		return
	}
	last := h.answers[len(h.answers)-1]
	if last.order < h.renewed {
		return
	}
	if last.status == 410 {
		j.breach("W5", h.key, last.message.id, "it answered 410 at %s and is ACTIVE", stamp(last.ended))
	}
	if since := h.failingSince(); !since.IsZero() && last.ended.Sub(since) > failingFor+j.tolerance.Clock {
		j.breach("W5", h.key, last.message.id, "it has failed from %s to %s and is ACTIVE", stamp(since), stamp(last.ended))
	}
}
