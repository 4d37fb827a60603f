package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// beforeVariable names a build of another revision. The tests of this file measure it in the same run, in the place of
// a figure from another machine; nothing is required of it.
const beforeVariable = "NEXUS_E2E_BEFORE"

const (
	bystanders = 12
	movers     = 5 // users whose walks never end
	// soon is how soon a bystander's reminder must be scheduled. A busy machine gets five times as much more as it takes
	// undisturbed.
	soon = 2 * time.Second
	// patience bounds the wait for one of these schedules.
	patience = 3 * time.Minute
	// unlimited is a number that no test reaches.
	unlimited = "1000000"
)

// attackItems returns over how many items a walk goes.
func attackItems(t *testing.T) int {
	t.Helper()
	if os.Getenv("NEXUS_SOAK") != "" {
		return 1000
	}
	t.Log("walks over 200 items; over 1,000 under NEXUS_SOAK")
	return 200
}

// One user asks for 100 changes of the zone in one request: one is carried out. The others' reminders are scheduled all
// the while.
func TestDev_schedulesForOthersWhileOneAsksForAHundredZones(t *testing.T) {
	t.Parallel()
	items := attackItems(t)
	s := ephemeral(t, "--limit", "user="+unlimited)
	s.float("attacker", items)
	calm := s.scheduledIn(t, 2)
	statuses := s.askForZones("attacker", 100)
	longest := s.scheduledIn(t, 3)
	t.Logf("%d items, 100 changes in a request: %v; scheduled in %s, undisturbed in %s", items, statuses, longest, calm)
	require.Equal(t, map[string]int{"200": 1, "429": 99}, statuses)
	require.LessOrEqual(t, longest, soon+5*calm)
	if path := os.Getenv(beforeVariable); path != "" {
		before := newSystem(t)
		before.binary, before.args = path, []string{"--store", "dynamodb", "--ephemeral"}
		before.start()
		before.data = before.info().DataDir
		before.float("attacker", items)
		calm := before.scheduledIn(t, 2)
		statuses := before.askForZones("attacker", 100)
		t.Logf("before: %v; scheduled in %s, undisturbed in %s", statuses, before.scheduledIn(t, 1), calm)
	}
}

// Ten changes that no limit stops put about as many schedules as two, and users whose walks never end delay no other.
func TestDev_schedulesForOthersBesideWalksThatNeverEnd(t *testing.T) {
	t.Parallel()
	items := attackItems(t)
	s := ephemeral(t, "--limit", "user="+unlimited, "--limit", "zone="+unlimited)
	s.float("attacker", items)
	calm := s.scheduledIn(t, 2)
	put := s.lag().Reminders["scheduled"]
	for n := range 10 {
		s.changeZone(t.Context(), "attacker", n)
	}
	longest := s.scheduledIn(t, 3)
	s.waitLong(t)
	put = s.lag().Reminders["scheduled"] - put - 3*bystanders
	t.Logf("%d items, 10 changes: %d puts; scheduled in %s, undisturbed in %s", items, put, longest, calm)
	require.GreaterOrEqual(t, put, items)
	require.LessOrEqual(t, put, 2*items+50)
	require.LessOrEqual(t, longest, soon+5*calm)

	for n := range movers {
		s.float(fmt.Sprint("mover-", n), items/movers)
	}
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for n := range movers {
		group.Go(func() {
			for v := 0; ; v++ {
				select {
				case <-ctx.Done():
					return
				case <-time.After(200 * time.Millisecond):
					s.changeZone(ctx, fmt.Sprint("mover-", n), v)
				}
			}
		})
	}
	longest = s.scheduledIn(t, 5)
	stop()
	group.Wait()
	t.Logf("beside %d users whose walks never end: scheduled in %s", movers, longest)
	require.LessOrEqual(t, longest, soon+5*calm)
	s.waitLong(t)
	_, remaining := s.verified(false) // no count is near its limit
	require.Zero(t, remaining)
}

// float gives a user floating events with a reminder, and waits until these are scheduled.
func (s *system) float(user string, items int) {
	s.t.Helper()
	c, begin := s.client(user), s.now().Add(240*time.Hour)
	for done := 0; done < items; {
		var commands []any
		for ; done < items && len(commands) < 100; done++ {
			commands = append(commands, map[string]any{"id": fmt.Sprint("item-", done), "type": "CreateEvent",
				"data": map[string]any{
					"title": "x", "startUtc": begin.Add(time.Duration(done) * time.Minute).Format("2006-01-02T15:04:05"),
					"reminderMinutes": []int{10},
				}})
		}
		c.do(http.StatusOK, request{
			method: http.MethodPost, path: "/v1/commands", body: map[string]any{"commands": commands},
		})
	}
	s.waitLong(s.t)
	require.GreaterOrEqual(s.t, s.lag().Reminders["scheduled"], items)
}

// waitLong waits until nothing is under way, however long that takes.
func (s *system) waitLong(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	for {
		got, err := s.anonymous().call(ctx, request{method: http.MethodPost, path: "/dev/settle", body: map[string]any{}})
		require.NoError(t, err)
		if got.status == http.StatusOK {
			return
		}
	}
}

// zoneOf returns the zone of a user's nth change.
func zoneOf(n int) map[string]any {
	return map[string]any{"defaultTzid": []string{"Asia/Tokyo", "Europe/Berlin"}[n%2]}
}

func (s *system) changeZone(ctx context.Context, user string, n int) {
	got, err := s.client(user).call(ctx, request{
		method: http.MethodPatch, path: "/v1/me", body: zoneOf(n), match: matching(int64(n)),
	})
	if ctx.Err() == nil && (err != nil || got.status != http.StatusOK) {
		s.t.Errorf("change %d of %s: %s, %v", n, user, got, err)
	}
}

// askForZones asks for changes of the zone in one request, and counts the statuses.
func (s *system) askForZones(user string, changes int) map[string]int {
	s.t.Helper()
	var commands []any
	for n := range changes {
		one := map[string]any{"id": fmt.Sprint("zone-", n), "type": "UpdateMe", "data": zoneOf(n), "expectedVersion": 0}
		if n == 0 {
			one["data"] = map[string]any{"defaultTzid": "Europe/London"} // unlike the zone of each other change
		} else {
			delete(one, "expectedVersion")
			one["expectedAfter"] = "zone-0"
			if s.binary != "" { // which refuses none: each is made after the one before it
				one["expectedAfter"] = fmt.Sprint("zone-", n-1)
			}
		}
		commands = append(commands, one)
	}
	got := s.client(user).do(http.StatusOK, request{
		method: http.MethodPost, path: "/v1/commands", body: map[string]any{"commands": commands},
	})
	var out struct {
		Results []struct {
			Status json.Number `json:"status"`
		} `json:"results"`
	}
	require.NoError(s.t, json.Unmarshal(got.body, &out))
	statuses := map[string]int{}
	for _, r := range out.Results {
		statuses[r.Status.String()]++
	}
	return statuses
}

// scheduledIn has each of the bystanders create reminders one after another. It returns the longest time from a request
// to its schedule, at most the patience.
func (s *system) scheduledIn(t *testing.T, each int) (longest time.Duration) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	waiting := map[string]chan time.Time{}
	s.listen(ctx, func(line string) {
		mu.Lock()
		defer mu.Unlock()
		for user, seen := range waiting {
			if strings.Contains(line, `"op":"put"`) && strings.Contains(line, user) {
				delete(waiting, user)
				seen <- time.Now()
			}
		}
	})
	at := s.now().Add(time.Hour).UTC().Format(time.RFC3339)
	var group sync.WaitGroup
	for n := range bystanders {
		user := fmt.Sprintf("bystander-%02d", n)
		group.Go(func() {
			c := s.client(user)
			for range each {
				seen := make(chan time.Time, 1)
				mu.Lock()
				waiting[user] = seen
				mu.Unlock()
				began := time.Now()
				got, err := c.call(ctx, request{method: http.MethodPost, path: "/v1/reminders",
					body: map[string]any{"title": "tea", "triggerUtc": at, "tzid": "UTC"}})
				if err != nil || got.status != http.StatusCreated {
					t.Errorf("%s: %s, %v", user, got, err)
					return
				}
				end := began.Add(patience)
				select {
				case end = <-seen:
				case <-time.After(patience):
				}
				mu.Lock()
				delete(waiting, user)
				longest = max(longest, end.Sub(began))
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return longest
}

// listen calls see for each line of the system's stream, until the context ends.
func (s *system) listen(ctx context.Context, see func(line string)) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url()+"/dev/stream", http.NoBody)
	require.NoError(s.t, err)
	in, err := (&http.Client{Transport: &http.Transport{}}).Do(r)
	require.NoError(s.t, err)
	lines := bufio.NewScanner(in.Body)
	lines.Buffer(nil, 1<<20)
	require.True(s.t, lines.Scan(), "the first line says that it listens")
	go func() {
		defer in.Body.Close()
		for lines.Scan() {
			see(lines.Text())
		}
	}()
}
