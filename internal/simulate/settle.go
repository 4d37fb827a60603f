package simulate

import (
	"math"
	"time"
)

// maxRounds bounds the rounds until everything is done, or fewer messages of webhooks wait: many may be tried again,
// each at a time of its own (I10).
const maxRounds = 60

// witnessedOneIn histories are played on a store that detects changes of read-only items.
const witnessedOneIn = 16

// finish stops the faults for good, lets all work end, and checks. Then time passes without any request, and
// everything is checked again.
func (h *history) finish() {
	h.ending = true
	h.endLeaving()
	for i, d := range []time.Duration{
		0, time.Duration(h.luck.IntN(50)) * time.Hour, time.Duration(h.luck.IntN(12)) * 24 * time.Hour,
	} {
		if h.violation != nil {
			return
		}
		h.now = h.now.Add(d)
		if i == 2 {
			h.checkForgotten()
		}
		h.rest()
		if i == 0 {
			h.forgetAll()
		}
	}
	if h.violation == nil && h.luck.one(3) {
		h.comeLate()
	}
	if h.violation == nil {
		h.checkVerified()
	}
	if h.violation == nil {
		h.checkCarried()
	}
	h.endStranger()
	if tampered := h.store.Tampered(); h.violation == nil && len(tampered) > 0 {
		h.violate("port", "", "", "changed what was only read: %v", tampered)
	}
}

// rest is a moment in which nothing fails and everything is finished: then all invariants must hold.
func (h *history) rest() {
	h.settling, h.storm = true, 0
	defer func() { h.settling = false }()
	h.happened["rest"]++
	h.note("all is settled")
	h.goForward()
	sweeps := h.luck.one(2)
	for round, waited := 0, math.MaxInt; ; round++ {
		if round == maxRounds {
			left := h.hooks.waiting()
			if left == 0 || left >= waited {
				h.violate("I10", "", "", "not settled after %d rounds", maxRounds)
				return
			}
			round, waited = 0, left
		}
		moved := h.playRound(sweeps)
		if h.violation != nil {
			return
		}
		if !moved && !h.appendSwallowed() && !h.repairDamage() && !h.emptyOutboxes() && !h.hooks.wake() {
			break
		}
	}
	if h.checkLimits() {
		for range maxRounds {
			if !h.playRound(sweeps) {
				break
			}
		}
	}
	h.checkSums()
	h.checkApplied()
	for _, user := range h.users {
		s := h.oracle.users[user]
		h.checkTotals(s)
		h.checkOwn(s, true)
		h.checkInsights(s)
		h.checkListed(s)
		h.checkClock(s)
		h.checkDelivered(s)
		h.checkAnnouncements(s)
		h.checkSearch(s, true)
	}
	h.checkDevices()
	h.phones.checkTold()
	h.watch.quiet()
	h.checkSchedules()
	h.checkCopies()
	h.checkAnnounced()
}

// playRound is one round: whatever can go on goes on. It reports whether anything did.
func (h *history) playRound(sweeps bool) (moved bool) {
	h.absorb(nil)
	moved = len(h.workers) > 0
	h.endAll()
	if l := h.leaver; l != nil { // until then functions may remember the account as it was
		if known := maxTime(l.begun, l.returned).Add(settled); h.now.Before(known) {
			h.now, moved = known, true
		}
	}
	if until, held := h.leasedUntil(); held { // by a repair that crashed
		h.now, moved = until, true
	}
	if sweeps {
		moved = len(h.store.Sweep(h.now, 0)) > 0 || moved
		h.absorb(nil)
	}
	for range h.leftover() {
		if w := h.takeLeft(); w != nil && h.violation == nil {
			h.run(w, -1)
			moved = true
		}
	}
	for _, r := range h.readers {
		for _, sh := range h.stream.shards {
			for r.waits(sh) && h.violation == nil {
				place := r.places[sh]
				if w := h.deliver(r, sh, 100); w != nil {
					h.run(w, -1)
				}
				moved = true
				if r.places[sh] == place {
					break
				}
			}
		}
	}
	moved = h.walkAll() || moved
	moved = h.phones.bringAll() || moved
	moved = h.hooks.bringAll() || moved
	for n := len(h.schedules.calls); n > 0; n-- {
		h.run(h.schedules.retry(), -1)
		moved = true
	}
	moved = h.callAllDue() || moved
	// A schedule may be set up to a minute after its due instant: wait for those that are.
	if next, ok := h.schedules.Next(); !moved && ok && next.Sub(h.now) <= leastLead {
		h.now, moved = maxTime(next, h.now), true
	}
	return moved
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// checkApplied checks that every consumer whose reader passes a record has applied it (I8). Every parked record has
// been delivered by now.
func (h *history) checkApplied() {
	for _, r := range h.readers {
		for _, sh := range h.stream.shards {
			if r.places[sh] != len(sh.records) {
				h.violate("I8", "", sh.id, "%v are at record %d of %d", r.consumers, r.places[sh], len(sh.records))
			}
		}
		for _, rec := range h.stream.log {
			if !r.filter.Match(rec.arrives) {
				continue
			}
			for _, name := range r.consumers {
				if !h.oracle.done[name][rec.Sequence] {
					h.violate("I8", rec.user, rec.Key.SK, "%s never saw record %s", name, rec.Sequence)
				}
			}
		}
	}
}
