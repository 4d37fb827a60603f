package simulate

import (
	"slices"
	"time"
)

// maxHeld bounds the workers that are paused at a time.
const maxHeld = 6

// take is one step: work begins, continues, is repeated or is lost, or time passes.
func (h *history) take() {
	switch n := h.luck.IntN(107); {
	case n >= 100:
		h.goWrong()
	case n < 38:
		r := h.newRequest()
		h.begin(h.send(r))
		if r.IdempotencyKey != "" && h.luck.misfortune(h) && h.luck.one(r.oftenTwice()) {
			h.happened["request sent twice at once"]++
			h.begin(h.send(r))
		}
	case n < 42 && len(h.requests) > 0:
		h.sendAgain()
	case n < 59:
		h.deliverSome()
	case n < 66:
		h.contend()
	case n < 73:
		h.fireSome()
	case n < 74:
		h.fail()
	case n < 79:
		h.goOn()
	case n < 88:
		h.pass(h.aWhile())
	case n < 91:
		h.sweep()
	case n < 93:
		h.redrive()
	case n < 95:
		h.redeliver()
	case n < 96:
		h.replay()
	case n < 97:
		h.stream.split(h.luck.IntN(maxShards))
	case n < 98:
		if w := h.schedules.again(h.luck.IntN(maxFormer)); w != nil {
			h.begin(w)
		}
	case n < 99:
		h.rest()
	case h.luck.damaging && h.luck.one(2):
		h.damage(h.users[h.luck.IntN(len(h.users))])
	case h.luck.one(3):
		h.begin(h.inspect(h.users[h.luck.IntN(len(h.users))]))
	default:
		h.begin(h.repair(h.users[h.luck.IntN(len(h.users))]))
	}
}

// goWrong is a step with a rare event.
func (h *history) goWrong() {
	user := h.users[h.luck.IntN(len(h.users))]
	switch n := h.luck.IntN(36); {
	case n >= 32 && h.luck.one(2):
		h.overtakenWalk(user)
	case n >= 32:
		h.twoWalks(user)
	case n >= 29:
		h.ruin()
	case n >= 26:
		h.pest()
	case n >= 23:
		h.bringBack()
	case n >= 22:
		h.ask(user)
	case n >= 20 && h.luck.damaging:
		h.spoilCopy(h.oracle.users[user])
	case n >= 18 && h.luck.damaging:
		h.damageEnd(user)
	case n >= 16:
		h.rollBack()
	case n < 2:
		h.tug(user)
	case n < 6:
		h.pest()
	case n < 7 && h.luck.one(12):
		h.fidget()
	case n < 9 && h.luck.crowd > 0 && h.luck.one(2):
		h.overhaul()
	case n < 7 && h.luck.crowd > 0:
		h.moveZone(h.oracle.users[h.users[0]])
	case n < 8:
		h.unfiltered()
	case !h.luck.misfortune(h):
		h.pass(h.aWhile())
	case n < 11:
		h.garble()
	case n < 13:
		h.storm = 10 + h.luck.IntN(200)
		h.happened["storm"]++
		h.note("a storm begins")
	default:
		h.redrive()
	}
}

// begin lets a worker run: to its end, or for some calls, to be paused there while others continue.
func (h *history) begin(w *worker) {
	if h.luck.IntN(100) < h.luck.held && len(h.workers) <= maxHeld {
		h.run(w, h.luck.IntN(12))
		return
	}
	h.run(w, -1)
}

// goOn continues the paused workers, in any order, for some calls each; or loses one of them.
func (h *history) goOn() {
	for range 1 + h.luck.IntN(6) {
		if len(h.workers) == 0 {
			return
		}
		w := h.workers[h.luck.IntN(len(h.workers))]
		switch n := h.luck.IntN(10); {
		case n == 0 && h.luck.faults > 0 && !h.luck.calm:
			h.kill(w)
		case n < 6:
			h.run(w, h.luck.IntN(6))
		default:
			h.run(w, -1)
		}
	}
}

// endAll ends all work.
func (h *history) endAll() {
	for len(h.workers) > 0 {
		h.run(h.workers[h.luck.IntN(len(h.workers))], -1)
	}
}

func (h *history) sendAgain() {
	i := h.luck.IntN(len(h.requests))
	r := h.requests[i]
	h.requests = slices.Delete(h.requests, i, i+1)
	if h.now.Sub(r.first) < patience {
		h.begin(h.send(r))
	}
}

// deliverSome begins deliveries: of any reader, any shard whose turn it is, any number of records; now and then a
// second one of the same records beside the first.
func (h *history) deliverSome() {
	h.absorb(nil)
	for range 1 + h.luck.IntN(3) {
		r := h.readers[h.luck.IntN(len(h.readers))]
		var ready []*shard
		for _, sh := range h.stream.shards {
			if r.waits(sh) && (r.busy[sh] == nil || h.luck.one(8)) {
				ready = append(ready, sh)
			}
		}
		if len(ready) == 0 {
			continue
		}
		w := h.deliver(r, ready[h.luck.IntN(len(ready))], 1+h.luck.IntN(pick(h.luck, 3, 20, 100)))
		if w == nil {
			continue
		}
		h.curse(w, r.consumers)
		h.begin(w)
	}
}

// fireSome lets the scheduler make due calls, and those that failed before.
func (h *history) fireSome() {
	for range 1 + h.luck.IntN(3) {
		if len(h.schedules.calls) > 0 && h.luck.one(2) {
			h.begin(h.schedules.retry())
		}
		if due := h.schedules.due(); len(due) > 0 {
			one := due[h.luck.IntN(len(due))]
			h.begin(h.schedules.fire(one.Name))
			if h.luck.one(10) { // the scheduler calls at least once
				h.begin(h.schedules.deliver(one.Payload))
			}
		}
	}
}

// aWhile returns how long nothing happens: seconds, hours, days; until the next schedule, or a little before or after
// it.
func (h *history) aWhile() time.Duration {
	if h.luck.slow && h.luck.one(3) {
		return time.Duration(1+h.luck.IntN(100)) * time.Hour
	}
	switch h.luck.IntN(12) {
	case 0, 1:
		return time.Duration(1+h.luck.IntN(90)) * time.Second
	case 2, 3:
		return time.Duration(1+h.luck.IntN(90)) * time.Minute
	case 4, 5:
		return time.Duration(1+h.luck.IntN(14)) * time.Hour
	case 6:
		return time.Duration(20+h.luck.IntN(60)) * time.Hour
	case 7:
		if h.luck.one(4) {
			return time.Duration(h.luck.IntN(45)) * 24 * time.Hour
		}
		return time.Duration(h.luck.IntN(9)) * 24 * time.Hour
	}
	next, ok := h.schedules.Next()
	if wait := next.Sub(h.now); ok && wait > 0 && wait < 3*24*time.Hour {
		return wait + time.Duration(pick(h.luck, -1, 0, 0, 1, 30, 3600))*time.Second
	}
	return time.Duration(1+h.luck.IntN(600)) * time.Second
}

const (
	// maxHold is the longest time that passes at once while a worker is paused.
	maxHold = time.Minute
	// maxLife is the longest life of a worker.
	maxLife = 10 * time.Minute
)

// pass lets time pass. Mostly the consumers have caught up before, and due calls are made at once.
func (h *history) pass(d time.Duration) {
	if d <= 0 {
		return
	}
	if d > 5*time.Minute && !h.luck.one(3) {
		h.catchUp()
		if next, ok := h.schedules.Next(); ok && next.After(h.now) && next.Sub(h.now) < d && !h.luck.one(3) {
			d = next.Sub(h.now) // a due call on the way is not always late
		}
	}
	isOld := func(w *worker) bool { return h.now.Add(d).Sub(w.begun) > h.life() }
	if d > maxHold || slices.ContainsFunc(h.workers, isOld) {
		h.endAll()
	}
	h.now = h.now.Add(d)
	h.note("time passes: %s", d)
	if d > maxHold {
		h.handOverAged()
	}
	h.endPeriods()
	if h.luck.one(2) {
		h.fireSome()
	}
}

// catchUp delivers waiting records, as far as faults allow.
func (h *history) catchUp() {
	h.absorb(nil)
	for range 3 {
		for _, r := range h.readers {
			for _, sh := range h.stream.shards {
				if r.busy[sh] == nil && r.waits(sh) {
					if w := h.deliver(r, sh, 100); w != nil {
						h.run(w, -1)
					}
				}
			}
		}
	}
}

// sweep is the TTL service, which runs any time between at once and days late, and may not finish.
func (h *history) sweep() {
	late := time.Duration(h.luck.IntN(4)) * time.Duration(h.luck.IntN(24)) * time.Hour
	keys := h.store.Sweep(h.now.Add(-late), pick(h.luck, 0, 1, 3))
	h.note("TTL removes %v", keys)
	h.absorb(nil)
}

// redeliver delivers records of any age to a consumer again.
func (h *history) redeliver() {
	if len(h.stream.log) == 0 {
		return
	}
	if h.luck.one(2) {
		if h.luck.one(2) {
			h.bury()
		}
		h.haunt(young)
		return
	}
	r := h.readers[h.luck.IntN(len(h.readers))]
	from := h.luck.IntN(len(h.stream.log))
	var batch []*record
	for _, rec := range h.stream.log[from:min(len(h.stream.log), from+1+h.luck.IntN(40))] {
		if r.filter.Match(rec.arrives) && len(batch) < 1+h.luck.IntN(8) {
			batch = append(batch, rec)
		}
	}
	if len(batch) > 0 {
		h.begin(h.handleBeside(r, h.scramble(batch)))
	}
}

// replay resets a reader to the beginning of the stream, where a new mapping begins.
func (h *history) replay() {
	r := h.readers[h.luck.IntN(len(h.readers))]
	for _, sh := range h.stream.shards {
		if r.busy[sh] != nil {
			return
		}
	}
	h.happened["replay"]++
	h.note("%v begins again", r.consumers)
	for _, sh := range h.stream.shards {
		for r.places[sh] > 0 && h.now.Sub(sh.records[r.places[sh]-1].Created) < giveUpAge {
			r.places[sh]--
		}
	}
}
