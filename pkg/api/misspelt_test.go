package api_test

import (
	"net/http"
	"slices"
	"testing"
)

func TestAddUnknown_countsAMisspeltFieldAsSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	task := "/v1/tasks/" + b.want(201, post("/v1/tasks", `{"title":"a"}`)).text("taskId")
	for name, c := range map[string]struct {
		request request
		want    []string
	}{
		"a task's zone and title": {
			post("/v1/tasks", `{"titel":"a","dueUtc":"2026-03-04T07:00:00Z","duetzid":"UTC"}`),
			[]string{"/duetzid", "/titel"},
		},
		"a task's zone without a time": {
			post("/v1/tasks", `{"title":"a","duetzid":"UTC"}`), []string{"/duetzid"},
		},
		"a reminder's zone": {
			post("/v1/reminders", `{"title":"a","triggerUtc":"2026-03-04T07:00:00Z","triggerTzid":"UTC"}`),
			[]string{"/triggerTzid"},
		},
		"a reminder's rule": {
			post("/v1/reminders", `{"title":"a","triggerUtc":"2026-03-04T07:00:00Z","tzid":"UTC","rule":"FREQ=DAILY"}`),
			[]string{"/rule"},
		},
		"a series' rule": {
			post("/v1/series", `{"title":"a","startUtc":"2026-03-04T07:00:00Z","startTzid":"UTC","rule":"FREQ=DAILY"}`),
			[]string{"/rule"},
		},
		"the day of an event with times": {
			post("/v1/events", `{"title":"a","startUtc":"2026-03-04T07:00:00","start_date":"2026-03-04"}`),
			[]string{"/start_date"},
		},
		"the zone of an event's end": {
			post("/v1/events", `{"title":"a","startUtc":"2026-03-04T07:00:00","end_tzid":"UTC"}`), []string{"/end_tzid"},
		},
		"the target of a link": {
			post("/v1/tasks", `{"title":"a","links":[{"targetType":"NOTE","target_id":"note_x"}]}`),
			[]string{"/links/0/target_id"},
		},
		"the type of a link's target": {
			post("/v1/tasks", `{"title":"a","links":[{"target_type":"NOTE","targetId":"note_x"}]}`),
			[]string{"/links/0/target_type"},
		},
		"the minutes of a change":     {patch(task, `{"reminder_minutes":[5]}`, 1), []string{"/reminder_minutes"}},
		"a field beside its own name": {post("/v1/tasks", `{"title":7,"titel":"a"}`), []string{"/titel", "/title"}},
		"a field that is like none":   {post("/v1/tasks", `{"zzzzzzzz":7}`), []string{"/title", "/zzzzzzzz"}},
		"a wrong field besides":       {post("/v1/tasks", `{"titel":"a","priority":9}`), []string{"/priority", "/titel"}},
	} {
		got := b.want(422, c.request).pointers()
		slices.Sort(got)
		b.Equal(c.want, got, name)
	}
}

func TestLinkOperations_refuseAnEmptyRelationEverywhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := b.want(201, post("/v1/notes", `{"title":"n"}`)).text("noteId")
	task := "/v1/tasks/" + b.want(201, post("/v1/tasks", `{"title":"t"}`)).text("taskId")
	links := `{"title":"x","links":[{"targetType":"NOTE","targetId":"` + note + `","relation":""}]}`
	for pointer, r := range map[string]request{
		"/relation":         {method: http.MethodPut, path: task + "/links/NOTE/" + note, body: `{"relation":""}`},
		"/links/0/relation": post("/v1/tasks", links),
	} {
		b.Equal([]string{pointer}, b.want(422, r).pointers())
	}
	b.Equal([]string{"/links/0/relation"}, b.want(422, patch(task, links, 1)).pointers())
	b.NotContains(b.want(200, get(task)).doc, "links")
}
