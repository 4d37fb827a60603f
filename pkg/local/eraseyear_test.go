package local_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/local"
	"nexus/pkg/product"
)

// week lets the user have a week of everything. Each text that the user writes is marked.
func (s *system) week(user string, n int, treeHead string) {
	s.t.Helper()
	s.user = user
	texts := 100 * n
	text := func() string {
		texts++
		return marked(user, texts)
	}
	now := s.now()
	in := func(d time.Duration) string { return now.Add(d).UTC().Truncate(time.Second).Format(time.RFC3339) }
	note := s.must("POST", "/v1/notes", object{
		"title": text(), "body": text(), "tags": []string{fmt.Sprintf("plover-%d", n)},
	})
	links := []object{{"targetType": "NOTE", "targetId": note["noteId"], "relation": text()}}
	s.must("POST", "/v1/events", object{
		"title": text(), "description": text(), "location": text(), "startUtc": in(26 * time.Hour), "startTzid": "UTC",
		"endUtc": in(27 * time.Hour), "reminderMinutes": []int{5}, "links": links,
	})
	task := s.must("POST", "/v1/tasks", object{"title": text(), "description": text(), "dueUtc": in(50 * time.Hour),
		"dueTzid": "UTC", "reminderMinutes": []int{30}, "links": links})
	if n%2 == 0 {
		s.must("PATCH", "/v1/tasks/"+task["taskId"].(string), object{"status": "COMPLETED"}, "If-Match", version(task))
	}
	rings := s.reminder(text(), now.Add(time.Minute))
	s.advance("2m")
	s.must("POST", "/v1/reminders/"+rings["reminderId"].(string)+"/snooze", object{"minutes": 10})
	series := s.must("POST", "/v1/series", object{
		"title": text(), "startUtc": in(24 * time.Hour), "startTzid": "Europe/Paris", "rrule": "FREQ=DAILY;COUNT=5",
		"reminderMinutes": []int{10},
	})
	first := now.Add(48 * time.Hour)
	s.must("PUT", "/v1/series/"+series["masterId"].(string)+"/instances/"+first.Format("20060102"),
		object{"title": text(), "reminderMinutes": []int{3}}, "If-Match", version(series))
	s.must("POST", treePath+"/revisions", drivers(treeHead, text(), 2))
	s.must("POST", "/v1/plans/"+now.Format(time.DateOnly)+"/revisions", object{
		"reason": "morning_plan", "message": text(), "todos": []object{},
		"blocks": []object{{"blockType": "MEETING", "title": text(), "startTimeIso": in(0), "endTimeIso": in(time.Hour)}},
	})
	if n%10 == 3 {
		s.must("PATCH", "/v1/me", object{"defaultTzid": []string{"Asia/Tokyo", "Europe/Paris"}[n/10%2]}, "If-Match", "*")
	}
	status, report := s.ask("POST", "/v1/calendar/import", "text/calendar", []byte("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"+
		"PRODID:-//Example//EN\r\nBEGIN:VEVENT\r\nUID:"+fmt.Sprint(n)+"@example.com\r\nDTSTAMP:20260301T120000Z\r\n"+
		"DTSTART:"+now.Add(72*time.Hour).UTC().Format("20060102T150405Z")+"\r\nSUMMARY:"+text()+"\r\nX-KEPT:"+text()+
		"\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"))
	require.Equal(s.t, http.StatusOK, status, "%s", report)
}

// poison plants a row of the user that no consumer can read.
func (s *system) poison(user string) {
	s.t.Helper()
	s.plant(entity.ItemKey(user, entity.Ref{Type: product.TypeTask, ID: "task_poison"}), map[string]types.AttributeValue{
		entity.AttrType:    &types.AttributeValueMemberS{Value: "UNKNOWN"},
		entity.AttrVersion: &types.AttributeValueMemberS{Value: marked(user, 0)},
	})
	s.waitUntilIdle()
	require.NotEmpty(s.t, s.items("/dev/parked"))
}

// everythingAgain delivers the whole stream ten times and the parked records again, and repairs.
func (s *system) everythingAgain(parked []object) {
	s.t.Helper()
	s.must("POST", "/dev/redeliver", object{"from": "start", "times": 10})
	for _, one := range parked {
		record, err := json.Marshal(one["body"].(object)["record"])
		require.NoError(s.t, err)
		status, answer := s.ask("POST", "/dev/replay", "application/x-ndjson", record)
		require.Equal(s.t, http.StatusOK, status, "%s", answer)
	}
	status, answer := s.ask("POST", "/dev/verify", "application/json", []byte(`{"repair":true}`))
	require.Equal(s.t, http.StatusOK, status, "%s", answer)
	s.waitUntilIdle()
}

// requireNothingOf searches all bytes that the system keeps, and its log, for the user and the user's words.
func (s *system) requireNothingOf(user, dir string, log *logged) {
	s.t.Helper()
	texts := []string{"of " + user, user, base64.StdEncoding.EncodeToString([]byte("USER#" + user))[:54]}
	for _, place := range []string{"events", "schedules", "blobs", "checkpoints", "walks", "queue", "engine"} {
		if _, err := os.Stat(filepath.Join(dir, place)); err == nil {
			require.Empty(s.t, found(s.t, filepath.Join(dir, place), texts...))
		}
	}
	for _, text := range append(texts, "plover-") {
		require.NotContains(s.t, log.String(), text)
	}
}

// weeks is how long the user lives whose account is erased: a year under NEXUS_SOAK.
func weeks() int {
	if os.Getenv("NEXUS_SOAK") == "" {
		return 4
	}
	return 52
}

// A year of a user's life is erased. Nothing brings it back: neither the whole stream ten times, nor the parked
// records, nor a repair, nor the table of a day before the erasure.
func TestPlatform_leavesNothingOfAYear(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("lives for weeks")
	}
	const user, other = "9b0c3a52-7f61-4d8e-b1a4-2c5d6e7f8091", "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
	dir, log := t.TempDir(), &logged{}
	options := local.Options{
		DataDir: dir, Settling: 2 * time.Minute,
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	s := startSystem(t, options)
	s.live(other)
	s.user = user
	s.must("PUT", "/v1/me/feed", object{})
	s.must("PATCH", "/v1/me", object{"defaultTzid": "Europe/London"}, "If-Match", `"0"`)
	head := ""
	for n := range weeks() {
		s.week(user, n, head)
		head = s.must("GET", treePath, nil)["revId"].(string)
		s.advance("166h")
	}
	s.waitUntilIdle()
	s.user = user
	s.finishedExport()
	s.poison(user)
	parked := s.items("/dev/parked")
	require.NotEmpty(t, found(t, filepath.Join(dir, "blobs"), user))
	before := s.derived(other)
	s.stop()
	engineFile := filepath.Join(dir, "engine", "dynamodb.sqlite")
	older, err := os.ReadFile(engineFile)
	require.NoError(t, err)

	s = startSystem(t, options)
	s.user = other
	began := time.Now()
	require.Equal(t, "ERASED", s.must("POST", "/dev/erase", object{"user": user, "now": true})["state"])
	t.Logf("erased in %s", time.Since(began))
	s.everythingAgain(parked)
	require.Equal(t, before, s.derived(other), "law E3")
	s.stop()
	s.requireNothingOf(user, dir, log)

	// The table is restored to the day before. The buckets are not, nor is anything else.
	for _, name := range []string{engineFile, engineFile + "-wal", engineFile + "-shm"} {
		require.NoError(t, os.RemoveAll(name))
	}
	require.NoError(t, os.WriteFile(engineFile, older, 0o600))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "checkpoints"))) // a new table has a new stream
	s = startSystem(t, options)
	s.user = other
	again := s.must("POST", "/dev/erase", object{"again": true})
	require.InDelta(t, 1, again["erased"], 0, "%v", again)
	s.everythingAgain(parked)
	require.Equal(t, before, s.derived(other), "law E3")
	s.stop()
	s.requireNothingOf(user, dir, log)
}
