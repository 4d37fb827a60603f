package simulate

import (
	"context"
	"slices"

	"nexus/pkg/register"
	"nexus/pkg/schedule"
	"nexus/pkg/schedule/memory"
)

// schedules is the scheduler with what it forgets, and the calls that are on their way.
type schedules struct {
	*memory.Scheduler
	h *history
	// former are schedules that were replaced, deleted or called: their calls may be repeated.
	former []schedule.Schedule
	calls  [][]byte           // calls that failed, which are repeated
	struck fault              // the fault of the present call
	by     map[string]*worker // which wrote or deleted each schedule last
}

// maxFormer bounds how many former schedules are remembered, the latest.
const maxFormer = 64

func newSchedules(h *history) *schedules {
	s := &schedules{h: h, by: map[string]*worker{}}
	s.Scheduler = memory.New(s.around)
	return s
}

// around injects the faults of a worker's call, between whose two questions no other worker runs. A call that reads has
// one fault: to fail.
func (s *schedules) around(op, name string, after bool) error {
	isRead := op == "find" || op == "each"
	switch {
	case after && isRead:
		return nil
	case after:
		if s.h.after(s.struck); s.struck == failAfter {
			return schedule.ErrUnavailable
		}
		return nil
	}
	if !isRead && s.h.current != nil {
		s.h.current.schedule = name
		if !s.h.places.Name(register.Scheduler, name) {
			s.h.violate("I9", "", name, "is a schedule that the register does not know")
		}
	}
	s.struck = s.h.call("scheduler", op)
	switch {
	case isRead && (s.struck == failBefore || s.struck == failAfter):
		return schedule.ErrUnavailable
	case s.struck == failBefore:
		return schedule.ErrThrottled
	case !isRead && s.h.current != nil:
		if old, exists := s.Entry(name); exists && s.h.current.kind == erasing {
			s.h.checkTaken(userOfPayload(old.Payload), name)
		}
		s.retire(name)
		s.by[name] = s.h.current
		if op == "put" {
			s.h.checkSchedulePut(name)
		}
	}
	return nil
}

// retire remembers a schedule that is about to be replaced or deleted.
func (s *schedules) retire(name string) {
	old, exists := s.Entry(name)
	if !exists {
		return
	}
	if s.former = append(s.former, old.Schedule); len(s.former) > maxFormer {
		s.former = slices.Delete(s.former, 0, len(s.former)-maxFormer)
	}
}

// forget drops the calls for a user that have not come to their end.
func (s *schedules) forget(user string) {
	isOf := func(payload []byte) bool { return userOfPayload(payload) == user }
	s.former = slices.DeleteFunc(s.former, func(one schedule.Schedule) bool { return isOf(one.Payload) })
	s.calls = slices.DeleteFunc(s.calls, isOf)
}

// due returns the schedules to be called, by name.
func (s *schedules) due() []memory.Entry {
	return slices.DeleteFunc(s.Entries(), func(one memory.Entry) bool { return one.Called || one.At.After(s.h.now) })
}

// fire begins the call of a schedule and returns its worker.
func (s *schedules) fire(name string) *worker {
	one, _ := s.Entry(name)
	s.Call(name)
	return s.deliver(one.Payload)
}

// callAllDue calls the schedules that are due, one after another, and reports whether it called any. It skips what an
// earlier call has deleted.
func (h *history) callAllDue() (called bool) {
	for _, due := range h.schedules.due() {
		if one, exists := h.schedules.Entry(due.Name); exists && !one.Called {
			h.run(h.schedules.fire(one.Name), -1)
			called = true
		}
	}
	return called
}

// again begins the call of a former schedule whose time has come, if the n-th of them is one.
func (s *schedules) again(n int) *worker {
	if len(s.former) == 0 {
		return nil
	}
	if old := s.former[n%len(s.former)]; !old.At.After(s.h.now) {
		return s.deliver(old.Payload)
	}
	return nil
}

// deliver calls the notifier, or has a device told. A failed call is repeated.
func (s *schedules) deliver(payload []byte) *worker {
	h := s.h
	var err error
	w := &worker{kind: notifying, name: describe("notify %s", payload)}
	w.lost = func() { s.calls = append(s.calls, payload) }
	w.finished = func() {
		if err != nil {
			h.note("%s: %v", w.name, err)
			s.calls = append(s.calls, payload)
		}
	}
	if hookOfPayload(payload) != "" {
		return h.hooks.work(payload, w.lost)
	}
	notify := h.notify(w)
	if isPush(payload) {
		w.kind, w.name, notify = telling, describe("deliver again %s", payload), h.system.Deliverer.Wake
	}
	return h.start(w, func(ctx context.Context) { err = notify(ctx, payload) }, userOfPayload(payload))
}

// retry begins one of the calls that failed again.
func (s *schedules) retry() *worker {
	payload := s.calls[0]
	s.calls = s.calls[1:]
	return s.deliver(payload)
}
