package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/stretchr/testify/require"
)

// edits changes a text of some item.
func (l *life) edits() {
	if item, path, kind := l.any(); item != nil {
		change := map[string]any{"title": l.text("renamed")}
		if kind == "TASK" {
			change["status"] = pick(l, "BACKLOG", "IN_PROGRESS", "COMPLETED")
		}
		l.ask(http.MethodPatch, path, change, tag(item))
	}
}

func (l *life) deletes() {
	if item, path, _ := l.any(); item != nil {
		l.ask(http.MethodDelete, path, nil, tag(item))
	}
}

// links puts a link and, at times, takes it away again.
func (l *life) links() {
	_, from, _ := l.any()
	target, to, kind := l.any()
	if target == nil || from == to {
		return
	}
	id := to[len("/v1/"):]
	for id[0] != '/' {
		id = id[1:]
	}
	at := from + "/links/" + kind + id
	l.ask(http.MethodPut, at, map[string]any{"relation": l.text("for")}, "")
	if l.chance.IntN(3) == 0 {
		l.ask(http.MethodDelete, at, nil, "")
	}
}

func (l *life) answersReminder() {
	reminder := l.one("reminders")
	if reminder == nil {
		return
	}
	at := "/v1/reminders/" + reminder["reminderId"].(string)
	switch l.chance.IntN(3) {
	case 0:
		l.ask(http.MethodPost, at+"/snooze", map[string]any{"minutes": 10 + l.chance.IntN(3000)}, "")
	case 1:
		l.ask(http.MethodPost, at+"/complete", map[string]any{}, "")
	default:
		l.ask(http.MethodPost, at+"/dismiss", map[string]any{}, "")
	}
}

// changesOccurrence changes, cancels or undoes an occurrence of some series.
func (l *life) changesOccurrence() {
	series := l.one("series")
	if series == nil {
		return
	}
	for range 2 {
		date := l.day.AddDate(0, 0, l.chance.IntN(8)).Format("20060102")
		master := series["masterId"].(string)
		now, err := l.call(l.system.t.Context(), request{
			method: http.MethodGet, path: "/v1/events/" + occurrenceID(master, date),
		})
		require.NoError(l.system.t, err)
		if now.status != http.StatusOK {
			return // the series has no occurrence then
		}
		at, match := occurrencePath(master, date), now.header.Get("ETag")
		switch l.chance.IntN(5) {
		case 0:
			l.ask(http.MethodDelete, at, nil, match)
		case 1:
			l.ask(http.MethodPut, at, map[string]any{}, match)
		default:
			l.ask(http.MethodPut, at, map[string]any{"title": l.text("this once"), "location": l.text("elsewhere")}, match)
		}
	}
}

// bendsSeries ends or splits a series, or makes one of an event.
func (l *life) bendsSeries() {
	if event := l.one("events"); event != nil && l.chance.IntN(2) == 0 {
		id := event["eventId"].(string)
		got := l.ask(http.MethodPost, "/v1/series", map[string]any{"fromEventId": id, "rrule": "FREQ=WEEKLY"}, tag(event))
		if got.status == http.StatusCreated {
			l.becameID[id] = got.object()["masterId"].(string)
		}
		return
	}
	series := l.one("series")
	if series == nil {
		return
	}
	at, cut := "/v1/series/"+series["masterId"].(string), l.day.AddDate(0, 0, 4+l.chance.IntN(4))
	if l.chance.IntN(2) == 0 {
		l.ask(http.MethodPost, at+"/end", map[string]any{"untilUtc": cut.Format(time.RFC3339)}, tag(series))
		return
	}
	l.ask(http.MethodPost, at+"/split", map[string]any{
		"date": cut.Format("20060102"), "changes": map[string]any{"title": l.text("from now on")},
	}, tag(series))
}

// tree is the present values tree, nil if there is none.
func (l *life) tree() map[string]any {
	got := l.ask(http.MethodGet, "/v1/values", nil, "")
	if got.status != http.StatusOK {
		return nil
	}
	return got.object()
}

// nodes are those of the tree of a type that are in sight.
func nodes(tree map[string]any, kind string) (out []string) {
	all, _ := tree["nodes"].([]any)
	for _, n := range all {
		node := n.(map[string]any)
		if node["nodeType"] == kind && node["deletedAt"] == nil && node["archived"] == nil {
			out = append(out, node["nodeId"].(string))
		}
	}
	return out
}

// growsTree commits to the values tree.
func (l *life) growsTree() {
	commit := map[string]any{"message": l.text("message"), "source": "weekly_review"}
	now := l.tree()
	if now == nil {
		driver, action := "drv_"+l.uuid(), "act_"+l.uuid()
		commit["nodes"] = []any{
			map[string]any{"nodeId": driver, "nodeType": "DRIVER", "title": l.text("driver"), "notes": l.text("notes")},
			map[string]any{"nodeId": action, "nodeType": "ACTION", "title": l.text("action"), "driverId": driver},
		}
		commit["edges"] = []any{map[string]any{"parentNodeId": driver, "order": 1, "childNodeId": action}}
	} else {
		commit["parentRevId"] = now["revId"]
		var operations []any
		if drivers := nodes(now, "DRIVER"); len(drivers) > 0 {
			operations = append(operations, map[string]any{
				"op": "create", "nodeType": pick(l, "ACTION", "MILESTONE"), "title": l.text("step"), "notes": l.text("so"),
				"parentId": pick(l, drivers...),
			})
		}
		if actions := nodes(now, "ACTION"); len(actions) > 1 {
			one := pick(l, actions...)
			switch l.chance.IntN(3) {
			case 0:
				operations = append(operations, map[string]any{"op": "delete", "nodeId": one},
					map[string]any{"op": "forget", "nodeId": one})
			case 1:
				operations = append(operations, map[string]any{"op": "complete", "nodeId": one})
			default:
				operations = append(operations, map[string]any{"op": "update", "nodeId": one, "title": l.text("better")})
			}
		}
		commit["operations"] = operations
	}
	l.ask(http.MethodPost, "/v1/values/revisions", commit, "")
}

// plans commits the plan of a day, rolls it over or completes an action in it.
func (l *life) plans() {
	date := l.day.AddDate(0, 0, l.chance.IntN(3)).Format(time.DateOnly)
	at := "/v1/plans/" + date
	var actions []string
	if now := l.tree(); now != nil {
		actions = nodes(now, "ACTION")
	}
	commit := map[string]any{"reason": "morning_plan", "message": l.text("plan"), "blocks": []any{map[string]any{
		"blockType": "MEETING", "title": l.text("block"),
		"startTimeIso": date + "T09:00:00Z", "endTimeIso": date + "T10:00:00Z",
	}}}
	todos := []any{}
	for _, action := range actions {
		todos = append(todos, map[string]any{"actionId": action, "classification": "urgent", "notes": l.text("todo")})
	}
	commit["todos"] = todos
	if now := l.ask(http.MethodGet, at, nil, ""); now.status == http.StatusOK {
		commit["parentRevId"] = now.object()["revId"]
	}
	if l.ask(http.MethodPost, at+"/revisions", commit, "").status == http.StatusCreated {
		l.dates[date] = true
	}
	switch l.chance.IntN(3) {
	case 0:
		if l.ask(http.MethodPost, at+"/rollover", nil, "").status == http.StatusOK {
			day, err := time.Parse(time.DateOnly, date)
			require.NoError(l.system.t, err)
			l.dates[day.AddDate(0, 0, 1).Format(time.DateOnly)] = true
		}
	case 1:
		if len(actions) > 0 {
			l.ask(http.MethodPost, at+"/complete", map[string]any{"actionId": pick(l, actions...)}, "")
		}
	}
}

// revisits brings an earlier revision back, shortens a history or deletes a plan.
func (l *life) revisits() {
	at := "/v1/values"
	if l.chance.IntN(2) == 0 {
		at = "/v1/plans/" + l.day.AddDate(0, 0, l.chance.IntN(3)).Format(time.DateOnly)
		if l.chance.IntN(4) == 0 {
			l.system.advance(2 * time.Second) // in the second of the head the answer is 503
			_, err := l.call(l.system.t.Context(), request{method: http.MethodDelete, path: at})
			require.NoError(l.system.t, err)
			return
		}
	}
	history := l.list(at + "/revisions")
	if len(history) < 3 {
		return
	}
	if l.chance.IntN(2) == 0 {
		l.ask(http.MethodPost, at+"/prune", map[string]any{"keep": map[string]any{"last": len(history) - 1}}, "")
		return
	}
	l.ask(http.MethodPost, at+"/rollback", map[string]any{
		"parentRevId": history[0]["revId"], "revId": history[1]["revId"], "message": l.text("back"),
	}, "")
}

// settles changes the settings.
func (l *life) settles() {
	me := l.get("/v1/me")
	l.ask(http.MethodPatch, "/v1/me", map[string]any{
		"defaultTzid": pick(l, "Europe/Paris", "Asia/Kolkata", "UTC"),
		"preferences": map[string]any{
			"theme": pick(l, "light", "dark"), "autoArchiveDelayHours": 24 * (1 + l.chance.IntN(3)),
		},
	}, tag(me))
}

// shares makes a secret address of the calendar, and says that an app is open.
func (l *life) shares() {
	l.feed = l.ask(http.MethodPut, "/v1/me/feed", map[string]any{"privateAs": "FULL"}, "").object()["path"].(string)
	l.ask(http.MethodPut, "/v1/me/watch", nil, "")
}

// importsCalendar takes over what another program says.
func (l *life) importsCalendar() {
	text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\n"
	for n := range 1 + l.chance.IntN(3) {
		text += fmt.Sprintf("BEGIN:VEVENT\r\nUID:%s-%d@example.com\r\nDTSTAMP:20260301T120000Z\r\nDTSTART:%s\r\n"+
			"SUMMARY:%s\r\nX-OTHER;X-P=%s:%s\r\nATTENDEE:mailto:%s@example.com\r\nEND:VEVENT\r\n", l.word, n,
			l.day.AddDate(0, 0, 1+n).Format("20060102T150405Z"), l.text("taken over"), l.word, l.text("other"), l.word)
	}
	status, body, _ := l.imports(l.system.t.Context(), text+"END:VCALENDAR\r\n", l.text("import"))
	l.answers[status]++
	require.Less(l.system.t, status, 300, "%s", body)
}

// batches sends some commands as a device does that was offline.
func (l *life) batches() {
	task := "task_" + l.uuid()
	l.ids[task] = true
	l.ask(http.MethodPost, "/v1/commands", map[string]any{"commands": []any{
		map[string]any{"id": l.text("c"), "type": "CreateTask", "data": map[string]any{
			"taskId": task, "title": l.text("offline"),
		}},
		map[string]any{"id": l.text("c"), "type": "CreateNote", "data": map[string]any{"title": l.text("offline")}},
	}}, "")
}

// takesOut asks for an export, and at times ends it.
func (l *life) takesOut() {
	got := l.ask(http.MethodPost, "/v1/me/exports", nil, "")
	if got.status == http.StatusAccepted && l.chance.IntN(2) == 0 {
		l.ask(http.MethodDelete, "/v1/me/exports/"+got.object()["exportId"].(string), nil, "")
	}
}

// bringsBack restores something from the archive.
func (l *life) bringsBack() {
	if copies := l.list("/v1/archive"); len(copies) > 0 {
		l.ask(http.MethodPost, "/v1/archive/"+pick(l, copies...)["itemId"].(string)+"/restore", nil, "")
	}
}

// looks asks with the user's word in addresses and headers, which no log may keep.
func (l *life) looks() {
	l.list("/v1/tasks?q=" + url.QueryEscape(l.word))
	l.list("/v1/notes?tag=" + url.QueryEscape(l.word))
	got, err := l.withID(l.system.t.Context(), l.word)
	require.NoError(l.system.t, err)
	require.Equal(l.system.t, http.StatusNotFound, got.status)
}
