package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"nexus/pkg/archive"
	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/bus"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/queue"
	queuememory "nexus/pkg/queue/memory"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/webhook"
)

// maxCalls bounds the scheduler's calls that one move of the clock may cause.
const maxCalls = 100_000

// Config configures a [System].
type Config struct {
	Registry *entity.Registry
	// Begin is the first time of the clock.
	Begin time.Time
	// Shards is the number of shards of the table's stream; 0 means 1.
	Shards int
	// Around, if set, is called before and after the effect of each call of a port; its error becomes the call's.
	Around func(Call) error
	// Log receives the messages of the batch loop and the reminders; nil discards them.
	Log *slog.Logger
}

// System is the consumers over a table in memory, in virtual time. Messages to webhooks are put, and none is sent. It
// is for one goroutine.
type System struct {
	// Store is the table, Copies the cold copies, Parking what was parked.
	Store           *memory.Store
	Copies, Parking *blobmemory.Store
	// Archive restores cold copies.
	Archive *archive.Archive
	Feeder  Feeder

	registry  *entity.Registry
	reaches   func(change.Record) bool // a mapping passes the record
	now       time.Time
	scheduler *schedulememory.Scheduler
	events    *busmemory.Bus
	walks     *queuememory.Queue
	ids       int // of messages
	notifier  *reminders.Notifier
	failed    []schedule.Schedule // calls that are to be made again
	taken     map[item.Key]string // the sequence number of the image that was taken in last
}

// NewSystem returns a system with an empty table. It panics without a registry, a mistake in the program.
func NewSystem(c Config) *System {
	around := c.Around
	if around == nil {
		around = func(Call) error { return nil }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &System{registry: c.Registry, reaches: reaching(c.Registry), now: c.Begin, taken: map[item.Key]string{}}
	s.Store = memory.New(s.Now, memory.Options{Shards: c.Shards, Fault: func(call memory.Call) error {
		return asKind(table.ErrUnavailable, around(Call{PortStore, call.Op, isWrite(call.Op), call.Stage == memory.After}))
	}})
	objects := func(port string) *blobmemory.Store {
		return blobmemory.New(func(op, _ string, after bool) error {
			return around(Call{port, op, op == "put" || op == "delete", after})
		})
	}
	s.Copies, s.Parking = objects(PortCopies), objects(PortParking)
	s.scheduler = schedulememory.New(func(op, _ string, after bool) error {
		return asKind(schedule.ErrUnavailable, around(Call{PortScheduler, op, true, after}))
	})
	s.events = busmemory.New(func(_ []bus.Event, after bool) error {
		return asKind(bus.ErrUnavailable, around(Call{PortBus, "publish", true, after}))
	})
	s.walks = queuememory.New(func(_ queue.Message, after bool) error {
		return asKind(queue.ErrUnavailable, around(Call{PortQueue, "put", true, after}))
	})
	assembled, err := system.New(c.Registry, system.Ports{
		Store: func(string) table.Store { return s.Store }, Now: s.Now, Log: func(string) *slog.Logger { return c.Log },
		Scheduler: s.scheduler, Bus: s.events, Copies: s.Copies, Queue: s.walks, NewID: s.newID,
		Announces: archive.Events(), Webhooks: &system.Webhooks{},
		Random: rand.NewChaCha8([32]byte{}), // every replay is the same
	})
	if err != nil {
		panic("replay: " + err.Error()) // the parts above do not fit together
	}
	s.notifier, s.Archive = assembled.Notifier, assembled.Archive
	s.Feeder = Feeder{
		Registry: c.Registry, Readers: assembled.Readers, Parking: s.Parking, Now: s.Now, Log: c.Log,
		Wait:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Walks: func(ctx context.Context) error { return s.carryOut(ctx, assembled.Walker) },
	}
	return s
}

func (s *System) newID() string {
	s.ids++
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", s.ids)
}

// carryOut has the walker work on all messages; one that keeps failing is a dead letter until the next call.
func (s *System) carryOut(ctx context.Context, walker *reminders.Walker) error {
	for _, m := range s.walks.Dead() {
		s.walks.Redrive(m.ID)
	}
	s.walks.Work(func(m queue.Message) error { return walker.Handle(ctx, m.Body) })
	return ctx.Err()
}

func isWrite(op string) bool {
	switch op {
	case "Put", "Update", "Delete", "Transact", "Load":
		return true
	}
	return false
}

// asKind turns an injected error into one on which callers of the store decide.
func asKind(kind, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// Now is the system's clock.
func (s *System) Now() time.Time { return s.now }

// MoveTo moves the clock forward, and nothing else; an instant that has passed leaves it where it is.
func (s *System) MoveTo(at time.Time) {
	if at.After(s.now) {
		s.now = at
	}
}

// Fire calls the notifier for its due schedules, in order, including schedules that a call puts for now. The next Fire
// repeats a failed call, even if its schedule has changed: a call that has begun is not recalled. The errors are
// joined. Schedules of webhooks call nothing.
func (s *System) Fire(ctx context.Context) (calls int, err error) {
	var errs []error
	again := s.failed
	s.failed = nil
	for ; calls < maxCalls; calls++ {
		var one schedule.Schedule
		if len(again) > 0 {
			one, again = again[0], again[1:]
		} else if due, ok := s.scheduler.Take(s.now); ok {
			one = due
		} else {
			return calls, errors.Join(errs...)
		}
		if strings.HasPrefix(one.Name, webhook.SchedulePrefix) {
			continue
		}
		if err := s.notifier.Handle(ctx, one.Payload); err != nil {
			s.failed = append(s.failed, one)
			errs = append(errs, fmt.Errorf("call for %s: %w", one.Payload, err))
		}
	}
	return calls, fmt.Errorf("more than %d schedules are due at %s", maxCalls, item.FormatInstant(s.now))
}

// Replay takes each record's image into the table, moves the clock to the time of its write, making the calls that are
// due on the way, and delivers the record to the feeder's consumers. So the system follows the recorded one.
func (s *System) Replay(ctx context.Context, feeder Feeder, records []json.RawMessage) ([]Report, error) {
	sum, err := feeder.Feed(ctx, nil)
	if err != nil {
		return nil, err
	}
	for n, raw := range records {
		if err := s.takeRaw(ctx, raw); err != nil {
			return nil, fmt.Errorf("record %d: %w", n+1, err)
		}
		reports, err := feeder.Feed(ctx, []json.RawMessage{raw})
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", n+1, err)
		}
		for i, r := range reports {
			sum[i].add(r)
		}
	}
	return sum, nil
}
