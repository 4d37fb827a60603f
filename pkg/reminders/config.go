package reminders

import (
	"log/slog"
	"time"

	"nexus/pkg/bus"
	"nexus/pkg/entity"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// Config is what both the consumer and the notifier work with. All of it is needed except Observe.
type Config struct {
	Store     table.Store
	Registry  *entity.Registry
	Scheduler schedule.Scheduler
	Bus       bus.Bus
	Now       func() time.Time
	Log       *slog.Logger
	// Observe is told of everything that happened, for metrics. It must be safe for concurrent use and return at once.
	Observe func(Observation)
}

// Outcome is one thing that is counted.
type Outcome string

const (
	// Scheduled: a schedule was written; a repetition counts again.
	Scheduled Outcome = "scheduled"
	// Deleted: a schedule was deleted, or found gone.
	Deleted Outcome = "deleted"
	// Delivered: a reminder was published and its delivery is closed. A repetition after a crash does not count again.
	Delivered Outcome = "delivered"
	// Late: a due instant that had passed by more than two minutes got its delivery.
	Late Outcome = "late"
	// Missed: a reminder was asked for in time and is more than 24 h late: it is not published any more. Counted for every
	// record or call that finds it.
	Missed Outcome = "missed"
	// Dropped: a call of the scheduler came for something that is no longer due.
	Dropped Outcome = "dropped"
)

// Observation says what happened to which offset of which item.
type Observation struct {
	Outcome       Outcome
	User          string
	Item          entity.Ref
	OffsetMinutes int64
	Due           time.Time // zero for Deleted
}

// engine is what consumer and notifier share.
type engine struct{ Config }

func newEngine(c Config) engine {
	if c.Store == nil || c.Registry == nil || c.Scheduler == nil || c.Bus == nil || c.Now == nil || c.Log == nil {
		panic("reminders: incomplete configuration")
	}
	return engine{c}
}

func (e engine) observe(what Outcome, t target, d due) {
	if e.Observe != nil {
		e.Observe(Observation{Outcome: what, User: t.user, Item: t.ref(), OffsetMinutes: d.offset, Due: d.at})
	}
}
