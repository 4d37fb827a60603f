package local_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// pagesOf follows a list's cursors and returns the values of an attribute.
func (s *system) pagesOf(path, attr string) []string {
	s.t.Helper()
	var out []string
	for cursor := ""; ; {
		page := s.must("GET", path+cursor, nil)
		for _, item := range page["items"].([]any) {
			out = append(out, item.(object)[attr].(string))
		}
		next, more := page["nextCursor"].(string)
		if !more {
			return out
		}
		cursor = "&cursor=" + next
	}
}

func TestPlatform_listsWithFiltersAndWithoutAWindowOnEachStore(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		var events, home []string
		for i := range 7 {
			start := fmt.Sprintf("%d-03-10T09:00:00Z", 1990+10*i)
			events = append(events, s.must("POST", "/v1/events", object{
				"title": "e", "startUtc": start, "startTzid": "UTC",
			})["eventId"].(string))
			task := s.task(fmt.Sprint("Task ", i), object{
				"tags": []string{[]string{"home", "work"}[i%2]}, "status": []string{"BACKLOG", "COMPLETED"}[i%2],
			})
			if i%2 == 0 {
				home = append(home, task["taskId"].(string))
			}
		}
		slices.Sort(events)
		slices.Sort(home)
		for _, limit := range []int{1, 2, 3, 7, 100} {
			require.Equal(t, events, s.pagesOf(fmt.Sprint("/v1/events?limit=", limit), "eventId"))
			found := s.pagesOf(fmt.Sprint("/v1/tasks?tag=home&q=tASK&limit=", limit), "taskId")
			slices.Sort(found)
			require.Equal(t, home, found)
			require.Len(t, s.pagesOf(fmt.Sprint("/v1/tasks?limit=", limit), "taskId"), 7)
		}
		s.user = "another"
		require.Empty(t, s.pagesOf("/v1/events?limit=5", "eventId"))
		require.Empty(t, s.pagesOf("/v1/tasks?q=task&limit=5", "taskId"))
	})
}
