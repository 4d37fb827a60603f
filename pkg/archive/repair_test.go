package archive_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	"nexus/pkg/blob"
	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// store writes a row as it is given, whatever there is.
func (w *fixture) put(row item.Item) { require.NoError(w.t, w.store.Put(w.ctx, table.Put{Item: row})) }

func (w *fixture) drop(key item.Key) {
	require.NoError(w.t, w.store.Delete(w.ctx, table.Delete{Key: key}))
}

// edit changes a row past every consumer.
func (w *fixture) edit(key item.Key, change func(item.Item)) {
	row := w.get(key).Clone()
	change(row)
	w.put(row)
}

// faults returns the faults that the check reports of an item.
func (w *fixture) faults(c *archive.Consumer, t *entity.Type, id string) []archive.Fault {
	r, err := c.Remains(w.ctx, ann, t, id)
	require.NoError(w.t, err)
	faults, _, err := c.Check(w.ctx, r)
	require.NoError(w.t, err)
	return faults
}

// everything is each row of the table, and each object's text by its name.
func (w *fixture) everything() map[string]any {
	all := map[string]any{}
	require.NoError(w.t, w.store.Walk(w.ctx, 0, 1, func(row item.Item) error {
		all[row.Key().String()] = row
		return nil
	}))
	names, err := w.copies.List(w.ctx, "archive/", 1000, "")
	require.NoError(w.t, err)
	for _, name := range names {
		body, err := w.copies.Get(w.ctx, name)
		require.NoError(w.t, err)
		all[name] = string(body)
	}
	return all
}

// The places of a damaged task.
type places struct {
	item, cold, gone, timer item.Key
	object                  string
}

func (w *fixture) placesOf(id string, version int64) places {
	return places{
		entity.ItemKey(ann, entity.Ref{Type: product.TypeTask, ID: id}), entity.ColdKey(ann, id), entity.GoneKey(ann, id),
		entity.TimerKey(ann, id, version), "archive/ann/" + id + "/1.json",
	}
}

func TestConsumer_repairsEachFaultOfAnArchivedTask(t *testing.T) {
	t.Parallel()
	const ttl, other = "ttl 1749369600", "ttl 1749369601" // a week after the world's beginning
	for name, c := range map[string]struct {
		damage func(w *fixture, p places)
		want   func(p places) []archive.Fault
	}{
		"no damage": {func(*fixture, places) {}, func(places) []archive.Fault { return nil }},
		"no ttl": {func(w *fixture, p places) { w.edit(p.item, func(it item.Item) { delete(it, entity.AttrTTL) }) },
			func(p places) []archive.Fault { return []archive.Fault{{p.item.String(), "no ttl", ttl}} }},
		"another ttl": {func(w *fixture, p places) {
			w.edit(p.item, func(it item.Item) { it[entity.AttrTTL] = item.Int(it.Int(entity.AttrTTL) + 1) })
		}, func(p places) []archive.Fault { return []archive.Fault{{p.item.String(), other, ttl}} }},
		"no cold row": {func(w *fixture, p places) { w.drop(p.cold) },
			func(p places) []archive.Fault { return []archive.Fault{{p.cold.String(), "no row", p.object}} }},
		"a cold row of another object": {func(w *fixture, p places) {
			w.edit(p.cold, func(it item.Item) { it["object"] = item.String("archive/ann/x/1.json") })
		}, func(p places) []archive.Fault {
			return []archive.Fault{{p.cold.String(), "archive/ann/x/1.json, version 1", p.object}}
		}},
		"a cold row of another version": {func(w *fixture, p places) {
			w.edit(p.cold, func(it item.Item) { it[entity.AttrVersion] = item.Int(2) })
		}, func(p places) []archive.Fault {
			return []archive.Fault{{p.cold.String(), p.object + ", version 2", p.object}}
		}},
		"no copy": {func(w *fixture, p places) { require.NoError(w.t, w.copies.Delete(w.ctx, p.object)) },
			func(p places) []archive.Fault {
				return []archive.Fault{{p.object, "no copy that can be read", "the item"}}
			}},
		"a spoilt copy": {func(w *fixture, p places) {
			require.NoError(w.t, w.copies.Put(w.ctx, p.object, []byte(`{"item":`)))
		},
			func(p places) []archive.Fault {
				return []archive.Fault{{p.object, "no copy that can be read", "the item"}}
			}},
		"a copy of no item": {func(w *fixture, p places) {
			require.NoError(w.t, w.copies.Put(w.ctx, p.object, []byte(`{"item":[]}`)))
		},
			func(p places) []archive.Fault {
				return []archive.Fault{{p.object, "no copy that can be read", "the item"}}
			}},
	} {
		w, typ := newWorld(t, 1), product.Task()
		id := w.create(typ, map[string]any{"title": "report", "status": "ARCHIVED"}).Str("taskId")
		w.deliverAll()
		before := w.everything()
		p := w.placesOf(id, 1)
		c.damage(w, p)
		require.Equal(t, c.want(p), w.faults(w.consumer, typ, id), name)
		require.NoError(t, w.consumer.Repair(t.Context(), ann, typ, id), name)
		require.Empty(t, w.faults(w.consumer, typ, id), name)
		if name != "another ttl" { // which makes a version
			require.Equal(t, before, w.everything(), name)
		}
	}
}

func TestCheck_findsAnEndOrCopyOfWhatStays(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.create(typ, map[string]any{"title": "report", "status": "ARCHIVED"})
	id := task.Str("taskId")
	w.deliverAll()
	p := w.placesOf(id, 1)
	cold, copied := w.get(p.cold), w.everything()[p.object]
	w.patch(typ, task, map[string]any{"status": "BACKLOG"})
	w.deliverAll()
	before, item2 := w.everything(), w.get(p.item)
	ttl := func() { w.edit(p.item, func(it item.Item) { it[entity.AttrTTL] = item.Int(5) }) }
	row := func() {
		w.put(cold)
		require.NoError(t, w.copies.Put(t.Context(), p.object, []byte(copied.(string))))
	}
	ends, named := archive.Fault{Place: p.item.String(), Is: "ttl 5", Want: "no ttl"},
		archive.Fault{Place: p.cold.String(), Is: "there", Want: "no row"}
	for _, c := range []struct {
		damage []func()
		want   []archive.Fault
	}{
		{nil, nil}, {[]func(){ttl}, []archive.Fault{ends}}, {[]func(){row}, []archive.Fault{named}},
		{[]func(){ttl, row}, []archive.Fault{ends, named}},
	} {
		for _, damage := range c.damage {
			damage()
		}
		require.Equal(t, c.want, w.faults(w.consumer, typ, id))
		require.NoError(t, w.consumer.Repair(t.Context(), ann, typ, id))
		require.Empty(t, w.faults(w.consumer, typ, id))
		w.put(item2) // the end was taken off as a version
		require.Equal(t, before, w.everything())
	}
}

func TestConsumer_keepsTheCopyOfWhatLeftUnlessItWasDeleted(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	id := w.create(typ, map[string]any{"title": "report", "status": "ARCHIVED"}).Str("taskId")
	w.deliverAll()
	w.advance(7 * 24 * time.Hour)
	w.deliverAll()
	p := w.placesOf(id, 1)
	require.Nil(t, w.get(p.item))
	require.Empty(t, w.faults(w.consumer, typ, id), "it left and has its copy")
	kept := w.everything()
	require.Contains(t, kept, p.object)
	require.NoError(t, w.consumer.Repair(t.Context(), ann, typ, id))
	require.Equal(t, kept, w.everything())
	require.Empty(t, w.faults(w.consumer, typ, "task_none"), "what never was lacks nothing")

	require.NoError(t, w.copies.Delete(t.Context(), p.object))
	lost := []archive.Fault{{Place: p.object, Is: "no copy that can be read", Want: "the item"}}
	require.Equal(t, lost, w.faults(w.consumer, typ, id))
	require.NoError(t, w.consumer.Repair(t.Context(), ann, typ, id), "the item is gone")
	require.Equal(t, lost, w.faults(w.consumer, typ, id))
	require.NotNil(t, w.get(p.cold))
	require.NoError(t, w.copies.Put(t.Context(), p.object, []byte(kept[p.object].(string))))

	w.put(p.gone.Item())
	require.Equal(t, []archive.Fault{{Place: p.cold.String(), Is: "there", Want: "no row: its user deleted the item"}},
		w.faults(w.consumer, typ, id))
	require.NoError(t, w.consumer.Repair(t.Context(), ann, typ, id))
	require.Empty(t, w.faults(w.consumer, typ, id))
	require.Nil(t, w.get(p.cold))
	require.NotContains(t, w.everything(), p.object)
}

func TestConsumer_repairsEachFaultOfATimer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(w *fixture, p places)
		is     string // of the fault at the timer's row; empty for none
		want   string
	}{
		"no damage": {func(*fixture, places) {}, "", ""},
		"no row":    {func(w *fixture, p places) { w.drop(p.timer) }, "no row", "ttl at 2025-06-02T08:00:00Z"},
		"another ttl": {func(w *fixture, p places) {
			w.edit(p.timer, func(it item.Item) { it[entity.AttrTTL] = item.Int(7) })
		}, "ttl 7", "ttl at 2025-06-02T08:00:00Z"},
		"of another completion": {func(w *fixture, p places) {
			w.edit(p.timer, func(it item.Item) { it[product.AttrCompletedAt] = item.String("2025-06-01T07:00:00Z") })
		}, "no row", "ttl at 2025-06-02T08:00:00Z"},
		"to another end": {func(w *fixture, p places) {
			w.edit(p.timer, func(it item.Item) {
				it[product.AttrArchiveAt], it[entity.AttrTTL] = item.String("2025-06-02T09:00:00Z"),
					item.Int(time.Date(2025, 6, 2, 9, 0, 0, 0, time.UTC).Unix())
			})
		}, "no row", "ttl at 2025-06-02T08:00:00Z"},
	} {
		w, typ := newWorld(t, 1), product.Task()
		task := w.patch(typ, w.create(typ, map[string]any{"title": "report"}), map[string]any{"status": "COMPLETED"})
		id := task.Str("taskId")
		w.deliverAll()
		before := w.everything()
		p := w.placesOf(id, 2)
		require.NotNil(t, w.get(p.timer))
		c.damage(w, p)
		var want []archive.Fault
		if c.is != "" {
			want = []archive.Fault{{Place: p.timer.String(), Is: c.is, Want: c.want}}
		}
		require.Equal(t, want, w.faults(w.consumer, typ, id), name)
		require.NoError(t, w.consumer.Repair(t.Context(), ann, typ, id), name)
		require.Empty(t, w.faults(w.consumer, typ, id), name)
		require.Equal(t, before, w.everything(), name)
	}
}

// TestConsumer_repairsATimerOfAnEarlierCompletion: each completion left a timer, and each must fire when it says.
func TestConsumer_repairsATimerOfAnEarlierCompletion(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.patch(typ, w.create(typ, map[string]any{"title": "report"}), map[string]any{"status": "COMPLETED"})
	id := task.Str("taskId")
	for range 2 {
		w.advance(time.Hour)
		task = w.patch(typ, task, map[string]any{"status": "IN_PROGRESS"})
		task = w.patch(typ, task, map[string]any{"status": "COMPLETED"})
	}
	w.deliverAll()
	require.Equal(t, []int64{2, 4, 6}, w.timers(id))
	before := w.everything()
	for _, versions := range [][]int64{{2}, {4}, {6}, {2, 4}, {4, 6}, {2, 4, 6}} {
		for _, version := range versions {
			w.edit(entity.TimerKey(ann, id, version), func(it item.Item) { it[entity.AttrTTL] = item.Int(7) })
		}
		require.Len(t, w.faults(w.consumer, typ, id), len(versions))
		require.NoError(t, w.consumer.Repair(t.Context(), ann, typ, id))
		require.Equal(t, before, w.everything())
	}
	w.drop(entity.TimerKey(ann, id, 6))
	w.edit(entity.TimerKey(ann, id, 2), func(it item.Item) { delete(it, product.AttrArchiveAt) })
	endless := w.get(entity.TimerKey(ann, id, 2))
	require.Len(t, w.faults(w.consumer, typ, id), 2)
	require.NoError(t, w.consumer.Repair(t.Context(), ann, typ, id),
		"of a timer that does not say its end, nothing is known")
	require.Equal(t, before[entity.TimerKey(ann, id, 6).String()], any(w.get(entity.TimerKey(ann, id, 6))))
	require.Equal(t, endless, w.get(entity.TimerKey(ann, id, 2)))
	require.Len(t, w.faults(w.consumer, typ, id), 1)
}

func TestCheck_needsNoTimerForWhatNoneEnds(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.patch(typ, w.create(typ, map[string]any{"title": "report"}), map[string]any{"status": "COMPLETED"})
	id := task.Str("taskId")
	w.deliverAll()
	w.advance(24 * time.Hour)
	w.deliverAll()
	require.Equal(t, "ARCHIVED", w.get(task.Key()).Str(entity.AttrStatus))
	require.Empty(t, w.timers(id))
	require.Empty(t, w.faults(w.consumer, typ, id), "its timer has fired")
	w.edit(task.Key(), func(it item.Item) { it.SetTime(product.AttrArchiveAt, w.now) })
	require.Empty(t, w.faults(w.consumer, typ, id), "whatever else it says")

	lasting := w.patch(typ, w.create(typ, map[string]any{"title": "plan"}), map[string]any{"status": "COMPLETED"})
	w.deliverAll()
	w.drop(entity.TimerKey(ann, lasting.Str("taskId"), 2))
	w.edit(lasting.Key(), func(it item.Item) { delete(it, product.AttrArchiveAt) })
	require.Empty(t, w.faults(w.consumer, typ, lasting.Str("taskId")), "its user has set no delay")
}

func TestConsumer_endsWithAnErrorOfTheObjectStore(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	id := w.create(typ, map[string]any{"title": "report", "status": "ARCHIVED"}).Str("taskId")
	cfg := w.consumer.Config
	cfg.Copies = brokenStore{cfg.Copies}
	err := archive.NewConsumer(cfg).Repair(t.Context(), ann, typ, id)
	require.ErrorIs(t, err, blob.ErrUnavailable)
	require.False(t, w.get(w.placesOf(id, 1).item).Has(entity.AttrTTL))
}

func TestConsumer_retriesARecordWhoseCopyCannotBeKept(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.create(typ, map[string]any{"title": "report", "status": "ARCHIVED"})
	w.drain()
	cfg := w.consumer.Config
	cfg.Copies = brokenStore{cfg.Copies}
	for _, c := range w.open {
		if c.Key != task.Key() {
			continue
		}
		outcome := archive.NewConsumer(cfg).Apply(t.Context(), []change.Change{c})[0]
		require.Equal(t, change.Retry, outcome.Verdict)
		require.ErrorIs(t, outcome.Err, blob.ErrUnavailable)
	}
	require.False(t, w.get(task.Key()).Has(entity.AttrTTL))
	w.deliverAll()
	require.True(t, w.get(task.Key()).Has(entity.AttrTTL))
}

// brokenStore takes no object.
type brokenStore struct{ blob.Store }

func (brokenStore) Put(context.Context, string, []byte) error { return blob.ErrUnavailable }

func TestReadCopyName_returnsItemAndVersion(t *testing.T) {
	t.Parallel()
	id, version, ok := archive.ReadCopyName(ann, "archive/ann/task_1/12.json")
	require.True(t, ok)
	require.Equal(t, "task_1", id)
	require.EqualValues(t, 12, version)
	for _, name := range []string{
		"", "archive/bob/task_1/12.json", "archive/ann/task_1", "archive/ann/12.json", "archive/ann/task_1/12",
		"archive/ann/task_1/x.json", "archive/ann/task_1/.json", "archive/ann/task_1/12.json.json",
		"parked/ann/task_1/12.json", "task_1/12.json",
	} {
		_, _, ok := archive.ReadCopyName(ann, name)
		require.False(t, ok, name)
	}
}

func TestUnnamed_findsACopyOfAnItemPastItsVersion(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	task := w.create(typ, map[string]any{"title": "report", "status": "ARCHIVED"})
	id := task.Str("taskId")
	unnamed := func(version int64) bool {
		is, err := w.consumer.Unnamed(t.Context(), ann, typ, id, version)
		require.NoError(t, err)
		return is
	}
	require.False(t, unnamed(1), "no row names it yet, and the item is at its version")
	require.True(t, unnamed(2))
	w.deliverAll()
	require.False(t, unnamed(1))
	w.patch(typ, task, map[string]any{"title": "the report"})
	require.False(t, unnamed(1), "the row still names it")
	require.False(t, unnamed(2), "the item is at its version")
	require.True(t, unnamed(3))
	w.deliverAll()
	require.True(t, unnamed(1))
	require.NoError(t, w.consumer.DropUnnamed(t.Context(), ann, id, 2))
	w.checkCopies()
	require.NoError(t, w.copies.Put(t.Context(), "archive/ann/"+id+"/1.json", []byte("{}")))
	require.NoError(t, w.consumer.DropUnnamed(t.Context(), ann, id, 1))
	w.checkCopies()
}

func TestConsumer_repairsWhatAnItemThatOvertakesItHasBecome(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Event()
	event := w.create(typ, map[string]any{"title": "fair", "startUtc": "2025-07-01T09:00:00"})
	event = w.patch(typ, event, map[string]any{"status": "CANCELLED"})
	w.drain()
	w.open = nil // its records are lost
	id := event.Str("eventId")
	w.beforePut = func() { w.patch(typ, event, map[string]any{"title": "book fair"}) }
	require.NoError(t, w.consumer.Repair(t.Context(), ann, typ, id))
	require.Nil(t, w.beforePut)
	require.Empty(t, w.faults(w.consumer, typ, id))
	w.checkCopies()
	require.EqualValues(t, 3, w.get(entity.ColdKey(ann, id)).Int(entity.AttrVersion))

	w.edit(event.Key(), func(it item.Item) { delete(it, entity.AttrTTL) })
	w.beforePut = func() { w.patch(typ, w.get(event.Key()), map[string]any{"status": "CONFIRMED"}) }
	require.NoError(t, w.consumer.Repair(t.Context(), ann, typ, id))
	require.Empty(t, w.faults(w.consumer, typ, id))
	w.checkCopies()
	require.Nil(t, w.get(entity.ColdKey(ann, id)))
}

func TestConsumer_withoutObjectStoreBelievesRowsAndExpiresNothing(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	id := w.create(typ, map[string]any{"title": "report", "status": "ARCHIVED"}).Str("taskId")
	w.deliverAll()
	cfg := w.consumer.Config
	cfg.Copies = nil
	bare, p := archive.NewConsumer(cfg), w.placesOf(id, 1)
	require.NoError(t, w.copies.Delete(t.Context(), p.object))
	require.Empty(t, w.faults(bare, typ, id))
	before := w.everything()
	require.NoError(t, bare.Repair(t.Context(), ann, typ, id))
	require.Equal(t, before, w.everything())

	w.edit(p.item, func(it item.Item) { delete(it, entity.AttrTTL) })
	require.Len(t, w.faults(bare, typ, id), 1)
	require.NoError(t, bare.Repair(t.Context(), ann, typ, id))
	require.False(t, w.get(p.item).Has(entity.AttrTTL))

	w.edit(p.item, func(it item.Item) { it[entity.AttrStatus] = item.String("BACKLOG") })
	require.Len(t, w.faults(bare, typ, id), 1)
	require.NoError(t, bare.Repair(t.Context(), ann, typ, id))
	require.Nil(t, w.get(p.cold), "a row that names the copy of what stays goes without it")
}

func TestCheck_takesAStoreThatDoesNotAnswerForNoFault(t *testing.T) {
	t.Parallel()
	w, typ := newWorld(t, 1), product.Task()
	id := w.create(typ, map[string]any{"title": "report", "status": "ARCHIVED"}).Str("taskId")
	w.deliverAll()
	r, err := w.consumer.Remains(t.Context(), ann, typ, id)
	require.NoError(t, err)
	for _, silent := range []error{blob.ErrThrottled, blob.ErrUnavailable, context.Canceled, context.DeadlineExceeded} {
		cfg := w.consumer.Config
		cfg.Copies = silentStore{cfg.Copies, silent}
		_, _, err := archive.NewConsumer(cfg).Check(t.Context(), r)
		require.ErrorIs(t, err, silent)
	}
	r.Cold = r.Cold.Clone()
	r.Cold[entity.AttrForm] = item.Int(2)
	faults, _, err := w.consumer.Check(t.Context(), r)
	require.NoError(t, err)
	require.Len(t, faults, 1)
	require.Equal(t, "verified by that release", faults[0].Want)
}

// silentStore answers no read.
type silentStore struct {
	blob.Store
	err error
}

func (s silentStore) Get(context.Context, string) ([]byte, error) { return nil, s.err }

// A device drops an item at the ttl that it was told of at a version. So at one version a ttl comes once, and stays.
func TestConsumer_takesATTLOffOrMovesItAsAVersionOfTheSystem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status string
		ttl    int64
	}{
		"off":                {"BACKLOG", 5},
		"to its due instant": {"ARCHIVED", 7},
	} {
		w, typ := newWorld(t, 1), product.Task()
		task := w.create(typ, map[string]any{"title": "report", "status": c.status})
		ref := typ.Ref(task)
		w.deliverAll()
		w.advance(time.Hour)
		w.edit(task.Key(), func(it item.Item) { it[entity.AttrTTL] = item.Int(c.ttl) })
		w.drain()
		require.NoError(t, w.consumer.Repair(t.Context(), ann, typ, ref.ID), name)
		require.Empty(t, w.faults(w.consumer, typ, ref.ID), name)
		after := w.get(task.Key())
		require.EqualValues(t, 2, after.Int(entity.AttrVersion), name)
		require.EqualValues(t, 1, entity.EditVersion(after), "%s: a user's edit of version 1 still holds", name)
		require.Equal(t, c.status == "ARCHIVED", after.Has(entity.AttrTTL), name)
		w.deliverAll()
		require.Equal(t, after, w.get(task.Key()), "%s: the record of the repair changes nothing", name)
		w.checkCopies()
		seen := map[int64]string{}
		for _, record := range w.records {
			if record.Ref != ref || record.New == nil || !record.New.Has(entity.AttrTTL) {
				continue
			}
			version, ttl := record.Version, fmt.Sprint(record.New[entity.AttrTTL])
			if version > 1 { // the damage is of version 1
				require.Contains(t, []string{"", ttl}, seen[version], name)
				seen[version] = ttl
			}
		}
	}
}
