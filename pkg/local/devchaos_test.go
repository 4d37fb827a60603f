package local_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// Under each fault what is derived is right, and a recount finds nothing.
func TestPostChaos_leavesEverythingExact(t *testing.T) {
	t.Parallel()
	for _, one := range []object{
		{"fault": "kill", "part": "stats", "times": 3}, {"fault": "kill", "part": "effects", "times": 2},
		{"fault": "loseAnswer", "part": "stats", "times": 3},
		{"fault": "loseAnswer", "part": "scheduler", "times": 3}, {"fault": "throttle", "part": "links", "times": 3},
		{"fault": "delay", "part": "changes", "times": 1}, {"fault": "twoWorkers", "part": "projections", "times": 1},
	} {
		t.Run(fmt.Sprint(one["fault"], " of ", one["part"]), func(t *testing.T) {
			t.Parallel()
			s := startSystem(t, local.Options{Store: local.Memory})
			note := s.must("POST", "/v1/notes", object{"title": "n", "body": "b"})["noteId"]
			s.waitUntilIdle()
			armed := s.must("POST", "/dev/chaos", one)
			require.Equal(t, one["fault"], armed["fault"])
			for i := range 20 {
				s.task(fmt.Sprint(i), object{
					"links":  []object{{"targetType": "NOTE", "targetId": note}},
					"dueUtc": "2090-01-01T00:00:00Z", "dueTzid": "UTC", "reminderMinutes": []int{10},
				})
			}
			s.waitUntilIdle()
			require.Empty(t, s.items("/dev/chaos"), "the fault has hit as often as it was to")
			require.EqualValues(t, 20, s.stats()["totalTasks"])
			require.Len(t, s.items("/v1/notes/"+note.(string)+"/backlinks"), 20)
			require.Len(t, s.items("/dev/schedules"), 20)
			lines := s.lines("/dev/verify", object{})
			require.EqualValues(t, 0, lines[len(lines)-1]["summary"].(object)["found"], "%v", lines)
		})
	}
}

func TestPostChaos_namesTheFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	for field, body := range map[string]object{
		"fault": {"fault": "fire", "part": "stats"}, "part": {"fault": "kill", "part": "api"},
		"operation": {"fault": "kill", "part": "stats", "operation": "Put"},
		"times":     {"fault": "kill", "part": "stats", "times": 101},
	} {
		status, problem := s.call("POST", "/dev/chaos", body)
		require.Equal(t, http.StatusUnprocessableEntity, status, field)
		require.Contains(t, problem["detail"], field)
	}
	for range 20 {
		s.must("POST", "/dev/chaos", object{"fault": "throttle", "part": "walk"})
	}
	status, _ := s.call("POST", "/dev/chaos", object{"fault": "throttle", "part": "walk"})
	require.Equal(t, http.StatusConflict, status)
	require.Len(t, s.items("/dev/chaos"), 20)
	require.Empty(t, s.must("DELETE", "/dev/chaos", nil)["items"])
}
