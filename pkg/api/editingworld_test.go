package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"nexus/pkg/archive"
	busmemory "nexus/pkg/bus/memory"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// luck decides everything in a history.
type luck interface {
	// IntN returns a number from 0 to n-1.
	IntN(n int) int
}

// entry of the log of changes: look at this id, it has come at least so far; ends says that it has an end.
type entry struct {
	id      string
	version int64
	ends    bool
}

func (e entry) less(other entry) bool {
	return e.version < other.version || e.version == other.version && !e.ends && other.ends
}

// server is the real surface over the store in memory, with what belongs to all histories. Each history has its user.
type server struct {
	*fixture
	reminder *entity.Type
	archiver *archive.Consumer
	read     map[string]string // how far the stream was read, by shard
	users    int
}

func newServer(t *testing.T) *server {
	t.Helper()
	b := setup(t)
	cfg := b.archive
	cfg.Bus = busmemory.New(nil)
	return &server{
		fixture: b, reminder: cfg.Registry.ByName(product.TypeReminder), archiver: archive.NewConsumer(cfg),
		read: map[string]string{},
	}
}

// editing is one history: two devices that edit reminders offline against the real commands, the system as a writer,
// and the log between them. It is a port of a random model, rule for rule.
type editing struct {
	*server
	luck
	user string
	flaw flaws
	calm bool // log and devices keep up
	ends bool // much is completed, and time passes
	busy bool // within an interlude
	ids  int

	items   map[string]item.Item // as the stream has them
	past    []map[string]item.Item
	late    []entry // not yet in the log
	seen    []entry // once appended, for repetitions
	log     []entry
	changes []change.Change // not yet delivered to archive

	devices [2]*editingDevice
	edits   map[string]*edit // by their logical ids
	applied map[string]int
	fate    map[string]string
	wrong   []string
}

func (w *editing) one(n int) bool { return w.IntN(n) == 0 }

// percent is true in so many of 100 cases.
func (w *editing) percent(p int) bool { return w.IntN(100) < p }

func (w *editing) complain(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

func (w *editing) nextID(prefix string) string {
	w.ids++
	return fmt.Sprintf("%s%d", prefix, w.ids)
}

// follow reads the records of the stream, judges what commands did, and keeps what log and archive have to get.
func (w *editing) follow() {
	feed := w.store.Feed()
	shards, err := feed.Shards(context.Background())
	w.NoError(err)
	for _, shard := range shards {
		for {
			slice, err := feed.Read(context.Background(), shard.ID, w.read[shard.ID], 1000)
			w.NoError(err)
			for _, record := range slice.Records {
				w.read[shard.ID] = record.Sequence
				w.take(record)
			}
			if len(slice.Records) == 0 {
				break
			}
		}
	}
}

func (w *editing) take(record change.Record) {
	c, err := change.Interpret(w.archive.Registry, record)
	w.NoError(err)
	if c.User != w.user || c.Type == nil || c.Type.Name != product.TypeReminder {
		return
	}
	w.attribute(c)
	id := c.Ref.ID
	w.items = maps.Clone(w.items)
	if c.New == nil {
		delete(w.items, id)
	} else {
		w.items[id] = c.New
	}
	w.late = append(w.late, entry{id, c.Version, c.New.Has(entity.AttrTTL)})
	w.changes = append(w.changes, c)
	w.past = append(w.past, w.items)
	if len(w.past) > 4 {
		w.past = w.past[1:]
	}
}

// attribute finds the edit that made a change, by the value that no other edit has, and checks that it was written over
// what its user saw.
func (w *editing) attribute(c change.Change) {
	if c.New == nil {
		return
	}
	for _, name := range editedFields {
		e := w.edits[c.New.Str(name)]
		if e == nil || c.Old.Str(name) == c.New.Str(name) || c.Old == nil && e.kind != createReminder || w.isBack(c) {
			continue
		}
		w.applied[e.logical]++
		if c.Old != nil && c.Old.Str(name) != e.base {
			w.complain("%s was written over %q, and its user saw %q", e.logical, c.Old.Str(name), e.base)
		}
	}
	snooze := c.New.Map(product.AttrSnoozeState)
	until := snooze.Str(product.SnoozeUntilUtc)
	if e := w.edits[until]; e != nil && until != c.Old.Map(product.AttrSnoozeState).Str(product.SnoozeUntilUtc) {
		if w.isBack(c) {
			return
		}
		w.applied[e.logical]++
		if saw := snooze.Str(product.SnoozeOccurrenceUtc); saw != e.saw {
			w.complain("%s snoozed the occurrence of %s, and its user saw that of %s", e.logical, saw, e.saw)
		}
	}
}

// isBack reports whether a row came back from its copy.
func (w *editing) isBack(c change.Change) bool {
	return c.Old == nil && c.New.Has(entity.AttrRestoredAt)
}

// send has the server carry out a batch, and returns its results; nil if the request failed.
func (w *editing) send(commands []map[string]any) []answered {
	payload, err := json.Marshal(map[string]any{"userId": w.user, "commands": commands})
	w.NoError(err)
	if w.flaw.receiptsOfADay {
		w.forgetReceipts()
	}
	dead := false
	w.failWith(func(c memory.Call) error {
		if c.Op != "Transact" && c.Op != "Put" {
			return nil
		}
		if c.Stage == memory.After {
			if c.Err == nil && w.percent(3) {
				dead = w.one(2)
				return table.ErrUnavailable // it took effect
			}
			return nil
		}
		w.interlude()
		if dead || w.percent(3) {
			return table.ErrUnavailable
		}
		if w.percent(6) {
			return table.ErrThrottled
		}
		return nil
	})
	out, err := w.api.Run(context.Background(), payload)
	w.failWith(nil)
	w.NoError(err)
	w.follow()
	var doc struct{ Results []answered }
	w.NoError(json.Unmarshal(out, &doc))
	w.Len(doc.Results, len(commands))
	if w.flaw.dependentRefused {
		for i := range doc.Results {
			if commands[i]["expectedAfter"] != nil && doc.Results[i].Status == http.StatusServiceUnavailable && i > 0 &&
				doc.Results[i-1].Status == http.StatusServiceUnavailable {
				doc.Results[i].Status = http.StatusFailedDependency
			}
		}
	}
	return doc.Results
}

// interlude lets another worker act between two calls of a request.
func (w *editing) interlude() {
	if w.busy || !w.one(4) {
		return
	}
	w.busy = true
	defer func() { w.busy = false }()
	fault := w.fault
	w.failWith(nil)
	w.follow()
	switch w.IntN(3) {
	case 0:
		w.act()
	case 1:
		w.system()
	default:
		w.append()
	}
	w.failWith(fault)
}

// forgetReceipts is the mistake of a server that keeps receipts for a day.
func (w *editing) forgetReceipts() {
	page, err := w.store.Query(context.Background(), table.Query{
		Partition: entity.UserPK(w.user), Range: table.Range{Prefix: entity.RowReceipt},
	})
	w.NoError(err)
	for _, row := range page.Items {
		if row.Int(entity.AttrTTL) < w.clock().Add(89*24*time.Hour).Unix() {
			w.NoError(w.store.Delete(context.Background(), table.Delete{Key: row.Key()}))
		}
	}
}

// append puts a few records into the log, in any order.
func (w *editing) append() {
	w.follow()
	var batch []entry
	for range 1 + w.IntN(3) {
		if len(w.late) == 0 {
			break
		}
		i := w.IntN(len(w.late))
		batch = append(batch, w.late[i])
		w.late = slices.Delete(w.late, i, i+1)
	}
	w.appendAll(batch)
}

func (w *editing) appendAll(batch []entry) {
	best := map[string]entry{}
	for _, e := range batch {
		if known, ok := best[e.id]; !ok || known.less(e) {
			best[e.id] = e
		}
	}
	for _, id := range slices.Sorted(maps.Keys(best)) {
		newest := w.log[max(0, len(w.log)-16):]
		if !slices.ContainsFunc(newest, func(e entry) bool { return e.id == id && !e.less(best[id]) }) {
			w.log = append(w.log, best[id])
		}
	}
	w.seen = append(w.seen, batch...)
}

// pass lets time pass.
func (w *editing) pass(d time.Duration) {
	w.advance(d)
	w.past = nil
}

// entityOf is an item as a device has it.
func (s *server) entityOf(it item.Item) *copied {
	out := &copied{}
	s.NoError(json.Unmarshal(s.reminder.AppendJSON(nil, it), out))
	return out
}

var editedFields = []string{entity.AttrTitle, "notes"}
