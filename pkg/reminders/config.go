package reminders

import (
	"context"
	"log/slog"
	"time"

	"nexus/pkg/bus"
	"nexus/pkg/entity"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// Config holds the dependencies of the consumer and the notifier. All of it is required except IsGone
// and Observe.
type Config struct {
	Store     table.Store
	Registry  *entity.Registry
	Scheduler schedule.Scheduler
	Bus       bus.Bus
	Now       func() time.Time
	Log       *slog.Logger
	// IsGone reports whether a user's account is being erased or was; optional. A call for such a user is dropped unread.
	IsGone func(ctx context.Context, user string) (bool, error)
	// Observe receives every outcome, for metrics. It must be safe for concurrent use and return at once.
	Observe func(Observation)
}

// Outcome is a counted result.
type Outcome string

const (
	// Scheduled says that a schedule was written; a repetition counts again.
	Scheduled Outcome = "scheduled"
	// Deleted says that a schedule was deleted, or found gone.
	Deleted Outcome = "deleted"
	// Delivered says that a reminder was published and its delivery is closed. A repetition after a crash does not count
	// again.
	Delivered Outcome = "delivered"
	// Late says that a due instant that had passed by more than two minutes got its delivery.
	Late Outcome = "late"
	// Missed says that a reminder was requested in time and is more than 24 h late: it is no longer published. Every
	// record or call that finds it counts it.
	Missed Outcome = "missed"
	// Dropped says that the scheduler made a call for something that is no longer due.
	Dropped Outcome = "dropped"
)

// Observation is the outcome for one offset of an item.
type Observation struct {
	Outcome       Outcome
	User          string
	Item          entity.Ref
	OffsetMinutes int64
	Due           time.Time // zero for Deleted
}

// engine is the common part of consumer and notifier.
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
