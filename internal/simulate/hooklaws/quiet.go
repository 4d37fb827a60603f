package hooklaws

import (
	"maps"
	"slices"
	"time"
)

// quiet judges what must be so when all work has ended: nothing waits, and nothing was left out.
func (j *Judge) quiet(q Quiet) {
	j.judgeSignatures()
	made := map[hookKey]map[string][]*message{} // by endpoint and item
	for _, m := range j.messages {
		if made[m.key.hookKey] == nil {
			made[m.key.hookKey] = map[string][]*message{}
		}
		made[m.key.hookKey][m.item()] = append(made[m.key.hookKey][m.item()], m)
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
		j.judgeMissing(h, q.At, made[key])
		j.judgeDisabled(h)
	}
	clear(j.open)
	for _, h := range j.hooks {
		h.running = nil
	}
}

// judgeMissing judges W1: each matching event of an endpoint's active time has a message.
func (j *Judge) judgeMissing(h *hook, now time.Time, made map[string][]*message) {
	for _, id := range slices.Sorted(maps.Keys(j.records)) {
		for _, r := range j.records[id] {
			user, _, _ := split(r.PK, r.SK)
			if user != h.key.user || !r.isEvent() || !r.isAfter(h) {
				continue
			}
			states := h.during(r.Created.Truncate(time.Second), now)
			if slices.ContainsFunc(states, func(s state) bool { return !isActive(s.row) || !matches(s.row, r.event()) }) {
				continue
			}
			isMade := slices.ContainsFunc(made[idOf(r.image(), r.SK)], func(m *message) bool {
				return m.version == r.version() && m.typ == r.event()
			})
			if !isMade {
				j.breach("W1", h.key, "", "no message of %s of %s, version %d, at %s",
					r.event(), idOf(r.image(), r.SK), r.version(), stamp(r.Created))
			}
		}
	}
}

// judgeDisabled judges W5: an endpoint whose last answer was 410, or that has failed for 5 days, is DISABLED.
func (j *Judge) judgeDisabled(h *hook) {
	if !isActive(h.now()) || len(h.answers) == 0 {
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

// isAfter reports whether the change came after the endpoint. One of the same second that was handled before the
// endpoint was there cannot be told.
func (r *Record) isAfter(h *hook) bool { return r.order > h.order }
