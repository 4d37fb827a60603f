package simulate

import (
	"context"
	"encoding/json"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/queue"
	"nexus/pkg/queue/memory"
	"nexus/pkg/register"
)

// walkQueue is the queue of walks, with what comes again although it was done.
type walkQueue struct {
	*memory.Queue
	h      *history
	struck fault // of the present call
	// former are messages that were done: they may come again, late.
	former []queue.Message
	// again are copies of messages that were delivered outside of the queue's course, and failed: each comes again.
	again []queue.Message
}

// Names of the queues in the register.
const (
	walkMessages = "walks"
	deadWalks    = "walks-dead-letter"
)

func newWalkQueue(h *history) *walkQueue {
	q := &walkQueue{h: h}
	q.Queue = memory.New(q.around)
	return q
}

// around injects the faults of a worker's put, between whose two questions no other worker runs.
func (q *walkQueue) around(_ queue.Message, after bool) error {
	if after {
		if q.h.after(q.struck); q.struck == failAfter {
			return queue.ErrUnavailable
		}
		return nil
	}
	q.known(walkMessages)
	if q.struck = q.h.call("queue", "put"); q.struck == failBefore {
		return queue.ErrThrottled
	}
	return nil
}

func (q *walkQueue) known(name string) {
	if !q.h.places.Name(register.Queue, name) {
		q.h.violate("I9", "", name, "is a queue that the register does not know")
	}
}

// take begins the work on the n-th message that may begin; nil if none may.
func (q *walkQueue) take(n int) *worker {
	ready := q.Ready()
	if len(ready) == 0 {
		return nil
	}
	m, _ := q.Begin(ready[n%len(ready)].ID)
	fail := func() {
		if q.Fail(m.ID) {
			q.known(deadWalks)
			q.h.happened["walk in dead letters"]++
		}
	}
	return q.deliver(m, fail, func() {
		q.Done(m.ID)
		if q.former = append(q.former, m); len(q.former) > maxFormer {
			q.former = slices.Delete(q.former, 0, len(q.former)-maxFormer)
		}
	})
}

// beside begins the work on a copy of a message: one that comes a second time while the first is worked on, or one that
// was done.
func (q *walkQueue) beside(m queue.Message) *worker {
	return q.deliver(m, func() { q.again = append(q.again, m) }, func() {})
}

// deliver gives a message to the walker.
func (q *walkQueue) deliver(m queue.Message, fail, done func()) *worker {
	h := q.h
	var job struct{ UserID, Cursor string }
	if err := json.Unmarshal(m.Body, &job); err != nil {
		h.violate("I10", "", m.ID, "a message is no JSON: %v", err)
	}
	var err error
	w := &worker{kind: walking, name: describe("walk %s of %s", job.Cursor, job.UserID)}
	w.lost = fail
	w.finished = func() {
		if err != nil {
			h.note("%s: %v", w.name, err)
			w.failed = true
			fail()
			return
		}
		done()
	}
	return h.start(w, func(ctx context.Context) { err = h.system.Walker.Handle(ctx, m.Body) }, job.UserID)
}

// messageOf returns a message for a walk, as the consumer puts it.
func (h *history) messageOf(cursor item.Key) queue.Message {
	body, err := json.Marshal(map[string]string{"userId": userOf(cursor), "cursor": cursor.SK})
	if err != nil {
		panic("simulate: " + err.Error()) // texts always encode
	}
	return queue.Message{Group: "walks", ID: h.newID(), Body: body}
}

// forget drops the messages for a user that wait, are dead letters, or may come again.
func (q *walkQueue) forget(user string) {
	isOf := func(m queue.Message) bool { return userOfPayload(m.Body) == user }
	for _, m := range q.Dead() {
		if isOf(m) {
			q.Redrive(m.ID)
		}
	}
	for _, m := range q.Waiting() {
		if isOf(m) {
			q.Done(m.ID)
		}
	}
	q.former, q.again = slices.DeleteFunc(q.former, isOf), slices.DeleteFunc(q.again, isOf)
}

// walkSome lets walkers work: on messages that wait, on some of them twice at once, on one that was done, and on dead
// letters that an operator puts back.
func (h *history) walkSome() {
	q := h.walks
	if len(q.Waiting())+len(q.Dead())+len(q.again)+len(q.former) == 0 || h.luck.one(2) {
		return
	}
	switch n := h.luck.IntN(20); {
	case n == 0 && len(q.former) > 0:
		h.happened["walk done before comes again"]++
		h.begin(q.beside(q.former[h.luck.IntN(len(q.former))]))
	case n == 1 && len(q.Dead()) > 0:
		q.Redrive(q.Dead()[0].ID)
	case n == 2 && len(q.Waiting()) > 0:
		h.happened["walk twice at once"]++
		m := q.Waiting()[h.luck.IntN(len(q.Waiting()))]
		h.begin(q.beside(m))
	case n == 3 && len(q.again) > 0:
		h.begin(q.retry())
	default:
		if w := q.take(h.luck.IntN(8)); w != nil {
			h.begin(w)
		}
	}
}

// retry begins one of the copies that failed again.
func (q *walkQueue) retry() *worker {
	m := q.again[0]
	q.again = q.again[1:]
	return q.beside(m)
}

// walkAll has the walkers work on everything that is left, once; dead letters are put back. It reports whether there
// was anything.
func (h *history) walkAll() (moved bool) {
	q := h.walks
	for _, m := range q.Dead() {
		q.Redrive(m.ID)
	}
	for n := len(q.again); n > 0 && h.violation == nil; n-- {
		h.run(q.retry(), -1)
		moved = true
	}
	for n := len(q.Waiting()); n > 0 && h.violation == nil; n-- {
		if w := q.take(0); w != nil {
			h.run(w, -1)
			moved = true
		}
	}
	return moved
}

// overtakenWalk lets a user change the zone again while a worker is at some call of the walk of a change before. The
// items of the page that it has open change, too. Then it dies, or goes on.
func (h *history) overtakenWalk(user string) {
	h.endAll()
	s := h.oracle.users[user]
	h.moveZone(s)
	h.endAll()
	h.absorb(nil)
	rec := h.lastZoneChange(user)
	if rec == nil {
		return
	}
	slow := h.walks.beside(h.messageOf(entity.ZoneKey(user, rec.New.Int(entity.AttrVersion))))
	h.happened["walk overtaken"]++
	h.run(slow, h.luck.IntN(2*maxStart))
	h.changeSome(user)
	h.moveZone(s)
	if !slow.ended && h.luck.misfortune(h) && h.luck.one(2) {
		slow.trip = &trip{writes: true, kind: crashAfter}
	}
	if !slow.ended {
		h.run(slow, -1)
	}
}
