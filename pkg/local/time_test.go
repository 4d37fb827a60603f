package local_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/local"
	"nexus/pkg/local/engine/enginetest"
)

func TestMoveTo_keepsTheOrderOfEventsOverALongWay(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		start := s.now()
		task := s.task("done")
		id := task["taskId"].(string)
		s.must("PATCH", "/v1/tasks/"+id, object{"status": "COMPLETED"}, "If-Match", version(task))
		s.reminder("before", start.Add(20*time.Hour))
		s.reminder("between", start.Add(30*time.Hour))
		s.reminder("after", start.Add(8*24*time.Hour+3*time.Hour))
		moved := s.advance("240h")

		var order []string
		for _, e := range s.items("/dev/events") {
			detail := e["detail"].(object)
			what := e["type"].(string)
			if title, ok := detail["title"]; ok {
				what += " " + title.(string)
			}
			order = append(order, what)
		}
		require.Equal(t,
			[]string{"ReminderDue before", "TaskArchived", "ReminderDue between", "ItemExpired", "ReminderDue after"}, order)
		require.EqualValues(t, 3, moved["fired"])
		require.False(t, s.now().Before(start.Add(240*time.Hour)))
		status, _ := s.call("GET", "/v1/tasks/"+id, nil)
		require.Equal(t, http.StatusGone, status)
		require.EqualValues(t, 0, s.stats()["totalTasks"])
	})
}

func TestPostClock_addsUpAdvancesThatComeAtOnce(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	start := s.now()
	statuses := make([]int, 16)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() { statuses[i], _ = s.call("POST", "/dev/clock", object{"advance": "1h"}) })
	}
	all.Wait()
	require.Equal(t, slices.Repeat([]int{200}, len(statuses)), statuses)
	require.False(t, s.now().Before(start.Add(16*time.Hour)))
}

func TestPostClock_endsWithTheLastInstantOfAnItem(t *testing.T) {
	t.Parallel()
	machine := func() time.Time { return time.Date(entity.MaxYear, time.December, 30, 12, 0, 0, 0, time.UTC) }
	s := startSystem(t, local.Options{Store: local.Memory, Machine: machine})
	s.advance("12h")
	for _, body := range []object{{"advance": "87840h"}, {"advance": "24h"}, {"set": "2200-01-01T00:00:00Z"}} {
		status, problem := s.call("POST", "/dev/clock", body)
		require.Equal(t, http.StatusUnprocessableEntity, status, body)
		require.Contains(t, problem["detail"], "2199-12-31T23:59:59Z", body)
	}
	s.task("still accepted")
}

func TestPostClock_refusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	for name, c := range map[string]struct {
		body   any
		status int
	}{
		"backwards":       {object{"set": "2001-01-01T00:00:00Z"}, 422},
		"no duration":     {object{"advance": "soon"}, 422},
		"negative":        {object{"advance": "-1h"}, 422},
		"too far":         {object{"advance": "1000000h"}, 422},
		"nothing":         {object{}, 422},
		"both":            {object{"advance": "1h", "set": "2040-01-01T00:00:00Z"}, 422},
		"unknown member":  {object{"advance": "1h", "by": 1}, 400},
		"too long a body": {object{"advance": string(make([]byte, 5000))}, 413},
	} {
		status, problem := s.call("POST", "/dev/clock", c.body)
		require.Equal(t, c.status, status, name)
		require.EqualValues(t, c.status, problem["status"], name)
		require.NotEmpty(t, problem["detail"], name)
	}
	for detail, body := range map[string]any{
		`the body has no member "by"`:                                      object{"by": 1},
		`the body's member "advance" is of another kind`:                   object{"advance": 1},
		"the body has to be a JSON object":                                 []int{1},
		`advance "soon" is no duration above zero such as 90s, 15m or 25h`: object{"advance": "soon"},
	} {
		_, problem := s.call("POST", "/dev/clock", body)
		require.Equal(t, detail, problem["detail"])
	}
	status, problem := s.call("GET", "/dev/nothing", nil)
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, problem["detail"], "/dev/schedules")
	status, _ = s.call("POST", "/dev/clock", object{"advance": "1h"}, "Content-Type", "text/plain")
	require.Equal(t, http.StatusUnsupportedMediaType, status)
	status, _ = s.call("PUT", "/dev/clock", object{"advance": "1h"})
	require.Equal(t, http.StatusMethodNotAllowed, status)
}

func TestStartEndpoint_keepsRealTime(t *testing.T) {
	t.Parallel()
	endpoint := enginetest.Start(t)
	s := startSystem(t, local.Options{Endpoint: endpoint, DataDir: t.TempDir()})
	s.task("there")
	s.waitUntilIdle()
	require.EqualValues(t, 1, s.stats()["totalTasks"])
	status, _ := s.call("POST", "/dev/clock", object{"advance": "1h"})
	require.Equal(t, http.StatusConflict, status)
	require.Equal(t, false, s.must("GET", "/dev/clock", nil)["movable"])
}

func TestStart_deliversRemindersThatCameDueWhileItWasDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		down      string
		delivered int
		missed    bool
	}{
		"two hours late":    {"3h", 1, false},
		"thirty hours late": {"31h", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first := startSystem(t, local.Options{DataDir: dir})
			first.reminder("r", first.now().Add(time.Hour))
			first.waitUntilIdle()
			first.stop()
			// What a restart after that time would find: the clock's offset stands for the time that passed.
			require.NoError(t, os.WriteFile(filepath.Join(dir, "clock.json"), []byte(`{"offset":"`+c.down+`"}`), 0o600))

			second := startSystem(t, local.Options{DataDir: dir})
			second.waitUntilIdle()
			require.Len(t, second.items("/dev/events"), c.delivered)
			require.Equal(t, c.missed, second.must("GET", "/dev/info", nil)["missed"].(float64) > 0)
			require.Empty(t, second.items("/dev/schedules?state=PENDING"))
		})
	}
}
