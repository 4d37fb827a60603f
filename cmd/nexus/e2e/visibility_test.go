package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	writesPerSecond = 50
	visibilityRun   = 20 * time.Second
	visibilityUsers = 25
	// visibilityPoll is how often an effect is looked for: what it adds to a figure is at most that and one read. Asked
	// each millisecond, the watchers take the machine from the system that they watch.
	visibilityPoll  = 5 * time.Millisecond
	visibilityBound = 15 * time.Second
	// visibilityGoal is the aim for the 99th percentile (docs/performance.md, "From a write to its effect").
	visibilityGoal = 100 * time.Millisecond
)

// BenchmarkDerivedEffectVisible measures the time from the answer to a write until its derived effect is read over
// HTTP, on the local platform with the real engine, at 50 writes a second. It prints its table and fails for no figure.
func BenchmarkDerivedEffectVisible(b *testing.B) {
	for range b.N {
		s := ephemeral(b)
		m := &visibility{system: s, waits: map[string][]time.Duration{}}
		m.prepare()
		m.run(b)
		b.Log(m.table())
		for _, name := range m.effects() {
			b.ReportMetric(milliseconds(percentile(m.waits[name], 50)), name+"-p50-ms")
			b.ReportMetric(milliseconds(percentile(m.waits[name], 99)), name+"-p99-ms")
		}
		code, _ := s.interrupt()
		require.Zero(b, code)
	}
}

// visibility is one measurement. Writes take turns between users and between the effects.
type visibility struct {
	system *system
	users  []*watched

	mu    sync.Mutex
	waits map[string][]time.Duration // by effect
}

// watched is a user whose effects are looked for.
type watched struct {
	client
	notes  int    // created so far
	target string // of the links
	token  string // up to which a device of the user has read
}

func (m *visibility) prepare() {
	m.system.t.Helper()
	for n := range visibilityUsers {
		c := m.system.client(fmt.Sprintf("watched-%d", n))
		target := c.create("tasks", map[string]any{"title": "target"})
		m.users = append(m.users, &watched{client: c, target: target["taskId"].(string)})
	}
	m.system.waitUntilIdle()
	for _, u := range m.users {
		d := newDevice(u.client, 0)
		require.NoError(m.system.t, d.pull(m.system.t.Context(), false))
		u.token = d.token
	}
}

// run writes at the rate and waits for every effect.
func (m *visibility) run(b *testing.B) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 2*visibilityRun+visibilityBound)
	defer cancel()
	tick := time.NewTicker(time.Second / writesPerSecond)
	defer tick.Stop()
	errs := make(chan error, int(visibilityRun/time.Second)*writesPerSecond)
	var work sync.WaitGroup
	for n := range cap(errs) {
		<-tick.C
		u := m.users[n%visibilityUsers]
		work.Go(func() {
			errs <- []func(context.Context, *watched) error{m.note, m.link, m.change}[n/visibilityUsers%3](ctx, u)
		})
	}
	work.Wait()
	for range cap(errs) {
		require.NoError(b, <-errs)
	}
}

// note creates a note and looks for it in the statistics.
func (m *visibility) note(ctx context.Context, u *watched) error {
	if _, err := u.post(ctx, map[string]any{"title": "counted"}); err != nil {
		return err
	}
	m.mu.Lock()
	u.notes++
	want := int64(u.notes)
	m.mu.Unlock()
	return m.watch(ctx, "statistics", func() (bool, error) {
		got, err := u.call(ctx, request{method: http.MethodGet, path: "/v1/me/stats"})
		if err != nil {
			return false, err
		}
		n, err := wholeNumber(got.object(), "totalNotes")
		return n >= want, err
	})
}

// link creates a note with a link and looks for it among the backlinks of the link's target.
func (m *visibility) link(ctx context.Context, u *watched) error {
	id, err := u.post(ctx, map[string]any{
		"title": "linked", "links": []any{map[string]any{"targetType": "TASK", "targetId": u.target}},
	})
	if err != nil {
		return err
	}
	m.mu.Lock()
	u.notes++
	m.mu.Unlock()
	return m.watch(ctx, "backlinks", func() (bool, error) {
		got, err := u.call(ctx, request{method: http.MethodGet, path: "/v1/tasks/" + u.target + "/backlinks?limit=100"})
		return strings.Contains(string(got.body), id), err
	})
}

// change creates a note and looks for it in the feed of changes.
func (m *visibility) change(ctx context.Context, u *watched) error {
	m.mu.Lock()
	token := u.token
	m.mu.Unlock()
	id, err := u.post(ctx, map[string]any{"title": "followed"})
	if err != nil {
		return err
	}
	m.mu.Lock()
	u.notes++
	m.mu.Unlock()
	return m.watch(ctx, "changes", func() (bool, error) {
		got, err := u.call(ctx, request{method: http.MethodGet, path: "/v1/changes?since=" + token})
		if err == nil && got.status != http.StatusOK {
			err = fmt.Errorf("changes since %s: %s", token, got)
		}
		if err != nil {
			return false, err
		}
		token = got.object()["next"].(string)
		if !strings.Contains(string(got.body), id) {
			return false, nil
		}
		m.mu.Lock()
		u.token = token
		m.mu.Unlock()
		return true, nil
	})
}

func (u *watched) post(ctx context.Context, fields map[string]any) (id string, err error) {
	got, err := u.call(ctx, request{method: http.MethodPost, path: "/v1/notes", body: fields})
	if err == nil && got.status != http.StatusCreated {
		err = fmt.Errorf("create note: %s", got)
	}
	id, _ = got.object()["noteId"].(string)
	return id, err
}

// watch measures until the effect is there.
func (m *visibility) watch(ctx context.Context, effect string, there func() (bool, error)) error {
	began := time.Now()
	var failed error
	seen := await(ctx, visibilityBound, visibilityPoll, func() bool {
		ok, err := there()
		failed = err
		return ok || err != nil
	})
	took := time.Since(began)
	if !seen || failed != nil {
		return fmt.Errorf("effect on %s not seen within %s: %w", effect, took, failed)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waits[effect] = append(m.waits[effect], took)
	return nil
}

func (m *visibility) effects() []string { return []string{"statistics", "backlinks", "changes"} }

func (m *visibility) table() string {
	var out strings.Builder
	fmt.Fprintf(&out,
		"write acknowledged to derived effect read over HTTP; %d writes/s for %s, %d users, looked for every %s\n",
		writesPerSecond, visibilityRun, visibilityUsers, visibilityPoll)
	fmt.Fprintf(&out, "machine: %d cores, %s, %s/%s, %s\n", runtime.NumCPU(), processorModel(), runtime.GOOS,
		runtime.GOARCH, runtime.Version())
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "effect\twrites\tp50\tp90\tp99\tlongest\tgoal p99\t")
	for _, name := range m.effects() {
		waits := m.waits[name]
		fmt.Fprintf(w, "%s\t%d\t%.1f ms\t%.1f ms\t%.1f ms\t%.1f ms\tbelow %.0f ms\t\n", name, len(waits),
			milliseconds(percentile(waits, 50)), milliseconds(percentile(waits, 90)), milliseconds(percentile(waits, 99)),
			milliseconds(percentile(waits, 100)), milliseconds(visibilityGoal))
	}
	_ = w.Flush() // to a builder, which never fails
	return out.String()
}

// percentile is the smallest value that so many per cent do not exceed (nearest rank).
func percentile(values []time.Duration, per int) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, (len(sorted)*per+99)/100-1)]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// processorModel is the processor's name where the system names it.
func processorModel() string {
	content, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "processor not named"
	}
	for line := range strings.Lines(string(content)) {
		if name, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return "processor not named"
}
