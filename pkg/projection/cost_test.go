package projection_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/links"
	"nexus/pkg/product"
	"nexus/pkg/projection"
	"nexus/pkg/stats"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

var morning = time.Date(2025, 6, 1, 8, 0, 0, 0, time.UTC)

// counted is a store that counts its round trips. A mutant is to be noticed without them: a test that counts is skipped
// there.
func counted(t testing.TB) (store *memory.Store, calls *int) {
	t.Helper()
	if os.Getenv("NEXUS_UNCOUNTED") != "" {
		t.Skip("it counts calls, and a mutant is to be noticed without that")
	}
	calls = new(int)
	return memory.New(clock, memory.Options{Observer: func(table.Consumption) { *calls++ }}), calls
}

func clock() time.Time { return morning }

// created is the change that brings an item to life.
func created(user string, typ *entity.Type, id string, fields item.Item) change.Change {
	it := typ.NewItem(user, id, fields, morning, nil)
	return change.Change{
		Kind: change.Inserted, Type: typ, User: user, Ref: typ.Ref(it), Key: it.Key(), New: it, Version: 1, Created: morning,
	}
}

// edited is the change of an item's title.
func edited(before change.Change) change.Change {
	after := before.New.Clone()
	after[entity.AttrTitle] = item.String("another title")
	c := before
	c.Kind, c.Old = change.Modified, before.New
	c.New = before.Type.NextVersion(entity.ByUser, before.User, before.New, after, morning, nil)
	c.Version++
	return c
}

func TestConsumer_makesNoCallForTheSameContribution(t *testing.T) {
	t.Parallel()
	for _, p := range []*projection.Projection{stats.Projection(), links.Projection()} {
		store, calls := counted(t)
		note := created("ann", product.Note(), "note_1", noteWithLink())
		consumer := projection.NewConsumer(p, store, clock)
		require.NoError(t, consumer.Apply(t.Context(), []change.Change{note})[0].Err)
		*calls = 0
		require.NoError(t, consumer.Apply(t.Context(), []change.Change{edited(note)})[0].Err)
		require.Zero(t, *calls, p.Name())
	}
}

func TestConsumer_changesEdgesInOneTransaction(t *testing.T) {
	t.Parallel()
	store, calls := counted(t)
	consumer := projection.NewConsumer(links.Projection(), store, clock)
	note := created("ann", product.Note(), "note_1", noteWithLink())
	require.NoError(t, consumer.Apply(t.Context(), []change.Change{note})[0].Err)
	require.Equal(t, 1, *calls)
}

func TestConsumer_changesASumInTwoReadsAndTwoSingleWrites(t *testing.T) {
	t.Parallel()
	var used []table.Consumption
	store := memory.New(clock, memory.Options{Observer: func(u table.Consumption) { used = append(used, u) }})
	consumer := projection.NewConsumer(stats.Projection(), store, clock)
	apply := func(c change.Change) (calls []string, reads, writes float64) {
		used = nil
		require.NoError(t, consumer.Apply(t.Context(), []change.Change{c})[0].Err)
		for _, u := range used {
			calls, reads, writes = append(calls, u.Op), reads+u.ReadUnits, writes+u.WriteUnits
		}
		return calls, reads, writes
	}
	// From the second on, the row of the pending entry is looked at, too.
	withPeek := []string{"BatchGet", "Peek", "BatchGet", "Update", "Put"}
	for i, want := range []float64{2, 2.5, 2.5} {
		calls, reads, writes := apply(created("ann", product.Note(), fmt.Sprintf("note_%d", i), noteWithLink()))
		if i == 0 {
			require.Equal(t, []string{"BatchGet", "BatchGet", "Update", "Put"}, calls)
		} else {
			require.Equal(t, withPeek, calls)
		}
		require.Equal(t, []float64{want, 2}, []float64{reads, writes}, "a transaction would cost 4")
	}
	fields := item.Item{entity.AttrTitle: item.String("e")}
	fields.SetTime(product.AttrStartUtc, morning)
	event := created("ann", product.Event(), "evt_1", fields)
	_, _, writes := apply(event)
	require.Equal(t, 3.0, writes, "with the ledger row's place in the index")
	moved := edited(event)
	moved.New.SetTime(product.AttrStartUtc, morning.Add(time.Hour))
	calls, _, writes := apply(moved)
	require.Equal(t, []string{"BatchGet", "BatchGet", "Update", "Put"}, calls)
	require.Equal(t, 4.0, writes, "with the ledger row's move in the index")
}

// A user's only change in a batch costs two single writes beside any other users; a user's several changes share
// a transaction. In a batch of a reader that is behind, all share transactions.
func TestConsumer_writesSinglyWhatIsAloneOfItsUser(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		alone, twice int // users
		singles      int
		writes       float64
	}{
		{alone: 3, singles: 3, writes: 3 * 2},
		{alone: 3, twice: 1, singles: 3, writes: 3*2 + 2*(2+1)},
		{alone: 25, singles: 25, writes: 25 * 2},
		{alone: 26, writes: 26 * 4},
	} {
		puts, writes := 0, 0.0
		store := memory.New(clock, memory.Options{Observer: func(u table.Consumption) {
			if writes += u.WriteUnits; u.Op == "Put" {
				puts++
			}
		}})
		var batch []change.Change
		for i := range c.alone + 2*c.twice {
			user := fmt.Sprintf("user_%d", i%(c.alone+c.twice))
			if i >= c.alone+c.twice { // the second of the last users
				user = fmt.Sprintf("user_%d", i-c.twice)
			}
			batch = append(batch, created(user, product.Note(), fmt.Sprintf("note_%d", i), noteWithLink()))
		}
		consumer := projection.NewConsumer(stats.Projection(), store, clock)
		for _, o := range consumer.Apply(t.Context(), batch) {
			require.NoError(t, o.Err)
		}
		require.Equal(t, c.singles, puts, c)
		require.InDelta(t, c.writes, writes, 0, c)
	}
}

func TestConsumer_distinguishesARepetitionFromTheFirstTime(t *testing.T) {
	t.Parallel()
	for _, p := range []*projection.Projection{stats.Projection(), links.Projection()} {
		store, _ := counted(t)
		now := morning
		consumer := projection.NewConsumer(p, store, func() time.Time { return now })
		note := created("ann", product.Note(), "note_1", noteWithLink())
		require.NoError(t, store.Put(t.Context(), table.Put{Item: note.New}))
		batch := []change.Change{note}
		require.Equal(t, []change.Outcome{{}}, consumer.Apply(t.Context(), batch))
		require.Equal(t, []change.Outcome{{Already: true}}, consumer.Apply(t.Context(), batch), "by the ledger's condition")
		now = now.Add(2 * time.Hour)
		require.Equal(t, []change.Outcome{{Already: true}}, consumer.Apply(t.Context(), batch), "by the ledger's row")
	}
}

func TestConsumer_sharesATransactionAmongUsers(t *testing.T) {
	t.Parallel()
	store, calls := counted(t)
	var batch []change.Change
	for i := range 90 {
		batch = append(batch,
			created(fmt.Sprintf("user_%d", i%10), product.Note(), fmt.Sprintf("note_%d", i), noteWithLink()))
	}
	for _, o := range projection.NewConsumer(stats.Projection(), store, clock).Apply(t.Context(), batch) {
		require.NoError(t, o.Err)
	}
	require.Equal(t, 2, *calls, "90 ledger rows and 10 sums: one read, one transaction")
}

func TestConsumer_readsTwicePerBatchOfARepeatedDay(t *testing.T) {
	t.Parallel()
	for name, calls := range map[string]int{stats.Name: 2, links.Name: 1} {
		now := morning
		store, made := counted(t)
		p := map[string]*projection.Projection{stats.Name: stats.Projection(), links.Name: links.Projection()}[name]
		consumer := projection.NewConsumer(p, store, func() time.Time { return now })
		var batch []change.Change
		for i := range 100 {
			fields := noteWithLink()
			fields.SetTime(product.AttrStartUtc, morning)
			c := created(fmt.Sprintf("user_%d", i%7), product.Event(), fmt.Sprintf("evt_%d", i), fields)
			require.NoError(t, store.Put(t.Context(), table.Put{Item: c.New}))
			batch = append(batch, c)
		}
		apply := func() int {
			*made = 0
			for _, o := range consumer.Apply(t.Context(), batch) {
				require.NoError(t, o.Err)
			}
			return *made
		}
		apply()
		now = now.Add(2 * time.Hour)
		require.Equal(t, calls, apply(), "%s: ledger rows, and the sums that may lack a fact", name)
	}
}

func TestConsumer_plansLateRecordsFromTwoReadsPerBatch(t *testing.T) {
	t.Parallel()
	store, made := counted(t)
	consumer := projection.NewConsumer(stats.Projection(), store, func() time.Time { return morning.Add(2 * time.Hour) })
	var batch []change.Change
	for i := range 90 {
		c := created(fmt.Sprintf("user_%d", i%10), product.Note(), fmt.Sprintf("note_%d", i), noteWithLink())
		require.NoError(t, store.Put(t.Context(), table.Put{Item: c.New}))
		batch = append(batch, c)
	}
	*made = 0
	for _, o := range consumer.Apply(t.Context(), batch) {
		require.NoError(t, o.Err)
	}
	require.Equal(t, 4, *made, "ledger rows, items, sums, and one transaction")
}

func TestConsumer_foldsChangesOfOneItemInABatch(t *testing.T) {
	t.Parallel()
	for _, p := range []*projection.Projection{stats.Projection(), links.Projection()} {
		store, made := counted(t)
		consumer := projection.NewConsumer(p, store, clock)
		c := created("ann", product.Note(), "note_1", noteWithLink())
		batch := []change.Change{c}
		for i := range 98 { // gone and back: each counts
			batch = append(batch, again(batch[i]))
		}
		for _, o := range consumer.Apply(t.Context(), batch) {
			require.NoError(t, o.Err)
		}
		require.LessOrEqual(t, *made, 4, p.Name())
		row, err := store.Get(t.Context(), entity.LedgerKey("ann", p.Name(), "note_1"))
		require.NoError(t, err)
		require.Equal(t, int64(len(batch)), row.Int("v"))
	}
}

// again takes an item away, or brings the one back that was.
func again(before change.Change) change.Change {
	c := before
	c.Version++
	if before.New != nil {
		c.Kind, c.Old, c.New = change.Removed, before.New, nil
		return c
	}
	c.Kind, c.Old, c.New = change.Inserted, nil, before.Old.Clone()
	c.New[entity.AttrVersion] = item.Int(c.Version)
	return c
}

func TestConsumer_sharesATransactionAmongEdgesUpToItsLimit(t *testing.T) {
	t.Parallel()
	for edges, transactions := range map[int]int{1: 2, 4: 5, 49: 50} {
		store, made := counted(t)
		var batch []change.Change
		for i := range 100 {
			batch = append(batch,
				created(fmt.Sprintf("user_%d", i%50), product.Note(), fmt.Sprintf("note_%d", i), withLinks(edges)))
		}
		for _, o := range projection.NewConsumer(links.Projection(), store, clock).Apply(t.Context(), batch) {
			require.NoError(t, o.Err)
		}
		require.Equal(t, transactions, *made, "100 items of %d edges each, a ledger row beside them", edges)
	}
}

func withLinks(n int) item.Item {
	fields := item.Item{entity.AttrTitle: item.String("n")}
	var edges []entity.Link
	for i := range n {
		edges = append(edges, entity.Link{Target: entity.Ref{Type: product.TypeTask, ID: fmt.Sprintf("task_%d", i)}})
	}
	entity.SetLinks(fields, edges)
	return fields
}

func noteWithLink() item.Item {
	fields := item.Item{entity.AttrTitle: item.String("n")}
	entity.SetLinks(fields, []entity.Link{{Target: entity.Ref{Type: product.TypeTask, ID: "task_1"}}})
	return fields
}

// BenchmarkProjections applies 10,000 changes of 500 users in batches of 100 (P4), and for comparison each change
// alone.
func BenchmarkProjections(b *testing.B) {
	var changes []change.Change
	for i := range 10_000 {
		changes = append(changes,
			created(fmt.Sprintf("user_%d", i%500), product.Note(), fmt.Sprintf("note_%d", i), noteWithLink()))
	}
	for _, c := range []struct {
		name string
		size int
	}{{"batches", 100}, {"one-by-one", 1}} {
		b.Run(c.name, func(b *testing.B) {
			var calls int
			for b.Loop() {
				store, n := counted(b)
				consumer := projection.NewConsumer(stats.Projection(), store, clock)
				for from := 0; from < len(changes); from += c.size {
					consumer.Apply(b.Context(), changes[from:from+c.size])
				}
				calls = *n
			}
			b.ReportMetric(float64(calls)/float64(len(changes)), "calls/change")
			b.ReportMetric(float64(len(changes)*b.N)/b.Elapsed().Seconds(), "changes/s")
		})
	}
}
