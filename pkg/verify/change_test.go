package verify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/changes/changelog"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/verify"
)

// announcedOf returns the entries of the user's log by their things.
func (w *fixture) announcedOf(user string) map[string]string {
	w.t.Helper()
	out := map[string]string{}
	for row, err := range changelog.Rows(w.t.Context(), w.store, changelog.Read{User: user, From: 1}) {
		require.NoError(w.t, err)
		for _, e := range row.Entries {
			out[e.Type+e.ID] = e.String()
		}
	}
	return out
}

// dropLog removes the user's log.
func (w *fixture) dropLog(user string) { w.remove(w.rows(user, device.ChangePrefix())...) }

// A release without a log has been in between: of what was changed lately the log is made whole.
func TestVerifier_announcesWhatTheChangeLogDoesNotName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.populate(ann)
	w.populate("ben")
	w.do(ann, command.Delete{Type: product.Note(), ID: of["note"].Str("noteId")}, 1)
	version := int64(0)
	_, err := w.commands.Do(t.Context(), command.Request{
		User: ann, ExpectedVersion: &version, Command: command.UpdateMe{Patch: map[string]any{"defaultTzid": "Asia/Tokyo"}},
	})
	require.NoError(t, err)
	require.True(t, w.drain())
	values, plan := repository.Address{User: ann}, repository.Address{User: ann, Date: "2026-03-04"}
	revision := repository.NewRevisionID(w.now, "00000000-0000-4000-8000-000000000001")
	w.put(plan.DayKey(), nil)
	for _, at := range []repository.Address{values, plan} {
		w.put(at.HeadKey(), item.Item{
			repository.AttrHeadRevisionID: item.String(revision),
			entity.AttrUpdatedAt:          item.String(item.FormatInstant(w.now)),
		})
	}
	require.True(t, w.drain())
	want := w.announcedOf(ann)
	require.Len(t, want, 11) // seven items, one of them gone, and an exception; settings, values and plan
	require.Contains(t, want[product.TypeTask+of["archived"].Str("taskId")], "!")
	require.Equal(t, "NOTE "+of["note"].Str("noteId")+" 2", want[product.TypeNote+of["note"].Str("noteId")])

	w.dropLog(ann)
	found, _ := w.verify(verify.Options{User: ann})
	require.Empty(t, found, "the log has ten minutes")
	w.now = w.now.Add(11 * time.Minute)
	for _, user := range []string{ann, ""} {
		w.dropLog(ann)
		found, sum := w.verify(verify.Options{User: user})
		require.Len(t, found, len(want))
		for _, d := range found {
			require.Equal(t, []any{verify.Change, ann, "not in the change log"}, []any{d.Kind, d.User, d.Is})
		}
		require.EqualValues(t, len(want), sum.Remaining)
		found, sum = w.verify(verify.Options{User: user, Repair: true})
		require.Len(t, found, len(want))
		require.Zero(t, sum.Remaining)
		require.Equal(t, want, w.announcedOf(ann))
		found, _ = w.verify(verify.Options{User: user})
		require.Empty(t, found)
	}
	w.dropLog(ann)
	w.now = w.now.Add(81 * 24 * time.Hour)
	found, _ = w.verify(verify.Options{User: ann})
	for _, d := range found {
		require.NotEqual(t, verify.Change, d.Kind, "no token is that old: %+v", d)
	}
}

// A change at the moment of the verification is no difference.
func TestVerifier_waitsForTheChangeLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(ann, product.TypeNote, map[string]any{"title": "n", "body": "b"})
	w.now = w.now.Add(11 * time.Minute)
	w.waiting = func() { w.drain() }
	found, sum := w.verify(verify.Options{})
	for _, d := range found {
		require.NotEqual(t, verify.Change, d.Kind, "%+v", d)
	}
	require.Zero(t, sum.Unsettled)
}

// An item that TTL removed counts as one version on.
func TestVerifier_knowsWhatTTLRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.create(ann, product.TypeTask, map[string]any{"title": "t", "status": "ARCHIVED"})
	require.True(t, w.drain())
	lapsing := w.get(task.Key())
	w.now = time.Unix(lapsing.Int(entity.AttrTTL), 0).UTC().Add(time.Hour)
	w.remove(lapsing)
	w.lose() // the removal
	found, _ := w.verify(verify.Options{User: ann, Repair: true})
	id := task.Str("taskId")
	require.Contains(t, words(found), "change TASK#"+id+": in it as TASK "+id+" 2")
	require.Equal(t, "TASK "+id+" 2", w.announcedOf(ann)["TASK"+id])
}

// Two lost removals leave nothing that says when they were: an operator raises the form (docs/verify.md).
func TestVerifier_cannotKnowOfTwoLostRemovals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.populate(ann)
	instance := of["instance"]
	require.True(t, w.drain())
	w.do(ann, command.DeleteSeries{ID: of["master"].Str("masterId")}, w.get(of["master"].Key()).Int(entity.AttrVersion))
	require.Nil(t, w.get0(instance.Key()))
	w.lose()
	w.now = w.now.Add(11 * time.Minute)
	w.verify(verify.Options{User: ann, Repair: true})
	announced := w.announcedOf(ann)
	id := of["master"].Str("masterId")
	require.Equal(t, "MASTER "+id+" 2", announced["MASTER"+id])
	ref := registry.ByName(entity.TypeInstance).Ref(instance)
	require.Equal(t, fmt.Sprintf("INSTANCE %s %d", ref.ID, instance.Int(entity.AttrVersion)), announced["INSTANCE"+ref.ID])

	lapsing := w.get(of["archived"].Key())
	w.now = time.Unix(lapsing.Int(entity.AttrTTL), 0).UTC().Add(changelog.Trusted)
	w.remove(lapsing)
	w.lose()
	w.verify(verify.Options{User: ann, Repair: true})
	task := of["archived"].Str("taskId")
	require.Equal(t, fmt.Sprintf("TASK %s %d!", task, lapsing.Int(entity.AttrVersion)), w.announcedOf(ann)["TASK"+task])
}

// words returns what is said of each difference.
func words(of []verify.Difference) []string {
	var out []string
	for _, d := range of {
		_, sk, _ := strings.Cut(d.Key, "/")
		out = append(out, fmt.Sprintf("%s %s: %s", d.Kind, sk, d.ShouldBe))
	}
	return out
}

func TestVerifier_findsDamagedRowsOfALog(t *testing.T) {
	t.Parallel()
	const hole = "all rows, or marked first"
	for name, c := range map[string]struct {
		damage  func(w *fixture, rows []item.Item)
		want    []string
		remains bool
	}{
		"none": {func(*fixture, []item.Item) {}, nil, false},
		"a hole": {func(w *fixture, rows []item.Item) { w.remove(rows[2]) },
			[]string{"change CHANGE#000000000004: " + hole}, false},
		"a hole that is told of": {func(w *fixture, rows []item.Item) {
			w.remove(rows[2])
			w.set(rows[3].Key(), "first", item.Bool(true))
		}, nil, false},
		"the oldest row is gone": {func(w *fixture, rows []item.Item) { w.remove(rows[0]) }, nil, false},
		"the rows before the hole are over": {func(w *fixture, rows []item.Item) {
			for _, row := range rows[:2] {
				w.set(row.Key(), entity.AttrTTL, item.Int(w.now.Unix()))
			}
			w.remove(rows[2])
		}, nil, false},
		// TTL went by another clock, and took the third row first.
		"the rows before the hole are over in seconds": {func(w *fixture, rows []item.Item) {
			for _, row := range rows[:2] {
				w.set(row.Key(), entity.AttrTTL, item.Int(w.now.Add(3*time.Second).Unix()))
			}
			w.remove(rows[2])
		}, nil, false},
		"a row stays for ever": {func(w *fixture, rows []item.Item) {
			row := rows[1].Clone()
			delete(row, entity.AttrTTL)
			w.put(row.Key(), row)
		}, []string{"change CHANGE#000000000002: leaves after 90 days"}, false},
		"a row cannot be read": {func(w *fixture, rows []item.Item) { w.set(rows[1].Key(), "x", item.Int(1)) },
			[]string{"change CHANGE#000000000002: a row that can be read"}, true},
		"an app is open": {func(w *fixture, _ []item.Item) { w.put(device.WatchKey(ann), item.Item{}) }, nil, false},
		"a row is under a key of none": {func(w *fixture, rows []item.Item) {
			w.put(item.Key{PK: entity.UserPK(ann), SK: "CHANGE#x"}, nil)
		}, []string{"stray CHANGE#x: no row: it can be no item's"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for range 5 {
				w.create(ann, product.TypeNote, map[string]any{"title": "n", "body": "b"})
				require.True(t, w.drain())
			}
			rows := w.rows(ann, device.ChangePrefix())
			require.Len(t, rows, 5)
			c.damage(w, rows)
			found, _ := w.verify(verify.Options{})
			require.Equal(t, c.want, words(found))
			found, sum := w.verify(verify.Options{Repair: true})
			require.Equal(t, c.remains, sum.Remaining > 0, "%v", found)
			found, _ = w.verify(verify.Options{})
			require.Equal(t, c.remains, len(found) > 0, "%v", found)
		})
	}
}

// Without a source of random bits no row can be appended, and the run says what it leaves out.
func TestVerifier_saysThatItReadsNoChangeLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.populate(ann)
	w.dropLog(ann)
	w.now = w.now.Add(11 * time.Minute)
	w.verifier.Changes = nil
	for _, user := range []string{ann, ""} {
		found, sum := w.verify(verify.Options{User: user})
		require.Empty(t, found)
		require.Equal(t, []string{"change logs: no source of random bits is known"}, sum.Unchecked)
	}
}

// The rows of their days name a user's plans, however far away.
func TestVerifier_findsThePlansOfAllDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	revision := repository.NewRevisionID(w.now, "00000000-0000-4000-8000-000000000001")
	for _, date := range []string{"2020-02-29", "2026-06-01", "2030-01-01"} {
		at := repository.Address{User: ann, Date: date}
		w.put(at.DayKey(), nil)
		w.put(at.HeadKey(), item.Item{
			repository.AttrHeadRevisionID: item.String(revision),
			entity.AttrUpdatedAt:          item.String(item.FormatInstant(w.now)),
		})
	}
	w.now = w.now.Add(11 * time.Minute)
	found, _ := w.verify(verify.Options{User: ann})
	require.Equal(t, []string{
		"change HEAD: in it as PLAN 2020-02-29 " + revision, "change HEAD: in it as PLAN 2026-06-01 " + revision,
		"change HEAD: in it as PLAN 2030-01-01 " + revision,
	}, words(found))
	w.verifier.Repositories = nil
	found, _ = w.verify(verify.Options{})
	require.Len(t, found, 3, "no draft has to be read for that")
}
