package values_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/revision"
	"nexus/pkg/revision/values"
	"nexus/pkg/table/dynamo"
)

// onEngine is a service over a table of its own on the local engine.
func onEngine(t testing.TB, inTransactions bool) *fixture {
	t.Helper()
	b := &fixture{Assertions: require.New(t), ctx: t.Context(), now: monday}
	endpoint, name := enginetest.Table(t)
	store := dynamo.New(enginetest.Client(endpoint), dynamo.WithTable(name))
	b.publisher = revision.NewPublisher(revision.Config{
		Store: store, Now: b.clock, NewID: b.newID, LoadInTransactions: inTransactions,
	})
	b.service = values.New(b.publisher, b.newID)
	return b
}

func TestService_isTheSameOnTheEngineAndInMemory(t *testing.T) {
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

// commits is how many commits of a large tree are made: a few, unless the environment asks for more. Then they are
// timed.
func commits(t *testing.T) (n int, timed bool) {
	text, timed := os.LookupEnv("NEXUS_REVISION_COMMITS")
	if !timed {
		return 2, false
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n, true
}

// inUse is the memory in use when nothing is going on.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// It is not run beside others, because it measures the memory of the process.
func TestCommit_ofTwoThousandNodesIsQuickAndKeepsNoMemory(t *testing.T) {
	b := onEngine(t, true)
	n, timed := commits(t)
	head := b.commit("", forest(values.MaxNodes))
	var first, most uint64
	var longest, sum time.Duration
	for i := range n {
		b.now = b.now.Add(time.Minute)
		title, begun := fmt.Sprint("again ", i), time.Now()
		res, err := b.edit(head.RevID, values.Operation{Kind: values.OpUpdate, NodeID: act(2), Title: &title})
		b.NoError(err)
		took := time.Since(begun)
		head, sum, longest = res, sum+took, max(longest, took)
		used := inUse()
		if i == 0 {
			first = used
		}
		most = max(most, used)
		if i == 0 || (i+1)%10 == 0 {
			t.Logf("commit %d: %v, %.1f MB in use", i+1, took.Round(time.Millisecond), float64(used)/1e6)
		}
	}
	t.Logf("%d commits: %v each, %v at most", n, (sum / time.Duration(n)).Round(time.Millisecond),
		longest.Round(time.Millisecond))
	b.Less(most, first+16e6, "memory stays flat")
	if timed {
		b.Less(longest, 5*time.Second)
	}
	base, err := b.service.Current(b.ctx, "ann")
	b.NoError(err)
	b.Equal(head.State, base.State)
}
