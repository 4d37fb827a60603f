package reminders_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/bus"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
)

var errCrash = errors.New("crash")

// fault strikes once, at the step with the number at: a step is a moment before or after a call to a port. It runs
// meddle there, as if another process worked at the same time, and then, if die is set, the process is dead: no call of
// the present work succeeds any more, unless once is set.
type fault struct {
	at     int
	meddle func()
	die    bool
	once   bool // one call fails, and the process goes on

	working, dead bool
	steps         int
}

func (f *fault) under(work func() error) error {
	f.working, f.dead = true, false
	defer func() { f.working = false }()
	return work()
}

func (f *fault) step() error {
	switch {
	case !f.working:
		return nil
	case f.dead:
		return errCrash
	}
	f.steps++
	if f.steps != f.at {
		return nil
	}
	if f.meddle != nil {
		f.pause(f.meddle)
	}
	if f.die {
		f.dead = !f.once
		return errCrash
	}
	return nil
}

// pause runs an act that is no part of the work.
func (f *fault) pause(act func()) {
	working, dead := f.working, f.dead
	f.working = false
	act()
	f.working, f.dead = working, dead
}

// effect is a call to a port with a step on both sides.
func (f *fault) effect(act func()) error {
	if err := f.step(); err != nil {
		return err
	}
	act()
	return f.step()
}

type entry struct {
	schedule.Schedule
	call struct {
		ItemID, OccurrenceUtc, DueUtc string
		OffsetMinutes                 int64
	}
	called bool
}

// scheduler keeps the schedules that it is given. A schedule that was called stays until it is put again or deleted.
type scheduler struct {
	fault   *fault
	entries map[string]*entry
}

func (s *scheduler) Put(_ context.Context, in schedule.Schedule) error {
	if err := in.Check(); err != nil {
		return err
	}
	e := &entry{Schedule: in}
	if err := json.Unmarshal(in.Payload, &e.call); err != nil {
		return err
	}
	return s.fault.effect(func() { s.entries[in.Name] = e })
}

func (s *scheduler) Delete(_ context.Context, name string) error {
	if err := schedule.CheckName(name); err != nil {
		return err
	}
	return s.fault.effect(func() { delete(s.entries, name) })
}

// due returns the payloads to call now. The caller repeats each call until it succeeds, as Lambda does.
func (s *scheduler) due(now time.Time) [][]byte {
	var due []*entry
	for _, e := range s.entries {
		if !e.called && !e.At.After(now) {
			e.called = true
			due = append(due, e)
		}
	}
	slices.SortFunc(due, func(a, b *entry) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Name, b.Name)) })
	var payloads [][]byte
	for _, e := range due {
		payloads = append(payloads, e.Payload)
	}
	return payloads
}

func (s *scheduler) next() (at time.Time, ok bool) {
	for _, e := range s.entries {
		if !e.called && (!ok || e.At.Before(at)) {
			at, ok = e.At, true
		}
	}
	return at, ok
}

// recorder is the bus.
type recorder struct {
	fault  *fault
	events []bus.Event
}

func (r *recorder) Publish(_ context.Context, events ...bus.Event) error {
	if err := bus.Check(events); err != nil {
		return err
	}
	return r.fault.effect(func() { r.events = append(r.events, events...) })
}

func (r *recorder) details(t *testing.T) []reminders.ReminderDue {
	t.Helper()
	out := make([]reminders.ReminderDue, len(r.events))
	for i, e := range r.events {
		require.Equal(t, "ReminderDue", e.Type)
		require.NoError(t, json.Unmarshal(e.Detail, &out[i]))
	}
	return out
}
