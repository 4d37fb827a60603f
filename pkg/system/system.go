// Package system assembles the product from its ports: the services that answer requests, the consumers of the stream,
// the notifier and the verification. The local platform, the replay, the simulation, the cost model, the load programs
// and tests use it. A Lambda function wires its own part: a cold start must not link code that it does not run.
//
// It promises:
//
//   - Every program that it serves runs the same parts, wired in the same way.
//   - A part is left out if one of its ports is missing. Nothing takes the place of a port.
//   - Building a system calls no port and draws no id, so a system may be built before its ports are ready.
//
// It must never import the adapter of a port, read a clock, start a goroutine, or be imported by a Lambda function.
package system

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"

	"nexus/pkg/account"
	"nexus/pkg/api"
	"nexus/pkg/archive"
	"nexus/pkg/calendar"
	"nexus/pkg/change"
	"nexus/pkg/changes"
	"nexus/pkg/command"
	"nexus/pkg/deliver"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/entity"
	"nexus/pkg/insights"
	"nexus/pkg/limit"
	"nexus/pkg/links"
	"nexus/pkg/projection"
	"nexus/pkg/query"
	"nexus/pkg/reminders"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/stats"
	"nexus/pkg/table"
	"nexus/pkg/text/fold"
	"nexus/pkg/transfer"
	"nexus/pkg/verify"
	"nexus/pkg/watch"
	"nexus/pkg/webhook"
)

// System is the assembled product. A part is nil if a port that it needs is missing. Like its parts, it is safe for
// concurrent use if its ports are.
type System struct {
	Queries  *query.Service
	Archive  *archive.Archive  // without Copies, it lists and restores nothing
	Commands *command.Service  // needs NewID and Pause
	Calendar *calendar.Service // needs Random
	Watches  *watch.Service
	Values   *values.Service // needs NewRevisionID
	Plans    *plan.Service   // needs NewRevisionID
	// Retention prunes the history of the users who do not keep it; needs NewRevisionID.
	Retention *plan.Retention
	Transfer  *transfer.Service   // needs NewRevisionID, Random, Pause and Copies
	Exports   *transfer.Jobs      // needs Exports and what Transfer needs
	Exporter  *transfer.Worker    // likewise
	Notifier  *reminders.Notifier // needs Scheduler and Bus
	Walker    *reminders.Walker   // needs Scheduler, Bus, Queue and NewID
	Deliverer *deliver.Deliverer  // needs Pushes, Scheduler, Random and Pepper
	// Hooks sends messages to webhooks, and takes those about reminders; it needs Webhooks, Scheduler and NewID.
	Hooks    *webhook.Worker
	Verifier *verify.Verifier // needs NewID and Wait
	Fence    *account.Fence   // needs Pepper
	Accounts *account.Service // needs Pepper and Erasing
	Eraser   *account.Eraser  // needs Pepper, Erasing, Scheduler, Lister and NewID
	// Consumers are all consumers in the order of the deployment table. The consumer reminders needs what Walker needs,
	// archive needs Copies and Bus, changes needs Random, webhooks needs Webhooks.
	Consumers []change.Consumer
	Readers   []Reader

	registry    *entity.Registry
	ports       Ports
	projections []*projection.Projection
}

// Reader is a line of the deployment table with its consumers, in the line's order.
type Reader struct {
	Line      readers.Reader
	Consumers []change.Consumer
}

// New assembles the system. The projections of another product join those of this one. An error says which required
// port is missing, or which consumer and the deployment table do not fit together.
func New(r *entity.Registry, p Ports, projections ...*projection.Projection) (*System, error) {
	if r == nil || p.Store == nil || p.Now == nil {
		return nil, errors.New("assemble the system: Registry, Store and Now are required")
	}
	if p.Log == nil {
		p.Log = func(string) *slog.Logger { return slog.New(slog.DiscardHandler) }
	}
	s := &System{registry: r, ports: p}
	if !p.Pepper.IsZero() {
		s.Fence = account.NewFence(account.FenceConfig{
			Store: p.Store(PartErase), Pepper: p.Pepper, Now: p.Now, Memory: p.Memory,
		})
	}
	s.projections = append(deployed(), projections...)
	s.addServices(p.Store(PartAPI))
	s.addEraser(projections)
	projections = s.projections
	if p.Scheduler != nil && p.Bus != nil {
		s.Notifier = reminders.NewNotifier(s.reminding(p.Store(PartNotify), PartNotify))
		if p.Queue != nil && p.NewID != nil {
			s.Walker = reminders.NewWalker(s.reminding(p.Store(PartWalk), PartWalk))
		}
	}
	s.Deliverer = s.newDeliverer()
	if s.callsWebhooks() && p.Webhooks.Client != nil {
		s.Hooks = s.newHooks()
	}
	if p.NewID != nil && p.Wait != nil {
		s.Verifier = s.guarded().newVerifier(projections)
	}
	if err := s.addConsumers(projections); err != nil {
		return nil, fmt.Errorf("assemble the system: %w", err)
	}
	return s, nil
}

// newDeliverer builds what tells devices of reminders; nil if a port is missing.
func (s *System) newDeliverer() *deliver.Deliverer {
	p := &s.ports
	if p.Pushes == nil || p.Scheduler == nil || p.Random == nil || p.Pepper.IsZero() {
		return nil
	}
	return deliver.New(deliver.Config{
		Outbox: deliver.Outbox{Store: p.Store(PartDeliver), Scheduler: p.Scheduler, Now: p.Now, Lead: p.Lead},
		Sender: p.Pushes.Sender, Random: p.Random, NameOf: p.Pepper.Pseudonym, Log: p.Log(PartDeliver),
		IsGone: s.IsGone, Observe: p.Pushes.Told,
	})
}

// newHooks builds what sends messages to webhooks.
func (s *System) newHooks() *webhook.Worker {
	p := &s.ports
	return webhook.NewWorker(webhook.Config{
		Outbox: s.newOutbox(p.Store(PartWebhook)), Client: p.Webhooks.Client, Master: p.Webhooks.Master, NewID: p.NewID,
		Stamp: p.Webhooks.Stamp, Draw: p.Webhooks.Draw, Log: p.Log(PartWebhook), Most: p.Webhooks.Most,
		AtOnce: p.Webhooks.AtOnce, IsGone: s.IsGone, Observe: p.Webhooks.Told,
	})
}

func (s *System) callsWebhooks() bool {
	return s.ports.Webhooks != nil && s.ports.Scheduler != nil && s.ports.NewID != nil
}

func (s *System) newOutbox(store table.Store) webhook.Outbox {
	p := &s.ports
	return webhook.Outbox{
		Store: store, Scheduler: p.Scheduler, Now: p.Now, Lead: p.Lead, Invoke: p.Webhooks.Invoke,
		Happened: p.Webhooks.Happened,
	}
}

// addServices builds the services that answer requests.
func (s *System) addServices(store table.Store) {
	p, r := &s.ports, s.registry
	s.Queries = query.New(query.Config{
		Store: store, Registry: r, Now: p.Now, Fold: fold.String, Form: p.SyncForm, Searching: s.guarded().searching(),
	})
	s.Archive = archive.New(s.archiving(store))
	s.Watches = watch.New(store, p.Hints, p.Now)
	if p.NewID != nil && p.Pause != nil {
		s.Commands = command.New(command.Config{Store: store, Registry: r, Now: p.Now, NewID: p.NewID, Pause: p.Pause})
	}
	if p.Random != nil {
		s.Calendar = calendar.New(calendar.Config{Store: store, Registry: r, Now: p.Now, Random: p.Random})
	}
	if publisher := s.newPublisher(store); publisher != nil {
		s.Values = values.New(publisher, p.NewRevisionID)
		s.Plans = plan.New(publisher, s.Values, p.Now, p.NewRevisionID)
		s.Retention = &plan.Retention{Plans: s.Plans, Store: store, Log: p.Log(PartAPI), IsGone: s.IsGone}
	}
	if p.NewRevisionID != nil && p.Random != nil && p.Copies != nil && p.Pause != nil {
		s.Transfer = s.guarded().newTransfer()
		s.addExports(store)
	}
}

// addExports builds the exports that users ask for, and the worker that carries them out.
func (s *System) addExports(store table.Store) {
	p := &s.ports
	if p.Exports == nil || p.NewID == nil {
		return
	}
	s.Exports = transfer.NewJobs(transfer.JobsConfig{
		Store: store, Now: p.Now, NewID: p.NewID, Limits: p.Limits, Objects: p.Exports.Objects, Links: p.Exports.Links,
		Wake: p.Exports.Wake,
	})
	s.Exporter = transfer.NewWorker(transfer.WorkerConfig{
		Service: s.Transfer, Objects: p.Exports.Objects, NewID: p.NewID, Clock: p.Exports.Clock,
		Abandoned: p.Exports.Abandoned,
	})
}

// newTransfer builds what exports and imports accounts, on services of its own.
func (s *System) newTransfer() *transfer.Service {
	p := &s.ports
	store := p.Store(PartTransfer)
	publisher := s.newPublisher(store)
	trees := values.New(publisher, p.NewRevisionID)
	return transfer.New(transfer.Config{
		Store: store, Registry: s.registry, Now: p.Now, Archive: archive.New(s.archiving(store)), Values: trees,
		Plans:    plan.New(publisher, trees, p.Now, p.NewRevisionID),
		Calendar: calendar.New(calendar.Config{Store: store, Registry: s.registry, Now: p.Now, Random: p.Random}),
		Pause:    p.Pause, Limits: p.Limits, Fence: s.refuseGone,
		FenceImport: s.refuseLeaving, CountCopies: s.countCopies(store),
	})
}

// refuseGone returns [account.ErrErased] for a user for whom nothing may be done, asked consistently.
func (s *System) refuseGone(ctx context.Context, user string) error {
	if s.Fence == nil {
		return nil
	}
	return s.Fence.RefuseGone(ctx, user)
}

func (s *System) refuseLeaving(ctx context.Context, user string) error {
	if s.Fence == nil {
		return nil
	}
	return s.Fence.RefuseLeaving(ctx, user)
}

// addEraser builds what lets accounts leave, and erases them.
func (s *System) addEraser(projections []*projection.Projection) {
	p := &s.ports
	if p.Pepper.IsZero() || p.Erasing == nil {
		return
	}
	store := p.Store(PartErase)
	config := account.Config{Store: store, Objects: p.Erasing.Archive, Pepper: p.Pepper, Now: p.Now}
	s.Accounts = account.New(config)
	if p.Scheduler == nil || p.Lister == nil || p.NewID == nil {
		return
	}
	var more, consumers []string
	for _, one := range projections {
		more = append(more, one.Name())
	}
	for _, line := range readers.Table(s.registry, more...) {
		consumers = append(consumers, line.Consumers...)
	}
	s.Eraser = account.NewEraser(account.EraserConfig{
		Config: config, Archive: p.Erasing.Archive, Parking: p.Erasing.Parking, Snapshots: p.Erasing.Snapshots,
		Scheduler: p.Scheduler, Schedules: p.Lister, Bus: p.Erasing.Bus,
		Consumers: consumers, Digest: reminders.UserPart, Log: p.Log(PartErase), NewID: p.NewID, Wait: p.Erasing.Wait,
		Patience: p.Erasing.Patience, EdgeTime: p.Erasing.EdgeTime, Rate: p.Erasing.Rate,
		WaitForOthers: p.Erasing.WaitForOthers, Forget: p.Erasing.Forget,
	})
}

// IsGone reports whether nothing may be done for the user; false without a fence.
func (s *System) IsGone(ctx context.Context, user string) (bool, error) {
	if s.Fence == nil {
		return false, nil
	}
	return s.Fence.IsGone(ctx, user)
}

// Gone returns those of the users for whom nothing may be done; none without a fence.
func (s *System) Gone(ctx context.Context, users []string) (map[string]bool, error) {
	if s.Fence == nil {
		return nil, nil
	}
	return s.Fence.Gone(ctx, users)
}

// searching returns what searches need; nil without words. A search that stands still while an account is erased must
// keep no snapshot of it, so its store is guarded.
func (s *System) searching() *query.Searching {
	p := &s.ports
	if p.Split == nil {
		return nil
	}
	return &query.Searching{Split: p.Split, Snapshots: p.Snapshots, Failed: func(_ context.Context, err error) {
		p.Log(PartAPI).Warn("a snapshot of an index was not read or kept; the search went on without", "error", err)
		if p.SearchFailed != nil {
			p.SearchFailed(err)
		}
	}}
}

// guarded returns the system for work that may stand still: it asks the fence before each of its writes.
func (s *System) guarded() *System {
	if s.Fence == nil {
		return s
	}
	guard, guarded, storeOf := account.NewGuard(s.Fence), *s, s.ports.Store
	guarded.ports.Store = func(part string) table.Store { return guard.Store(storeOf(part)) }
	guarded.ports.Scheduler, guarded.ports.Copies = guard.Scheduler(s.ports.Scheduler), guard.Objects(s.ports.Copies)
	guarded.ports.Bus, guarded.ports.Snapshots = guard.Bus(s.ports.Bus), guard.Objects(s.ports.Snapshots)
	return &guarded
}

// newVerifier builds the verification, which repairs through separate consumers.
func (s *System) newVerifier(projections []*projection.Projection) *verify.Verifier {
	p := &s.ports
	store := p.Store(PartVerify)
	cfg := verify.Config{
		Store: store, Walker: p.Walker, Registry: s.registry, Projections: projections,
		Archive: archive.NewConsumer(s.archiving(store)), Repositories: s.newPublisher(store),
		Limits: p.Limits, Now: p.Now, NewOwner: p.NewID, Grace: p.Grace, Wait: p.Wait, Log: p.Log(PartVerify),
	}
	s.addOutboxes(&cfg, store)
	if p.Random != nil {
		cfg.Changes = s.newChanges(store)
	}
	if s.Notifier != nil && p.Lister != nil {
		reminding := s.reminding(store, reminders.Name)
		cfg.Reminders, cfg.Notifier = reminders.NewRepairer(reminding), reminders.NewNotifier(reminding)
		cfg.Schedules = p.Lister
	}
	if cfg.Accounts = s.Fence; s.Eraser != nil {
		cfg.Forget = s.Eraser.Sweep
	}
	return verify.New(cfg)
}

// addOutboxes gives a verification the outboxes of devices and webhooks, if a scheduler is known that has them told.
func (s *System) addOutboxes(cfg *verify.Config, store table.Store) {
	p := &s.ports
	devices := deliver.Outbox{Store: store, Scheduler: p.Telling, Now: p.Now, Lead: p.Lead}
	if s.Deliverer != nil {
		devices.Scheduler = p.Scheduler
	}
	if devices.Scheduler != nil {
		cfg.Devices = &devices
	}
	hooks := webhook.Outbox{Store: store, Scheduler: p.Telling, Now: p.Now, Lead: p.Lead}
	if s.callsWebhooks() {
		hooks = s.newOutbox(store)
	}
	if hooks.Scheduler != nil {
		cfg.Webhooks = &hooks
	}
}

// addConsumers builds the consumers and gives each to the reader that the deployment table names for it.
func (s *System) addConsumers(projections []*projection.Projection) error {
	p := &s.ports
	built := map[string]change.Consumer{ // nil is left out
		reminders.Name: nil, archive.Name: nil, changes.Name: nil, webhook.Name: nil,
	}
	if s.Walker != nil {
		built[reminders.Name] = reminders.New(s.reminding(p.Store(reminders.Name), reminders.Name))
	}
	if p.Copies != nil && p.Bus != nil {
		built[archive.Name] = archive.NewConsumer(s.archiving(p.Store(archive.Name)))
	}
	if s.callsWebhooks() {
		built[webhook.Name] = webhook.NewConsumer(s.newOutbox(p.Store(webhook.Name)), p.Webhooks.AtOnce)
	}
	if p.Random != nil {
		built[changes.Name] = s.newChanges(p.Store(changes.Name))
	}
	var names []string
	for _, one := range projections {
		names = append(names, one.Name())
		built[one.Name()] = projection.NewConsumer(one, p.Store(one.Name()), p.Now)
	}
	for _, line := range readers.Table(s.registry, names[len(deployed()):]...) {
		reader := Reader{Line: line}
		for _, name := range line.Consumers {
			consumer, known := built[name]
			if !known {
				return fmt.Errorf("reader %s: consumer %q is unknown or named twice", line.Name, name)
			}
			if delete(built, name); consumer != nil {
				reader.Consumers = append(reader.Consumers, consumer)
			}
		}
		if len(reader.Consumers) > 0 {
			s.Readers, s.Consumers = append(s.Readers, reader), append(s.Consumers, reader.Consumers...)
		}
	}
	if len(built) > 0 {
		return fmt.Errorf("the deployment table has no reader for %q", slices.Sorted(maps.Keys(built)))
	}
	return nil
}

// deployed returns the projections that the deployment table names itself.
func deployed() []*projection.Projection {
	return []*projection.Projection{stats.Projection(), links.Projection(), insights.Projection()}
}

// reminding returns the configuration of the named part for reminders.
func (s *System) reminding(store table.Store, part string) reminders.Config {
	p := &s.ports
	return reminders.Config{
		Store: store, Registry: s.registry, Scheduler: p.Scheduler, Bus: p.Bus,
		Queue: p.Queue, NewID: p.NewID, WalkFor: p.WalkFor, Lead: p.Lead, Now: p.Now, Log: p.Log(part),
		IsGone: s.IsGone,
		Observe: func(o reminders.Observation) {
			if p.Reminded != nil {
				p.Reminded(part, o)
			}
		},
	}
}

func (s *System) archiving(store table.Store) archive.Config {
	p := &s.ports
	return archive.Config{
		Store: store, Registry: s.registry, Copies: p.Copies, Bus: p.Bus, Announces: p.Announces, Now: p.Now,
	}
}

// newChanges returns the consumer that keeps change logs.
func (s *System) newChanges(store table.Store) *changes.Consumer {
	p := &s.ports
	appended := p.Appended
	if p.Pusher != nil {
		hints := watch.NewSender(watch.Config{
			Pusher: p.Pusher, Bound: p.HintBound, Log: p.Log(changes.Name), Observe: p.Hinted,
		})
		appended = func(ctx context.Context, of []changes.Appended) {
			if p.Appended != nil {
				p.Appended(ctx, of)
			}
			hints.Hint(ctx, changes.Heads(of, p.SyncForm, p.Now()))
		}
	}
	return changes.New(changes.Config{
		Store: store, Now: p.Now, Random: p.Random, AtOnce: p.LogsAtOnce, Appended: appended,
	})
}

// newPublisher returns what publishes revisions; nil where there are none.
func (s *System) newPublisher(store table.Store) *revision.Publisher {
	p := &s.ports
	if p.NewRevisionID == nil {
		return nil
	}
	return revision.NewPublisher(revision.Config{
		Store: store, Now: p.Now, NewID: p.NewRevisionID, LoadInTransactions: p.LoadInTransactions,
	})
}

// test tells a device that it is reached, before it returns.
func (s *System) test(ctx context.Context, t deliver.Test) error {
	payload, err := t.Payload()
	if err != nil {
		return err
	}
	return s.Deliverer.Test(ctx, payload)
}

// API returns the HTTP surface of the system's services. The caller's Config sets the side, the authentication, the
// documentation page and the clock for durations. As [api.New] does, it panics if a service of the side is left out.
func (s *System) API(c api.Config) http.Handler {
	c.Registry, c.Document, c.Log, c.NewID = s.registry, api.Document, s.ports.Log(PartAPI), s.ports.NewID
	c.Commands, c.Queries, c.Archive, c.Calendar = s.Commands, s.Queries, s.Archive, s.Calendar
	c.Values, c.Plans, c.Watches = s.Values, s.Plans, s.Watches
	if s.Fence != nil {
		c.Fence = s.Fence
	}
	if s.Accounts != nil {
		c.Accounts = s.Accounts
	}
	if s.Exports != nil {
		c.Exports = s.Exports
	}
	if s.Deliverer != nil {
		store := s.ports.Store(PartAPI)
		c.Notifications = &api.Notifications{
			Devices: deliver.NewDevices(store, s.ports.Now), Acts: deliver.NewActs(store, s.ports.Now),
			Name: s.ports.Pepper.Pseudonym, Key: s.ports.Pushes.Key, CheckEndpoint: s.ports.Pushes.CheckEndpoint,
			Test: s.test,
		}
	}
	if s.callsWebhooks() {
		c.Webhooks = &api.Webhooks{
			Endpoints: &webhook.Endpoints{
				Outbox: s.newOutbox(s.ports.Store(PartAPI)), NewID: s.ports.NewID,
				Master: func(context.Context) (webhook.Master, error) { return s.ports.Webhooks.Master, nil },
			},
			CheckURL: s.ports.Webhooks.CheckURL,
		}
	}
	if p := &s.ports; p.Limits != nil {
		c.Limits = limit.Config{Store: p.Store(PartLimits), Now: p.Now, Draw: p.Draw, Numbers: p.Limits}
	}
	return api.New(c)
}
