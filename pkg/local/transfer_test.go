package local_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// ask sends a request of any type of body, and returns the status and the bytes of the answer.
func (s *system) ask(method, path, media string, body []byte) (int, []byte) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.URL()+path, bytes.NewReader(body))
	require.NoError(s.t, err)
	request.Header.Set("Authorization", "Bearer "+s.user)
	if media != "" {
		request.Header.Set("Content-Type", media)
	}
	response, err := s.client.Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response.StatusCode, answer
}

// moving gives the user something of everything, and returns the paths of what there is.
func (s *system) moving() (paths []string) {
	s.t.Helper()
	s.must("PATCH", "/v1/me", object{"defaultTzid": "Europe/Paris"}, "If-Match", `"0"`)
	task := s.must("POST", "/v1/tasks", object{
		"title": "Report", "dueUtc": "2030-01-02T09:00:00", "reminderMinutes": []int{5},
	})
	note := s.must("POST", "/v1/notes", object{"title": "Note", "links": []object{
		{"targetType": "TASK", "targetId": task["taskId"]},
	}})
	event := s.must("POST", "/v1/events", object{"title": "Meet", "startUtc": "2030-01-03T09:00:00Z", "startTzid": "UTC"})
	series := s.must("POST", "/v1/series", object{
		"title": "Daily", "startUtc": "2030-01-01T08:00:00Z", "startTzid": "Europe/Paris", "rrule": "FREQ=DAILY;COUNT=9",
	})
	at := "/v1/series/" + series["masterId"].(string)
	s.must("PUT", at+"/instances/20300104", object{"title": "Another"}, "If-Match", `"1"`)
	ring := s.must("POST", "/v1/reminders", object{"title": "Ring", "triggerUtc": "2030-01-02T07:00:00Z", "tzid": "UTC"})
	done := s.must("POST", "/v1/reminders", object{"title": "Rang", "triggerUtc": "2030-01-02T07:00:00Z", "tzid": "UTC"})
	gone := s.must("POST", "/v1/notes", object{"title": "Gone"})
	old := "/v1/reminders/" + done["reminderId"].(string)
	s.must("POST", old+"/dismiss", object{})
	s.must("DELETE", "/v1/notes/"+gone["noteId"].(string), nil, "If-Match", `"1"`)
	s.must("POST", "/v1/values/revisions", object{"message": "m", "source": "daily_update", "operations": []object{
		{"op": "create", "nodeId": "drv_0f8fad5b-d9cb-469f-a165-70867728950e", "nodeType": "DRIVER", "title": "Health"},
		{"op": "create", "nodeId": "act_1f8fad5b-d9cb-469f-a165-70867728950e", "nodeType": "ACTION", "title": "Run",
			"parentId": "drv_0f8fad5b-d9cb-469f-a165-70867728950e"},
	}})
	s.must("POST", "/v1/plans/2030-01-02/revisions", object{
		"reason": "morning_plan", "blocks": []object{}, "todos": []object{
			{"actionId": "act_1f8fad5b-d9cb-469f-a165-70867728950e", "classification": "urgent"},
		},
	})
	completed := s.must("POST", "/v1/tasks", object{"title": "Done", "status": "COMPLETED", "priority": 2})
	s.waitUntilIdle()
	for range 2 { // the dismissed reminder leaves, then the completed task, which still counts
		s.advance("192h")
		s.waitUntilIdle()
	}
	s.must("POST", "/v1/tasks", object{"title": "Done last", "status": "COMPLETED"})
	days := time.Now().AddDate(0, 0, -9).Format("from=2006-01-02&") + time.Now().AddDate(0, 2, 0).Format("to=2006-01-02")
	s.waitUntilIdle()
	insights := s.must("GET", "/v1/me/insights?"+days, nil)
	require.EqualValues(s.t, 2, insights["completed"])
	return []string{
		"/v1/tasks/" + task["taskId"].(string), "/v1/tasks/" + task["taskId"].(string) + "/backlinks",
		"/v1/notes/" + note["noteId"].(string), "/v1/events/" + event["eventId"].(string), at,
		"/v1/instances/inst_20300104_" + strings.TrimPrefix(series["masterId"].(string), "mst_"),
		"/v1/reminders/" + ring["reminderId"].(string), old, "/v1/notes/" + gone["noteId"].(string),
		"/v1/tasks", "/v1/notes", "/v1/board", "/v1/archive", "/v1/values", "/v1/values/revisions",
		"/v1/plans/2030-01-02", "/v1/plans/2030-01-02/revisions", "/v1/me/stats", "/v1/calendar.ics",
		"/v1/me/insights?" + days,
		"/v1/tasks/" + completed["taskId"].(string),
		"/v1/agenda?from=2030-01-01T00:00:00Z&to=2030-02-01T00:00:00Z",
	}
}

// Each answer that the API gives of an account is the same after the account has gone to another system.
func TestPlatform_takesAnAccountIntoAnotherSystem(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, here *system) {
		paths := here.moving()
		there := startSystem(t, local.Options{Store: local.Memory})
		there.advance("385h")
		status, file := here.ask("POST", "/dev/export", "application/json", []byte(`{"user":"u1"}`))
		require.Equal(t, http.StatusOK, status, "%s", file)
		there.user = "zoe"
		status, report := there.ask("POST", "/dev/import?user=zoe", "application/zip", file)
		require.Equal(t, http.StatusOK, status, "%s", report)
		var counts map[string]any
		require.NoError(t, json.Unmarshal(report, &counts))
		require.InDelta(t, 7, counts["items"], 0)
		require.InDelta(t, 2, counts["archived"], 0)
		there.waitUntilIdle()
		// A cursor belongs to its user, and an agenda names the instant at which it was read.
		cursor := regexp.MustCompile(`"(nextCursor|asOf)":"[^"]*"`)
		for _, path := range paths {
			wantStatus, want := here.ask("GET", path, "", nil)
			gotStatus, got := there.ask("GET", path, "", nil)
			require.Equal(t, wantStatus, gotStatus, path)
			require.Equal(t, cursor.ReplaceAllString(string(want), ""), cursor.ReplaceAllString(string(got), ""), path)
		}
		status, again := there.ask("POST", "/dev/export", "application/json", []byte(`{"user":"zoe"}`))
		require.Equal(t, http.StatusOK, status)
		require.NotEmpty(t, again)
		_, found := there.ask("POST", "/dev/verify", "application/json", []byte(`{}`))
		require.NotContains(t, string(found), `"difference"`)
		status, refused := here.ask("POST", "/dev/import?user=u1", "application/zip", file)
		require.Equal(t, http.StatusConflict, status, "%s", refused)
		status, _ = here.ask("POST", "/dev/import?user=other", "application/zip", []byte("PK"))
		require.Equal(t, http.StatusUnprocessableEntity, status)
		status, _ = here.ask("POST", "/dev/import?user=other", "text/plain", file)
		require.Equal(t, http.StatusUnsupportedMediaType, status)
	})
}
