package verify_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/verify"
)

// keep lays lines beside an item, or beside a key that has none. The item names them if it is to.
func (w *fixture) keep(it item.Key, named bool) item.Key {
	w.t.Helper()
	key := entity.KeptKey(it)
	w.put(key, item.Item{command.AttrKeptText: item.String("CONTACT:Reception")})
	if named {
		w.set(it, product.AttrKept, item.String("digest"))
	}
	return key
}

func eventKey(id string) item.Key {
	return entity.ItemKey(ann, entity.Ref{Type: product.TypeEvent, ID: id})
}

func TestVerifier_deletesWhatIsKeptOfNoItem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := w.populate(ann)
	right := []item.Key{w.keep(of["event"].Key(), true), w.keep(of["instance"].Key(), true)}
	cold := w.keep(eventKey("evt_cold"), false)
	w.put(entity.ColdKey(ann, "evt_cold"), item.Item{"object": item.String("x")})
	bare := []item.Key{w.keep(of["task"].Key(), false)}
	exception := entity.Ref{Type: entity.TypeInstance, ID: entity.InstanceID("mst_lost", "20260304")}
	lost := []item.Key{w.keep(entity.ItemKey(ann, exception), false)}
	deleted := w.keep(eventKey("evt_gone"), false)
	w.put(entity.GoneKey(ann, "evt_gone"), nil)
	lost = append(lost, deleted)
	for i := range 130 {
		lost = append(lost, w.keep(eventKey(fmt.Sprintf("evt_%03d", i)), false))
	}
	w.lose()

	named := func(o verify.Options) (is map[string]string) {
		is = map[string]string{}
		found, _ := w.verify(o)
		for _, d := range found {
			if d.Kind == verify.Kept {
				require.Equal(t, "no row", d.ShouldBe)
				require.Equal(t, ann, d.User)
				is[d.Key] = d.Is
			}
		}
		return is
	}
	want := map[string]string{}
	for _, key := range lost {
		want[key.String()] = "kept of an item that is not there"
	}
	for _, key := range bare {
		want[key.String()] = "kept of an item that does not name it"
	}
	require.Equal(t, want, named(verify.Options{User: ann}))
	require.Equal(t, want, named(verify.Options{User: ann, Repair: true}))
	require.Empty(t, named(verify.Options{User: ann}))
	for _, key := range append(right, cold) {
		require.NotNil(t, w.get0(key), "%s is some item's", key)
	}
	for _, key := range append(lost, bare...) {
		require.Nil(t, w.get0(key))
	}
}

func TestVerifier_deletesWhatIsKeptOfADeletedItemWithACopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.populate(ann)
	key := w.keep(eventKey("evt_gone"), false)
	w.put(entity.GoneKey(ann, "evt_gone"), nil)
	w.put(entity.ColdKey(ann, "evt_gone"), item.Item{"object": item.String("x"), "version": item.Int(1)})
	w.lose()
	found, sum := w.verify(verify.Options{User: ann, Repair: true})
	require.Zero(t, sum.Remaining, "%v", found)
	require.Nil(t, w.get0(key))
}

// A later release may know the type, and nothing can bring the row back.
func TestVerifier_leavesARowUnderAKeyOfNoType(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.populate(ann)
	var keys []item.Key
	for _, sk := range []string{"KEPT#POEM#poem_1", "KEPT#EVENT#task_1", "KEPT#x"} {
		keys = append(keys, item.Key{PK: entity.UserPK(ann), SK: sk})
		w.put(keys[len(keys)-1], nil)
	}
	w.lose()
	for _, repair := range []bool{false, true} {
		found, sum := w.verify(verify.Options{User: ann, Repair: repair})
		require.EqualValues(t, len(keys), sum.Remaining, "%v", found)
		require.EqualValues(t, len(keys), sum.Found)
		for _, d := range found {
			require.Equal(t, verify.Stray, d.Kind)
		}
	}
	for _, key := range keys {
		require.NotNil(t, w.get0(key))
	}
}

func TestVerifier_keepsTheRowOfAnItemThatComesDuringARepair(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]string{"between the looks": "wait", "before the row is deleted": "Transact"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			of := w.populate(ann)
			keys := []item.Key{w.keep(eventKey("evt_new"), false), w.keep(of["task"].Key(), false)}
			cold := w.keep(eventKey("evt_cold"), false)
			w.lose()
			come := func() {
				w.fault, w.waiting = nil, nil
				it := of["event"].Clone()
				it[item.AttrSK], it["eventId"] = item.String(eventKey("evt_new").SK), item.String("evt_new")
				w.put(eventKey("evt_new"), it)
				w.set(eventKey("evt_new"), product.AttrKept, item.String("digest"))
				w.set(of["task"].Key(), product.AttrKept, item.String("digest"))
				w.put(entity.ColdKey(ann, "evt_cold"), item.Item{"object": item.String("x")})
			}
			if at == "wait" {
				w.waiting = come
			}
			w.fault = func(c memory.Call) error {
				isOurs := func(k item.Key) bool { return slices.Contains(append(keys, cold), k) }
				if c.Op == at && c.Stage == memory.Before && slices.ContainsFunc(c.Keys, isOurs) {
					come()
				}
				return nil
			}
			_, _ = w.verify(verify.Options{User: ann, Repair: true})
			for _, key := range append(keys, cold) {
				require.NotNil(t, w.get0(key), "%s", key)
			}
			found, _ := w.verify(verify.Options{User: ann})
			for _, d := range found {
				require.NotEqual(t, verify.Kept, d.Kind, "%v", d)
			}
		})
	}
}

func TestVerifier_leavesARowToTheNextRepairIfItDies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.populate(ann)
	key := w.keep(eventKey("evt_1"), false)
	w.lose()
	w.fault = func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before {
			return table.ErrUnavailable
		}
		return nil
	}
	ignore := func(verify.Difference) error { return nil }
	_, err := w.verifier.Run(t.Context(), verify.Options{User: ann, Repair: true}, ignore)
	require.ErrorIs(t, err, table.ErrUnavailable)
	w.fault = nil
	require.NotNil(t, w.get0(key))
	_, sum := w.verify(verify.Options{User: ann, Repair: true})
	require.EqualValues(t, 1, sum.Found)
	require.Zero(t, sum.Remaining)
	require.Nil(t, w.get0(key))
}
