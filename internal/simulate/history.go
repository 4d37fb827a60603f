package simulate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"nexus/pkg/api"
	"nexus/pkg/archive"
	blobmemory "nexus/pkg/blob/memory"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/register"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// userNames are the users of a history.
var userNames = [...]string{"ann", "bob", "cleo", "dan"}

// namesOf returns the users. Where one leaves it is the last, and the first one's id begins with that id.
func namesOf(seed uint64, n int) []string {
	names := slices.Clone(userNames[:n])
	if leaves(seed) {
		names[0], names[n-1] = "anna", "ann"
	}
	return names
}

// history is one play: the system, its faults, and the log of its actions.
type history struct {
	spec Spec
	luck *seededRand
	now  time.Time
	step int

	store     *memory.Store
	copies    *blobmemory.Store // cold copies
	parking   *blobmemory.Store
	schedules *schedules
	walks     *walkQueue
	bus       *busmemory.Bus
	registry  *entity.Registry
	system    *system.System
	direct    *system.System // services on the store itself, without its port
	keeper    *system.System // the services of the API, through the store's port
	surface   *api.API       // of the command function, which takes the batches of devices
	door      *door          // the API over HTTP; nil where no user leaves and no limits are played
	limits    *limits        // nil where none are played
	fleet     *fleet
	phones    *phones // nil where none are played
	hooks     *hooks  // nil where no webhooks are played
	watch     *hookWatch
	readers   []*reader
	alone     map[string]*consume.Loop // by consumer: for parked records, and for redeliveries
	stream    *stream
	mixture   *mixture

	pool     *coroutinePool
	width    int // how many records a consumer has under way at a time
	workers  []*worker
	started  int // workers
	current  *worker
	writer   *worker // the writer of the records that are being read; nil for the TTL service
	settling bool    // the faults have stopped
	ending   bool    // for good
	storm    int     // calls that are still refused, by any worker
	requests []*request
	users    []string
	created  int        // ids made
	asked    int        // requests made up
	wanted   entity.Ref // the subject of the next request; zero for any

	struck      entity.Ref // the item of which a row was damaged last; zero for none, or several
	oracle      *oracle
	finder      *finder
	leaver      *leaver            // nil if no user leaves
	copiedBy    map[string]*worker // who put an object last
	places      register.Walk      // all that was written anywhere
	operations  int64
	happened    map[string]int
	strayed     bool                // there is a schedule with an unreadable payload, until a repair of all users
	junk        map[string]bool     // parked objects of unreadable records
	damaged     map[string]bool     // by user, until a repair
	hurts       map[string]int      // by user: how often something was damaged or lost
	later       map[item.Key]string // rows of a later release, with the attribute that shows it
	relabelling bool
	toRepair    map[string]bool // by user: damaged, or left by a repair that crashed
	violation   *Violation
	tracing     bool
	trace       []string
}

// Run plays a history.
func Run(spec Spec) Result { return alone(spec, false) }

// Replay plays a history and records its trace.
func Replay(spec Spec) Result { return alone(spec, true) }

func alone(spec Spec, tracing bool) Result {
	var c coroutinePool
	defer c.close()
	return c.play(spec, tracing)
}

func (c *coroutinePool) play(spec Spec, tracing bool) Result {
	if err := spec.check(); err != nil {
		panic("simulate: " + err.Error()) // a mistake in the program: texts are checked when they are read
	}
	h := newHistory(spec, tracing, c)
	defer h.close()
	h.earlier()
	h.crowd()
	if h.luck.crowd > 0 && !h.luck.one(4) {
		h.overhaul()
	}
	for h.step = 0; h.step < spec.Steps && h.violation == nil; h.step++ {
		if slices.Contains(spec.Skip, h.step) {
			continue
		}
		h.luck.step(h.step)
		h.mixture.step(h.step)
		h.luck.calm = slices.Contains(spec.Calm, h.step)
		h.endPeriods()
		h.take()
		h.walkSome()
		h.useDevices()
		h.usePhones()
		h.useHooks()
		h.leaveSome()
		h.useLimits()
		h.checkSums()
		h.searchSome()
	}
	if h.violation == nil {
		h.luck.step(spec.Steps)
		h.mixture.step(spec.Steps)
		h.finish()
	}
	for _, line := range h.places.Found() {
		h.happened[line.String()]++
	}
	return Result{Spec: spec, Operations: h.operations, Violation: h.violation, Happened: h.happened, Trace: h.trace}
}

func newHistory(spec Spec, tracing bool, c *coroutinePool) *history {
	l := newLuck(spec.Seed)
	h := &history{
		spec: spec, luck: l, now: l.begin, tracing: tracing, pool: c, happened: map[string]int{}, damaged: map[string]bool{},
		junk: map[string]bool{}, hurts: map[string]int{}, toRepair: map[string]bool{}, later: map[item.Key]string{},
		copiedBy: map[string]*worker{}, alone: map[string]*consume.Loop{}, width: widthOf(spec.Seed),
	}
	h.store = memory.New(func() time.Time { return h.now },
		memory.Options{Shards: l.shards, Witnessed: spec.Seed%witnessedOneIn == 0})
	h.stream = newStream(h.store.Feed(), hasReplica(spec.Seed))
	h.copies, h.parking = blobmemory.New(nil), blobmemory.New(nil)
	h.schedules, h.walks, h.bus = newSchedules(h), newWalkQueue(h), newBus(h)
	h.registry = product.Registry()
	h.users = l.names
	h.oracle = newKnown(h.users)
	h.finder = newFinder(spec.Seed)
	h.openAccounts()
	h.openLimits()

	h.system = h.assemble(h.openHooks(h.openPhones(h.withAccounts(system.Ports{
		Store: func(part string) table.Store { return storePort{h, rightsOf(h.registry, part)} },
		Now:   h.clock, Log: h.logOf, NewID: h.newID, Pause: h.pause, Random: l.bits(),
		Scheduler: h.schedules, Bus: h.bus, Queue: h.walks, WalkFor: l.walkFor(),
		Copies: blobPort{h, h.copies}, Reminded: h.observed,
		Wait: h.wait, Grace: time.Second, Walker: storePort{h, nil}, Lister: h.schedules,
		Limits: h.limitNumbers(),
	}))), ownSum())
	// An import reads in parallel, in which no coroutine can be paused: it uses the store without its port, and takes
	// place at once.
	h.direct = h.assemble(system.Ports{
		Store: func(string) table.Store { return h.store }, Now: h.clock, NewID: h.newID, NewRevisionID: h.newID,
		Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	h.fleet = newFleet(h)
	h.openSurface()
	h.openDoor()
	h.mixture = newMixture(h)
	h.openReaders()
	return h
}

func (h *history) assemble(ports system.Ports, projections ...*projection.Projection) *system.System {
	ports.Announces = archive.Events()
	s, err := system.New(h.registry, ports, projections...)
	if err != nil {
		panic("simulate: " + err.Error()) // the parts do not fit together
	}
	return s
}

// openReaders assigns the consumers to readers as the deployment table does, or each to a separate reader.
func (h *history) openReaders() {
	for _, r := range h.system.Readers {
		group := make([]change.Consumer, len(r.Consumers))
		for i, c := range r.Consumers {
			group[i] = h.watching(c)
			h.alone[c.Name()] = h.newLoop(group[i])
		}
		size := len(group)
		if h.luck.apart {
			size = 1
		}
		for i := 0; i < len(group); i += size {
			loop := h.newLoop(group[i : i+size]...)
			h.readers = append(h.readers, newReader(r.Line.Consumers[i:i+size], r.Line.Filter, loop))
		}
	}
}

func (h *history) newLoop(consumers ...change.Consumer) *consume.Loop {
	loop, err := consume.New(consume.Config{
		Registry: h.registry, Consumers: consumers, Parking: blobPort{h, h.parking}, Log: h.logOf("loop"),
		Now: h.clock, Width: h.width, Spread: h.spreadOut, Observe: h.counted, Wait: h.wait, Gone: h.system.Gone,
	})
	if err != nil {
		panic("simulate: " + err.Error()) // the parts above do not fit together
	}
	h.mixture.join(loop, consumers)
	return loop
}

// wait lets others go on before it is over.
func (h *history) wait(ctx context.Context, _ time.Duration) error {
	h.call("loop", "wait")
	return wait(ctx)
}

// pause lets others continue between two attempts of a command.
func (h *history) pause(ctx context.Context, _ time.Duration) error {
	h.call("command", "pause")
	return ctx.Err()
}

// clock returns the running worker's time.
func (h *history) clock() time.Time {
	if h.current == nil {
		return h.now
	}
	return h.now.Add(h.current.ahead)
}

func (h *history) newID() string {
	h.created++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(h.spec.Seed), h.created)
}

// close ends all paused workers.
func (h *history) close() {
	if h.leaver != nil {
		h.workers = append(h.workers, h.leaver.shells...)
	}
	for len(h.workers) > 0 {
		h.kill(h.workers[0])
	}
}

// note notes what happens, if anybody wants to know.
func (h *history) note(format string, args ...any) {
	if h.tracing {
		h.trace = append(h.trace, fmt.Sprintf("%3d %s  ", h.step, item.FormatInstant(h.now))+fmt.Sprintf(format, args...))
	}
}

// violate records the first violation; later ones may follow from it.
func (h *history) violate(invariant, user, item, format string, args ...any) {
	if isErasure := strings.HasPrefix(invariant, "E"); h.isGone(user) && !isErasure {
		return // the log of an account that is gone says nothing any more
	}
	if h.violation == nil {
		h.violation = &Violation{
			Invariant: invariant, User: user, Item: item, Detail: fmt.Sprintf(format, args...), Step: h.step,
		}
		h.note("VIOLATION %s %s %s: %s", invariant, user, item, h.violation.Detail)
	}
}
