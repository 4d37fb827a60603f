package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestImport_announcesNoneOfFiveHundredPastEvents(t *testing.T) {
	t.Parallel()
	s := ephemeral(t)
	c, now := s.client("importer"), s.now()
	const events, batch = 500, 100
	for first := 0; first < events; first += batch {
		var commands []any
		for n := first; n < first+batch; n++ {
			start := now.Add(-time.Hour - time.Duration(n*n)*20*time.Minute) // from an hour to ten years ago
			commands = append(commands, map[string]any{
				"id": fmt.Sprintf("import-%d", n), "type": "CreateEvent", "data": map[string]any{
					"title": fmt.Sprintf("past %d", n), "startUtc": start.Format(time.RFC3339), "startTzid": "Europe/London",
					"reminderMinutes": []int{15, 60},
				},
			})
		}
		var out struct {
			Results []struct {
				ID     string `json:"id"`
				Status int    `json:"status"`
			} `json:"results"`
		}
		got := c.do(http.StatusOK, request{
			method: http.MethodPost, path: "/v1/commands", body: map[string]any{"commands": commands},
		})
		require.NoError(t, json.Unmarshal(got.body, &out))
		require.Len(t, out.Results, batch)
		for _, r := range out.Results {
			require.Equal(t, http.StatusCreated, r.Status, r.ID)
		}
	}
	s.waitUntilIdle()
	total, err := wholeNumber(c.get("/v1/me/stats"), "totalEvents")
	require.NoError(t, err)
	require.EqualValues(t, events, total)
	s.requireNothingAnnounced(t)
	s.advance(25 * time.Hour) // nor does time change that
	s.requireNothingAnnounced(t)
}

func (s *system) requireNothingAnnounced(t *testing.T) {
	t.Helper()
	require.Empty(t, s.events(), "published")
	require.Empty(t, s.pending(), "schedules")
	require.Zero(t, s.lag().Reminders["missed"], "missed")
	require.Zero(t, s.info().Missed, "missed")
}

func TestDev_announcesAReminderOnceThatCameDueWhileItWasDown(t *testing.T) {
	t.Parallel()
	s := onDirectory(t)
	c := s.client("late")
	reminder := func(in time.Duration) (id string, due time.Time) {
		due = s.now().Add(in).Truncate(time.Second)
		r := c.create("reminders", map[string]any{
			"title": "due while nobody is there", "triggerUtc": due.Format(time.RFC3339), "tzid": "UTC",
		})
		return r["reminderId"].(string), due
	}
	id, due := reminder(time.Hour)
	s.waitUntilIdle()
	require.Len(t, s.pending(), 1, "schedules before the process is killed")
	s.downFor(t, 2*time.Hour)
	s.requireAnnounced(t, id, due)
	require.Positive(t, s.lag().Reminders["late"], "late ones are counted")

	// The record of the next one may not have been read by anybody when the process dies.
	next, nextDue := reminder(2 * time.Second)
	s.downFor(t, 2*time.Minute)
	s.requireAnnounced(t, next, nextDue)

	// Nothing of it comes again.
	published := len(s.events())
	s.downFor(t, time.Hour)
	s.redeliver(2)
	s.waitUntilIdle()
	require.Len(t, s.events(), published, "published")
	require.Zero(t, s.info().Missed, "missed")
}

func TestDev_countsAReminderADayLateAsMissed(t *testing.T) {
	t.Parallel()
	s := onDirectory(t)
	c := s.client("missed")
	due := s.now().Add(time.Hour).Truncate(time.Second)
	c.create("reminders", map[string]any{"title": "missed", "triggerUtc": due.Format(time.RFC3339), "tzid": "UTC"})
	s.waitUntilIdle()
	s.downFor(t, 31*time.Hour)
	require.Empty(t, s.events(), "published")
	require.Empty(t, s.pending(), "schedules")
	require.Positive(t, s.info().Missed, "missed")
	require.Contains(t, s.process().stderr.text(), "missed", "the log says so")
}

func (s *system) requireAnnounced(t *testing.T, id string, due time.Time) {
	t.Helper()
	deliveries := map[string]bool{} // a kill between publishing and writing that down repeats one, under the same id
	for _, e := range s.events() {
		if e.Type == "ReminderDue" && e.Detail.ItemID == id {
			deliveries[e.Detail.DeliveryID] = true
			require.Equal(t, due.UTC(), e.Detail.DueUtc.UTC(), "due instant")
		}
	}
	require.Len(t, deliveries, 1, "announcements of %s", id)
	require.NotContains(t, deliveries, "")
}

// downFor kills the process and starts the next one as if it had been down for so long: the platform's time is the
// machine's and an offset on disk.
func (s *system) downFor(t *testing.T, d time.Duration) {
	t.Helper()
	s.kill()
	var saved struct {
		Offset string `json:"offset"`
	}
	file := filepath.Join(s.data, "clock.json")
	content, err := os.ReadFile(file)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(content, &saved))
		before, err := time.ParseDuration(saved.Offset)
		require.NoError(t, err)
		d += before
	}
	saved.Offset = d.String()
	content, err = json.Marshal(saved)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, content, 0o600))
	s.start()
	s.waitUntilIdle()
}
