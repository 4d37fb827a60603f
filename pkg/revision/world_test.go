package revision_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
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
	tree  = entity.Repository{User: user}
	today = entity.Repository{User: user, Date: day}
)

// world is one history: a store, and what is known of every revision from the moment it was published.
type world struct {
	*require.Assertions
	ctx    context.Context
	luck   *rand.Rand
	now    time.Time
	ids    int
	store  *memory.Store
	rows   map[entity.Key][]entity.Item // of a revision's snapshot when it was published, by the key of its log entry
	acked  map[string]string            // revisions by the message of the request that was answered with it
	denied map[string]bool              // messages of requests that were refused for certain
	edits  map[string][]values.Operation
	parent map[string]string // that a request named, by its message
	broken []string          // what was found in the middle of an actor's call
}

func newWorld(t testing.TB, seed uint64) *world {
	w := &world{
		Assertions: require.New(t), ctx: t.Context(), luck: rand.New(rand.NewPCG(seed, 1)),
		now:  time.Date(2026, 1, 19, 7, 0, 0, 0, time.UTC),
		rows: map[entity.Key][]entity.Item{}, acked: map[string]string{}, denied: map[string]bool{}, edits: map[string][]values.Operation{},
		parent: map[string]string{},
	}
	w.store = memory.New(w.clock, memory.Options{})
	return w
}

func (w *world) clock() time.Time { return w.now }

func (w *world) newID() string {
	w.ids++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", w.ids, w.ids)
}

// process is the product's code above a store of its own.
type process struct {
	publisher *revision.Publisher
	values    *values.Service
	plans     *plan.Service
}

func (w *world) process(store table.Store) process {
	p := revision.NewPublisher(revision.Config{Store: store, Now: w.clock, NewID: w.newID, Inline: 24})
	tree := values.New(p, w.newID)
	return process{p, tree, plan.New(p, tree, w.clock, w.newID)}
}

// published notes the rows of every revision that a transaction made the present one, and that they are whole.
func (w *world) published(actions []table.Action) {
	for _, a := range actions {
		put, isPut := a.(table.Put)
		if !isPut {
			continue
		}
		row, err := entity.ParseRepositoryRow(put.Item.Key())
		if err != nil || row.Kind != entity.LogRow {
			continue
		}
		key := put.Item.Key()
		if w.rows[key] != nil {
			w.broken = append(w.broken, key.String()+" is published twice")
		}
		w.rows[key] = w.snapshot(row.Repository, row.RevisionID)
		if action, ok := strings.CutPrefix(put.Item.Str("message"), "completed "); ok && row.Repository == today {
			w.checkCompleted(action)
		}
		if len(w.rows[key]) != int(put.Item.Int("rows")) {
			w.broken = append(w.broken, key.String()+" is not whole when it is published")
		}
	}
}

// checkCompleted sees to it that an action which a plan shows completed is completed in the tree.
func (w *world) checkCompleted(action string) {
	head, err := w.store.Get(w.ctx, tree.HeadKey())
	if err == nil {
		head, err = w.store.Get(w.ctx, tree.NodeKey(head.Str("headRevId"), action))
	}
	if err != nil || !head.Has("completedAt") {
		w.broken = append(w.broken, action+" is completed in the plan alone")
	}
}

func (w *world) snapshot(at entity.Repository, revID string) []entity.Item {
	return w.partition(at.SnapshotPK(revID), "")
}

func (w *world) partition(pk, prefix string) []entity.Item {
	page, err := w.store.Query(w.ctx, table.Query{Partition: pk, Range: table.Range{Prefix: prefix}})
	w.NoError(err)
	w.Empty(page.Next)
	return page.Items
}

// log returns a repository's log, oldest first.
func (w *world) log(at entity.Repository) []entity.Item {
	return w.partition(at.LogPK(), at.LogPrefix())
}

// checkHead sees to it that the head names the last entry of the log, and a snapshot that is as it was published.
func (w *world) checkHead(at entity.Repository) {
	head, err := w.store.Get(w.ctx, at.HeadKey())
	if err != nil {
		w.ErrorIs(err, table.ErrNotFound)
		w.Empty(w.log(at))
		return
	}
	revID := head.Str("headRevId")
	w.Contains(w.rows, at.LogKey(revID), "the head names a revision that was published")
	n, err := w.store.Count(w.ctx, table.Query{Partition: at.SnapshotPK(revID)})
	w.NoError(err)
	w.Len(w.rows[at.LogKey(revID)], n, "the head names a whole snapshot")
}

// checkLine sees to it that history is a line, and every revision in it what it was when it was published.
func (w *world) checkLine(at entity.Repository) {
	parent, last := "", ""
	for _, entry := range w.log(at) {
		revID := entry.Str("revId")
		w.Equal(parent, entry.Str("parentRevId"), "history is a line")
		w.Less(last, entry.Str("revTs"), "history rises in time")
		parent, last = revID, entry.Str("revTs")
		was := w.rows[entry.Key()]
		is := w.snapshot(at, revID)
		w.True(slices.EqualFunc(was, is, entity.Item.Equal), "revision %s is no longer what was committed", revID)
	}
	head, err := w.store.Get(w.ctx, at.HeadKey())
	if parent != "" {
		w.NoError(err)
		w.Equal(parent, head.Str("headRevId"), "the head is the end of the line")
	}
}

// checkAnswers sees to it that what was answered is there once, and what was refused is not there.
func (w *world) checkAnswers() {
	times := map[string]int{}
	for _, entry := range w.log(tree) {
		times[entry.Str("message")]++
		if _, ok := w.edits[entry.Str("message")]; ok {
			w.Equal(w.parent[entry.Str("message")], entry.Str("parentRevId"), "a revision follows the parent that was named")
		}
		if want, ok := w.acked[entry.Str("message")]; ok {
			w.Equal(want, entry.Str("revId"))
		}
	}
	for message := range w.edits {
		switch _, acked := w.acked[message]; {
		case acked:
			w.Equal(1, times[message], "%s was answered and is lost, or twice there", message)
		case w.denied[message]:
			w.Zero(times[message], "%s was refused and is there", message)
		default:
			w.LessOrEqual(times[message], 1, message)
		}
	}
}

// checkStates replays the edits of the log's line and compares.
func (w *world) checkStates() {
	var state values.Tree
	reader := w.process(w.store)
	for _, entry := range w.log(tree) {
		rev, err := reader.values.Revision(w.ctx, user, entry.Str("revId"))
		w.NoError(err)
		if ops, ok := w.edits[rev.Message]; ok {
			var broken revision.Violations
			want := values.Edit(&broken, state, rev.RevTs, w.newID, ops)
			w.NoError(broken.Err())
			w.Equal(want, rev.State)
		}
		state = rev.State
	}
}

// uncommitted returns the snapshots in the table that are of no revision, by their partitions.
func (w *world) uncommitted() map[string]entity.Key {
	found := map[string]entity.Key{}
	w.NoError(w.store.Walk(w.ctx, 0, 1, func(row entity.Item) error {
		parsed, err := entity.ParseRepositoryRow(row.Key())
		if err == nil && parsed.Kind == entity.SnapshotRow && w.rows[parsed.Repository.LogKey(parsed.RevisionID)] == nil {
			found[row.Key().PK] = row.Key()
		}
		return nil
	}))
	return found
}

// checkOrphans sees to it that all of them are found, nothing else is, and that they can be removed.
func (w *world) checkOrphans() int {
	p := w.process(w.store).publisher
	w.now = w.now.Add(revision.Patience)
	lost := w.uncommitted()
	found := map[string]bool{}
	orphans, err := p.Orphans(w.ctx, user)
	w.NoError(err)
	for pk, key := range lost {
		stray, is, err := p.Stray(w.ctx, key)
		w.NoError(err)
		if is {
			orphans = append(orphans, stray)
			found[pk] = true
		}
	}
	for _, o := range orphans {
		found[o.Repository.SnapshotPK(o.RevID)] = true
		w.NotContains(w.rows, o.Repository.LogKey(o.RevID), "an orphan is no revision")
		_, err := p.Remove(w.ctx, o)
		w.NoError(err)
	}
	for pk := range lost {
		w.True(found[pk], "%s is abandoned and not found", pk)
	}
	w.Empty(w.uncommitted())
	w.now = w.now.Add(48 * time.Hour)
	orphans, err = p.Orphans(w.ctx, user)
	w.NoError(err)
	for _, o := range orphans {
		_, err := p.Remove(w.ctx, o)
		w.NoError(err)
	}
	w.Empty(w.partition(entity.RepositoryPK(user), entity.DraftPrefix()), "no draft is left for ever")
	for key := range w.rows {
		row, err := entity.ParseRepositoryRow(key)
		w.NoError(err)
		for _, one := range w.rows[key][:min(1, len(w.rows[key]))] {
			_, is, err := p.Stray(w.ctx, one.Key())
			w.NoError(err)
			w.False(is, "a revision's row is no stray")
		}
		_, err = p.Remove(w.ctx, revision.Orphan{Repository: row.Repository, RevID: row.RevisionID})
		w.ErrorIs(err, revision.ErrCommitted)
	}
	return len(lost)
}
