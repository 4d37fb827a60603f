package simulate

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/item"
)

// strand is one of the tasks that a worker has under way at a time. It stops before each port call.
type strand struct {
	post
	on       *coroutine
	ended    bool
	panicked any // with what; nil for not
}

// post is where a strand stands, or a worker that has none: at the call of a consumer.
type post struct {
	consumer string // "" outside of such a call
	panicIn  int    // the store call of the consumer at which it panics; 0 for none
}

// at returns where the worker's present call comes from.
func (w *worker) at() *post {
	if w.strand != nil {
		return &w.strand.post
	}
	return &w.post
}

// hand lets the worker's present strand stop, or the worker if it has none.
func (w *worker) hand() {
	if w.strand != nil {
		w.strand.on.yield(struct{}{})
		return
	}
	w.on.yield(struct{}{})
}

// widthSalt is chosen so that the histories that are kept for ever have width 1: they are older.
const widthSalt = 0x7769647468f745

// widthOf returns how many records a consumer has under way at a time in the history of a seed.
func widthOf(seed uint64) int {
	return [...]int{1, 1, 2, 8}[rand.NewPCG(seed, widthSalt).Uint64()%4]
}

// spreadOut runs the tasks of a batch for [consume.Config]: the calls of its consumers, or those of one consumer for
// single records. Which of those under way makes its port call next is chosen at random.
func (h *history) spreadOut(width int, tasks []func()) {
	w := h.current
	if h.width == 1 || len(tasks) < 2 {
		consume.InTurn(width, tasks)
		return
	}
	outer := w.strand
	var underWay []*strand
	var panicked any
	for len(underWay)+len(tasks) > 0 {
		for len(tasks) > 0 && len(underWay) < width {
			underWay, tasks = append(underWay, h.newStrand(tasks[0])), tasks[1:]
		}
		i := h.luck.IntN(len(underWay))
		s := underWay[i]
		w.strand = s
		s.on.resume()
		w.strand = outer
		switch {
		case s.ended:
			h.happened["strand"]++
			h.pool.put(s.on)
			underWay = slices.Delete(underWay, i, i+1)
			panicked = cmp.Or(panicked, s.panicked)
		case outer != nil || w.held:
			w.held = w.held && outer != nil
			w.hand()
		}
	}
	if panicked != nil {
		panic(panicked)
	}
}

// newStrand makes a strand of a task that has done nothing yet.
func (h *history) newStrand(task func()) *strand {
	s := &strand{}
	s.on = h.pool.get(func() {
		defer func() {
			s.ended, s.panicked = true, recover()
		}()
		task()
	})
	return s
}

// turn is an item's at a consumer.
type turn struct {
	consumer string
	item     item.Key
}

// enter checks that no earlier change of an item is at the consumer, or has to come again (I8).
func (h *history) enter(w *worker, consumer string, batch []change.Change) {
	if w.turns == nil {
		w.turns = map[turn]string{}
	}
	for _, ch := range batch {
		its := turn{consumer, ch.Key}
		if before, is := w.turns[its]; is && before != ch.Sequence {
			h.violate("I8", ch.User, ch.Key.SK, "%s comes to %s, which has not finished %s", ch.Sequence, consumer, before)
		}
		w.turns[its] = ch.Sequence
	}
}

// leave ends the turns of the items that do not have to come again. After a panic there are no outcomes.
func (w *worker) leave(consumer string, batch []change.Change, outcomes []change.Outcome) {
	for i, ch := range batch {
		if len(outcomes) == 0 || i < len(outcomes) && outcomes[i].Verdict != change.Retry {
			delete(w.turns, turn{consumer, ch.Key})
		}
	}
}
