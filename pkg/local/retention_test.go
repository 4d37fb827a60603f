package local_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A user keeps the history for 30 days. Each month what is older goes, with its rows, and the head stays.
func TestPlatform_prunesTheHistoryOfAUserWhoKeepsItForDays(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		first := s.grow("the first", 2)
		s.advance("1h")
		head := s.grow("the second", 2)
		s.must("PATCH", "/v1/me", object{"preferences": object{"historyDays": 30}}, "If-Match", `"0"`)
		day := s.now().Format(time.DateOnly)
		for _, message := range []string{"a", "b"} {
			parent := ""
			if message == "b" {
				parent = s.must("GET", "/v1/plans/"+day, nil)["revId"].(string)
			}
			s.must("POST", "/v1/plans/"+day+"/revisions", object{
				"parentRevId": parent, "reason": "morning_plan", "message": message, "todos": []object{}, "blocks": []object{},
			})
		}
		s.advance("312h") // thirteen days: nothing is old enough
		s.waitUntilIdle()
		require.Len(t, s.items(treePath+"/revisions"), 2)
		for range 3 {
			s.advance("744h")
			s.waitUntilIdle()
		}
		left := s.items(treePath + "/revisions")
		require.Len(t, left, 1)
		require.Equal(t, head, left[0]["revId"])
		require.Len(t, s.items("/v1/plans/"+day+"/revisions"), 1)
		status, gone := s.call("GET", treePath+"/revisions/"+first, nil)
		require.Equal(t, 410, status, "%v", gone)
		found, _ := s.verified(`{}`)
		require.Empty(t, found)
	})
}
