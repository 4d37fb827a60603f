package simulate

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"nexus/pkg/schedule"
)

// schedules is the scheduler: what is scheduled, what was, and the calls that are on their way.
type schedules struct {
	h     *history
	named map[string]*scheduled
	// former are schedules that were replaced, deleted or called: their calls may come once more.
	former []schedule.Schedule
	calls  [][]byte // calls that failed, which come again
}

type scheduled struct {
	schedule.Schedule
	called bool
}

// maxFormer bounds how many former schedules are remembered, the latest.
const maxFormer = 64

var _ schedule.Scheduler = (*schedules)(nil)

func (s *schedules) Put(ctx context.Context, in schedule.Schedule) error {
	return s.do(ctx, "put", in.Check(), func() {
		in.Payload = bytes.Clone(in.Payload)
		s.retire(s.named[in.Name])
		s.named[in.Name] = &scheduled{Schedule: in}
	})
}

func (s *schedules) Delete(ctx context.Context, name string) error {
	return s.do(ctx, "delete", schedule.CheckName(name), func() {
		s.retire(s.named[name])
		delete(s.named, name)
	})
}

func (s *schedules) do(ctx context.Context, op string, invalid error, effect func()) error {
	if invalid != nil {
		return invalid
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", schedule.ErrUnavailable, err)
	}
	f := s.h.call("scheduler", op)
	if f == failBefore {
		return fmt.Errorf("%s schedule: %w", op, schedule.ErrThrottled)
	}
	effect()
	s.h.after(f)
	if f == failAfter {
		return fmt.Errorf("%s schedule: %w", op, schedule.ErrUnavailable)
	}
	return nil
}

func (s *schedules) retire(old *scheduled) {
	if old == nil {
		return
	}
	if s.former = append(s.former, old.Schedule); len(s.former) > maxFormer {
		s.former = slices.Delete(s.former, 0, len(s.former)-maxFormer)
	}
}

// due returns the names of the schedules to be called, in their order.
func (s *schedules) due() []string {
	var names []string
	for name, one := range s.named {
		if !one.called && !one.At.After(s.h.now) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// fire begins the call of a schedule and returns its worker.
func (s *schedules) fire(name string) *worker {
	one := s.named[name]
	one.called = true
	return s.deliver(one.Payload)
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

// deliver calls the notifier. A call that fails comes again.
func (s *schedules) deliver(payload []byte) *worker {
	h := s.h
	var err error
	w := &worker{kind: notifying, name: describe("notify %s", payload)}
	w.lost = func() { s.calls = append(s.calls, payload) }
	w.finished = func() {
		if err != nil {
			h.tell("%s: %v", w.name, err)
			s.calls = append(s.calls, payload)
		}
	}
	notify := h.notify(w)
	return h.start(w, func(ctx context.Context) { err = notify(ctx, payload) }, userOfPayload(payload))
}

// retry begins one of the calls that failed again.
func (s *schedules) retry() *worker {
	payload := s.calls[0]
	s.calls = s.calls[1:]
	return s.deliver(payload)
}

// next is the earliest instant of a schedule that waits; false if none does.
func (s *schedules) next() (at time.Time, ok bool) {
	for _, one := range s.named {
		if !one.called && (!ok || one.At.Before(at)) {
			at, ok = one.At, true
		}
	}
	return at, ok
}

func (s *schedules) names() []string { return slices.Sorted(maps.Keys(s.named)) }
