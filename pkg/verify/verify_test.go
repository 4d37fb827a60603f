package verify_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/archive"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/verify"
)

// populate gives a user of everything a little.
func (w *fixture) populate(user string) map[string]item.Item {
	w.t.Helper()
	out := map[string]item.Item{}
	out["note"] = w.create(user, product.TypeNote, map[string]any{"title": "n", "body": "b"})
	link := []any{map[string]any{"targetType": "NOTE", "targetId": out["note"].Str("noteId")}}
	out["event"] = w.create(user, product.TypeEvent, map[string]any{
		"title": "e", "startUtc": "2026-03-03T09:00:00Z", "startTzid": "Europe/Berlin", "reminderMinutes": numbers(10, 60),
		"links": link,
	})
	out["task"] = w.create(user, product.TypeTask, map[string]any{
		"title": "t", "dueUtc": "2026-03-04T09:00:00Z", "dueTzid": "UTC", "links": link,
	})
	out["reminder"] = w.create(user, product.TypeReminder, map[string]any{
		"title": "r", "triggerUtc": "2026-03-05T09:00:00", "rrule": "FREQ=DAILY",
	})
	out["master"] = w.do(user, command.CreateSeries{Fields: map[string]any{
		"title": "s", "startUtc": "2026-03-02T10:00:00Z", "startTzid": "Europe/Berlin", "rrule": "FREQ=DAILY",
		"reminderMinutes": numbers(5),
	}}, 0)
	out["instance"] = w.do(user, command.PutInstance{
		MasterID: out["master"].Str("masterId"), Date: "20260304",
		Fields: map[string]any{"title": "other", "links": link, "reminderMinutes": numbers(15)},
	}, 1)
	done := w.create(user, product.TypeTask, map[string]any{"title": "done"})
	out["done"] = w.do(user, command.Update{Type: registry.ByName(product.TypeTask), ID: done.Str("taskId"),
		Patch: map[string]any{"status": "COMPLETED"}}, 1)
	old := w.create(user, product.TypeTask, map[string]any{"title": "old"})
	out["archived"] = w.do(user, command.Update{Type: registry.ByName(product.TypeTask), ID: old.Str("taskId"),
		Patch: map[string]any{"status": "ARCHIVED"}}, 1)
	require.True(w.t, w.drain())
	return out
}

func TestVerifier_findsWhatTheConsumersMadeRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, user := range []string{"ann", "ben", "ann2"} {
		w.populate(user)
	}
	found, sum := w.verify(verify.Options{})
	require.Empty(t, found)
	require.Zero(t, sum.Unsettled)
	require.EqualValues(t, 3, sum.Users)
	require.EqualValues(t, 3*8, sum.Items)
	require.Empty(t, sum.Unchecked)
	_, sum = w.verify(verify.Options{Repair: true})
	require.Zero(t, sum.Found)
}

// damages are single things that go wrong; each names what has to be reported of it, a part of the key and the kind.
func damages() map[string]struct {
	do   func(w *fixture, of map[string]item.Item)
	kind verify.Kind
	key  string
} {
	type of = map[string]item.Item
	type damage = struct {
		do   func(w *fixture, of map[string]item.Item)
		kind verify.Kind
		key  string
	}
	ledger := func(p string) string { return entity.LedgerPrefix(p) }
	return map[string]damage{
		"a number is wrong": {func(w *fixture,
			o of) {
			w.set(entity.MetaKey(ann), "stats", item.Map{"totalNotes": item.Int(7)})
		}, verify.Statistics, "USER_META"},
		"the statistics are gone": {func(w *fixture, o of) { w.remove(w.get(entity.MetaKey(ann))) }, verify.Statistics,
			"USER_META"},
		"a stats row is gone": {func(w *fixture, o of) { w.remove(w.rows(ann, ledger("stats")+"evt_")...) },
			verify.Ledger, "LEDGER#stats#evt_"},
		"a links row is gone": {func(w *fixture, o of) { w.remove(w.rows(ann, ledger("links")+"task_")...) },
			verify.Ledger, "LEDGER#links#task_"},
		"an exception's row is gone": {func(w *fixture, o of) { w.remove(w.rows(ann, ledger("links")+"inst_")...) },
			verify.Ledger, "LEDGER#links#inst_"},
		"a row contributes otherwise": {func(w *fixture, o of) {
			w.set(w.rows(ann, ledger("stats")+"note_")[0].Key(), "c", item.String(`s1 {"add":{"totalNotes":3}}`))
		}, verify.Ledger, "LEDGER#stats#note_"},
		"a row expires": {func(w *fixture, o of) {
			w.set(w.rows(ann, ledger("stats")+"note_")[0].Key(), "ttl", item.Int(4e9))
		},
			verify.Ledger, "LEDGER#stats#note_"},
		"an open row stands nowhere": {func(w *fixture, o of) {
			w.set(w.rows(ann, ledger("stats")+"evt_")[0].Key(), "GSI3SK", item.String("OPEN"))
		}, verify.Ledger, "LEDGER#stats#evt_"},
		"a row has no owner": {func(w *fixture, o of) {
			w.put(entity.LedgerKey(ann, "stats", "evt_gone"), item.Item{
				"v": item.Int(1), "c": item.String(`s1 {"add":{"totalEvents":1}}`),
			})
		}, verify.Ledger, "evt_gone"},
		"a row is of no type": {func(w *fixture, o of) {
			w.put(entity.LedgerKey(ann, "stats", "what"), item.Item{
				"v": item.Int(1), "c": item.String(`s1 {"add":{"totalEvents":1}}`),
			})
		}, verify.Stray, "#what"},
		"a row is kept of nothing": {func(w *fixture, o of) { w.keep(eventKey("evt_none"), false) }, verify.Kept,
			"KEPT#EVENT#evt_none"},
		"a link is gone": {func(w *fixture, o of) { w.remove(w.rows(ann, "LINK#EVENT#")...) }, verify.Edge, "LINK#EVENT#"},
		"an exception's link is gone": {func(w *fixture, o of) { w.remove(w.rows(ann, "LINK#INSTANCE#")...) }, verify.Edge,
			"LINK#INSTANCE#"},
		"a link is too many": {func(w *fixture, o of) { w.bogus(o["note"], "note_x") }, verify.Edge, "note_x"},
		"a link has no source": {func(w *fixture,
			o of) {
			w.put(item.Key{PK: "USER#ann", SK: "LINK#NOTHING#x#NOTE#note_x"}, nil)
		}, verify.Stray, "LINK#NOTHING"},
		"a link leads nowhere": {func(w *fixture, o of) {
			w.set(w.rows(ann, "LINK#")[0].Key(), "GSI4PK", item.String("LINKED#ann#NOTE#note_z"))
		}, verify.Edge, "LINK#"},
		"a schedule is gone": {func(w *fixture, o of) { w.unschedule(o["event"].Str("eventId"), 60) }, verify.Schedule,
			"reminder-"},
		"a series' schedule is gone": {func(w *fixture, o of) { w.unschedule(o["master"].Str("masterId"), 5) },
			verify.Schedule, "reminder-"},
		"a schedule comes late": {func(w *fixture, o of) {
			name := reminders.ScheduleName(ann, o["event"].Str("eventId"), 10)
			s, err := w.schedules.Find(w.t.Context(), name)
			require.NoError(w.t, err)
			s.At = s.At.Add(time.Hour)
			require.NoError(w.t, w.schedules.Put(w.t.Context(), s))
		}, verify.Schedule, "reminder-"},
		"a schedule is of another offset": {func(w *fixture, o of) {
			s, err := w.schedules.Find(w.t.Context(), reminders.ScheduleName(ann, o["event"].Str("eventId"), 10))
			require.NoError(w.t, err)
			s.Name = reminders.ScheduleName(ann, o["event"].Str("eventId"), 11)
			s.Payload = []byte(strings.Replace(string(s.Payload), `"offsetMinutes":10`, `"offsetMinutes":11`, 1))
			require.NoError(w.t, w.schedules.Put(w.t.Context(), s))
		}, verify.Schedule, "reminder-"},
		"a schedule has its former name": {func(w *fixture, o of) {
			w.renameToFormer(o["event"].Str("eventId"), 10)
		}, verify.Schedule, "reminder-"},
		"a schedule has its former name as well, and is past": {func(w *fixture, o of) {
			s, err := w.schedules.Find(w.t.Context(), reminders.ScheduleName(ann, o["event"].Str("eventId"), 10))
			require.NoError(w.t, err)
			s.Name, s.At = reminders.FormerName(ann, o["event"].Str("eventId"), 10), w.now.Add(-time.Second)
			require.NoError(w.t, w.schedules.Put(w.t.Context(), s))
		}, verify.Schedule, "reminder-"},
		"a schedule says nothing": {func(w *fixture, o of) {
			require.NoError(w.t, w.schedules.Put(w.t.Context(), schedule.Schedule{
				Name: "reminder-x", At: w.now.Add(time.Hour), Payload: []byte("{}"),
			}))
		}, verify.Schedule, "reminder-x"},
		"an end without a copy": {func(w *fixture, o of) { w.remove(w.rows(ann, entity.ColdPrefix())...) },
			verify.Archive, "COLD#"},
		"a copy is lost": {func(w *fixture, o of) { w.dropCopies() }, verify.Archive, "archive/ann/"},
		"an archived task stays": {func(w *fixture, o of) {
			_, err := w.store.Update(w.t.Context(), table.Update{Key: o["archived"].Key(), Remove: []string{"ttl"}})
			require.NoError(w.t, err)
		}, verify.Archive, "TASK#"},
		"an open task expires": {func(w *fixture, o of) { w.set(o["task"].Key(), "ttl", item.Int(w.now.Unix()+1000)) },
			verify.Archive, "TASK#"},
		"a timer is gone": {func(w *fixture, o of) { w.remove(w.rows(ann, entity.TimerPrefix())...) },
			verify.Archive, "TIMER#"},
		"a timer is too early": {func(w *fixture, o of) {
			w.set(w.rows(ann, entity.TimerPrefix())[0].Key(), "ttl", item.Int(w.now.Unix()+5))
		}, verify.Archive, "TIMER#"},
		"a copy has no item": {func(w *fixture, o of) {
			require.NoError(w.t,
				w.copies.Put(w.t.Context(), archive.CopiesPrefix(ann)+o["task"].Str("taskId")+"/77.json", []byte("{}")))
		}, verify.Archive, "/77.json"},
		"an exception has no series": {func(w *fixture, o of) {
			w.remove(o["master"])
			w.now = w.now.Add(11 * time.Minute)
		}, verify.Exception, "INSTANCE#"},
		"a delivery was begun": {func(w *fixture, o of) {
			w.now = time.Date(2026, time.March, 3, 8, 0, 0, 0, time.UTC)
			w.fire()
			require.True(w.t, w.drain())
			delivery := w.rows(ann, entity.DeliveryPrefix(o["event"].Str("eventId")))[0]
			w.set(delivery.Key(), "state", item.String("pending"))
			w.set(delivery.Key(), "firedAt", item.String(item.FormatInstant(w.now.Add(-11*time.Minute))))
		}, verify.Delivery, "FIRED#evt_"},
		"a walk stands still": {func(w *fixture, o of) {
			version := w.get(entity.MetaKey(ann)).Int("version")
			_, err := w.commands.Do(w.t.Context(), command.Request{
				User: ann, Command: command.UpdateMe{Patch: map[string]any{"defaultTzid": "America/New_York"}},
				ExpectedVersion: &version,
			})
			require.NoError(w.t, err)
			require.True(w.t, w.drain())
			walk := w.rows(ann, entity.ItemPrefix(entity.RowZone))[0]
			w.set(walk.Key(), "done", item.Bool(false))
			w.now = w.now.Add(11 * time.Minute)
		}, verify.Walk, "ZONE#"},
		"a repair died": {func(w *fixture, o of) {
			w.set(entity.MetaKey(ann), "statsHold", item.Map{
				"owner": item.String("x"), "until": item.String(item.FormatInstant(w.now.Add(-time.Hour))),
			})
		}, verify.Statistics, "USER_META"},
	}
}

func TestVerifier_repairsEveryDamage(t *testing.T) {
	t.Parallel()
	for name, d := range damages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			of := w.populate(ann)
			w.populate("ben")
			d.do(w, of)
			w.lose()
			isNamed := func(found []verify.Difference) bool {
				for _, f := range found {
					if f.Kind == d.kind && strings.Contains(f.Key, d.key) && f.User != "ben" {
						return true
					}
				}
				return false
			}
			found, sum := w.verify(verify.Options{})
			require.True(t, isNamed(found), "%v", found)
			require.Equal(t, sum.Found, sum.Remaining)
			again, _ := w.verify(verify.Options{})
			require.Equal(t, found, again, "a look changes nothing")

			w.waiting = func() { w.drain() }
			found, sum = w.verify(verify.Options{Repair: true})
			require.True(t, isNamed(found), "%v", found)
			require.Zero(t, sum.Remaining, "%v", found)
			require.True(t, w.drain())
			found, _ = w.verify(verify.Options{})
			require.Empty(t, found)
		})
	}
}

func TestVerifier_leavesNoCopyOfAnItemThatChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.populate(ann)
	task := of["archived"]
	w.remove(w.rows(ann, entity.ColdPrefix())...)
	w.dropCopies()
	_, err := w.store.Update(t.Context(), table.Update{Key: task.Key(), Remove: []string{entity.AttrTTL}})
	require.NoError(t, err)
	w.lose()
	changed := false
	w.fault = func(c memory.Call) error {
		if !changed && c.Stage == memory.Before && c.Op == "Transact" &&
			slices.Contains(c.Keys, entity.ColdKey(ann, task.Str("taskId"))) {
			changed = true
			w.do(ann, command.Update{Type: registry.ByName(product.TypeTask), ID: task.Str("taskId"),
				Patch: map[string]any{"status": "BACKLOG"}}, 2)
		}
		return nil
	}
	w.waiting = func() { w.drain() }
	_, sum := w.verify(verify.Options{Repair: true})
	require.True(t, changed)
	require.Zero(t, sum.Remaining)
	w.fault = nil
	require.True(t, w.drain())
	found, _ := w.verify(verify.Options{})
	require.Empty(t, found)
}

func TestVerifier_leavesWhatCannotBeDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.populate(ann)
	w.put(item.Key{PK: entity.UserPK(ann), SK: entity.ItemPrefix(product.TypeNote) + "evt_1"},
		item.Item{"entityType": item.String("NOTE")})
	w.put(item.Key{PK: entity.UserPK(ann), SK: entity.ItemPrefix(entity.TypeInstance) + "mst_1"}, nil)
	for _, repair := range []bool{false, true} {
		found, sum := w.verify(verify.Options{User: ann, Repair: repair})
		remaining := map[verify.Kind]int{}
		for _, d := range found {
			if d.Remains {
				remaining[d.Kind]++
			}
		}
		require.Equal(t, map[verify.Kind]int{verify.Stray: 2}, remaining, "%v", found)
		require.EqualValues(t, 2, sum.Remaining)
		require.EqualValues(t, 2, sum.Found)
	}
	require.NotNil(t, w.get0(of["note"].Key()), "an item is never touched")
}

func TestVerifier_leavesALostCopyOfALostItem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.populate(ann)
	w.now = w.now.Add(8 * 24 * time.Hour)
	w.store.Sweep(w.now, 0)
	w.drain()
	found, _ := w.verify(verify.Options{User: ann, Repair: true})
	for _, f := range found {
		require.NotEqual(t, verify.Archive, f.Kind, "%v", f)
	}
	w.dropCopies()
	found, sum := w.verify(verify.Options{User: ann, Repair: true})
	require.NotZero(t, sum.Remaining)
	require.Contains(t, fmt.Sprint(found), of["archived"].Str("taskId"))
}

// underived gives ann notes of which nothing is derived.
func (w *fixture) underived(notes int) {
	w.t.Helper()
	var rows []item.Item
	for i := range notes {
		fields := item.Item{"title": item.String("n"), "body": item.String("b")}
		rows = append(rows, registry.ByName(product.TypeNote).NewItem(ann, fmt.Sprintf("note_%d", i), fields, w.now, nil))
	}
	require.NoError(w.t, w.store.Load(w.t.Context(), rows))
}

// inUse is how much memory is in use.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// It is not parallel, as it measures memory.
func TestVerifier_needsNoMoreMemoryForMoreItems(t *testing.T) {
	grown := func(items int) (most int64) {
		w := newWorld(t)
		w.underived(items) // so that all are suspected
		before := inUse()
		var told int64
		_, err := w.verifier.Run(t.Context(), verify.Options{
			User: ann,
			Progress: func(rows int64) {
				if told++; told%5 == 0 {
					most = max(most, inUse()-before)
				}
			},
		}, func(verify.Difference) error { return nil })
		require.NoError(t, err)
		return most
	}
	few, many := grown(5_000), grown(20_000)
	t.Logf("%d KB with 5,000 items, %d KB with 20,000", few>>10, many>>10)
	require.Less(t, many, few+1<<20)
}
