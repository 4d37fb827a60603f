package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/deploy/env"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// lostAnswerProxy passes requests on to the engine, but keeps the answer of the first transaction: it has its effect,
// and no caller learns of it. Later transactions do not get through.
type lostAnswerProxy struct {
	engine  *httputil.ReverseProxy
	taken   atomic.Bool
	applied chan struct{} // closed when the transaction is in the table
	open    chan struct{} // closed at the end of the test
}

func newGate(t *testing.T, engine string) (*lostAnswerProxy, string) {
	t.Helper()
	address, err := url.Parse(engine)
	require.NoError(t, err)
	g := &lostAnswerProxy{
		engine: httputil.NewSingleHostReverseProxy(address), applied: make(chan struct{}), open: make(chan struct{}),
	}
	server := httptest.NewServer(g)
	t.Cleanup(func() {
		close(g.open)
		server.Close()
	})
	return g, server.URL
}

func (g *lostAnswerProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-Amz-Target") != "DynamoDB_20120810.TransactWriteItems" {
		g.engine.ServeHTTP(w, r)
		return
	}
	if g.taken.CompareAndSwap(false, true) {
		g.engine.ServeHTTP(httptest.NewRecorder(), r)
		close(g.applied)
	}
	select {
	case <-r.Context().Done():
	case <-g.open:
	}
}

func TestProjections_applyOnceABatchThatWasKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const tasks = 130 // more than one transaction takes
	template, err := change.Decode(w.now("stream-task-created"), w.registry)
	require.NoError(t, err)
	var records []change.Record
	for i := range tasks {
		task := template[1].Change.New.Clone()
		id := fmt.Sprintf("task_%08d-0000-4000-8000-000000000000", i)
		key := entity.ItemKey(user, entity.Ref{Type: product.TypeTask, ID: id})
		task["taskId"], task[item.AttrSK] = item.String(id), item.String(key.SK)
		records = append(records, change.Record{
			EventID: id, Name: change.Insert, Sequence: fmt.Sprintf("14054000000000021%09d", i),
			Created: template[1].Change.Created,
			Key:     key, New: task,
			SourceARN: "arn:aws:dynamodb:eu-central-1:123456789012:table/ProductivityData/stream/2026-01-01T00:00:00.000",
		})
	}
	batch := change.AppendEvent(nil, records)
	w.apply(batch)

	environment := w.environment(env.Projections)
	g, address := newGate(t, environment["AWS_ENDPOINT_URL_DYNAMODB"])
	environment["AWS_ENDPOINT_URL_DYNAMODB"] = address
	killed := start(t, env.Projections, environment)
	answered := killed.send(batch)
	select {
	case <-g.applied:
	case o := <-answered:
		t.Fatalf("answered without a transaction: %+v", o)
	case <-time.After(patience):
		t.Fatalf("no transaction:\n%s", killed.log)
	}
	killed.kill()
	require.Empty(t, answered)
	counted, linked := w.derived(records)
	require.True(t, 0 < counted+linked && counted+linked < tasks, "%d counted, %d linked: not in the middle",
		counted, linked)

	f := w.start(env.Projections)
	f.handled(batch)
	counted, linked = w.derived(records)
	require.Equal(t, [2]int{tasks, tasks}, [2]int{counted, linked})
	before := w.row(entity.MetaKey(user))
	f.handled(batch)
	require.Equal(t, before, w.row(entity.MetaKey(user)))
}

// derived returns how many tasks the statistics have, and how many of the records' tasks are linked to the note.
func (w *fixture) derived(records []change.Record) (counted, linked int) {
	w.Helper()
	note := entity.Ref{Type: product.TypeNote, ID: noteID}
	for _, rec := range records {
		if w.row(entity.LinkKey(user, entity.Ref{Type: product.TypeTask, ID: rec.EventID}, note)) != nil {
			linked++
		}
	}
	return int(item.Item(w.stats()).Int(product.StatTotalTasks)), linked
}
