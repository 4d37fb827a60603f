package verify_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	"nexus/pkg/entity/repository"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/verify"
)

// trees are the values trees over the world's store, whose commits never go in one transaction.
func (w *fixture) trees() *values.Service {
	id := func() string {
		w.ids++
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", w.ids)
	}
	return values.New(revision.NewPublisher(
		revision.Config{Store: w.store, Now: func() time.Time { return w.now }, NewID: id, Inline: 4}), id)
}

// commit adds so many drivers to the user's tree.
func (w *fixture) commit(user, parent string, drivers int) (revision string, err error) {
	var ops []values.Operation
	for i := range drivers {
		title := fmt.Sprint("driver ", i)
		ops = append(ops, values.Operation{Kind: values.OpCreate, NodeType: values.Driver, Title: &title})
	}
	made, err := w.trees().Commit(w.t.Context(), user, values.Commit{
		ParentRevID: parent, Message: "m", Source: values.SourceWeeklyReview, Operations: ops,
	})
	if err == nil {
		require.True(w.t, w.drain())
	}
	return made.RevID, err
}

// abandon lets a commit die before its revision is published, and returns what it left.
func (w *fixture) abandon(user, parent string) (rows int) {
	before := w.store.Len()
	w.fault = func(c memory.Call) error {
		if c.Op == "Transact" || c.Op == "Delete" || c.Op == "Update" {
			return table.ErrThrottled
		}
		return nil
	}
	_, err := w.commit(user, parent, 5)
	require.Error(w.t, err)
	w.fault = nil
	return w.store.Len() - before
}

func TestVerifier_removesAnAbandonedSnapshot(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]verify.Options{"of everybody": {}, "of one user": {User: ann}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.create("ben", product.TypeNote, map[string]any{"title": "n"})
			require.True(t, w.drain())
			first, err := w.commit(ann, "", 5)
			require.NoError(t, err)
			require.NoError(t, w.store.Put(t.Context(), table.Put{Item: account.FormRow()})) // as a whole repair does
			rows := w.store.Len()
			require.Positive(t, w.abandon(ann, first))
			found, _ := w.verify(o)
			require.Empty(t, found, "its writer may still be at work")
			w.now = w.now.Add(revision.Patience)
			found, sum := w.verify(o)
			require.Len(t, found, 1)
			require.Equal(t, verify.Snapshot, found[0].Kind)
			require.Contains(t, found[0].Key, "#VALUES#rev_")
			require.NotContains(t, found[0].Key, first)
			require.EqualValues(t, 1, sum.Remaining)

			o.Repair = true
			found, sum = w.verify(o)
			require.Len(t, found, 1)
			require.Zero(t, sum.Remaining)
			require.Equal(t, rows+1, w.store.Len(), "the draft stays, sealed, for a day")
			w.now = w.now.Add(24 * time.Hour)
			w.verify(o)
			tree, err := w.trees().Current(t.Context(), ann)
			require.NoError(t, err)
			require.Equal(t, first, tree.Head.RevID)
			require.Len(t, tree.State.Nodes, 5)
			_, err = w.store.Get(t.Context(), repository.Address{User: ann}.LogKey(first))
			require.NoError(t, err)
			drafts, err := w.store.Count(t.Context(), table.Query{
				Partition: repository.UserPK(ann), Range: table.Range{Prefix: repository.DraftPrefix()},
			})
			require.NoError(t, err)
			require.Zero(t, drafts)
		})
	}
}

func TestVerifier_findsAnUnannouncedSnapshotByAWalk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, err := w.commit(ann, "", 5)
	require.NoError(t, err)
	w.abandon(ann, first)
	drafts, err := w.store.Query(t.Context(), table.Query{
		Partition: repository.UserPK(ann), Range: table.Range{Prefix: repository.DraftPrefix()},
	})
	require.NoError(t, err)
	require.NoError(t, w.store.Delete(t.Context(), table.Delete{Key: drafts.Items[0].Key()}))
	require.NoError(t, w.store.Put(t.Context(), table.Put{Item: account.FormRow()})) // as a whole repair does
	rows := w.store.Len()
	found, _ := w.verify(verify.Options{})
	require.Len(t, found, 1)
	require.Equal(t, verify.Snapshot, found[0].Kind)
	found, sum := w.verify(verify.Options{Repair: true})
	require.Len(t, found, 1)
	require.Zero(t, sum.Remaining)
	require.Equal(t, rows-10, w.store.Len(), "the new tree would have had ten nodes")
	found, _ = w.verify(verify.Options{})
	require.Empty(t, found)
}

func TestVerifier_namesSnapshotsThatItCouldNotRepair(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.abandon(ann, "")
	w.now = w.now.Add(revision.Patience)
	broken := fmt.Errorf("broken")
	w.fault = func(c memory.Call) error {
		if c.Op == "Update" {
			return broken
		}
		return nil
	}
	found, sum := w.verify(verify.Options{Repair: true})
	require.EqualValues(t, 1, sum.Found)
	require.EqualValues(t, 1, sum.Remaining)
	require.Len(t, found, 2)
	w.fault = nil
	_, sum = w.verify(verify.Options{Repair: true})
	require.Zero(t, sum.Remaining)
}

// One draft has lost its time, and a row under a draft's prefix has no draft's key. The run finds and removes every
// abandoned snapshot, and counts the row as unsettled.
func TestVerifier_findsAbandonedSnapshotsBesideADamagedDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, err := w.commit(ann, "", 5)
	require.NoError(t, err)
	require.Positive(t, w.abandon(ann, first))
	w.now = w.now.Add(time.Minute)
	require.Positive(t, w.abandon(ann, first))
	q := table.Query{Partition: repository.UserPK(ann), Range: table.Range{Prefix: repository.DraftPrefix()}}
	drafts, err := w.store.Query(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, drafts.Items, 2)
	w.set(drafts.Items[0].Key(), "startedAt", item.String("x"))
	w.now = w.now.Add(revision.Patience)
	found, _ := w.verify(verify.Options{User: ann})
	require.Len(t, found, 2)

	foreign := item.Key{PK: q.Partition, SK: repository.DraftPrefix() + "!"}
	w.put(foreign, nil)
	found, summary := w.verify(verify.Options{User: ann, Repair: true})
	require.Len(t, found, 2)
	require.Zero(t, summary.Remaining)
	require.Positive(t, summary.Unsettled)
	require.NotNil(t, w.get(foreign))
	require.NoError(t, w.store.Delete(t.Context(), table.Delete{Key: foreign}))
	found, summary = w.verify(verify.Options{User: ann})
	require.Empty(t, found)
	require.Zero(t, summary.Unsettled)
}
