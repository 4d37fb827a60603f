package values_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
	"nexus/pkg/table/dynamo"
)

// onEngine is a service over a table of its own on the local engine.
func onEngine(t testing.TB, inTransactions bool) *bundle {
	t.Helper()
	b := &bundle{Assertions: require.New(t), ctx: t.Context(), now: monday}
	endpoint, name := enginetest.Table(t)
	store := dynamo.New(enginetest.Client(endpoint), dynamo.WithTable(name))
	b.publisher = revision.NewPublisher(revision.Config{Store: store, Now: b.clock, NewID: b.newID, LoadInTransactions: inTransactions})
	b.service = values.New(b.publisher, b.newID)
	return b
}

func TestARepositoryOnTheEngineIsTheOneInMemory(t *testing.T) {
	t.Parallel()
	b := onEngine(t, false)
	first := b.commit("", forest(60)) // its rows go ahead
	b.now = b.now.Add(time.Hour)
	second, err := b.edit(first.RevID, values.Operation{Kind: values.OpDelete, NodeID: mil(1)})
	b.NoError(err)
	b.now = b.now.Add(time.Hour)
	third, err := b.service.Rollback(b.ctx, "ann", second.RevID, first.RevID, "back", "key")
	b.NoError(err)
	b.Equal(first.State, third.State)
	again, err := b.service.Rollback(b.ctx, "ann", second.RevID, first.RevID, "back", "key")
	b.NoError(err)
	b.True(again.Replayed)
	_, err = b.edit(first.RevID, values.Operation{Kind: values.OpComplete, NodeID: act(2)})
	var conflict *revision.ConflictError
	b.ErrorAs(err, &conflict)
	b.Equal(third.RevID, conflict.Current.RevID)
	was, err := b.service.AsOf(b.ctx, "ann", second.RevTs)
	b.NoError(err)
	b.Equal(second.Revision, was)
	d, err := b.service.Diff(b.ctx, "ann", first.RevID, second.RevID)
	b.NoError(err)
	b.Equal(second.State, d.Apply(first.State))
	edges, err := b.service.Children(b.ctx, "ann", third.RevID, mil(1))
	b.NoError(err)
	b.Len(edges, 49)
	page, err := b.service.History(b.ctx, "ann", 2, "")
	b.NoError(err)
	b.Len(page.Commits, 2)
	orphans, err := b.publisher.Orphans(b.ctx, "ann")
	b.NoError(err)
	b.Empty(orphans)
}

// BenchmarkCommitOnTheEngine is a commit of one edit to a tree of two thousand nodes, over HTTP: time, and the memory that
// is in use behind it.
func BenchmarkCommitOnTheEngine(b *testing.B) {
	s := onEngine(b, true)
	head := s.commit("", forest(values.MaxNodes))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b.ResetTimer()
	for b.Loop() {
		s.now = s.now.Add(time.Minute)
		var err error
		if head, err = s.edit(head.RevID, values.Operation{Kind: values.OpUpdate, NodeID: act(2), Title: text("again")}); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(int64(after.HeapInuse)-int64(before.HeapInuse))/1e6, "MB-kept")
}
