package cost

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"nexus/pkg/api"
	"nexus/pkg/archive"
	"nexus/pkg/calendar"
	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/consume"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/entity"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/query"
	"nexus/pkg/reminders"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/stats"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/text"
)

// The functions besides the readers, which are named as the deployment table names them.
const (
	commandFunction = "command"
	queryFunction   = "query"
	notifyFunction  = "notify"
)

// world is the deployed system in one goroutine and virtual time.
type world struct {
	now       time.Time
	registry  *entity.Registry
	store     *memory.Store
	tally     *tally
	logs      map[string]*slog.Logger // by function
	meters    map[string]*table.Meter // by who uses the table
	surfaces  map[string]http.Handler // by function
	readers   []*reader
	notifier  *reminders.Notifier
	timetable *timetable
	copies    objects
	ids       *rand.ChaCha8
	read      string // the last stream record that was delivered
	swept     time.Time
}

// reader is a function that reads the stream.
type reader struct {
	readers.Reader
	loop *consume.Loop
}

func newWorld(begin time.Time, seed uint64, m Model) (*world, error) {
	w := &world{
		now: begin, swept: begin, registry: product.Registry(), tally: newTally(m),
		logs: map[string]*slog.Logger{}, meters: map[string]*table.Meter{}, surfaces: map[string]http.Handler{},
		ids: chacha(seed),
	}
	w.store = memory.New(w.clock, memory.Options{})
	w.timetable, w.copies = newTimetable(w.tally), newObjects(w.tally)
	w.surfaces[commandFunction] = w.surface(commandFunction, api.OnlyCommands)
	w.surfaces[queryFunction] = w.surface(queryFunction, api.OnlyQueries)
	w.notifier = reminders.NewNotifier(w.reminding(notifyFunction, notifyFunction))
	return w, w.openReaders()
}

// chacha is a source of random bytes that is the same for the same seed.
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

// storeOf returns the table as somebody uses it: what is used is counted, and reported as the functions report it.
func (w *world) storeOf(who string) table.Store {
	meter := &table.Meter{}
	w.meters[who] = meter
	count := w.tally.uses(who)
	return w.store.Observed(func(u table.Usage) {
		count(u)
		meter.Observe(u)
	})
}

// logOf returns the log of a function, whose lines are as long as those of the function that is deployed.
func (w *world) logOf(function string) *slog.Logger {
	if w.logs[function] == nil {
		names := map[string]string{slog.TimeKey: "timestamp", slog.MessageKey: "message"}
		lines := slog.NewJSONHandler(w.tally, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			name := names[a.Key]
			if name == "" || len(groups) > 0 {
				return a
			}
			if a.Key == slog.TimeKey { // as long as it is there, and the same for the same replay
				return slog.String(name, w.now.Format("2006-01-02T15:04:05.000000000Z"))
			}
			a.Key = name
			return a
		}})
		w.logs[function] = slog.New(lines).With(slog.String("function", function),
			slog.String("invocationId", uuid.Nil.String()))
	}
	return w.logs[function]
}

func (w *world) surface(function string, part api.Part) http.Handler {
	store := w.storeOf(function)
	publisher := revision.NewPublisher(revision.Config{Store: store, Now: w.clock, NewID: w.newID})
	trees := values.New(publisher, w.newID)
	return api.New(api.Config{
		Document: api.Document,
		Part:     part, Registry: w.registry,
		Commands: command.New(command.Config{
			Store: store, Registry: w.registry, Now: w.clock, NewID: w.newID,
			Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		}),
		Queries: query.New(query.Config{Store: store, Registry: w.registry, Now: w.clock, Fold: text.Fold}),
		Archive: archive.New(archive.Config{
			Store: store, Registry: w.registry, Copies: w.copies, Bus: events{w.tally}, Now: w.clock,
		}),
		Calendar: calendar.New(calendar.Config{Store: store, Registry: w.registry, Now: w.clock, Random: w.ids}),
		Values:   trees, Plans: plan.New(publisher, trees, w.clock, w.newID),
		Authenticate: api.BearerIsUser, Log: w.logOf(function), Now: w.clock, NewID: w.newID,
	})
}

// reminding is the configuration of whoever reminds, in a function.
func (w *world) reminding(who, function string) reminders.Config {
	return reminders.Config{
		Store: w.storeOf(who), Registry: w.registry, Scheduler: w.timetable, Bus: events{w.tally}, Now: w.clock,
		Log: w.logOf(function),
		Observe: func(o reminders.Observation) {
			switch o.Outcome {
			case reminders.Delivered:
				w.count(metric.ByFunction, function, metric.Values{metric.RemindersDelivered: 1}, nil)
			case reminders.Late:
				w.count(metric.ByFunction, function, metric.Values{metric.RemindersLate: 1}, nil)
			}
		},
	}
}

// openReaders makes the functions of the deployment table.
func (w *world) openReaders() error {
	for _, deployed := range readers.Table(w.registry) {
		var consumers []change.Consumer
		for _, name := range deployed.Consumers {
			c, err := w.consumer(name, deployed.Name)
			if err != nil {
				return err
			}
			consumers = append(consumers, c)
		}
		loop, err := consume.New(consume.Config{
			Registry: w.registry, Consumers: consumers, Parking: w.copies, Log: w.logOf(deployed.Name), Now: w.clock,
			Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, InTurn: true, Observe: w.observe,
		})
		if err != nil {
			return fmt.Errorf("reader %s: %w", deployed.Name, err)
		}
		w.readers = append(w.readers, &reader{deployed, loop})
	}
	return nil
}

func (w *world) consumer(name, function string) (change.Consumer, error) {
	switch name {
	case stats.Name:
		return projection.NewConsumer(stats.Projection(), w.storeOf(name), w.clock), nil
	case links.Name:
		return projection.NewConsumer(links.Projection(), w.storeOf(name), w.clock), nil
	case reminders.Name:
		return reminders.New(w.reminding(name, function)), nil
	case archive.Name:
		return archive.NewConsumer(archive.Config{
			Store: w.storeOf(name), Registry: w.registry, Copies: w.copies, Bus: events{w.tally}, Now: w.clock,
		}), nil
	}
	return nil, fmt.Errorf("the deployment table has a consumer %q that is not known here", name)
}

// observe counts as the functions do after each batch.
func (w *world) observe(consumer string, n consume.Counts) {
	w.count(metric.ByConsumer, consumer, metric.Values{
		metric.RecordsDone: float64(n.Done), metric.RecordsAlreadyDone: float64(n.Already),
		metric.RecordsParked:     float64(n.Parked + n.Newer),
		metric.RecordsUnfinished: float64(n.Unfinished), metric.RecordsRetried: float64(n.Retried),
		metric.RecordAge: 0.25, // virtual time stands still meanwhile
	}, w.meters[consumer].Take())
}

// count keeps in mind which metrics there are: each is paid for. Their lines do not depend on the load
// (pkg/deploy/metric).
func (w *world) count(dimension, value string, values metric.Values, used table.Uses) {
	sum := used.Sum()
	for name, n := range map[string]float64{metric.ReadUnits: sum.ReadUnits, metric.WriteUnits: sum.WriteUnits} {
		w.tally.emits(dimension, value, name, n)
	}
	for name, n := range values {
		w.tally.emits(dimension, value, name, n)
	}
}

// deliver brings all stream records that nobody has seen yet to the readers, one at a time, as the stream has them when
// users are few for its shards, and what follows from them too.
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
			return nil
		}
		for _, rec := range slice.Records {
			w.read = rec.Sequence
			for _, r := range w.readers {
				if err := w.bring(ctx, r, rec); err != nil {
					return err
				}
			}
		}
	}
}

// bring delivers one record to a reader, unless its filter keeps it away.
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
