package revision_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

const (
	user = "ann"
	day  = "2026-01-19"
)

var (
	tree  = repository.Address{User: user}
	today = repository.Address{User: user, Date: day}
)

// published is a revision as it was in the moment in which a transaction made it the present one.
type published struct {
	at    time.Time
	rows  int
	bytes string // its log entry and its snapshot, as they stand in the table
}

// answered holds the answer to a request.
type answered struct {
	revID string
	state any
}

// fixture is one history: a store, and what is known of every revision from the moment it was published.
type fixture struct {
	*require.Assertions
	ctx    context.Context
	luck   *rand.Rand
	now    time.Time
	ids    int
	store  *memory.Store
	was    map[item.Key]published // revisions, by the keys of their log entries
	acked  map[string]answered    // by the message of the request
	denied map[string]bool        // messages of requests that were refused for certain
	edits  map[string][]values.Operation
	plans  map[string]plan.Plan
	parent map[string]string // that a request named, by its message
	races  int               // requests that were refused because the head had moved
	looks  int               // reads that came in between
	broken []string          // what was found in the middle of an actor's call
}

func newWorld(t testing.TB, seed uint64) *fixture {
	w := &fixture{
		Assertions: require.New(t), ctx: t.Context(), luck: rand.New(rand.NewPCG(seed, 1)),
		now: time.Date(2026, 1, 19, 7, 0, 0, 0, time.UTC),
		was: map[item.Key]published{}, acked: map[string]answered{}, denied: map[string]bool{},
		edits: map[string][]values.Operation{}, plans: map[string]plan.Plan{}, parent: map[string]string{},
	}
	w.store = memory.New(w.clock, memory.Options{})
	return w
}

func (w *fixture) clock() time.Time { return w.now }

func (w *fixture) newID() string {
	w.ids++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", w.ids, w.ids)
}

// process is the product's code above a store of its own.
type process struct {
	publisher *revision.Publisher
	values    *values.Service
	plans     *plan.Service
}

func (w *fixture) process(store table.Store) process {
	p := revision.NewPublisher(revision.Config{Store: store, Now: w.clock, NewID: w.newID, Inline: 24})
	tree := values.New(p, w.newID)
	return process{p, tree, plan.New(p, tree, w.clock, w.newID)}
}

// published notes the rows of every revision that a transaction made the present one, and that they are whole.
func (w *fixture) published(actions []table.Action) {
	for _, a := range actions {
		put, isPut := a.(table.Put)
		if !isPut {
			continue
		}
		row, err := repository.ParseRow(put.Item.Key())
		if err != nil || row.Kind != repository.LogRow {
			continue
		}
		key := put.Item.Key()
		if _, twice := w.was[key]; twice {
			w.broken = append(w.broken, key.String()+" is published twice")
		}
		rows := w.snapshot(row.Repository, row.RevisionID)
		w.was[key] = published{w.now, len(rows), inBytes(append(rows, put.Item))}
		if action, ok := completedBy(put.Item); ok && row.Repository == today {
			w.checkCompleted(action)
		}
		if len(rows) != int(put.Item.Int("rows")) {
			w.broken = append(w.broken, key.String()+" is not whole when it is published")
		}
	}
}

// inBytes are rows in the form in which they leave the table.
func inBytes(rows []item.Item) string {
	var text []byte
	for _, row := range rows {
		text = append(change.AppendItem(text, row), '\n')
	}
	return string(text)
}

// checkCompleted requires that an action which a plan shows completed is completed in the tree.
func (w *fixture) checkCompleted(action string) {
	head, err := w.store.Get(w.ctx, tree.HeadKey())
	if err == nil {
		head, err = w.store.Get(w.ctx, tree.NodeKey(head.Str("headRevId"), action))
	}
	if err != nil || !head.Has("completedAt") {
		w.broken = append(w.broken, action+" is completed in the plan alone")
	}
}

func (w *fixture) snapshot(at repository.Address, revID string) []item.Item {
	return w.partition(at.SnapshotPK(revID), "")
}

func (w *fixture) partition(pk, prefix string) []item.Item {
	page, err := w.store.Query(w.ctx, table.Query{Partition: pk, Range: table.Range{Prefix: prefix}})
	w.NoError(err)
	w.Empty(page.Next)
	return page.Items
}

// log returns a repository's log, oldest first.
func (w *fixture) log(at repository.Address) []item.Item {
	return w.partition(at.LogPK(), at.LogPrefix())
}
