package webhook_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"nexus/pkg/entity/outbox"
	"nexus/pkg/webhook"
)

// many are endpoints of which one hangs until it is told not to.
type many struct {
	dead     string
	requests atomic.Int64  // to the others
	hangs    chan struct{} // closed once it does
	ends     chan struct{}
}

func (m *many) Do(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, m.dead) {
		close(m.hangs)
		<-m.ends
		return nil, errors.New("no answer in time")
	}
	m.requests.Add(1)
	return reply(http.StatusNoContent), nil
}

// Of a thousand endpoints one hangs. Before it ends, each other one has its message, by one request, in the second of
// the event.
func TestWorker_tellsAThousandEndpointsWhileOneHangs(t *testing.T) {
	t.Parallel()
	const endpoints = 1000
	id := func(n int) string { return fmt.Sprintf("whk_00000000-0000-4000-8000-%012d", n) }
	m := &many{dead: id(500), hangs: make(chan struct{}), ends: make(chan struct{})}
	var ids atomic.Int64
	f := setup(t, func(c *webhook.Config) {
		c.Client, c.Observe = m, nil
		c.NewID = func() string { return fmt.Sprint("id-", ids.Add(1)) }
	})
	for n := range endpoints {
		f.hook(id(n))
	}
	f.apply(f.task("task_a", 1))
	f.Len(f.invoked, endpoints)
	var dead []byte
	var others [][]byte
	for _, payload := range f.invoked {
		if strings.Contains(string(payload), m.dead) {
			dead = payload
		} else {
			others = append(others, payload)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- f.worker.Work(t.Context(), dead) }()
	<-m.hangs
	began := f.now
	for _, payload := range others {
		f.NoError(f.worker.Work(t.Context(), payload))
	}
	f.EqualValues(endpoints-1, m.requests.Load(), "requests to those that answer")
	f.Equal(began, f.now)
	f.Len(f.rows(outbox.RowOut), 1, "what waits while one hangs")
	close(m.ends)
	f.NoError(<-ended)
	waits := f.rows(outbox.RowOut)
	f.Len(waits, 1)
	f.EqualValues(1, waits[0].Int("attempts"))
	f.Contains(waits[0].Key().SK, m.dead)
}
