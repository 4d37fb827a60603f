package webhook_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/register"
	"nexus/pkg/schedule"
	schedulememory "nexus/pkg/schedule/memory"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/webhook"
)

var histories = flag.Int("histories", 60, "how many random histories are played")

// errDead ends a worker: all its later calls fail, too, and have no effect.
var errDead = errors.New("the worker is dead")

// actor is one call of the consumer, of the worker or of the API.
type actor struct {
	dead   bool
	owner  string          // of the lease that it wrote last
	until  int64           // of that lease
	seen   map[string]bool // the rows OUT# that there were when it last read them, by their sort keys
	readAt int             // the step of that read
	hook   item.Item       // the endpoint as it last read it
}

// event is a record of the stream, and what the model knows of it.
type event struct {
	change.Change
	typ      string          // "" for none
	owed     map[string]bool // endpoints that have to be told
	finished bool
}

// secret is one generation of an endpoint's keys.
type secret struct {
	keys  webhook.Keys
	since time.Time
}

// history is a random history of one user's endpoints, their receivers, and the messages to them.
type history struct {
	*require.Assertions
	r         *rand.Rand
	now       time.Time
	store     *memory.Store
	schedules *schedulememory.Scheduler
	consumer  *webhook.Consumer
	worker    *webhook.Worker
	endpoints *webhook.Endpoints
	master    webhook.Master
	current   *actor // whose calls the hooks see
	depth     int    // of actors between two calls
	quiet     bool   // no faults
	isDirect  bool   // a step of the judge, or of a user, which no hook sees
	step      int
	ids       int

	answers  map[string]int // of an endpoint's address
	secrets  map[string][]secret
	disabled map[string]bool // endpoints that were disabled or deleted at any time
	items    map[string]item.Item
	gone     map[string]int64 // the last version of items that left
	stream   []*event
	passed   int // records before it are finished
	invoked  [][]byte
	failed   [][]byte
	during   []map[string]bool // endpoints that took events all through each call of the consumer that is under way

	bodies       map[string]string // of a message, by its id
	accepted     map[string]bool   // messages that a receiver took
	tried        map[string]int    // attempts of a message
	redelivering int
	redelivered  map[string]int    // the step at which a message became pending again, by the key of its row OUT#
	ended        map[string]string // the state of a message that has ended, by the key of its row MSG#
	places       *register.Walk
}

const user = "ann"

var hookIDs = []string{
	"whk_00000000-0000-4000-8000-000000000001", "whk_00000000-0000-4000-8000-000000000002",
	"whk_00000000-0000-4000-8000-000000000003",
}

var itemIDs = []string{"task_a", "task_b", "task_c"}

// statuses are the answers that a receiver may give: 0 is none.
var statuses = []int{200, 200, 204, 202, 500, 503, 429, 404, 301, 410, 0}

var (
	webhookType = outbox.Webhook()
	taskType    = product.Task()
)

func newHistory(t *testing.T, seed uint64) *history {
	w := &history{
		Assertions: require.New(t), r: rand.New(rand.NewPCG(seed, 11)),
		now: time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC), current: &actor{},
		answers: map[string]int{}, secrets: map[string][]secret{}, disabled: map[string]bool{},
		items: map[string]item.Item{}, gone: map[string]int64{}, bodies: map[string]string{},
		accepted: map[string]bool{}, tried: map[string]int{}, redelivered: map[string]int{}, ended: map[string]string{},
	}
	clock := func() time.Time { return w.now }
	w.store = memory.New(clock, memory.Options{Fault: w.called})
	w.schedules = schedulememory.New(func(_, _ string, after bool) error { return w.hook(schedule.ErrUnavailable, after) })
	box := webhook.Outbox{
		Store: w.store, Scheduler: w.schedules, Now: clock, Lead: time.Minute,
		Invoke: func(_ context.Context, payload []byte) error {
			if w.quiet || !w.current.dead && w.r.IntN(3) > 0 { // else it is lost
				w.invoked = append(w.invoked, payload)
				return nil
			}
			return errors.New("the call is lost")
		},
	}
	var err error
	w.master, err = webhook.NewMaster(strings.NewReader(strings.Repeat("m", 32)))
	w.NoError(err)
	newID := func() string { w.ids++; return fmt.Sprintf("id-%d", w.ids) }
	w.consumer = webhook.NewConsumer(box, 1)
	w.worker = webhook.NewWorker(webhook.Config{
		Outbox: box, Client: w, Master: w.master, NewID: newID, Draw: w.r.Float64, Log: slog.New(slog.DiscardHandler),
		Wait: func(_ context.Context, d time.Duration) error {
			w.now = w.now.Add(d)
			if !w.quiet && w.depth < 2 && w.r.IntN(3) == 0 {
				w.beside(w.act)
			}
			return nil
		},
	})
	w.endpoints = &webhook.Endpoints{Outbox: box, NewID: newID}
	return w
}

// called is asked before and after each call of the store. It notes what the current actor has read and written.
func (w *history) called(c memory.Call) error {
	if w.isDirect {
		return nil
	}
	if c.Stage == memory.After && c.Err == nil && !w.current.dead {
		switch {
		case c.Op == "Update" && strings.HasPrefix(c.Keys[0].SK, outbox.RowLane):
			lane := w.row(c.Keys[0])
			w.current.owner, w.current.until = lane.Str("leaseOwner"), lane.Int("leaseUntil")
		case c.Op == "Get" && strings.HasPrefix(c.Keys[0].SK, "WEBHOOK"):
			w.current.hook = w.row(c.Keys[0])
		case c.Op == "Query" && strings.HasPrefix(c.Query.Range.Prefix, outbox.RowOut):
			w.note(c.Query.Range.Prefix)
		}
	}
	return w.hook(table.ErrUnavailable, c.Stage == memory.After)
}

// note notes what there is to send when the current actor reads it.
func (w *history) note(prefix string) {
	w.step++
	w.current.readAt, w.current.seen = w.step, map[string]bool{}
	for _, row := range w.rows(prefix) {
		w.current.seen[row.Key().SK] = true
	}
}

// hook is asked before and after each call of a port. It may end the actor, lose the answer, stall, or let others act.
func (w *history) hook(lost error, after bool) error {
	if w.isDirect {
		return nil
	}
	if w.current.dead {
		return errDead
	}
	if w.quiet {
		return nil
	}
	switch n := w.r.IntN(200); {
	case n < 3:
		w.current.dead = true
		return errDead
	case n < 9:
		return lost
	case n < 11 && after && w.redelivering == 0: // a call of the API ends within half a minute
		w.now = w.now.Add(time.Duration(w.r.IntN(100)) * time.Second)
	case n < 31 && w.depth < 2:
		w.beside(w.act)
	}
	return nil
}

// beside lets another actor act between two calls of the current one.
func (w *history) beside(act func()) {
	before := w.current
	w.depth++
	w.current = &actor{}
	act()
	w.current = before
	w.depth--
}

// direct runs a step of the judge or of a user, which no hook sees.
func (w *history) direct(step func()) {
	was := w.isDirect
	w.isDirect = true
	step()
	w.isDirect = was
}

func (w *history) row(key item.Key) (found item.Item) {
	w.direct(func() {
		row, err := table.Find(context.Background(), w.store, key)
		w.NoError(err)
		found = row
	})
	return found
}

func (w *history) rows(prefix string) (found []item.Item) {
	w.direct(func() {
		rows, err := table.All(context.Background(), w.store, table.Query{
			Partition: entity.UserPK(user), Range: table.Range{Prefix: prefix},
		}, 0)
		w.NoError(err)
		found = rows
	})
	return found
}

func hookKey(id string) item.Key { return entity.ItemKey(user, entity.Ref{Type: "WEBHOOK", ID: id}) }

func (w *history) endpoint(id string) item.Item { return w.row(hookKey(id)) }

// act makes one step at random.
func (w *history) act() {
	switch n := w.r.IntN(40); {
	case n < 10:
		w.write()
	case n < 17:
		w.deliver()
	case n < 24:
		w.call()
	case n < 27:
		w.user()
	case n < 28:
		w.redeliver()
	case n < 32:
		for address := range len(w.answers) {
			if w.r.IntN(2) == 0 {
				w.answers[addressOf(address)] = w.status()
			}
		}
	case n < 39:
		w.now = w.now.Add(time.Duration(w.r.IntN(600)) * time.Second / time.Duration(1+w.r.IntN(60)))
	default:
		w.now = w.now.Add(time.Duration(w.r.IntN(10)) * time.Hour)
	}
	w.check()
}

func (w *history) status() int {
	s := statuses[w.r.IntN(len(statuses))]
	if s == 410 && w.r.IntN(4) > 0 {
		s = 500
	}
	return s
}

func addressOf(n int) string { return fmt.Sprintf("https://hooks.example.com/%d", n) }

func (w *history) newAddress() string {
	address := addressOf(len(w.answers))
	w.answers[address] = w.status()
	return address
}

// deliver has the consumer apply the next records, or some that it has applied before.
func (w *history) deliver() {
	from := w.passed
	if from > 0 && w.r.IntN(4) == 0 && !w.quiet {
		from = w.r.IntN(from)
	}
	some := w.stream[from:min(len(w.stream), from+1+w.r.IntN(4))]
	if len(some) == 0 {
		return
	}
	batch := make([]change.Change, len(some))
	for i, e := range some {
		batch[i] = e.Change
	}
	told := w.takers()
	w.during = append(w.during, told)
	before := w.current
	w.current = &actor{}
	outcomes := w.consumer.Apply(context.Background(), batch)
	isDead := w.current.dead
	w.current = before
	w.during = w.during[:len(w.during)-1]
	if isDead {
		return
	}
	for i, e := range some {
		if outcomes[i].Verdict != change.Done {
			w.NotEqual(change.Poison, outcomes[i].Verdict, outcomes[i].Err)
			continue
		}
		if !e.finished {
			for id := range told {
				if hook := w.endpoint(id); w.isOwed(e, hook) {
					e.owed[id] = true
				}
			}
		}
		e.finished = true
	}
	for w.passed < len(w.stream) && w.stream[w.passed].finished {
		w.passed++
	}
}

// isOwed reports whether an endpoint has to be told of an event, by the document.
func (w *history) isOwed(e *event, hook item.Item) bool {
	if e.typ == "" || w.now.Sub(e.Created) > 28*24*time.Hour {
		return false
	}
	made, _ := hook.Time("createdAt")
	if e.Created.Before(made.Truncate(time.Second)) {
		return false
	}
	for _, one := range hook.Strings("types") {
		if one == "*" || one == "task.*" || one == e.typ {
			return true
		}
	}
	return false
}

// takers returns the endpoints that are active now.
func (w *history) takers() map[string]bool {
	out := map[string]bool{}
	for _, id := range hookIDs {
		if w.endpoint(id).Str("status") == "ACTIVE" {
			out[id] = true
		}
	}
	return out
}

// call makes a call of the worker: of an invocation, of a schedule that is due, or one that failed or was made before.
func (w *history) call() {
	var payload []byte
	switch n := w.r.IntN(3); {
	case len(w.failed) > 0 && n == 0:
		payload, w.failed = w.failed[0], w.failed[1:]
	case len(w.invoked) > 0 && n == 1:
		payload, w.invoked = w.invoked[0], w.invoked[1:]
	default:
		if one, due := w.schedules.Take(w.now); due {
			payload = one.Payload
		}
	}
	if payload == nil {
		return
	}
	before := w.current
	w.current = &actor{}
	ctx, cancel := context.WithDeadline(context.Background(), w.now.Add(2*time.Minute))
	err := w.worker.Work(ctx, payload)
	cancel()
	w.current = before
	if err != nil || w.r.IntN(8) == 0 && !w.quiet {
		w.failed = append(w.failed, payload)
	}
}

// redeliver has messages sent again; a dry run before it counts the same.
func (w *history) redeliver() {
	id := hookIDs[w.r.IntN(len(hookIDs))]
	if w.endpoint(id).Str("status") != "ACTIVE" {
		return
	}
	f := webhook.Filter{State: []string{"", "dead", "done"}[w.r.IntN(3)]}
	before := w.current
	w.current = &actor{}
	w.redelivering++
	_, _, _ = w.endpoints.Redeliver(context.Background(), user, id, f, "", false)
	w.redelivering--
	w.current = before
	w.step++
	for _, row := range w.rows(outbox.OutPrefix(id)) {
		w.redelivered[row.Key().SK] = w.step // or it waited before; the judge cannot tell
	}
}

func TestWorker_keepsItsLawsInRandomHistories(t *testing.T) {
	t.Parallel()
	var places register.Walk
	for seed := range uint64(*histories) {
		w := newHistory(t, seed)
		w.places = &places
		w.user()
		for range 150 {
			w.act()
		}
		w.finish()
		for _, one := range w.schedules.Entries() {
			require.True(t, places.Name(register.Scheduler, one.Name), one.Name)
		}
	}
	require.Empty(t, places.Strange())
	require.Empty(t, places.Missing(register.Webhooks))
}
