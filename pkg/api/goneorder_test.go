package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// Docs/contracts.md, "Gone", says in which order a write of an entity that left is refused.
func TestRefuseGone_comesInTheOrderOfTheContract(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := "/v1/notes/" + b.want(201, post("/v1/notes", `{"title":"n"}`)).text("noteId")
	reminder := "/v1/reminders/" +
		b.want(201,
			post("/v1/reminders", `{"title":"r","triggerUtc":"2026-03-03T09:00:00Z","tzid":"UTC"}`)).text("reminderId")
	series := "/v1/series/" + b.want(201, post("/v1/series",
		`{"title":"s","startUtc":"2026-03-03T09:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY"}`)).text("masterId")
	b.want(204, del(series, 1))
	b.want(204, del(note, 1))
	b.want(204, del(reminder, 1))
	for name, c := range map[string]struct {
		want    int
		request request
	}{
		"an If-Match that is none": {400, patch(note, `{"title":"x"}`, 1).with("If-Match", "one")},
		"a key that is too long": {400,
			post(reminder+"/snooze", `{"minutes":0}`).with("Idempotency-Key", strings.Repeat("k", 256))},
		"such a key where none is needed": {400,
			request{method: http.MethodPut, path: "/v1/me/feed"}.with("Idempotency-Key", strings.Repeat("k", 256))},
		"a body that is no JSON":             {400, patch(note, `{"title":`, 1)},
		"a body of another type":             {415, patch(note, `{"title":"x"}`, 1).with("Content-Type", "text/plain")},
		"a body that is no JSON, and no tag": {400, request{method: http.MethodPatch, path: note, body: `{`}},
		"a change without a tag":             {428, request{method: http.MethodPatch, path: note, body: `{"title":"x"}`}},
		"a wrong change without a tag":       {428, request{method: http.MethodPatch, path: note, body: `{"title":7}`}},
		"a deletion without a tag":           {428, request{method: http.MethodDelete, path: note}},
		"an action with a wrong field":       {422, post(reminder+"/snooze", `{"minutes":0}`)},
		"an action of two meanings": {422,
			post(reminder+"/snooze", `{"minutes":5,"untilUtc":"2026-03-03T09:00:00Z"}`)},
		"an action without a field": {422, post(reminder+"/snooze", `{}`)},
		"an action in the past":     {422, post(reminder+"/snooze", `{"untilUtc":"2020-01-01T00:00:00Z"}`)},
		"an end that is no time":    {422, post(series+"/end", `{"untilUtc":"x"}`)},
		"an end without a tag":      {428, post(series+"/end", `{"untilUtc":"2026-06-30T23:59:59"}`)},
		"a link with a wrong field": {422,
			request{method: http.MethodPut, path: note + "/links/TASK/task_x", body: `{"relation":""}`}},
		"a wrong change":                       {410, patch(note, `{"title":7}`, 1)},
		"a change of a version that never was": {410, patch(note, `{"title":"x"}`, 9)},
		"a deletion of such a version":         {410, del(note, 9)},
		"an action":                            {410, post(reminder+"/snooze", `{"minutes":5}`)},
	} {
		b.Equal(c.want, b.do(c.request).Code, name)
	}
}

// A link keeps what it is where its target is deleted: only a new link needs the target.
func TestLinkOperations_changeARelationToADeletedTarget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	task := b.want(201, post("/v1/tasks", `{"title":"t"}`)).text("taskId")
	note := "/v1/notes/" + b.want(201, post("/v1/notes", `{"title":"n"}`)).text("noteId")
	link := note + "/links/TASK/" + task
	b.want(200, request{method: http.MethodPut, path: link, body: `{"relation":"one"}`})
	b.want(204, del("/v1/tasks/"+task, 1))
	changed := b.want(200, request{method: http.MethodPut, path: link, body: `{"relation":"two"}`})
	b.Equal([]any{map[string]any{"targetType": "TASK", "targetId": task, "relation": "two"}}, changed.doc["links"])
	links := `{"links":[{"targetType":"TASK","targetId":"` + task + `","relation":"three"}]}`
	b.want(200, patch(note, links, 3))
	b.want(200, request{method: http.MethodDelete, path: link})
	b.want(404, request{method: http.MethodPut, path: link, body: `{"relation":"two"}`})
	b.want(404, patch(note, links, 5))
}
