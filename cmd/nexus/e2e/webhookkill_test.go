package e2e_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hookReceiver is the receiver of all webhooks of a test, which outlives the system's processes. It records each
// request, also one that it refuses.
type hookReceiver struct {
	*httptest.Server

	mu      sync.Mutex
	chance  *rand.Rand
	calm    bool // it takes each message
	got     []gotWebhook
	refused map[string]int
}

// gotWebhook is a request that reached the receiver.
type gotWebhook struct {
	path, id, body string
	item           string
	version        int64
	taken          bool
}

func newHookReceiver(t *testing.T, seed uint64) *hookReceiver {
	t.Helper()
	p := &hookReceiver{chance: rand.New(rand.NewPCG(seed, 19)), refused: map[string]int{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// ServeHTTP takes a message, refuses it for now, or takes it and breaks the connection before the answer.
func (p *hookReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var content struct {
		Data struct {
			ID      string
			Version int64
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || decode(body, &content) != nil {
		p.refused["no JSON"]++
	}
	chance := p.chance.IntN(100)
	one := gotWebhook{
		path: r.URL.Path, id: r.Header.Get("webhook-id"), body: string(body), item: content.Data.ID,
		version: content.Data.Version, taken: p.calm || chance >= 6,
	}
	p.got = append(p.got, one)
	switch {
	case !one.taken:
		p.refused["500"]++
		w.WriteHeader(http.StatusInternalServerError)
	case !p.calm && chance < 12:
		p.refused["lost answer"]++
		panic(http.ErrAbortHandler)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (p *hookReceiver) requests() []gotWebhook {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.got)
}

// taken returns the bodies of the messages to a path that the receiver took, by item and version.
func (p *hookReceiver) taken(path string) map[string]bool {
	out := map[string]bool{}
	for _, one := range p.requests() {
		if one.path == path && one.taken {
			out[fmt.Sprintf("%s %d", one.item, one.version)] = true
		}
	}
	return out
}

// No message is missing, none changes, and those of an item come in order, however often the process is killed (W1 to
// W3 of docs/webhooks.md).
func TestDev_tellsWebhooksOfEachChangeWhenTheProcessIsKilled(t *testing.T) {
	t.Parallel()
	chosen := seed(t)
	p := newHookReceiver(t, chosen)
	s := onDirectory(t, append(slices.Clone(unhurried), "--allow-private-webhooks")...)
	c, chance := s.client("hooked"), rand.New(rand.NewPCG(chosen, 20))
	paths := []string{"/parallel", "/fifo"}
	for _, path := range paths {
		c.create("webhooks", map[string]any{"url": p.URL + path, "types": []string{"task.*"}, "ordering": path[1:]})
	}
	kills := amount(t, "kills", 5, 50)
	perKill := 12
	want := map[string]bool{} // what was acknowledged
	var tasks []string
	versions := map[string]int64{}
	write := func() {
		if len(tasks) < 3 || chance.IntN(3) == 0 {
			got, _, err := c.insist(t.Context(), request{
				method: http.MethodPost, path: "/v1/tasks", key: fmt.Sprint("create-", len(tasks)),
				body: map[string]any{"title": fmt.Sprint("Task ", len(tasks))},
			})
			require.NoError(t, err)
			require.Equal(t, http.StatusCreated, got.status, got)
			id, _ := got.object()["taskId"].(string)
			tasks, versions[id] = append(tasks, id), 1
			want[id+" 1"] = true
			return
		}
		id := tasks[chance.IntN(len(tasks))]
		got, _, err := c.insist(t.Context(), request{
			method: http.MethodPatch, path: "/v1/tasks/" + id, match: matching(versions[id]),
			key: fmt.Sprintf("%s-%d", id, versions[id]), body: map[string]any{"title": fmt.Sprint("Title ", chance.IntN(1000))},
		})
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, got.status, got)
		version, err := wholeNumber(got.object(), "version")
		require.NoError(t, err)
		versions[id] = version
		want[fmt.Sprintf("%s %d", id, version)] = true
	}
	for kill := range kills {
		before := len(p.requests())
		ended := make(chan struct{})
		go func() { // the clock moves on, so that what failed comes again
			defer close(ended)
			_, _, _ = s.anonymous().insist(t.Context(), request{
				method: http.MethodPost, path: "/dev/clock", body: map[string]any{"advance": "3m"},
			})
		}()
		for range perKill {
			write()
		}
		enough := before + 1 + chance.IntN(perKill)
		reached := await(t.Context(), roundBound, time.Millisecond, func() bool { return len(p.requests()) >= enough })
		require.True(t, reached, "kill %d: %d requests", kill, len(p.requests()))
		s.kill()
		s.start()
		<-ended
	}
	p.mu.Lock()
	p.calm = true
	p.mu.Unlock()
	isComplete := func() bool {
		return len(p.taken(paths[0])) >= len(want) && len(p.taken(paths[1])) >= len(want)
	}
	for hours := 0; hours < 80 && !isComplete(); hours++ {
		s.advance(time.Hour)
		s.waitUntilIdle()
	}

	for _, path := range paths {
		require.Equal(t, want, p.taken(path), "W1: what the receiver of %s took", path)
	}
	bodies, events := map[string]string{}, map[string]string{}
	last := map[string]int64{} // by item, the latest version that the receiver of the ordered webhook was told
	again := 0
	for _, one := range p.requests() {
		if body, known := bodies[one.id]; known {
			require.Equal(t, body, one.body, "W2: %s", one.id)
			again++
		}
		bodies[one.id] = one.body
		event := fmt.Sprintf("%s %s %d", one.path, one.item, one.version)
		if id, known := events[event]; known {
			require.Equal(t, id, one.id, "W2: %s", event)
		}
		if events[event] = one.id; one.path == paths[1] && one.version > last[one.item] {
			require.Equal(t, last[one.item]+1, one.version, "W3: %s is told of what comes later first", one.item)
			last[one.item] = one.version
		}
	}
	_, remaining := s.verified(false)
	require.Zero(t, remaining)
	t.Logf("%d changes for two webhooks, %d kills: %d requests, %d of them again; receivers: %v", len(want), kills,
		len(p.requests()), again, p.refused)
}
