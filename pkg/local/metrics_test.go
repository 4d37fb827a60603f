package local_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// use returns one figure of a user's or consumer's use of the table.
func use(metrics object, user, name string) float64 {
	store, _ := metrics["store"].(object)
	used, _ := store[user].(object)
	n, _ := used[name].(float64)
	return n
}

func TestGetMetrics_showsWhoUsesTheTable(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		s.task("counted")
		s.waitUntilIdle()
		metrics := s.must("GET", "/dev/metrics", nil)
		require.Positive(t, use(metrics, "api", "writeUnits"))
		require.Positive(t, use(metrics, "stats", "writeUnits"))
		require.Positive(t, use(metrics, "stats", "readUnits"))
		require.Zero(t, use(metrics, "links", "calls"), "a task without links costs no call")
		require.Zero(t, use(metrics, "notify", "calls"))
		operations := metrics["store"].(object)["stats"].(object)["operations"].(object)
		require.Equal(t, 1.0, operations["Update"].(object)["calls"])

		s.must("POST", "/dev/redeliver", object{"consumer": "stats", "from": "start"})
		for _, c := range s.must("GET", "/dev/metrics", nil)["consumers"].([]any) {
			if c := c.(object); c["consumer"] == "stats" {
				require.Equal(t, []any{2.0, 2.0, 1.0}, []any{c["records"], c["done"], c["alreadyDone"]})
			}
		}
		operations = s.must("GET", "/dev/metrics", nil)["store"].(object)["stats"].(object)["operations"].(object)
		require.Equal(t, []any{1.0, 4.0}, []any{operations["Update"].(object)["calls"],
			operations["BatchGet"].(object)["calls"]}, "what is done already is only read")
	})
}

// What the manual says that things cost (docs/operations.md, "Capacity"), in read and write units.
func TestGetMetrics_showsTheCostsOfTheManual(t *testing.T) {
	t.Parallel()
	type cost map[string][2]float64
	const id = "task_9e8d7c6b-5a4f-4e3d-8c2b-1a0f9e8d7c6b"
	task := object{
		"title": "Write", "dueUtc": "2032-12-01T17:00:00Z", "dueTzid": "Europe/Paris", "reminderMinutes": []int{30},
	}
	named := object{
		"taskId": id, "title": "Write", "dueUtc": "2032-12-01T17:00:00Z", "dueTzid": "Europe/Paris",
		"reminderMinutes": []int{30},
	}
	event := object{
		"title": "Meet", "startUtc": "2032-12-02T09:00:00Z", "endUtc": "2032-12-02T10:00:00Z", "startTzid": "Europe/Paris",
		"reminderMinutes": []int{15},
	}
	onEachStore(t, func(t *testing.T, s *system) {
		for _, step := range []struct {
			name, method, path string
			body               any
			header             []string
			want               cost
		}{
			{"create a task", "POST", "/v1/tasks", task, nil, cost{"api": {0, 3}, "stats": {2, 3}, "reminders": {4, 0}}},
			{"with an id and a key", "POST", "/v1/tasks", named, []string{"Idempotency-Key", "k"},
				cost{"api": {0, 10}, "stats": {2.5, 3}, "reminders": {4, 0}}},
			{"change its title", "PATCH", "/v1/tasks/" + id, object{"title": "Write it"}, []string{"If-Match", `"1"`},
				cost{"api": {1, 3}, "reminders": {4, 0}}},
			{"complete it", "PATCH", "/v1/tasks/" + id, object{"status": "COMPLETED"}, []string{"If-Match", `"2"`},
				cost{"api": {2, 4}, "stats": {2, 3}, "reminders": {4, 0}, "archive": {0, 1}}},
			{"create an event", "POST", "/v1/events", event, nil, cost{"api": {0, 2}, "stats": {2.5, 3}, "reminders": {4, 0}}},
			{"agenda", "GET", "/v1/agenda?from=2032-12-01T00:00:00Z&to=2032-12-08T00:00:00Z", nil, nil, cost{"api": {4, 0}}},
			{"board", "GET", "/v1/board", nil, nil, cost{"api": {2.5, 0}}},
		} {
			s.waitUntilIdle()
			before := s.must("GET", "/dev/metrics", nil)
			status, answer := s.call(step.method, step.path, step.body, step.header...)
			require.Less(t, status, 300, "%s: %v", step.name, answer)
			s.waitUntilIdle()
			after := s.must("GET", "/dev/metrics", nil)
			have := cost{}
			for _, user := range []string{"api", "stats", "links", "reminders", "archive", "notify"} {
				units := [2]float64{}
				for i, name := range []string{"readUnits", "writeUnits"} {
					units[i] = use(after, user, name) - use(before, user, name)
				}
				if units != [2]float64{} {
					have[user] = units
				}
			}
			require.Equal(t, step.want, have, step.name)
		}
	})
}
