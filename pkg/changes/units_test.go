package changes_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/changes"
	"nexus/pkg/changes/changelog"
	"nexus/pkg/changes/token"
	"nexus/pkg/entity"
	"nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// units returns what the calls used since the last question.
func (w *fixture) units() map[string]table.Totals {
	out := w.used
	w.used = map[string]table.Totals{}
	return out
}

func TestConsumer_takesOneReadAndOneWriteForEachUserInABatch(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	one := map[string]table.Totals{"Query": {Calls: 1, ReadUnits: 1}, "Put": {Calls: 1, WriteUnits: 1}}
	for n := range 40 {
		w.now = w.now.Add(time.Minute)
		w.apply(w.task(ann, taskID(n), 1, false), w.task(ann, taskID(n), 2, false))
		require.Equal(t, one, w.units(), "change %d", n)
	}
	w.apply(w.task(ann, taskID(1), 2, false), w.task("bob", taskID(1), 1, false), w.task("cleo", taskID(1), 1, false))
	three := map[string]table.Totals{"Query": {Calls: 3, ReadUnits: 3}, "Put": {Calls: 3, WriteUnits: 3}}
	require.Equal(t, three, w.units())
}

// open puts the watch of a user.
func (w *fixture) open(user string, until time.Time) {
	w.t.Helper()
	row := device.WatchKey(user).Item()
	row[entity.AttrTTL] = item.Int(until.Unix())
	require.NoError(w.t, w.store.Put(w.t.Context(), table.Put{Item: row}))
}

func TestConsumer_findsWhoHasAnAppOpenAtNoPrice(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	one := map[string]table.Totals{"Query": {Calls: 1, ReadUnits: 1}, "Put": {Calls: 1, WriteUnits: 1}}
	w.apply(w.task(ann, taskID(0), 1, false))
	w.open(ann, noon.Add(time.Hour))
	w.units()
	for n := 1; n < 40; n++ {
		w.now = w.now.Add(time.Minute)
		w.apply(w.task(ann, taskID(n), 1, false))
		require.Equal(t, one, w.units(), "change %d", n)
		// Repeated: the sixteen newest rows are compared, although the watch is there.
		w.apply(w.task(ann, taskID(max(0, n-changelog.Newest+1)), 1, false))
		require.NotContains(t, w.units(), "Put", "change %d", n)
	}
	require.Len(t, w.log(ann), 40)
	for i, a := range w.appended {
		want := time.Time{}
		if i > 0 {
			want = noon.Add(time.Hour)
		}
		require.True(t, want.Equal(a.OpenUntil), "change %d", i)
	}
}

func TestHeads_areOfUsersWithAnAppOpen(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.open(ann, noon.Add(time.Minute))
	w.open("cleo", noon)
	w.apply(w.task(ann, taskID(1), 1, false), w.task("bob", taskID(1), 1, false), w.task("cleo", taskID(1), 1, false))
	require.Len(t, w.appended, 3)
	row := w.log(ann)[0]
	want := token.Token{Form: token.FormIn(3), Owner: token.OwnerOf(ann), N: 1, X: row.X}.String()
	require.Equal(t, map[string]string{ann: want}, changes.Heads(w.appended, 3, noon))
	require.Equal(t, map[string]string{ann: want}, changes.Heads(w.appended, 3, noon.Add(time.Minute-1)))
	require.Empty(t, changes.Heads(w.appended, 3, noon.Add(time.Minute)))
}

func TestConsumer_appendsFiftyRowsForAnImportOfFiveThousandEvents(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.apply(w.task(ann, "task_a", 1, false))
	w.units()
	var batch []change.Change
	for n := range 5000 {
		c := w.task(ann, fmt.Sprintf("evt_%08d%s", n, uuid[8:]), 1, false)
		c.Type, c.Ref.Type = product.Event(), product.TypeEvent
		if batch = append(batch, c); len(batch) == 100 {
			w.apply(batch...)
			batch = nil
		}
	}
	used := w.units()
	require.Equal(t, 50, used["Put"].Calls)
	require.InDelta(t, 5*50, used["Put"].WriteUnits, 0)
	require.Equal(t, 50, used["Query"].Calls)
	require.LessOrEqual(t, used["Query"].ReadUnits, 20.0*50)
	require.Len(t, w.log(ann), 51)

	alone := newFixture(t) // a larger batch is the same rows
	for n := range 5000 {
		batch = append(batch, w.task(ann, taskID(n), 1, false))
	}
	alone.apply(batch...)
	require.Equal(t, 1, alone.units()["Query"].Calls)
	require.Len(t, alone.log(ann), 50)
}
