package reminders

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"nexus/pkg/bus"
	"nexus/pkg/entity"
	"nexus/pkg/queue"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
)

// Config holds the dependencies of the consumer, the walker and the notifier. All of it is required except IsGone,
// WalkFor and Observe; Queue and NewID by the consumer and the walker alone.
type Config struct {
	Store     table.Store
	Registry  *entity.Registry
	Scheduler schedule.Scheduler
	Bus       bus.Bus
	Now       func() time.Time
	Log       *slog.Logger
	// IsGone reports whether a user's account is being erased or was; optional. A call for such a user is dropped unread.
	IsGone func(ctx context.Context, user string) (bool, error)
	// Queue takes the walks, and NewID names its messages: it returns a new UUID.
	Queue queue.Queue
	NewID func() string
	// Lead is the least time between now and the instant of a schedule, because the scheduler may never call one whose
	// instant has passed when it arrives. A round that lasts longer is repeated. 0 stands for 60 seconds, the most.
	Lead time.Duration
	// WalkFor is how long a call of the walker works; 0 for 20 seconds.
	WalkFor time.Duration
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
	c.Lead = cmp.Or(c.Lead, maxLead)
	return engine{c}
}

// newPuttingEngine is [newEngine] for what puts messages.
func newPuttingEngine(c Config) engine {
	if c.Queue == nil || c.NewID == nil {
		panic("reminders: incomplete configuration")
	}
	return newEngine(c)
}

func (e engine) observe(what Outcome, t target, d due) {
	if e.Observe != nil {
		e.Observe(Observation{Outcome: what, User: t.user, Item: t.ref(), OffsetMinutes: d.offset, Due: d.at})
	}
}
