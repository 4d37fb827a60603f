package verify_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
	"nexus/pkg/verify"
)

// wrongValues returns values of a damaged attribute: none, and those that can be no part of a key.
func wrongValues() []item.Value {
	return []item.Value{
		nil, item.String(""), item.String("a#b"), item.String("task_a#b"), item.String("x"), item.Number("7"),
		item.Map{}, item.Map{"a#b": item.Ints(1), "task_a#b": item.Ints(1)}, item.List{item.Map{}, item.String("a#b")},
	}
}

// damaged returns copies of a map of attributes, each with one wrong value, at any depth.
func damaged(of item.Item) (out []item.Item) {
	with := func(name string, v item.Value) {
		one := of.Clone()
		one.Set(name, v)
		out = append(out, one)
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		for _, v := range wrongValues() {
			with(name, v)
		}
		switch v := of[name].(type) {
		case item.Map:
			for _, inner := range damaged(item.Item(v)) {
				with(name, item.Map(inner))
			}
		case item.List:
			for i, member := range v {
				if m, isMap := member.(item.Map); isMap {
					for _, inner := range damaged(item.Item(m)) {
						list := slices.Clone(v)
						list[i] = item.Map(inner)
						with(name, list)
					}
				}
			}
		}
	}
	return out
}

// everyKind gives a user rows of every kind that a verification reads.
func (w *fixture) everyKind() {
	w.t.Helper()
	of := w.populate(ann)
	w.keep(eventKey(of["event"].Str("eventId")), true)
	id := of["task"].Str("taskId")
	w.put(entity.ZoneKey(ann, 1), item.Item{
		"revision": item.Int(1), "itemType": item.String("TASK"), "after": item.String(""), "ttl": item.Int(1),
		"open": item.Map{id: item.Ints(0)}, "left": item.Map{id: item.Ints(0)}, "free": item.Int(0),
	})
	at := w.now.Add(-time.Hour)
	delivery := entity.DeliveryKey(ann, id, 0, at, at)
	row := item.Item{
		"state": item.String("pending"), "deliveryId": item.String("d"), "itemType": item.String("TASK"),
		"itemId": item.String(id), "itemVersion": item.Int(1), "title": item.String("t"), "offsetMinutes": item.Int(0),
	}
	for _, name := range []string{"occurrenceUtc", "dueUtc", "firedAt"} {
		row.SetTime(name, at)
	}
	w.put(delivery, row)
	w.set(entity.MetaKey(ann), "statsLast", item.Map{
		"item": item.String(of["note"].Str("noteId")), "v": item.Int(1), "c": item.String(""),
	})
}

// snapshot returns all rows, and reset makes them all rows there are.
func (w *fixture) snapshot() (rows []item.Item) {
	w.t.Helper()
	require.NoError(w.t, w.store.Walk(w.t.Context(), 0, 1, func(row item.Item) error {
		rows = append(rows, row.Clone())
		return nil
	}))
	return rows
}

func (w *fixture) reset(to []item.Item) {
	w.t.Helper()
	w.remove(w.snapshot()...)
	for some := range slices.Chunk(to, table.MaxActions) {
		require.NoError(w.t, w.store.Load(w.t.Context(), some))
	}
}

// try runs a verification, and returns its error or panic. A repair leaves no difference if a derived row is damaged.
func (w *fixture) try(o verify.Options, isDerived bool) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v\n%s", value, debug.Stack())
		}
	}()
	summary, err := w.verifier.Run(w.t.Context(), o, func(verify.Difference) error { return nil })
	if err == nil && o.Repair && summary.Remaining > 0 && isDerived {
		err = errors.New("a derived row was not repaired")
	}
	return err
}

// misplaced returns copies of a row under keys that are nearly its own.
func misplaced(row item.Item) (out []item.Item) {
	sk := row.Str(item.AttrSK)
	parts := strings.Split(sk, "#")
	for _, wrong := range []string{
		sk + "#", sk + "#x", sk + "_ ", parts[0] + "#", parts[0] + "##", strings.Join(parts[:len(parts)-1], "#") + "#x",
		strings.Replace(sk, "#", "##", 1), strings.Replace(sk, "_", "", 1),
	} {
		one := row.Clone()
		one[item.AttrSK] = item.String(wrong)
		out = append(out, one)
	}
	return out
}

var everyDamage = flag.Bool("every-damage", false, "verify with every damage of a row, and not with a part of them")

// Any one attribute of any row may be damaged, and any row may stand under a wrong key: a run goes on to its end, with
// and without repair.
func TestVerifier_goesOnWhateverOneRowHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.everyKind()
	rows := w.snapshot()
	runs, failures := 0, map[string]bool{}
	stride := 8 // of nine wrong values, so that each attribute gets others
	if *everyDamage {
		stride = 1
	}
	for _, row := range rows {
		attributes := row.Clone()
		delete(attributes, item.AttrPK)
		delete(attributes, item.AttrSK)
		prefix, _, _ := strings.Cut(row.Str(item.AttrSK), "#")
		isDerived := prefix == entity.RowLedger || prefix == entity.RowLink
		bads := misplaced(row)
		for _, bad := range damaged(attributes) {
			maps.Copy(bad, row.Key().Item())
			bads = append(bads, bad)
		}
		for _, bad := range bads {
			if runs++; runs%stride != 0 {
				continue
			}
			if w.store.Put(t.Context(), table.Put{Item: bad}) != nil {
				continue // no store takes it
			}
			for _, o := range []verify.Options{{User: ann}, {User: ann, Repair: true}} {
				if err := w.try(o, isDerived); err != nil {
					failures[fmt.Sprint(err, bad)] = true
				}
			}
			w.reset(rows)
		}
	}
	require.Greater(t, runs, 1000)
	for failure := range failures {
		t.Error(failure)
	}
}
