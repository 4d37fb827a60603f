package e2e_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/eventsource"
)

// killProxy stands in front of what a program calls, and decides at which of its requests the program dies: before the
// request has got through, or when it was carried out and no answer has been sent.
type killProxy struct {
	mu       sync.Mutex
	left     int // requests until then; 0 means that nothing happens
	carryOut bool
	struck   chan struct{} // closed when it has happened
}

// before returns an address that leads to the service.
func (d *killProxy) before(t *testing.T, address string) string {
	t.Helper()
	target, err := url.Parse(address)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // it serves clients that die
	over, end := context.WithCancel(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dead, last := d.next()
		if !dead {
			proxy.ServeHTTP(w, r)
			return
		}
		if last != nil {
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			close(last)
		}
		select { // no answer
		case <-r.Context().Done():
		case <-over.Done():
		}
	}))
	t.Cleanup(func() {
		end()
		server.Close()
	})
	return server.URL
}

// arm lets the program die at its n-th request from now.
func (d *killProxy) arm(n int, carryOut bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left, d.carryOut, d.struck = n, carryOut, make(chan struct{})
}

// next counts a request. Those of a dead program get nowhere. The last before is carried out if doom has it so; then it
// comes with what is to be closed after it.
func (d *killProxy) next() (dead bool, last chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.left == 0:
		return false, nil
	case d.left > 1:
		d.left--
		return false, nil
	case d.left < 0:
		return true, nil
	}
	d.left = -1
	if d.carryOut {
		return true, d.struck
	}
	close(d.struck)
	return true, nil
}

// fallen reports whether it has happened.
func (d *killProxy) fallen() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.left < 0
}

// killableFunction is a function whose program is killed in the middle of batches, and the event source mapping that
// starts another and delivers again.
type killableFunction struct {
	*fixture
	function env.Function
	filter   eventsource.Filter
	// requests is about how many a batch takes.
	requests int
	doom     *killProxy
	chance   *rand.Rand
	alive    *function
	settings map[string]string

	kills, invocations int
	pending, finished  []change.Record
}

func newMortal(w *fixture, reader readers.Reader, requests int) *killableFunction {
	m := &killableFunction{
		fixture: w, function: env.Function(reader.Name), filter: reader.Filter, requests: requests, doom: &killProxy{},
		chance: rand.New(rand.NewPCG(1, uint64(requests))),
	}
	m.settings = w.environment(m.function)
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB"} {
		m.settings[name] = m.doom.before(w.T, m.settings[name])
	}
	return m
}

// offer adds records of the stream to those that are to be delivered.
func (m *killableFunction) offer(records []change.Record) {
	for _, r := range records {
		if m.filter.Match(r) {
			m.pending = append(m.pending, r)
		}
	}
}

const (
	// maxBatch cuts the stream into more batches than a mapping would.
	maxBatch = 6
	// patient is how often a batch is delivered until something else must be wrong.
	patient = 10
)

// deliver delivers what is pending, in batches of any size, and kills the program in their middle until it has died as
// often as it should.
func (m *killableFunction) deliver(kills int) {
	m.Helper()
	for attempt := 0; len(m.pending) > 0; {
		require.Less(m, attempt, patient, "%s does not get through with a batch", m.function)
		batch := m.pending[:min(1+m.chance.IntN(maxBatch), len(m.pending))]
		// A batch that comes for the fourth time gets through, so that there are kills left for the batches after it.
		if attempt++; m.kills < kills && attempt < 4 {
			m.doom.arm(1+m.chance.IntN(m.requests), m.chance.IntN(2) == 0)
		} else {
			m.doom.arm(0, false)
		}
		if done := m.invoke(batch); done > 0 {
			m.finished, m.pending, attempt = append(m.finished, batch[:done]...), m.pending[done:], 0
		}
	}
	m.doom.arm(0, false)
}

// invoke hands the program a batch and returns how many of its records, from the first on, need not come again.
func (m *killableFunction) invoke(batch []change.Record) int {
	m.Helper()
	if m.alive == nil {
		m.alive = start(m.T, m.function, m.settings)
	}
	m.invocations++
	answered := m.alive.send(change.AppendEvent(nil, batch))
	select {
	case o := <-answered:
		finished := m.finishedOf(batch, o)
		if m.doom.fallen() { // in what the answer did not wait for
			m.bury()
		}
		return finished
	case <-m.doom.struck:
		m.bury()
	case <-time.After(patience):
		m.Fatalf("the program does not answer:\n%s", m.alive.log)
	}
	return 0
}

func (m *killableFunction) bury() {
	m.alive.kill()
	m.alive, m.kills = nil, m.kills+1
}

func (m *killableFunction) finishedOf(batch []change.Record, o outcome) int {
	m.Helper()
	require.Nil(m, o.failure, "%+v\n%s", o.failure, m.alive.log)
	var answer struct {
		BatchItemFailures []struct{ ItemIdentifier string }
	}
	require.NoError(m, json.Unmarshal(o.body, &answer))
	if len(answer.BatchItemFailures) == 0 {
		return len(batch)
	}
	at := slices.IndexFunc(batch, func(r change.Record) bool {
		return r.Sequence == answer.BatchItemFailures[0].ItemIdentifier
	})
	require.GreaterOrEqual(m, at, 0, "the answer names a record that was not in the batch: %s", o.body)
	return at
}
