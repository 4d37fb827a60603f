package verify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/verify"
)

// wipe takes away everything that projections made of a user's items, and leaves these statistics.
func (w *fixture) wipe(user string, left item.Map) {
	w.t.Helper()
	w.remove(w.rows(user, entity.ItemPrefix(entity.RowLedger))...)
	w.remove(w.rows(user, entity.ItemPrefix(entity.RowLink))...)
	w.set(entity.MetaKey(user), product.AttrStats, left)
	w.lose()
}

func (w *fixture) notes(user string) int64 {
	w.t.Helper()
	return w.get(entity.MetaKey(user)).Map(product.AttrStats).Int(product.StatTotalNotes)
}

// many gives a user notes, each with a link to the one before.
func (w *fixture) many(user string, n int) {
	w.t.Helper()
	var last string
	for i := range n {
		fields := map[string]any{"title": fmt.Sprint(i), "body": "b"}
		if last != "" {
			fields["links"] = []any{map[string]any{"targetType": "NOTE", "targetId": last}}
		}
		last = w.create(user, product.TypeNote, fields).Str("noteId")
	}
	require.True(w.t, w.drain())
}

// equalsARecount compares statistics and edges with the items, without the package under test.
func (w *fixture) equalsARecount(user string) {
	w.t.Helper()
	notes, edges := w.rows(user, entity.ItemPrefix(product.TypeNote)), map[item.Key]bool{}
	for _, note := range notes {
		for _, l := range entity.LinksOf(note) {
			edges[entity.LinkKey(user, registry.ByName(product.TypeNote).Ref(note), l.Target)] = true
		}
	}
	require.EqualValues(w.t, len(notes), w.notes(user))
	rows := w.rows(user, entity.ItemPrefix(entity.RowLink))
	require.Len(w.t, rows, len(edges))
	for _, row := range rows {
		require.True(w.t, edges[row.Key()], row.Key())
	}
	counted := 0
	for _, row := range w.rows(user, entity.LedgerPrefix("stats")) {
		if row.Str("c") != "" {
			counted++
		}
	}
	require.Equal(w.t, len(notes), counted)
	require.False(w.t, w.get(entity.MetaKey(user)).Has(product.AttrStatsHold))
}

func TestVerifier_showsOldNumbersUntilItShowsNewOnes(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]int64{"from nothing": 0, "from right numbers": 400, "from wrong numbers": 1000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.many(ann, 400)
			notes := w.rows(ann, entity.ItemPrefix(product.TypeNote))
			w.wipe(ann, item.Map{product.StatTotalNotes: item.Int(left)})

			// Between any two calls readers read, and now and then a client writes and the consumers try to keep up.
			calls, written, removed, inside := 0, 0, 0, false
			held := 0
			w.fault = func(c memory.Call) error {
				if inside {
					return nil
				}
				inside = true
				defer func() { inside = false }()
				calls++
				seen := w.notes(ann)
				isOld := seen >= left-int64(removed) && seen <= left+int64(written)
				isNew := seen >= int64(400-removed) && seen <= int64(400+written)
				require.True(t, isOld || isNew, "call %d shows %d", calls, seen)
				switch {
				case calls%7 == 0:
					w.create(ann, product.TypeNote, map[string]any{"title": "more", "body": "b"})
					written++
				case calls%7 == 3 && removed < 30:
					key := notes[len(notes)-1-removed]
					w.do(ann, command.Delete{Type: registry.ByName(product.TypeNote), ID: key.Str("noteId")}, 1)
					removed++
				}
				if calls%7 == 5 && !w.drain() {
					held++
				}
				return nil
			}
			_, err := w.verifier.Run(t.Context(), verify.Options{User: ann, Repair: true},
				func(verify.Difference) error { return nil })
			require.NoError(t, err)
			w.fault = nil
			require.NotZero(t, held, "the repair held the sum while a command wrote")
			require.NotZero(t, removed)
			require.True(t, w.drain())
			w.equalsARecount(ann)
			found, _ := w.verify(verify.Options{})
			require.Empty(t, found)
		})
	}
}

func TestVerifier_leavesOldNumbersIfARepairDies(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		stage      memory.Stage
		items      int // under the lease more than it takes
		underLease bool
	}{
		"before a call": {memory.Before, 12, false}, "after a call": {memory.After, 12, false},
		"before a call under the hold": {memory.Before, 90, true}, "after a call under the hold": {memory.After, 90, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := newWorld(t)
			base.many(ann, of.items)
			base.wipe(ann, item.Map{product.StatTotalNotes: item.Int(77)})
			rows := base.rows(ann, "")
			died := 0
			for at := 1; ; at++ {
				w := newWorld(t)
				w.ids = base.ids
				require.NoError(t, w.store.Load(t.Context(), rows))
				w.lose()
				calls := 0
				w.fault = func(c memory.Call) error {
					isHold := c.Op == "Transact" && c.Keys[0] == entity.MetaKey(ann)
					if c.Stage == of.stage && (calls > 0 || isHold || !of.underLease) {
						calls++
					}
					if calls >= at {
						return table.ErrUnavailable
					}
					return nil
				}
				_, err := w.verifier.Run(t.Context(), verify.Options{User: ann, Repair: true},
					func(verify.Difference) error { return nil })
				w.fault = nil
				if err == nil {
					break
				}
				died++
				require.Contains(t, []int64{77, int64(of.items)}, w.notes(ann), "died at call %d", at)
				w.create(ann, product.TypeNote, map[string]any{"title": "more", "body": "b"})
				w.now = w.now.Add(31 * time.Second)
				require.True(t, w.drain(), "the lease expires")
				_, sum := w.verify(verify.Options{User: ann, Repair: true})
				require.Zero(t, sum.Remaining)
				w.equalsARecount(ann)
			}
			require.Greater(t, died, 10)
			t.Logf("died %d times", died)
		})
	}
}

func TestVerifier_delaysNoOtherUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(ann, 50)
	w.many("ben", 3)
	w.wipe(ann, item.Map{})
	tried := false
	w.fault = func(c memory.Call) error {
		if tried || c.Stage != memory.After || c.Op != "Query" || !w.get0(entity.MetaKey(ann)).Has(product.AttrStatsHold) {
			return nil
		}
		tried = true
		a := w.create(ann, product.TypeNote, map[string]any{"title": "a", "body": "b"})
		b := w.create("ben", product.TypeNote, map[string]any{"title": "b", "body": "b"})
		outcomes := w.consumers[0].Apply(t.Context(), []change.Change{inserted(ann, a), inserted("ben", b)})
		require.Equal(t, change.Retry, outcomes[0].Verdict)
		require.Equal(t, change.Done, outcomes[1].Verdict)
		require.EqualValues(t, 4, w.notes("ben"))
		return nil
	}
	w.verify(verify.Options{User: ann, Repair: true})
	require.True(t, tried)
	w.fault = nil
	require.True(t, w.drain())
	w.equalsARecount(ann)
	w.equalsARecount("ben")
}

func TestVerifier_repairsAUserOnceAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(ann, 200)
	w.wipe(ann, item.Map{})
	inside, second := false, verify.Summary{}
	w.fault = func(c memory.Call) error {
		if inside || c.Op != "Transact" || c.Stage != memory.After ||
			!w.get0(entity.MetaKey(ann)).Has(product.AttrStatsHold) {
			return nil
		}
		inside = true
		w.waiting = func() { w.now = w.now.Add(2 * time.Second) } // until the first one's lease has lapsed
		_, second = w.verify(verify.Options{User: ann, Repair: true})
		return nil
	}
	w.verify(verify.Options{User: ann, Repair: true})
	require.True(t, inside)
	require.Zero(t, second.Remaining)
	w.fault = nil
	found, _ := w.verify(verify.Options{})
	require.Empty(t, found)
	w.equalsARecount(ann)
}

// Consumers of a busy user write the sum before many tries to lease it: the repair waits and tries again.
func TestVerifier_repairsASumThatConsumersKeepWriting(t *testing.T) {
	t.Parallel()
	const times = 20
	w := newWorld(t)
	w.many(ann, 3)
	w.wipe(ann, item.Map{})
	meta, writes, waits := entity.MetaKey(ann), 0, 0
	w.waiting = func() { waits++ }
	w.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before && writes < times {
			writes++
			w.set(meta, product.AttrStatsVersion, item.Int(w.get(meta).Int(product.AttrStatsVersion)+1))
		}
		return nil
	}
	_, sum := w.verify(verify.Options{User: ann, Repair: true})
	require.Equal(t, times, writes)
	require.Zero(t, sum.Remaining)
	require.Zero(t, sum.Unsettled)
	require.Less(t, waits, 10)
	w.equalsARecount(ann)
}

func inserted(user string, it item.Item) change.Change {
	t := registry.ByName(it.Str(entity.AttrType))
	return change.Change{
		Kind: change.Inserted, Type: t, User: user, Ref: t.Ref(it), Key: it.Key(), New: it, Version: 1, Created: morning,
	}
}

// get0 returns nil for a row that is not there.
func (w *fixture) get0(key item.Key) item.Item {
	row, _ := w.store.Get(w.t.Context(), key)
	return row
}

func TestVerifier_repairsEverythingAfterACrashAtAnyCall(t *testing.T) {
	t.Parallel()
	const together = "a number is wrong;a links row is gone;a row contributes otherwise;a link is too many;" +
		"a schedule is gone;a series' schedule is gone;an end without a copy;a copy is lost;a timer is too early;" +
		"a copy has no item;an exception has no series"
	for name, stage := range map[string]memory.Stage{"before": memory.Before, "after": memory.After} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			died := 0
			for at := 1; ; at++ {
				w := newWorld(t)
				of := w.populate(ann)
				for damage := range strings.SplitSeq(together, ";") {
					damages()[damage].do(w, of)
				}
				w.lose()
				w.waiting = func() { w.drain() }
				calls := 0
				w.fault = func(c memory.Call) error {
					if c.Stage == stage {
						calls++
					}
					if calls >= at {
						return table.ErrUnavailable
					}
					return nil
				}
				_, err := w.verifier.Run(t.Context(), verify.Options{Repair: true}, func(verify.Difference) error { return nil })
				w.fault = nil
				if err == nil {
					break
				}
				died++
				w.now = w.now.Add(31 * time.Second)
				found, sum := w.verify(verify.Options{Repair: true})
				require.Zero(t, sum.Remaining, "died at call %d: %v", at, found)
				require.True(t, w.drain())
				found, _ = w.verify(verify.Options{})
				require.Empty(t, found, "died at call %d", at)
			}
			require.Greater(t, died, 50)
			t.Logf("died %d times", died)
		})
	}
}
