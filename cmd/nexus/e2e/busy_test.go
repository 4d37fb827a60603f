package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	busyWriters = 16
	busyFor     = 60 * time.Second
	// probeEvery is how often a reminder is created that comes due after probeAfter.
	probeEvery = 500 * time.Millisecond
	probeAfter = 6 * time.Second
)

// BenchmarkRemindersBehindWriters measures how far the reader of effects is behind sixteen clients that write without
// a pause, on the local platform with the real engine. It does so with the build that NEXUS_E2E_BEFORE names, too.
//
// behind is the time from the answer to a write until its reminder is scheduled. late is how much later than at its
// instant a reminder is published that came due six seconds after it was created. settle is how long it takes until
// nothing is under way, once the writers have ended.
func BenchmarkRemindersBehindWriters(b *testing.B) {
	for range b.N {
		now := newBusy(ephemeral(b, "--limit", "user="+unlimited, "--limit", "content="+unlimited))
		now.run(b)
		now.report(b, "")
		if path := os.Getenv(beforeVariable); path != "" {
			s := newSystem(b)
			s.binary, s.args = path, []string{"--store", "dynamodb", "--ephemeral", "--limit", "user=" + unlimited}
			s.start()
			before := newBusy(s)
			before.run(b)
			before.report(b, "before-")
		}
	}
}

// busy is one measurement.
type busy struct {
	system *system

	mu           sync.Mutex
	answered     map[string]time.Time // by the id of an item whose schedule is awaited
	due          map[string]time.Time // by the id of an item whose reminder is awaited
	seen         map[string]time.Time // schedules that came before the answer
	writes       int
	behind, late []time.Duration
	settle       time.Duration
}

func newBusy(s *system) *busy {
	return &busy{system: s, answered: map[string]time.Time{}, due: map[string]time.Time{}, seen: map[string]time.Time{}}
}

var itemOfLine = regexp.MustCompile(`"itemId":"((?:evt|rem)_[0-9a-f-]+)"`)

// see takes in a line of the system's stream.
func (m *busy) see(line string) {
	found := itemOfLine.FindStringSubmatch(line)
	if found == nil {
		return
	}
	now, id := time.Now(), found[1]
	m.mu.Lock()
	defer m.mu.Unlock()
	switch at, isDue := m.due[id]; {
	case strings.Contains(line, `"op":"put"`):
		if answered, is := m.answered[id]; is {
			m.behind = append(m.behind, now.Sub(answered))
			delete(m.answered, id)
		} else {
			m.seen[id] = now
		}
	case isDue && strings.Contains(line, `ReminderDue`):
		m.late = append(m.late, now.Sub(at))
		delete(m.due, id)
		if answered, is := m.answered[id]; is { // it was late before there was time for a schedule
			m.behind = append(m.behind, now.Sub(answered))
			delete(m.answered, id)
		}
	}
}

// wrote says that the item was created, and is to come due, if at all.
func (m *busy) wrote(id string, due time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	if _, is := m.seen[id]; is {
		m.behind = append(m.behind, 0)
		delete(m.seen, id)
	} else {
		m.answered[id] = time.Now()
	}
	if !due.IsZero() {
		m.due[id] = due
	}
}

func (m *busy) run(b *testing.B) {
	b.Helper()
	ctx, stop := context.WithTimeout(b.Context(), busyFor)
	defer stop()
	listening, end := context.WithCancel(b.Context())
	defer end()
	m.system.listen(listening, m.see)
	var work sync.WaitGroup
	for n := range busyWriters {
		work.Go(func() { m.write(ctx, n) })
	}
	work.Go(func() { m.probe(ctx) })
	work.Wait()
	begun := time.Now()
	m.system.waitLong(b)
	m.settle = time.Since(begun)
	bound := time.After(2 * time.Minute)
	for tick, left := time.Tick(100*time.Millisecond), 1; left > 0; {
		select {
		case <-bound:
			b.Errorf("%d schedules and reminders never came", left)
			return
		case <-tick:
			m.mu.Lock()
			left = len(m.due) + len(m.answered)
			m.mu.Unlock()
		}
	}
}

// write creates events that remind in an hour, until the time is over.
func (m *busy) write(ctx context.Context, n int) {
	c := m.system.client(fmt.Sprintf("writer-%02d", n))
	for ctx.Err() == nil {
		start := m.system.t.Context()
		at := time.Now().Add(2 * time.Hour).UTC().Format(time.RFC3339)
		got, err := c.call(start, request{method: http.MethodPost, path: "/v1/events", body: map[string]any{
			"title": "x", "startUtc": at, "startTzid": "UTC", "reminderMinutes": []int{60},
		}})
		if err != nil || got.status != http.StatusCreated {
			m.system.t.Errorf("writer %d: %s, %v", n, got, err)
			return
		}
		m.wrote(got.object()["eventId"].(string), time.Time{})
	}
}

func (m *busy) probe(ctx context.Context) {
	c := m.system.client("probe")
	for tick := time.Tick(probeEvery); ctx.Err() == nil; <-tick {
		due := time.Now().Add(probeAfter).Truncate(time.Second)
		got, err := c.call(m.system.t.Context(), request{method: http.MethodPost, path: "/v1/reminders",
			body: map[string]any{"title": "tea", "triggerUtc": due.UTC().Format(time.RFC3339), "tzid": "UTC"}})
		if err != nil || got.status != http.StatusCreated {
			m.system.t.Errorf("probe: %s, %v", got, err)
			return
		}
		m.wrote(got.object()["reminderId"].(string), due)
	}
}

func (m *busy) report(b *testing.B, before string) {
	b.Helper()
	require.NotEmpty(b, m.late)
	b.ReportMetric(float64(m.writes)/busyFor.Seconds(), before+"writes/s")
	for name, of := range map[string][]time.Duration{"behind": m.behind, "late": m.late} {
		for _, p := range []int{50, 99, 100} {
			b.ReportMetric(milliseconds(percentile(of, p)), fmt.Sprintf("%s%s-p%d-ms", before, name, p))
		}
	}
	b.ReportMetric(milliseconds(m.settle), before+"settle-ms")
}
