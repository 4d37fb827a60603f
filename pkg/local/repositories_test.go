package local_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const treePath = "/v1/values"

// drivers is the body of a commit that adds so many drivers to the parent's tree.
func drivers(parent, title string, n int) object {
	ops := make([]object, n)
	for i := range ops {
		ops[i] = object{"op": "create", "nodeType": "DRIVER", "title": fmt.Sprint(title, " ", i)}
	}
	return object{"parentRevId": parent, "message": title, "source": "daily_update", "operations": ops}
}

// grow commits until it wins, each time on the head that the answer names, and returns the revision.
func (s *system) grow(title string, n int) string {
	parent := ""
	for range 200 {
		status, got := s.call("POST", treePath+"/revisions", drivers(parent, title, n))
		if status == http.StatusCreated {
			return got["revId"].(string)
		}
		if status != http.StatusConflict {
			s.t.Errorf("%s: status %d: %v", title, status, got)
			return ""
		}
		parent, _ = got["currentRevId"].(string)
	}
	s.t.Errorf("%s never won", title)
	return ""
}

// together runs the writers at once, each as a client of its own.
func (s *system) together(writers int, write func(i int, s *system)) {
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			own := clientOf(s.t, s.Platform)
			defer own.client.CloseIdleConnections()
			write(i, own)
		})
	}
	all.Wait()
}

func TestPlatform_letsOneOfManyWritersOfOneParentCommit(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		parent := s.grow("begun", 60) // with sixty more it takes more than one transaction
		const writers = 6
		statuses, heads := make([]int, writers), make([]any, writers)
		s.together(writers, func(i int, own *system) {
			status, got := own.call("POST", treePath+"/revisions", drivers(parent, fmt.Sprint("writer ", i), 60))
			statuses[i], heads[i] = status, got["revId"]
			if status == http.StatusConflict {
				heads[i] = got["currentRevId"]
			}
		})
		won := 0
		now := s.must("GET", treePath, nil)
		for i := range writers {
			require.Contains(t, []int{http.StatusCreated, http.StatusConflict}, statuses[i])
			require.Equal(t, now["revId"], heads[i])
			if statuses[i] == http.StatusCreated {
				won++
			}
		}
		require.Equal(t, 1, won)
		require.Len(t, now["nodes"], 120)
		require.Len(t, s.items(treePath+"/revisions"), 2)
		s.waitUntilIdle()
		require.Empty(t, s.items("/dev/parked"))
	})
}

func TestPlatform_losesNothingOfRacingWritersAndKeepsALine(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		const writers, rounds = 4, 4
		s.together(writers, func(i int, own *system) {
			for round := range rounds {
				own.grow(fmt.Sprint("writer ", i, " round ", round), 1)
			}
		})
		history := s.items(treePath + "/revisions")
		require.Len(t, history, writers*rounds)
		for i, entry := range history[1:] {
			require.Equal(t, entry["revId"], history[i]["parentRevId"], "one parent, and one child")
			require.Less(t, entry["revTs"], history[i]["revTs"])
		}
		require.NotContains(t, history[len(history)-1], "parentRevId")
		require.Len(t, s.must("GET", treePath, nil)["nodes"], writers*rounds)
		for i, entry := range history {
			revision := s.must("GET", treePath+"/revisions/"+entry["revId"].(string), nil)
			require.Len(t, revision["nodes"], writers*rounds-i)
		}
	})
}

func TestPlatform_makesOneRevisionOfTwinsUnderOneKey(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		const writers = 6
		ids := make([]any, writers)
		s.together(writers, func(i int, own *system) {
			status, got := own.call("POST", treePath+"/revisions", drivers("", "twin", 120), "Idempotency-Key", "one")
			require.Equal(t, http.StatusCreated, status, got)
			ids[i] = got["revId"]
		})
		head := s.must("GET", treePath, nil)
		for _, id := range ids {
			require.Equal(t, head["revId"], id)
		}
		require.Len(t, head["nodes"], 120)
		require.Len(t, s.items(treePath+"/revisions"), 1)
	})
}

func TestPlatform_plansWorksAndRollsADayOver(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		const driver, action = "drv_00000000-0000-4000-8000-000000000001", "act_00000000-0000-4000-8000-000000000002"
		const day = "/v1/plans/2026-03-02"
		s.must("POST", treePath+"/revisions", object{
			"message": "review", "source": "weekly_review",
			"nodes": []object{
				{"nodeId": driver, "nodeType": "DRIVER", "title": "d"},
				{"nodeId": action, "nodeType": "ACTION", "title": "a", "driverId": driver},
			},
			"edges": []object{{"parentNodeId": driver, "order": 1, "childNodeId": action}},
		})
		s.must("POST", day+"/revisions", object{
			"reason": "morning_plan", "todos": []object{{"actionId": action, "classification": "urgent"}}, "blocks": []object{},
		})
		s.together(4, func(i int, own *system) {
			if i%2 == 0 {
				own.must("POST", day+"/complete", object{"actionId": action})
				return
			}
			own.grow("meanwhile", 1)
		})
		require.Len(t, s.items(day+"/revisions"), 2, "of two completions one changed something")
		require.Len(t, s.items(treePath+"/revisions"), 4)
		require.Empty(t, s.must("POST", day+"/rollover", nil)["carried"])
		// No consumer derives from repositories: nothing of them reaches one, and nothing differs.
		s.waitUntilIdle()
		require.Empty(t, s.items("/dev/parked"))
		require.EqualValues(t, 0, s.stats()["totalTasks"])
	})
}
