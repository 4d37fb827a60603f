package reminders_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	schedulememory "nexus/pkg/schedule/memory"
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

// scheduler is the one in memory, with what tests ask of it. A schedule that was called stays until it is put again or
// deleted.
type scheduler struct{ *schedulememory.Scheduler }

// due returns the payloads to call now. The caller repeats each call until it succeeds, as Lambda does.
func (s scheduler) due(now time.Time) (payloads [][]byte) {
	for one, isDue := s.Take(now); isDue; one, isDue = s.Take(now) {
		payloads = append(payloads, one.Payload)
	}
	return payloads
}

// named returns a schedule; the zero one if there is none of that name.
func (s scheduler) named(name string) schedule.Schedule {
	one, _ := s.Entry(name)
	return one.Schedule
}

// calling has the members of a payload that tests read.
type calling struct {
	ItemID, OccurrenceUtc, DueUtc string
	OffsetMinutes                 int64
}

func callingOf(t *testing.T, s schedule.Schedule) (c calling) {
	t.Helper()
	require.NoError(t, json.Unmarshal(s.Payload, &c))
	return c
}

// recorder is the bus in memory, with what tests ask of it.
type recorder struct{ *busmemory.Bus }

func (r recorder) details(t *testing.T) []reminders.ReminderDue {
	t.Helper()
	events := r.Events()
	out := make([]reminders.ReminderDue, len(events))
	for i, e := range events {
		require.Equal(t, "ReminderDue", e.Type)
		require.NoError(t, json.Unmarshal(e.Detail, &out[i]))
	}
	return out
}
