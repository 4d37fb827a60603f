package verify_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/verify"
)

// kinds counts the differences that a verification without repair finds.
func (w *fixture) kinds() map[verify.Kind]int {
	w.t.Helper()
	found, _ := w.verify(verify.Options{User: ann})
	out := map[verify.Kind]int{}
	for _, d := range found {
		out[d.Kind]++
	}
	return out
}

func TestDeleteGone_completesTheDeletionAndWhatFollowsFromIt(t *testing.T) {
	t.Parallel()
	for _, of := range []string{"note", "archived"} {
		w := newWorld(t)
		it := w.populate(ann)[of]
		typ := registry.ByName(it.Str(entity.AttrType))
		id := it.Str(typ.IDAttr)
		w.put(entity.GoneKey(ann, id), nil)
		require.Equal(t, map[verify.Kind]int{verify.Gone: 1}, w.kinds(), of)
		require.NotNil(t, w.get0(it.Key()), "a verification changes nothing")

		_, sum := w.verify(verify.Options{User: ann, Repair: true})
		require.Zero(t, sum.Remaining, of)
		require.Nil(t, w.get0(it.Key()), of)
		require.NotNil(t, w.get0(entity.GoneKey(ann, id)), of)
		require.Nil(t, w.get0(entity.ColdKey(ann, id)), of)
		w.lose() // no consumer gets the record
		require.Empty(t, w.kinds(), "%s: sums, edges and copies follow at once", of)
	}
}

func TestDeleteGone_leavesTheExceptionsOfASeriesToTheNextRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	master := w.populate(ann)["master"]
	w.put(entity.GoneKey(ann, master.Str("masterId")), nil)
	for range 3 { // the series, its exceptions, what was derived of them
		_, _ = w.verify(verify.Options{User: ann, Repair: true})
	}
	w.lose()
	require.Empty(t, w.kinds())
	require.Nil(t, w.get0(master.Key()))
}

func TestRepair_writesTheCopyOfWhatLeavesWithoutAColdRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.populate(ann)["archived"]
	w.remove(w.rows(ann, entity.ColdPrefix())...)
	w.dropCopies()
	w.lose()
	require.Equal(t, map[verify.Kind]int{verify.Archive: 1}, w.kinds())
	_, sum := w.verify(verify.Options{User: ann, Repair: true})
	require.Zero(t, sum.Remaining)
	require.NotNil(t, w.get0(entity.ColdKey(ann, task.Str("taskId"))))
	require.Empty(t, w.kinds())
}

func TestReceipts_goWhenTheirWriteIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	note := registry.ByName(product.TypeNote)
	create := command.Request{
		User: ann, IdempotencyKey: "k1", Command: command.Create{Type: note, Fields: map[string]any{"title": "x"}},
	}
	made, err := w.commands.Do(t.Context(), create)
	require.NoError(t, err)
	version := made.Item.Int(entity.AttrVersion)
	change := command.Request{
		User: ann, IdempotencyKey: "k2", ExpectedVersion: &version,
		Command: command.Update{Type: note, ID: made.Ref.ID, Patch: map[string]any{"title": "y"}},
	}
	_, err = w.commands.Do(t.Context(), change)
	require.NoError(t, err)
	require.True(t, w.drain())
	require.Empty(t, w.kinds())
	whole := w.get0(made.Item.Key())

	// The replica has the item before the change, then it has none.
	w.set(made.Item.Key(), entity.AttrVersion, item.Int(version))
	require.Equal(t, 1, w.kinds()[verify.Receipt], "the item is older than the second receipt says")
	w.remove(whole)
	require.Equal(t, 2, w.kinds()[verify.Receipt])
	_, sum := w.verify(verify.Options{User: ann, Repair: true})
	require.Zero(t, sum.Remaining)
	require.Empty(t, w.rows(ann, entity.ReceiptPrefix()))
	again, err := w.commands.Do(t.Context(), create)
	require.NoError(t, err)
	require.False(t, again.Replayed, "the repetition is carried out")
}

func TestReceipts_stayWhenTheirWriteIsSeenLater(t *testing.T) {
	t.Parallel()
	for name, deletes := range map[string]bool{"while the run waits": false, "and was deleted": true} {
		w := newWorld(t)
		made, err := w.commands.Do(t.Context(), command.Request{User: ann, IdempotencyKey: "k1", Command: command.Create{
			Type: registry.ByName(product.TypeNote), Fields: map[string]any{"title": "x"},
		}})
		require.NoError(t, err)
		whole := w.get0(made.Item.Key())
		w.remove(whole) // a read while the transaction is applied sees the receipt alone
		w.waiting = func() {
			w.waiting = nil
			w.put(whole.Key(), whole)
			if deletes {
				w.remove(whole)
				w.put(entity.GoneKey(ann, made.Ref.ID), nil)
			}
		}
		found, _ := w.verify(verify.Options{User: ann, Repair: true})
		require.Nil(t, w.waiting, name)
		for _, d := range found {
			require.NotEqual(t, verify.Receipt, d.Kind, name)
		}
		require.Len(t, w.rows(ann, entity.ReceiptPrefix()), 1, name)
	}
}

func TestReceipts_stayWhenTheirWriteIsSeenBetweenTheSecondLookAndTheRepair(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, err := w.commands.Do(t.Context(), command.Request{User: ann, IdempotencyKey: "k1", Command: command.Create{
		Type: registry.ByName(product.TypeNote), Fields: map[string]any{"title": "x"},
	}})
	require.NoError(t, err)
	require.True(t, w.drain())
	whole := w.get0(made.Item.Key())
	w.remove(whole)
	w.found = func(d verify.Difference) {
		if d.Kind == verify.Receipt {
			w.put(whole.Key(), whole)
		}
	}
	w.verify(verify.Options{User: ann, Repair: true})
	require.Len(t, w.rows(ann, entity.ReceiptPrefix()), 1)
}

func TestReceipts_ofWhatCanBeNoItemAreLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.populate(ann)
	for _, id := range []string{"task_1#2", "x", "bob"} {
		for _, typ := range []string{product.TypeTask, entity.TypeUserMeta, "NONE"} {
			w.put(item.Key{PK: entity.UserPK(ann), SK: entity.ReceiptPrefix() + typ + id}, item.Item{
				"itemType": item.String(typ), "itemId": item.String(id), "itemVersion": item.Int(1),
			})
		}
	}
	require.Empty(t, w.kinds())
}

func TestReceipts_stayWhenTheirItemHasLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := registry.ByName(product.TypeTask)
	for key, status := range map[string]string{"k1": "BACKLOG", "k2": "ARCHIVED"} {
		made, err := w.commands.Do(t.Context(), command.Request{
			User: ann, IdempotencyKey: key,
			Command: command.Create{Type: task, Fields: map[string]any{"title": "x", "status": status}},
		})
		require.NoError(t, err)
		version := made.Item.Int(entity.AttrVersion)
		if key == "k1" {
			_, err = w.commands.Do(t.Context(), command.Request{
				User: ann, IdempotencyKey: "k3", ExpectedVersion: &version,
				Command: command.Delete{Type: task, ID: made.Ref.ID},
			})
			require.NoError(t, err)
		}
	}
	require.True(t, w.drain())
	w.now = w.now.Add(8 * 24 * time.Hour)
	w.store.Sweep(w.now, 0)
	w.put(item.Key{PK: entity.UserPK(ann), SK: entity.ReceiptPrefix() + "x"}, nil) // of no entity
	require.True(t, w.drain())
	require.Zero(t, w.kinds()[verify.Receipt])
}
