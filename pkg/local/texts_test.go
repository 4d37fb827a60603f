package local_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

// TestPlatform_takesNoTextThatBreaksItsLine goes through every way in.
func TestPlatform_takesNoTextThatBreaksItsLine(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	task := s.task("good")
	driver := s.must("POST", treePath+"/revisions", drivers("", "begun", 1))
	node := s.must("GET", treePath, nil)["nodes"].([]any)[0].(object)["nodeId"].(string)
	day := s.now().Format("2006-01-02")
	plan := s.must("POST", "/v1/plans/"+day+"/revisions", object{
		"message": "begun", "reason": "morning_plan", "todos": []any{}, "blocks": []any{},
	})
	start := s.now().Truncate(time.Hour).UTC()
	block := func(title string) object {
		return object{
			"message": "a block", "reason": "midday_replan", "parentRevId": plan["revId"], "todos": []any{},
			"blocks": []any{object{
				"blockType": "MEETING", "title": title, "startTimeIso": start.Format(time.RFC3339),
				"endTimeIso": start.Add(time.Hour).Format(time.RFC3339),
			}},
		}
	}
	tree := func(message, title, notes string) object {
		return object{"message": message, "source": "daily_update", "parentRevId": driver["revId"], "operations": []any{
			object{"op": "update", "nodeId": node, "title": title, "notes": notes},
		}}
	}
	for _, wrong := range []string{
		"two\nlines", "tab\there", "nul\x00", "del\u007f", "c1\u0085", "ls\u2028", "\u202egnp.exe", "isolate\u2067",
	} {
		for name, send := range map[string]func() (int, object){
			"a task":    func() (int, object) { return s.call("POST", "/v1/tasks", object{"title": wrong}) },
			"a tag":     func() (int, object) { return s.call("POST", "/v1/notes", object{"title": "n", "tags": []any{wrong}}) },
			"a message": func() (int, object) { return s.call("POST", treePath+"/revisions", tree(wrong, "good", "")) },
			"a node":    func() (int, object) { return s.call("POST", treePath+"/revisions", tree("good", wrong, "")) },
			"a block":   func() (int, object) { return s.call("POST", "/v1/plans/"+day+"/revisions", block(wrong)) },
			"a patch": func() (int, object) {
				return s.call("PATCH", "/v1/tasks/"+task["taskId"].(string), object{"title": wrong}, "If-Match", version(task))
			},
			"a location": func() (int, object) {
				return s.call("POST", "/v1/events", object{
					"title": "e", "startUtc": "2026-03-01T09:00:00Z", "startTzid": "UTC", "location": wrong,
				})
			},
		} {
			status, problem := send()
			require.Equal(t, http.StatusUnprocessableEntity, status, "%s %q: %v", name, wrong, problem)
			require.Contains(t, fmt.Sprint(problem), "U+", "%s %q", name, wrong)
		}
	}
	for name, send := range map[string]func() (int, object){
		"a note":       func() (int, object) { return s.call("POST", "/v1/notes", object{"title": "n", "body": "a\x01b"}) },
		"a node's one": func() (int, object) { return s.call("POST", treePath+"/revisions", tree("good", "good", "a\rb")) },
	} {
		status, problem := send()
		require.Equal(t, http.StatusUnprocessableEntity, status, "%s: %v", name, problem)
		require.Contains(t, fmt.Sprint(problem), "U+00", name)
	}
	right := "فارسی\u200f (A\u200eB) \u061c"
	s.must("POST", "/v1/notes", object{"title": right, "tags": []any{right}, "body": "two\n\tlines \u202eas they are"})
	s.must("POST", "/v1/plans/"+day+"/revisions", block(right))
	s.must("POST", treePath+"/revisions", tree(right, right, strings.Repeat("a\n\t", 5)))
}
