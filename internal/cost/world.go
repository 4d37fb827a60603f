package cost

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"nexus/pkg/account"
	"nexus/pkg/api"
	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/deliver"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/mask"
	"nexus/pkg/pepper"
	"nexus/pkg/product"
	"nexus/pkg/push"
	"nexus/pkg/queue"
	queuememory "nexus/pkg/queue/memory"
	"nexus/pkg/reminders"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// The functions other than the readers, which have the deployment table's names.
const (
	commandFunction = "command"
	queryFunction   = "query"
	notifyFunction  = "notify"
	walkFunction    = "walk"
	// fence is the part that asks for the state of an account.
	fence = "fence"
)

// world is the deployed system in one goroutine and virtual time.
type world struct {
	now       time.Time
	registry  *entity.Registry
	store     *memory.Store
	tally     *tally
	functions map[string]string       // by consumer: the function that runs it
	logs      map[string]*slog.Logger // by function
	surfaces  map[string]http.Handler // by function
	readers   []*reader
	notifier  *reminders.Notifier
	walks     *queuememory.Queue
	walker    *reminders.Walker
	deliverer *deliver.Deliverer
	due       [][]byte          // events of reminders that deliver did not get yet
	acts      map[string]string // by reminder: the path of the action, as the last device got it
	scheduler *schedulememory.Scheduler
	copies    objects
	pepper    pepper.Pepper
	ids       *rand.ChaCha8
	luck      *rand.ChaCha8 // decides which requests ask for the limits of their users
	read      string        // the last stream record that was delivered
	swept     time.Time
	removed   map[table.Index]int // by TTL, so far
}

// reader is a function that reads the stream.
type reader struct {
	readers.Reader
	loop *consume.Loop
}

func newWorld(begin time.Time, seed uint64, m Model) (*world, error) {
	w := &world{
		now: begin, swept: begin, removed: map[table.Index]int{}, registry: product.Registry(), tally: newTally(m),
		logs: map[string]*slog.Logger{}, surfaces: map[string]http.Handler{},
		ids: chacha(seed), luck: chacha(seed + 2), functions: map[string]string{},
		acts: map[string]string{},
	}
	for _, line := range readers.Table(w.registry) {
		for _, consumer := range line.Consumers {
			w.functions[consumer] = line.Name
		}
	}
	var err error
	if w.pepper, err = pepper.New(chacha(seed + 1)); err != nil { // no id comes from this source
		return nil, err
	}
	w.store = memory.New(w.clock, memory.Options{})
	// As of a deployment from which an account has left: else a fence would read a second row each time.
	if err := w.store.Load(context.Background(), []item.Item{account.PepperRow(w.pepper)}); err != nil {
		return nil, err
	}
	w.walks = queuememory.New(nil)
	w.scheduler, w.copies = newScheduler(w.tally), newObjects(w.tally)
	return w, w.assemble()
}

// chacha returns a source of random bytes that is the same for the same seed.
func chacha(seed uint64) *rand.ChaCha8 {
	var key [32]byte
	for i := range 8 {
		key[i] = byte(seed >> (8 * i))
	}
	return rand.NewChaCha8(key)
}

func (w *world) clock() time.Time { return w.now }

func (w *world) newID() string {
	id, err := uuid.NewRandomFromReader(w.ids)
	if err != nil {
		panic("cost: " + err.Error()) // the source has no end
	}
	return id.String()
}

// storeOf returns the table for one user of it: its use is counted, and reported as the functions report it.
func (w *world) storeOf(who string) table.Store {
	return w.store.Observed(w.tally.uses(who))
}

// logOf returns the log of a function, whose lines are as long as those of the deployed function.
func (w *world) logOf(function string) *slog.Logger {
	if w.logs[function] == nil {
		names := map[string]string{slog.TimeKey: "timestamp", slog.MessageKey: "message"}
		lines := slog.NewJSONHandler(w.tally, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			name := names[a.Key]
			if name == "" || len(groups) > 0 {
				return a
			}
			if a.Key == slog.TimeKey { // of the same length as a real one, and the same in every replay
				return slog.String(name, w.now.Format("2006-01-02T15:04:05.000000000Z"))
			}
			a.Key = name
			return a
		}})
		w.logs[function] = slog.New(mask.New(lines, w.pepper)).With(slog.String("function", function),
			slog.String("invocationId", uuid.Nil.String()))
	}
	return w.logs[function]
}

// assemble builds the functions: one for each side of the API, notify, and the readers of the deployment table.
func (w *world) assemble() error {
	ports := system.Ports{
		Store:  func(part string) table.Store { return w.storeOf(fenced(part, part)) },
		Pepper: w.pepper, Now: w.clock, Scheduler: w.scheduler, Bus: newBus(w.tally, w.announced), Copies: w.copies,
		Pusher: newPusher(w.tally), Hints: push.Place{URL: "wss://realtime", Host: "http"},
		Log:    func(part string) *slog.Logger { return w.logOf(w.functionOf(part)) },
		Random: w.ids, Queue: w.walks, NewID: w.newID, Pushes: w.pushes(),
	}
	deployed, err := system.New(w.registry, ports)
	if err != nil {
		return err
	}
	w.notifier, w.walker, w.deliverer = deployed.Notifier, deployed.Walker, deployed.Deliverer
	for _, r := range deployed.Readers {
		loop, err := consume.New(consume.Config{
			Registry: w.registry, Consumers: r.Consumers, Parking: w.copies, Log: w.logOf(r.Line.Name), Now: w.clock,
			Wait: noWait, Spread: consume.InTurn, Gone: w.newFence().Gone,
		})
		if err != nil {
			return fmt.Errorf("reader %s: %w", r.Line.Name, err)
		}
		w.readers = append(w.readers, &reader{r.Line, loop})
	}
	ports.NewID, ports.NewRevisionID, ports.Pause = w.newID, w.newID, noWait
	ports.Limits, ports.Draw = limit.Default(), rand.New(w.luck).Float64
	for function, side := range map[string]api.Side{commandFunction: api.SideCommands, queryFunction: api.SideQueries} {
		ports.Store = func(part string) table.Store { return w.storeOf(fenced(part, function)) }
		ports.Log = func(string) *slog.Logger { return w.logOf(function) }
		served, err := system.New(w.registry, ports)
		if err != nil {
			return err
		}
		w.surfaces[function] = served.API(api.Config{
			Side: side, Authenticate: api.BearerIsUser, Now: w.clock, LogOneReadIn: api.ReadsALine,
		})
	}
	return nil
}

// fenced returns who uses the table: the fence, the limits of users, or else.
func fenced(part, other string) string {
	switch part {
	case system.PartErase:
		return fence
	case system.PartLimits:
		return part
	}
	return other
}

// newFence returns the fence of a reader: all records of a user come through one instance of it, which remembers. The
// instances of the other functions are many, so that theirs remember nothing here.
func (w *world) newFence() *account.Fence {
	return account.NewFence(account.FenceConfig{
		Store: w.storeOf(fence), Pepper: w.pepper, Now: w.clock, Memory: account.Memory,
	})
}

func noWait(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// functionOf returns the function that runs a part of the system. Notify is named as its part.
func (w *world) functionOf(part string) string {
	return cmp.Or(w.functions[part], part)
}

// deliver delivers all undelivered stream records to the readers, one at a time, as the stream does when users are few
// for its shards. It also delivers the records that follow from them, and brings what is due to devices.
func (w *world) deliver(ctx context.Context) error {
	shards, err := w.store.Feed().Shards(ctx)
	if err != nil {
		return fmt.Errorf("shards of the stream: %w", err)
	}
	for {
		slice, err := w.store.Feed().Read(ctx, shards[0].ID, w.read, 0)
		if err != nil {
			return fmt.Errorf("read the stream: %w", err)
		}
		if len(slice.Records) == 0 {
			if err := w.walkAll(ctx); err != nil || len(w.due) == 0 {
				return err
			}
			if err := w.bringAll(ctx); err != nil {
				return err
			}
		}
		for _, rec := range slice.Records {
			w.read = rec.Sequence
			if rec.Expired {
				for _, of := range entries(rec.Old) {
					w.removed[of]++
				}
			}
			for _, r := range w.readers {
				if err := w.bring(ctx, r, rec); err != nil {
					return err
				}
			}
		}
	}
}

// walkAll carries out the walks that records have set off.
func (w *world) walkAll(ctx context.Context) error {
	w.walks.Work(func(m queue.Message) error {
		return w.tally.invoke(walkFunction, func() error {
			return w.walker.Handle(ctx, m.Body)
		})
	})
	if dead := w.walks.Dead(); len(dead) > 0 {
		return fmt.Errorf("walk %s fails", dead[0].Body)
	}
	return nil
}

// bring delivers one record to a reader, unless its filter excludes it.
func (w *world) bring(ctx context.Context, r *reader, rec change.Record) error {
	if !r.Filter.Match(rec) {
		return nil
	}
	return w.tally.invoke(r.Name, func() error {
		answer, err := r.loop.Handle(ctx, change.AppendEvent(nil, []change.Record{rec}))
		if err != nil {
			return fmt.Errorf("%s of %s: %w", r.Name, rec.Key, err)
		}
		if !slices.Equal(answer, allDone) {
			return fmt.Errorf("%s of %s: %s", r.Name, rec.Key, answer)
		}
		return nil
	})
}

// allDone is the answer of a reader that finished everything.
var allDone = []byte(`{"batchItemFailures":[]}`)
