package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"nexus/pkg/account"
	"nexus/pkg/archive"
	"nexus/pkg/blob/dir"
	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/bus"
	buslocal "nexus/pkg/bus/local"
	"nexus/pkg/change"
	"nexus/pkg/changes"
	"nexus/pkg/command"
	"nexus/pkg/eventsource"
	"nexus/pkg/fault"
	"nexus/pkg/local/engine"
	"nexus/pkg/mask"
	"nexus/pkg/pepper"
	"nexus/pkg/port"
	"nexus/pkg/push"
	pushlocal "nexus/pkg/push/local"
	"nexus/pkg/queue"
	queuelocal "nexus/pkg/queue/local"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	schedulelocal "nexus/pkg/schedule/local"
	"nexus/pkg/system"
	"nexus/pkg/text/words"
	"nexus/pkg/watch"
)

// scheduleLead is shorter than on AWS: this scheduler calls a schedule that it gets late at once.
const scheduleLead = 2 * time.Second

// open opens the table and all other stores of data.
func (p *Platform) open(ctx context.Context) error {
	if p.options.Store == Memory {
		p.options.DataDir = ""
	} else if err := p.openDirectory(); err != nil {
		return err
	}
	var err error
	if p.pepper, err = openPepper(p.inData(PepperFile)); err != nil {
		return err
	}
	p.log = slog.New(mask.New(p.options.Log.Handler(), p.pepper))
	moves := p.inData("clock.json")
	if p.options.Endpoint != "" {
		moves = "" // time is real there
	}
	if p.clock, err = openClock(p.options.Machine, moves); err != nil {
		return err
	}
	if p.seen != nil {
		p.seen.clock = p.clock
	}
	if p.backend, err = p.openBackend(ctx); err != nil {
		return err
	}
	p.onStop(p.backend.stop)
	if p.bus, err = buslocal.New(buslocal.Config{Dir: p.inData("events")}); err != nil {
		return adviseOnEvents(err)
	}
	p.onStop(func(context.Context) error { return p.bus.Close() })
	if p.options.DataDir == "" {
		p.blobs = blobmemory.New(nil)
		return nil
	}
	kept, err := dir.New(p.inData("blobs"))
	if err != nil {
		return err
	}
	p.onStop(func(context.Context) error { return kept.Close() })
	p.blobs = kept
	return nil
}

// openDirectory locks the data directory for this process.
func (p *Platform) openDirectory() error {
	if p.options.Ephemeral {
		temporary, err := os.MkdirTemp("", "nexus-")
		if err != nil {
			return fmt.Errorf("temporary data directory: %w", err)
		}
		p.options.DataDir = temporary
		p.onStop(func(context.Context) error { return os.RemoveAll(temporary) })
	}
	absolute, err := filepath.Abs(p.options.DataDir)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if endpoint, err := url.Parse(p.options.Endpoint); err == nil && endpoint.Host != "" {
		// The data of one table must not be used with another: no item would require its schedules, and they would be
		// removed.
		absolute = filepath.Join(absolute, "endpoint-"+strings.ReplaceAll(endpoint.Host, ":", "-"))
	}
	p.options.DataDir = absolute
	if err := os.MkdirAll(absolute, 0o700); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	lock, err := lockDirectory(absolute)
	if err != nil {
		return err
	}
	p.onStop(func(context.Context) error { return lock.release() })
	return nil
}

// PepperFile is the name of the file with the pepper, in the data directory.
const PepperFile = "pepper"

// openPepper returns the pepper of a data directory, which a first start makes; without a path, one for this start.
func openPepper(path string) (pepper.Pepper, error) {
	if path == "" {
		return pepper.New(rand.Reader)
	}
	p, err := pepper.OpenFile(path, rand.Reader)
	if errors.Is(err, pepper.ErrText) {
		return p, engine.Damaged(path, err, putPepperBack)
	}
	return p, err
}

// inData returns a path in the data directory; "" without one.
func (p *Platform) inData(name string) string {
	if p.options.DataDir == "" {
		return ""
	}
	return filepath.Join(p.options.DataDir, name)
}

func (p *Platform) openBackend(ctx context.Context) (*backend, error) {
	switch {
	case p.options.Store == Memory:
		return startMemory(p.rows), nil
	case p.options.Endpoint != "":
		return startEndpoint(ctx, p.options.Endpoint, p.log)
	}
	return startEngine(ctx, p.inData("engine"), p.rows, p.log)
}

// assemble builds the system, its readers, drivers and the HTTP surface over the opened stores. Nothing runs yet.
func (p *Platform) assemble(ctx context.Context) (http.Handler, error) {
	blobs := observedBlobs{p.blobs, p.hub, p.seen}
	p.schedules = &schedulerDriver{clock: p.clock, poked: make(chan struct{}, 1), log: p.log}
	p.sweeps = &sweepDriver{sweepRows: p.backend.sweep, rows: p.rows, clock: p.clock, log: p.log}

	// The scheduler calls the notifier, which puts schedules itself.
	var err error
	p.scheduler, err = schedulelocal.New(schedulelocal.Config{
		Dir: p.inData("schedules"), AtOnce: callsAtOnce,
		Target: p.targetOf(p.seen.calling(notifyTarget(func(ctx context.Context, payload []byte) error {
			defer p.others.begin()()
			err := p.system.Notifier.Handle(ctx, payload)
			if err == nil {
				p.schedules.calls.Add(1)
			}
			return err
		}, blobs, p.clock.Now, p.log), p.registry, p.unmeteredStore)),
	})
	if err != nil {
		return nil, adviseOnSchedules(err)
	}
	p.schedules.scheduler = p.scheduler
	if err := errors.Join(p.openWalks(), p.openPushes(), p.openWebhooks()); err != nil {
		return nil, err
	}
	p.system, err = system.New(p.registry, system.Ports{
		Store: p.storeOf, Memory: account.Memory,
		Now: p.clock.Now, Log: p.logOf, Announces: archive.Events(),
		NewID: uuid.NewString, NewRevisionID: uuid.NewString, Random: rand.Reader, SyncForm: p.options.SyncForm,
		Limits: p.options.Limits, Draw: mathrand.Float64,
		// real time: a moved clock moves no pause
		Pause:              command.RandomPause(mathrand.Float64, time.Now),
		LogsAtOnce:         changes.UsersAtOnce,
		LoadInTransactions: p.options.Store == DynamoDB && p.options.Endpoint == "", // the engine is a child process here
		Lead:               scheduleLead,
		Scheduler:          observedScheduler{p.failing(p.scheduler), p.hub, p.seen, p.schedules.wake},
		Queue:              observedQueue{p.walks.queue, p.hub, p.walks.wake},
		Hints:              push.Place{URL: pushlocal.Path, Host: p.address},
		Pusher:             p.hints, HintBound: watch.Bound, Hinted: p.hints.observe,
		Bus:    observedBus{p.failingBus(p.bus), p.hub, p.seen, p.pushes.wake},
		Pushes: p.pushes.ports(), Webhooks: p.hooks.ports(), Copies: blobs, Reminded: p.reminded.observe,
		Appended: func(_ context.Context, of []changes.Appended) { p.appended.Add(int64(changes.Count(of))) },
		Wait:     port.Sleep, Grace: verifyGrace, Walker: p.backend.walker, Lister: p.scheduler,
		Pepper: p.pepper, Erasing: p.erasing(), Exports: p.exporting(), Split: words.Split, Snapshots: p.blobs,
	}, p.options.Projections...)
	if err != nil {
		return nil, err
	}
	p.rows.gone = p.system.Gone
	p.seen.under(p.system.Readers)
	kept, err := p.openCheckpoints(ctx)
	if err != nil {
		return nil, err
	}
	p.stream = eventsource.NewShared(p.backend.newSource())
	if p.backend.changed == nil { // with a channel, readers come before the wake that follows the write
		p.stream.Clock = time.Now
	}
	for _, r := range p.system.Readers {
		one, err := p.newReader(r, kept, blobs)
		if err != nil {
			return nil, fmt.Errorf("reader %s: %w", r.Line.Name, err)
		}
		p.readers = append(p.readers, one)
	}
	return p.routes()
}

// failing and failingBus are the ports with the faults that someone arms.
func (p *Platform) failing(of schedule.Scheduler) schedule.Scheduler {
	if p.faults == nil {
		return of
	}
	return fault.Scheduler{Scheduler: of, Box: p.faults}
}

func (p *Platform) failingBus(of bus.Bus) bus.Bus {
	if p.faults == nil {
		return of
	}
	return fault.Bus{Bus: of, Box: p.faults}
}

// openWalks opens the queue of walks, whose worker is the system's walker.
func (p *Platform) openWalks() error {
	opened, err := queuelocal.New(queuelocal.Config{
		Dir: p.inData("walks"),
		Worker: func(ctx context.Context, m queue.Message) error {
			defer p.others.begin()()
			return p.system.Walker.Handle(ctx, m.Body)
		},
	})
	if err != nil {
		return adviseOnWalks(err)
	}
	p.walks = &walkDriver{queue: opened, clock: p.clock, poked: make(chan struct{}, walkers), log: p.log}
	return nil
}

// logOf returns the log of a part of the system. The notifier and the walker log under the consumer's name.
func (p *Platform) logOf(part string) *slog.Logger {
	if part == reminders.Name || part == system.PartNotify || part == system.PartWalk {
		return p.log.With("consumer", reminders.Name)
	}
	return p.log.With("part", part)
}

// openCheckpoints stores them beside the table. Their faults are found before the platform serves.
func (p *Platform) openCheckpoints(ctx context.Context) (eventsource.Checkpoints, error) {
	if p.options.DataDir == "" {
		return &eventsource.MemoryCheckpoints{}, nil
	}
	kept, err := openCheckpoints(p.inData("checkpoints"), p.backend.stream, p.log)
	if err != nil {
		return nil, err
	}
	var heads map[string]string
	if p.backend.heads != nil {
		if heads, err = p.backend.heads(ctx); err != nil {
			return nil, err
		}
	}
	for _, reader := range p.system.Readers {
		wasSetBack, err := kept.validate(reader.Line.Name, heads)
		if err != nil {
			return nil, fmt.Errorf("checkpoints of reader %s: %w", reader.Line.Name, err)
		}
		p.wasSetBack = p.wasSetBack || wasSetBack
	}
	p.writeBehind = kept.run
	p.onStop(kept.flush)
	return kept, nil
}

// watch returns the function that receives all records that the readers read.
func (p *Platform) watch() func(string, []change.Record) {
	if p.backend.sweep == nil {
		return func(_ string, records []change.Record) { p.users.observe(records) }
	}
	return func(shard string, records []change.Record) {
		p.rows.observe(shard, records)
		p.users.observe(records)
	}
}

// remindersTally counts the outcomes of reminders since the start.
type remindersTally struct {
	mu     sync.Mutex
	counts map[reminders.Outcome]int
}

func newRemindersTally() *remindersTally {
	return &remindersTally{counts: map[reminders.Outcome]int{
		reminders.Scheduled: 0, reminders.Deleted: 0, reminders.Delivered: 0,
		reminders.Late: 0, reminders.Missed: 0, reminders.Dropped: 0,
	}}
}

func (t *remindersTally) observe(_ string, o reminders.Observation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[o.Outcome]++
}

func (t *remindersTally) all() map[reminders.Outcome]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.counts)
}
