package api_test

import (
	"fmt"
	"net/url"
	"testing"
)

// gather follows a list's cursors and returns the items' titles and how many pages there were.
func (b *fixture) gather(user, path string) (titles []string, pages int) {
	b.t.Helper()
	for cursor := ""; ; {
		pages++
		page := b.want(200, get(path+cursor).by(user))
		for _, item := range page.items() {
			titles = append(titles, item["title"].(string))
		}
		next, more := page.doc["nextCursor"].(string)
		if !more {
			return titles, pages
		}
		b.Less(pages, 200)
		cursor = "&cursor=" + next
	}
}

func TestAllOperation_listsEverythingWithoutAWindow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.overHTTP()
	for i := range 5 {
		year := 1990 + 20*i
		b.want(201,
			post("/v1/events", fmt.Sprintf(`{"title":"event","startUtc":"%d-03-10T09:00:00Z","startTzid":"UTC"}`, year)))
		b.want(201, post("/v1/series", fmt.Sprintf(
			`{"title":"series","startUtc":"%d-03-10T09:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY;COUNT=3"}`, year)))
		b.want(201,
			post("/v1/reminders", fmt.Sprintf(`{"title":"reminder","triggerUtc":"%d-03-10T09:00:00Z","tzid":"UTC"}`, year)))
	}
	b.want(201, post("/v1/events", `{"title":"another's","startUtc":"2026-03-10T09:00:00Z","startTzid":"UTC"}`).by("bob"))
	for plural, title := range map[string]string{"events": "event", "series": "series", "reminders": "reminder"} {
		titles, pages := b.gather("ann", "/v1/"+plural+"?limit=2")
		b.Equal([]string{title, title, title, title, title}, titles)
		b.Equal(3, pages)
	}
	titles, _ := b.gather("bob", "/v1/events?limit=2")
	b.Equal([]string{"another's"}, titles)
	empty, _ := b.gather("carol", "/v1/series?limit=2")
	b.Empty(empty)
}

func TestFilterOf_findsByTagStatusDueTimeAndTitle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.overHTTP()
	task := func(title, more string) { b.want(201, post("/v1/tasks", `{"title":"`+title+`"`+more+`}`)) }
	task("Buy Äpfel", `,"tags":["home"],"dueUtc":"2026-03-01T09:00:00Z","dueTzid":"UTC","priority":1`)
	task("buy bread", `,"tags":["home"],"status":"IN_PROGRESS"`)
	task("call", `,"tags":["work"],"dueUtc":"2026-03-01T09:00:00Z","dueTzid":"UTC","status":"COMPLETED"`)
	task("write", `,"dueUtc":"2030-03-01T09:00:00Z","dueTzid":"UTC"`)
	b.want(201, post("/v1/notes", `{"title":"A pinned one","isPinned":true,"tags":["home"]}`))
	b.want(201, post("/v1/notes", `{"title":"a recent one","tags":["home","work"]}`))
	for path, want := range map[string][]string{
		"/v1/tasks?limit=1":                                   {"Buy Äpfel", "write", "buy bread", "call"},
		"/v1/tasks?limit=1&tag=home":                          {"Buy Äpfel", "buy bread"},
		"/v1/tasks?limit=1&overdue=true":                      {"Buy Äpfel"},
		"/v1/tasks?limit=1&overdue=false":                     {"Buy Äpfel", "write", "buy bread", "call"},
		"/v1/tasks?limit=1&status=COMPLETED":                  {"call"},
		"/v1/tasks?limit=9&q=BUY":                             {"Buy Äpfel", "buy bread"},
		"/v1/tasks?limit=9&q=BUY&status=BACKLOG":              {"Buy Äpfel"},
		"/v1/tasks?limit=9&q=" + url.QueryEscape("a\u0308PF"): {"Buy Äpfel"},
		"/v1/notes?limit=1":                                   {"A pinned one", "a recent one"},
		"/v1/notes?limit=1&q=A+":                              {"A pinned one", "a recent one"},
		"/v1/notes?limit=1&tag=work":                          {"a recent one"},
		"/v1/notes?limit=1&tag=none":                          nil,
	} {
		titles, _ := b.gather("ann", path)
		b.Equal(want, titles, path)
		others, _ := b.gather("bob", path)
		b.Empty(others, path)
	}
}
