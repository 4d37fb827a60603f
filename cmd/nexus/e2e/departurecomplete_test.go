package e2e_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// requireComplete holds an export against all that the API shows of the user, at a moment when nothing changes.
func (l *life) requireComplete(e exported) {
	l.system.t.Helper()
	e.requireWhole(l.system.t)
	for _, in := range collections {
		l.list("/v1/" + in.path) // learns what a calendar brought
	}
	l.requireItems(e)
	l.requireIDs(e)
	l.requireHistory(e, "/v1/values", "values/", "nodes", "edges")
	for date := range l.dates {
		l.requireHistory(e, "/v1/plans/"+date, "plans/"+date+"/", "todos", "blocks")
	}
	for name := range e {
		if parts := strings.Split(name, "/"); parts[0] == "plans" {
			require.True(l.system.t, l.dates[parts[1]], "%s: a plan that the life did not make", name)
		}
	}
	l.requireSettings(e)
	calendar := l.do(http.StatusOK, request{method: http.MethodGet, path: "/v1/calendar.ics"}).body
	if file, there := e["readable/calendar.ics"]; there {
		require.Equal(l.system.t, string(calendar), string(file))
	}
}

// snapshot is all that a new device gets, by id.
func (l *life) snapshot() map[string]map[string]any {
	l.system.t.Helper()
	out := map[string]map[string]any{}
	for at := "/v1/changes"; at != ""; {
		page := struct {
			Items  []struct{ Type, ID, Item any }
			Cursor string
		}{}
		got := l.do(http.StatusOK, request{method: http.MethodGet, path: at})
		require.NoError(l.system.t, decode(got.body, &page), "%s", got)
		for _, change := range page.Items {
			if item, is := change.Item.(map[string]any); is {
				out[change.ID.(string)] = item
			}
		}
		if at = ""; page.Cursor != "" {
			at = "/v1/changes?cursor=" + page.Cursor
		}
	}
	return out
}

// requireItems compares the entities with their own answers and with what a device gets.
func (l *life) requireItems(e exported) {
	l.system.t.Helper()
	device := l.snapshot()
	for _, item := range e.lines(l.system.t, "items/") {
		kind, id := item["entityType"].(string), ""
		for _, in := range collections {
			if in.kind == kind {
				id = item[in.id].(string)
			}
		}
		if kind == "INSTANCE" {
			id = item["eventId"].(string)
		}
		want, held := device[id]
		undone := kind == "INSTANCE" && item["modifiedFields"] == nil
		require.Equal(l.system.t, !undone, held, "%s on a device, %v", id, item)
		delete(device, id)
		if undone {
			continue
		}
		hidden, _ := item["_"].(map[string]any)
		for name := range hidden {
			require.Contains(l.system.t, []string{"completedOnAt", "editVersion", "icalStamp", "kept"}, name)
		}
		for _, o := range []map[string]any{item, want} {
			for _, name := range []string{"_", "ttl", "hasExceptions"} { // a device gets a series without the last
				delete(o, name)
			}
		}
		require.Equal(l.system.t, want, asOnADevice(item), "%s of a device and of the export", id)
		own := l.do(http.StatusOK, request{method: http.MethodGet, path: l.route(id)}).object()
		if inner, is := own["master"].(map[string]any); is {
			own = inner
		}
		for name, value := range item {
			require.Equal(l.system.t, own[name], value, "%s of %s: its own answer and the export", name, id)
		}
		for name := range own {
			if kind != "INSTANCE" && name != "ttl" && name != "hasExceptions" {
				require.Contains(l.system.t, item, name, "%s: what its own answer shows", id)
			}
		}
	}
	for id, item := range device {
		require.Contains(l.system.t, []any{"USER_META", nil}, item["entityType"], "%s is on a device and not exported", id)
	}
}

// route is where an item is read by its id.
func (l *life) route(id string) string {
	kind, _, _ := strings.Cut(id, "_")
	return "/v1/" + map[string]string{
		"evt": "events", "inst": "events", "mst": "series", "task": "tasks", "rem": "reminders", "note": "notes",
	}[kind] + "/" + id
}

// requireIDs looks for each id that there ever was where its own answer says that it is.
func (l *life) requireIDs(e exported) {
	l.system.t.Helper()
	where := map[string][]string{}
	for file, prefix := range map[string]string{"there": "items/", "expired": "archive/", "deleted": "gone.ndjson"} {
		for _, item := range e.lines(l.system.t, prefix) {
			for _, name := range []string{"masterId", "eventId", "taskId", "reminderId", "noteId", "id"} {
				if id, is := item[name].(string); is && (name != "masterId" || item["entityType"] == "MASTER") {
					where[id] = append(where[id], file)
					if name == "id" && (l.becameID[id] != "" || item["becameId"] != nil) {
						require.Equal(l.system.t, l.becameID[id], item["becameId"], "what the event %s became", id)
					}
					break
				}
			}
		}
	}
	for id := range l.ids {
		if strings.HasPrefix(id, "inst_") {
			continue // they follow their series
		}
		want := "there"
		got, err := l.call(l.system.t.Context(), request{method: http.MethodGet, path: l.route(id)})
		require.NoError(l.system.t, err)
		if got.status == http.StatusGone {
			want = got.object()["reason"].(string)
		} else {
			require.Equal(l.system.t, http.StatusOK, got.status, "%s: %s", id, got)
		}
		require.Equal(l.system.t, []string{want}, where[id], "where the export has %s", id)
		delete(where, id)
	}
	for id, files := range where {
		if !strings.HasPrefix(id, "inst_") {
			require.Fail(l.system.t, "an id that the user never had", "%s in %v", id, files)
		}
	}
}

// requireHistory compares a repository with its log and each revision.
func (l *life) requireHistory(e exported, route, folder string, members ...string) {
	l.system.t.Helper()
	history := l.list(route + "/revisions")
	log := e.lines(l.system.t, folder+"log.ndjson")
	require.Len(l.system.t, log, len(history), "revisions of %s", route)
	slices.Reverse(log)
	files := map[string]bool{}
	for n, entry := range history {
		kept := maps.Clone(log[n])
		for _, name := range []string{"oldestRevId", "rolledFromRevId"} {
			require.True(l.system.t, n == 0 || kept[name] == nil, "%s in an entry that is not the newest", name)
			delete(kept, name)
		}
		require.Equal(l.system.t, entry, kept, "entry %d of the log of %s", n, route)
		revision := entry["revId"].(string)
		state := l.get(route + "/revisions/" + revision)
		var want []any
		for _, member := range members {
			rows, _ := state[member].([]any)
			want = append(want, rows...)
		}
		file := folder + revision + ".ndjson"
		require.Contains(l.system.t, e, file, "%v", slices.Sorted(maps.Keys(e)))
		rows := e.lines(l.system.t, file)
		require.Len(l.system.t, rows, len(want), file)
		for i, row := range rows {
			require.Equal(l.system.t, want[i], any(row), "row %d of %s", i, file)
		}
		files[file] = true
	}
	for name := range e {
		if strings.HasPrefix(name, folder) && name != folder+"log.ndjson" {
			require.True(l.system.t, files[name], "%s: no revision of the history", name)
		}
	}
}

// requireSettings compares the settings with the user's own row.
func (l *life) requireSettings(e exported) {
	l.system.t.Helper()
	me := l.get("/v1/me")
	for _, name := range []string{"userId", "stats", "nearLimits", "leaving"} {
		delete(me, name)
	}
	settings := e.lines(l.system.t, "settings.json")
	if version, err := wholeNumber(me, "version"); err == nil && version == 0 && len(settings) == 0 {
		return
	}
	require.Equal(l.system.t, []map[string]any{me}, settings)
}

// noon moves the clock to the next noon. All that a life does comes within some minutes of noon, and all that it
// dates comes at whole hours. So at half past nothing falls due.
func (s *system) noon(days int) {
	s.t.Helper()
	next := s.now().UTC().Truncate(24*time.Hour).AddDate(0, 0, days).Add(12*time.Hour + time.Minute)
	s.dev(http.MethodPost, "/dev/clock", map[string]any{"set": next.Format(time.RFC3339)}, nil)
	s.waitUntilIdle()
}

// asOnADevice leaves out of an exported exception what a device does not get: the start that it replaces and, unless
// they are its own, its times.
func asOnADevice(item map[string]any) map[string]any {
	if item["entityType"] != "INSTANCE" {
		return item
	}
	item = maps.Clone(item)
	delete(item, "recurrenceId")
	times := []string{"startUtc", "startTzid", "endUtc", "endTzid", "isAllDay", "startDate", "endDate"}
	fields, _ := item["modifiedFields"].([]any)
	if !slices.ContainsFunc(fields, func(field any) bool { return slices.Contains(times, field.(string)) }) {
		for _, name := range times {
			delete(item, name)
		}
	}
	return item
}
