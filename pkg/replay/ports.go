package replay

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"nexus/pkg/bus"
	"nexus/pkg/schedule"
)

// Names of the ports, as a [Call] has them.
const (
	PortStore     = "store"
	PortScheduler = "scheduler"
	PortBus       = "bus"
	PortCopies    = "copies"
	PortParking   = "parking"
)

// Call is one call of a port, before or after its effect.
type Call struct {
	Port, Op string
	Writes   bool
	After    bool
}

// scheduler keeps what is scheduled until the system's clock reaches it.
type scheduler struct {
	around func(Call) error
	mu     sync.Mutex
	named  map[string]schedule.Schedule
}

func (s *scheduler) Put(ctx context.Context, in schedule.Schedule) error {
	if err := in.Check(); err != nil {
		return err
	}
	in.Payload = bytes.Clone(in.Payload)
	return s.do(ctx, "put", in.Name, func() { s.named[in.Name] = in })
}

func (s *scheduler) Delete(ctx context.Context, name string) error {
	if err := schedule.CheckName(name); err != nil {
		return err
	}
	return s.do(ctx, "delete", name, func() { delete(s.named, name) })
}

func (s *scheduler) do(ctx context.Context, op, name string, effect func()) error {
	err := ctx.Err()
	if err == nil {
		err = s.around(Call{PortScheduler, op, true, false})
	}
	if err == nil {
		s.mu.Lock()
		effect()
		s.mu.Unlock()
		err = s.around(Call{PortScheduler, op, true, true})
	}
	if err != nil {
		return fmt.Errorf("%s schedule %s: %w: %w", op, name, schedule.ErrUnavailable, err)
	}
	return nil
}

// all returns what is scheduled, by instant and name.
func (s *scheduler) all() []schedule.Schedule {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.named), func(a, b schedule.Schedule) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return bytes.Compare([]byte(a.Name), []byte(b.Name))
	})
}

// take removes the first schedule that is due at the instant: its call is on its way.
func (s *scheduler) take(at time.Time) (schedule.Schedule, bool) {
	one, ok := s.next(at)
	if ok {
		s.mu.Lock()
		delete(s.named, one.Name)
		s.mu.Unlock()
	}
	return one, ok
}

// next is the first schedule that is due at the instant.
func (s *scheduler) next(at time.Time) (schedule.Schedule, bool) {
	if all := s.all(); len(all) > 0 && !all[0].At.After(at) {
		return all[0], true
	}
	return schedule.Schedule{}, false
}

// events is the bus.
type events struct {
	around func(Call) error
	mu     sync.Mutex
	all    []bus.Event
}

func (e *events) Publish(ctx context.Context, published ...bus.Event) error {
	if err := bus.Check(published); err != nil {
		return err
	}
	err := ctx.Err()
	if err == nil {
		err = e.around(Call{PortBus, "publish", true, false})
	}
	if err == nil {
		e.mu.Lock()
		for _, one := range published {
			one.Detail = bytes.Clone(one.Detail)
			e.all = append(e.all, one)
		}
		e.mu.Unlock()
		err = e.around(Call{PortBus, "publish", true, true})
	}
	if err != nil {
		return fmt.Errorf("publish %d events: %w: %w", len(published), bus.ErrUnavailable, err)
	}
	return nil
}

func (e *events) list() []bus.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.all)
}
