package local_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Thirty clients change one row at once, and none of them contradicts another: each succeeds.
func TestPlatform_letsManyChangesOfOneItemAtOnceSucceed(t *testing.T) {
	t.Parallel()
	const writers = 30
	onEachStore(t, func(t *testing.T, s *system) {
		note := s.must("POST", "/v1/notes", object{"title": "the middle"})["noteId"].(string)
		targets := make([]string, writers)
		for i := range targets {
			targets[i] = s.task(fmt.Sprint("target ", i))["taskId"].(string)
		}
		statuses := make([]int, writers)
		s.together(writers, func(i int, own *system) {
			statuses[i], _ = own.call("PUT", "/v1/notes/"+note+"/links/TASK/"+targets[i], nil)
		})
		for i, status := range statuses {
			require.Equal(t, http.StatusOK, status, "link %d of %v", i, statuses)
		}
		linked := s.must("GET", "/v1/notes/"+note, nil)
		require.Len(t, linked["links"], writers)
		require.EqualValues(t, writers+1, linked["version"])

		series := s.must("POST", "/v1/series", object{
			"title": "daily", "startUtc": "2032-03-01T09:00:00Z", "endUtc": "2032-03-01T10:00:00Z", "startTzid": "UTC",
			"rrule": "FREQ=DAILY",
		})["masterId"].(string)
		first := time.Date(2032, 3, 1, 0, 0, 0, 0, time.UTC)
		s.together(writers, func(i int, own *system) {
			date := first.AddDate(0, 0, i).Format("20060102")
			statuses[i], _ = own.call("PUT", "/v1/series/"+series+"/instances/"+date, object{"title": fmt.Sprint("day ", i)},
				"If-Match", `"1"`)
		})
		for i, status := range statuses {
			require.Equal(t, http.StatusOK, status, "date %d of %v", i, statuses)
		}
		require.Len(t, s.must("GET", "/v1/series/"+series, nil)["instances"], writers)
	})
}
