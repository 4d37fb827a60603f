package e2e_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// mostUses bounds how often a test uses something of a quota. Until 80 percent are used, one use in ten asks.
	mostUses = 150
	// kept is how long an instance keeps what it knows of a quota.
	kept = 61 * time.Second
)

// quota is a limit on what is kept, reached over HTTP.
type quota struct {
	name, problem string
	number        int
	// use makes one more, and free removes the last, or all. Both take the answers to those that were made.
	use, free func(made []map[string]any) request
	all       bool // are removed at once
	counted   bool // by repairs alone
	isUsedUp  bool // by what was there before; an answer of up to a minute ago may still let some pass
}

// quotas returns all quotas that something asks, with numbers that a test can reach.
func quotas() []quota {
	create := func(collection string, fields map[string]any) func([]map[string]any) request {
		return func([]map[string]any) request {
			return request{method: http.MethodPost, path: "/v1/" + collection, body: fields}
		}
	}
	remove := func(collection, id string) func([]map[string]any) request {
		return func(made []map[string]any) request {
			return request{
				method: http.MethodDelete, path: "/v1/" + collection + "/" + made[len(made)-1][id].(string), match: matching(1),
			}
		}
	}
	daily := map[string]any{
		"title": "x", "startUtc": "2027-03-01T09:00:00Z", "startTzid": "UTC", "rrule": "FREQ=DAILY",
	}
	day := func(n int) time.Time { return time.Date(2027, 3, 1+n, 0, 0, 0, 0, time.UTC) }
	commit := func(path string, made []map[string]any, body map[string]any) request {
		body["parentRevId"] = ""
		if len(made) > 0 {
			body["parentRevId"] = made[len(made)-1]["revId"]
		}
		return request{method: http.MethodPost, path: path + "/revisions", body: body}
	}
	plan := func() map[string]any {
		return map[string]any{"reason": "morning_plan", "message": "", "todos": []any{}, "blocks": []any{}}
	}
	tree := func(nodes int) map[string]any {
		var all []any
		for n := range nodes {
			all = append(all, map[string]any{
				"nodeId": fmt.Sprintf("drv_00000000-0000-4000-9000-%012d", n), "nodeType": "DRIVER", "title": "x",
			})
		}
		return map[string]any{"message": "m", "source": "weekly_review", "nodes": all, "edges": []any{}}
	}
	prune := func(path string) func([]map[string]any) request {
		return func([]map[string]any) request {
			return request{method: http.MethodPost, path: path + "/prune",
				body: map[string]any{"keep": map[string]any{"last": 1}}}
		}
	}
	return []quota{
		{name: "content", number: 6, use: create("tasks", map[string]any{"title": "x"}), free: remove("tasks", "taskId")},
		{name: "notes", number: 4, use: create("notes", map[string]any{"title": "x"}), free: remove("notes", "noteId")},
		{name: "series", number: 2, use: create("series", daily), free: remove("series", "masterId")},
		{name: "plans", number: 2, use: func(made []map[string]any) request {
			return commit("/v1/plans/"+day(len(made)).Format(time.DateOnly), nil, plan())
		}, free: func(made []map[string]any) request {
			return request{method: http.MethodDelete, path: "/v1/plans/" + day(len(made)-1).Format(time.DateOnly)}
		}},
		{name: "plan-revisions", all: true, problem: "history-full", number: 3, use: func(made []map[string]any) request {
			return commit("/v1/plans/2027-03-01", made, plan())
		}, free: prune("/v1/plans/2027-03-01")},
		{name: "tree-revisions", all: true, problem: "history-full", number: 4, use: func(made []map[string]any) request {
			return commit("/v1/values", made, tree(1+len(made)))
		}, free: prune("/v1/values")},
		{name: "large-tree-revisions", all: true, problem: "history-full", number: 2, free: prune("/v1/values"),
			use: func(made []map[string]any) request { return commit("/v1/values", made, tree(501+len(made))) }},
		{name: "exceptions", all: true, number: 3, counted: true, use: func(made []map[string]any) request {
			if len(made) == 0 {
				return create("series", daily)(nil)
			}
			return request{method: http.MethodPut, match: matching(1), body: map[string]any{"title": "y"}, path: "/v1/series/" +
				made[0]["masterId"].(string) + "/instances/" + day(len(made)).Format("20060102")}
		}, free: func(made []map[string]any) request {
			return request{method: http.MethodDelete, path: "/v1/series/" + made[0]["masterId"].(string), match: matching(1)}
		}},
		{name: "schedules", number: 3, counted: true, use: create("reminders", map[string]any{
			"title": "x", "triggerUtc": "2027-03-01T09:00:00Z", "tzid": "UTC",
		}), free: remove("reminders", "reminderId")},
	}
}

// limits returns the arguments of nexus dev that set the numbers.
func limits(of ...quota) (args []string) {
	for _, q := range of {
		args = append(args, "--limit", q.name+"="+strconv.Itoa(q.number))
	}
	return args
}

// Each quota is reached and refused as docs/limits.md says, for its user alone, and what is removed frees it.
func TestDev_refusesWhatExceedsAQuotaAndFreesIt(t *testing.T) {
	t.Parallel()
	content, others := quotas()[:1], quotas()[1:]
	t.Run("content", func(t *testing.T) { // whatever is made counts for it
		t.Parallel()
		ephemeral(t, limits(content...)...).refusesAndFrees(t, content)
	})
	t.Run("others", func(t *testing.T) {
		t.Parallel()
		ephemeral(t, limits(others...)...).refusesAndFrees(t, others)
	})
}

// refusesAndFrees reaches each of the quotas and frees it.
func (s *system) refusesAndFrees(t *testing.T, quotas []quota) {
	t.Helper()
	for _, q := range quotas {
		c := s.client("user-of-" + q.name)
		made, refused := s.useUp(c, q)
		requireFull(t, q, refused)
		s.client("neighbour-of-"+q.name).do(http.StatusCreated, q.use(nil))
		for len(made) >= q.number {
			got, err := c.call(t.Context(), q.free(made))
			require.NoError(t, err)
			require.Less(t, got.status, 300, "%s: what frees is not refused: %s", q.name, got)
			if q.all {
				break
			}
			made = made[:len(made)-1]
		}
		s.recountQuotas(q)
		if q.name == "exceptions" {
			made = nil // they went with their series
		}
		c.do(http.StatusCreated, q.use(made))
	}
}

// Nothing frees ids that are gone: who has too many can change and delete, and create nothing.
func TestDev_refusesCreatesOfOneWithTooManyIDsThatAreGone(t *testing.T) {
	t.Parallel()
	gone := quota{name: "gone", number: 3, counted: true, isUsedUp: true, use: quotas()[1].use}
	s := ephemeral(t, limits(gone)...)
	c := s.client("forgetful")
	for range gone.number {
		id := c.create("notes", map[string]any{"title": "x"})["noteId"].(string)
		c.do(http.StatusNoContent, request{method: http.MethodDelete, path: "/v1/notes/" + id, match: matching(1)})
	}
	left := "/v1/notes/" + c.create("notes", map[string]any{"title": "x"})["noteId"].(string)
	s.recountQuotas(gone)
	made, refused := s.useUp(c, gone)
	require.Less(t, len(made), mostUses)
	requireFull(t, gone, refused)
	s.client("another-user").create("notes", map[string]any{"title": "x"})
	other := map[string]any{"title": "y"}
	c.do(http.StatusOK, request{method: http.MethodPatch, path: left, body: other, match: matching(1)})
	c.do(http.StatusNoContent, request{method: http.MethodDelete, path: left, match: matching(2)})
	s.recountQuotas(gone)
	requireFull(t, gone, c.do(http.StatusConflict, gone.use(nil)))
}

// useUp uses a quota until it is refused, and returns the answers before that and the refusal.
func (s *system) useUp(c client, q quota) (made []map[string]any, refused answer) {
	s.t.Helper()
	for range mostUses {
		got, err := c.call(s.t.Context(), q.use(made))
		require.NoError(s.t, err)
		if got.status == http.StatusConflict {
			if !q.isUsedUp {
				require.GreaterOrEqual(s.t, len(made), q.number, "%s: refused before its number: %s", q.name, got)
			}
			return made, got
		}
		require.Less(s.t, got.status, 300, "%s: %s", q.name, got)
		made = append(made, got.object())
		if len(made) >= q.number {
			s.recountQuotas(q)
		} else if strings.HasSuffix(q.problem, "full") {
			s.advance(time.Second) // revisions of one second have no order
		}
	}
	s.t.Fatalf("%s: not refused after %d uses", q.name, len(made))
	return nil, answer{}
}

// recountQuotas waits until what a quota is judged by is as new as the table.
func (s *system) recountQuotas(q quota) {
	s.t.Helper()
	s.waitUntilIdle()
	if q.counted {
		_, remaining := s.verified(true)
		require.Zero(s.t, remaining)
	}
	s.advance(kept)
}

// requireFull checks the documented form of the refusal.
func requireFull(t *testing.T, q quota, got answer) {
	t.Helper()
	body := got.object()
	problem := "quota-reached"
	if q.problem != "" {
		problem = q.problem
	}
	require.Equal(t, "/problems/"+problem, body["type"], "%s: %s", q.name, got)
	require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))
	require.Equal(t, q.name, body["quota"])
	limit, err := wholeNumber(body, "limit")
	require.NoError(t, err)
	require.EqualValues(t, q.number, limit)
	used, err := wholeNumber(body, "used")
	require.NoError(t, err)
	require.GreaterOrEqual(t, used, limit)
}
