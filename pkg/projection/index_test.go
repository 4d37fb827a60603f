package projection_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/insights"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// evidence reads what a verification reads of a task, the copy included.
func (l *lifetime) evidence(id string) projection.Evidence {
	ref := entity.Ref{Type: product.TypeTask, ID: id}
	e := projection.Evidence{
		User: "ann", Type: product.Task(), Ref: ref, Ledger: l.row(entity.LedgerKey("ann", insights.Name, id)),
		Gone: l.row(entity.GoneKey("ann", id)), Cold: l.row(entity.ColdKey("ann", id)),
		Item: l.row(entity.ItemKey("ann", ref)),
	}
	if e.Item == nil && e.Cold != nil && e.Gone == nil {
		e.Copy = l.copies[e.Cold.Key()]
	}
	return e
}

// Whatever is wrong with the ledger, a verification names it, and a repair with the copies makes it right, while others
// write: what COLD rows of a release before leave open, too.
func TestIndex_isRepairedFromTheCopies(t *testing.T) {
	t.Parallel()
	left := 0
	for seed := range uint64(200) {
		l := newLifetime(t, seed)
		l.bare = seed%2 == 0
		l.play(50)
		for i := range 4 {
			key := entity.LedgerKey("ann", insights.Name, fmt.Sprintf("task_%d", i))
			if row := l.row(key); row != nil && l.random.IntN(3) == 0 { // it was lost
				l.transact(table.Delete{Key: key})
			}
		}
		for i := range 4 {
			id := fmt.Sprintf("task_%d", i)
			e := l.evidence(id)
			faults := l.index.Check(e)
			require.Equal(t, l.completions[id] != l.standing()[id], len(faults) > 0, "seed %d, %s: %v", seed, id, said(faults))
			if e.Copy != nil && len(faults) > 0 {
				left++
			}
			l.faults, l.between = true, l.write
			for l.consumer.Repair(t.Context(), e) != nil {
				l.faults, l.between = true, l.write
			}
			l.faults, l.between = false, nil
			l.drain()
			for len(l.open) > 0 {
				l.deliver()
			}
		}
		require.Equal(t, l.completions, l.standing(), "seed %d", seed)
		for i := range 4 {
			require.Empty(t, said(l.index.Check(l.evidence(fmt.Sprintf("task_%d", i)))), "seed %d", seed)
		}
	}
	require.Greater(t, left, 10, "expired tasks that were wrong")
}

// task is a completed task, at its versions: made, completed and archived.
func completedTask(id string) (made, completed, archived change.Change) {
	typ := product.Task()
	settings := item.Item{product.AttrDefaultTzid: item.String("Europe/London")}
	made = created("ann", typ, id, item.Item{
		entity.AttrTitle: item.String("t"), product.AttrPriority: item.Int(2),
		entity.AttrStatus: item.String(product.StatusBacklog),
	})
	next := func(before change.Change, status string, at time.Time) change.Change {
		after := before.New.Clone()
		after[entity.AttrStatus] = item.String(status)
		c := before
		c.Kind, c.Old, c.Created = change.Modified, before.New, at
		c.New = typ.NextVersion(entity.ByUser, "ann", before.New, after, at, settings)
		c.Version++
		return c
	}
	completed = next(made, product.StatusCompleted, morning)
	return made, completed, next(completed, product.StatusArchived, morning.Add(24*time.Hour))
}

// leave is the removal of an item.
func leave(before change.Change, kind change.Kind, at time.Time) change.Change {
	c := before
	c.Kind, c.Old, c.New, c.Created = kind, before.New.Clone(), nil, at
	c.Old[entity.AttrTTL] = item.Int(at.Add(-time.Hour).Unix())
	c.Version++
	return c
}

func TestIndex_costsOneWriteOfTwoUnitsAndNothingForAnExpiry(t *testing.T) {
	t.Parallel()
	var calls []string
	writes := 0.0
	store := memory.New(clock, memory.Options{Observer: func(u table.Consumption) {
		calls, writes = append(calls, u.Op), writes+u.WriteUnits
	}})
	consumer := projection.NewConsumer(insights.Projection(), store, clock)
	made, completed, archived := completedTask("task_1")
	deleted := leave(archived, change.Removed, morning)
	delete(deleted.Old, entity.AttrTTL)
	for _, c := range []struct {
		change.Change
		calls  []string
		writes float64
	}{
		{made, nil, 0}, {completed, []string{"Put"}, 2}, {archived, nil, 0},
		{leave(archived, change.Expired, morning.AddDate(0, 0, 8)), nil, 0},
		{deleted, []string{"Put"}, 2},
	} {
		calls, writes = nil, 0
		require.NoError(t, consumer.Apply(t.Context(), []change.Change{c.Change})[0].Err)
		require.Equal(t, c.calls, calls)
		require.Equal(t, c.writes, writes)
	}
}

// A late record whose item is not there asks GONE first, then COLD.
func TestIndex_asksForALateRecordWhatTheItemLeft(t *testing.T) {
	t.Parallel()
	const counts = "i1 DONE#TASK#2025-06-01 2"
	_, completed, archived := completedTask("task_1")
	expiry := morning.AddDate(0, 0, 8)
	gone, cold := entity.GoneKey("ann", "task_1").Item(), entity.ColdKey("ann", "task_1").Item()
	cold[entity.AttrVersion] = archived.New[entity.AttrVersion]
	product.Task().LeaveIn(cold, archived.New)
	former, later := cold.Clone(), cold.Clone()
	delete(former, "remains")
	later[entity.AttrForm] = item.Int(9)
	tombstone := entity.LedgerKey("ann", insights.Name, "task_1").Item()
	tombstone["v"], tombstone["c"] = item.Int(1), item.String("")
	removal := leave(archived, change.Removed, expiry)
	for name, c := range map[string]struct {
		record  change.Change
		rows    []item.Item
		verdict change.Verdict
		want    string // the contribution; "-" for no row
	}{
		"neither":                              {completed, nil, change.Done, ""},
		"deleted":                              {completed, []item.Item{gone}, change.Done, ""},
		"deleted, and the copy is still there": {completed, []item.Item{gone, cold}, change.Done, ""},
		"expired":                              {completed, []item.Item{cold}, change.Done, counts},
		"expired, over a tombstone":            {completed, []item.Item{cold, tombstone}, change.Done, counts},
		"removed in another region":            {removal, []item.Item{cold}, change.Done, counts},
		"removed past its ttl by its user":     {removal, []item.Item{gone, cold}, change.Done, ""},
		"a later release's copy":               {completed, []item.Item{later}, change.Retry, "-"},
		"expired in a release before":          {completed, []item.Item{former}, change.Done, "-"},
		"its removal there":                    {removal, []item.Item{former}, change.Done, counts},
		"its copied version there":             {atVersion(completed, 3), []item.Item{former}, change.Done, counts},
		"over a tombstone there":               {removal, []item.Item{former, tombstone}, change.Done, ""},
	} {
		store := memory.New(func() time.Time { return expiry }, memory.Options{})
		for _, row := range c.rows {
			require.NoError(t, store.Put(t.Context(), table.Put{Item: row}))
		}
		consumer := projection.NewConsumer(insights.Projection(), store, func() time.Time { return expiry })
		for range 2 {
			require.Equal(t, c.verdict, consumer.Apply(t.Context(), []change.Change{c.record})[0].Verdict, name)
			row, err := table.Find(context.Background(), store, tombstone.Key())
			require.NoError(t, err)
			if c.want == "-" {
				require.Nil(t, row, name)
				continue
			}
			require.NotNil(t, row, name)
			require.Equal(t, c.want, row.Str("c"), name)
		}
	}
}

func atVersion(c change.Change, version int64) change.Change {
	c.Version = version
	return c
}

func TestNewIndex_refusesAnIncompleteSpec(t *testing.T) {
	t.Parallel()
	place := func(*entity.Type, item.Item) (string, string) { return "", "" }
	for name, spec := range map[string]projection.IndexSpec{
		"name": {Revision: "r", Place: place}, "revision": {Name: "n", Place: place}, "place": {Name: "n", Revision: "r"},
	} {
		require.Panics(t, func() { projection.NewIndex(spec) }, name)
	}
}
