package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// secret is in every text that belongs to ann.
const secret = "Sesame"

// owned holds the ids of everything that ann has.
type owned struct {
	event, task, reminder, note, cold        string
	series, occurrence, exceptions           string // exceptions is a cursor
	tasks, notes, agenda, archive, backlinks string // cursors
	events, tagged                           string // cursors of a list of all, and of a filtered one
	key, keyed                               string // an idempotency key of hers, and the request that she sent with it
	rows                                     []string
}

// own lets ann have something of everything.
func (b *fixture) own() owned {
	b.t.Helper()
	o := owned{key: "anns-key"}
	o.cold = b.expired()
	b.expired()
	o.archive = b.want(200, get("/v1/archive?limit=1")).text("nextCursor")
	made := func(plural, id, body string) string {
		return b.want(201, post("/v1/"+plural, body)).text(id)
	}
	for range 2 {
		o.note = made("notes", "noteId", `{"title":"`+secret+`","body":"`+secret+`"}`)
		o.event = made("events", "eventId", `{"title":"`+secret+`","startUtc":"2026-03-10T09:00:00Z","startTzid":"UTC"}`)
		o.reminder = made("reminders", "reminderId",
			`{"title":"`+secret+`","triggerUtc":"2026-03-11T09:00:00Z","tzid":"UTC"}`)
	}
	for range 2 {
		o.task = made("tasks", "taskId", `{"title":"`+secret+
			`","dueUtc":"2026-03-12T09:00:00Z","dueTzid":"UTC","links":[{"targetType":"NOTE","targetId":"`+o.note+
			`","relation":"`+secret+`"}]}`)
	}
	o.series = b.want(201, post("/v1/series", `{"title":"`+secret+
		`","startUtc":"2026-03-13T09:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY","description":"`+
		strings.Repeat(secret, 1600)+`"}`)).text("masterId")
	for day := range 120 {
		date := noon.AddDate(0, 1, day).Format("20060102")
		b.want(200, request{
			method: http.MethodPut, path: "/v1/series/" + o.series + "/instances/" + date, body: `{"title":"` + secret + `"}`,
			header: ifMatch(1),
		})
		o.occurrence = entity.InstanceID(o.series, date)
	}
	o.exceptions = b.want(200, get("/v1/series/"+o.series)).text("nextCursor")
	o.keyed = `{"title":"` + secret + ` once"}`
	b.want(201, post("/v1/tasks", o.keyed).with("Idempotency-Key", o.key))
	b.want(200, patch("/v1/me", `{"defaultTzid":"Asia/Tokyo"}`, 0))
	b.want(200, register(oneDevice, endpoint))
	b.linkRows()
	o.tasks = b.want(200, get("/v1/tasks?status=BACKLOG&limit=1")).text("nextCursor")
	o.notes = b.want(200, get("/v1/notes?state=recent&limit=1")).text("nextCursor")
	o.agenda = b.want(200, get("/v1/agenda?from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z&limit=1")).text("nextCursor")
	o.events = b.want(200, get("/v1/events?limit=1")).text("nextCursor")
	o.tagged = b.want(200, get("/v1/tasks?q=s&limit=1")).text("nextCursor")
	o.backlinks = b.want(200, get("/v1/notes/"+o.note+"/backlinks?limit=1")).text("nextCursor")
	for _, cursor := range []string{o.tasks, o.notes, o.agenda, o.backlinks, o.archive, o.exceptions, o.events, o.tagged} {
		b.NotEmpty(cursor)
	}
	o.rows = b.foreignRows()
	return o
}

// foreignRows is everything in the table that is not bob's, as bytes.
func (b *fixture) foreignRows() []string {
	var rows []string
	err := b.store.Walk(b.t.Context(), 0, 1, func(it item.Item) error {
		if it.Str(item.AttrPK) != entity.UserPK("bob") {
			rows = append(rows, string(change.AppendItem(nil, it)))
		}
		return nil
	})
	b.NoError(err)
	return rows
}

func TestAPI_hidesWhatBelongsToAnotherUser(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.overHTTP()
	ann := b.own()
	mine := b.want(201, post("/v1/notes", `{"title":"bob's own"}`).by("bob")).text("noteId")
	task := b.want(201, post("/v1/tasks", `{"title":"bob's own"}`).by("bob")).text("taskId")
	b.want(201, post("/v1/notes", `{"title":"bob's second"}`).by("bob"))

	del := func(path string) request { return request{method: http.MethodDelete, path: path, header: ifMatch(1)} }
	put := func(path string) request { return request{method: http.MethodPut, path: path} }
	act := func(path string) request { return request{method: http.MethodPost, path: path} }
	agenda := "/v1/agenda?from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z"
	type attempt struct {
		name   string
		status int
		request
	}
	var attempts []attempt
	add := func(status int, name string, r request) { attempts = append(attempts, attempt{name, status, r}) }

	for _, e := range []struct{ plural, id, typeName string }{
		{"events", ann.event, "EVENT"}, {"tasks", ann.task, "TASK"}, {"reminders", ann.reminder, "REMINDER"},
		{"notes", ann.note, "NOTE"},
		{"series", ann.series, "MASTER"},
	} {
		one := "/v1/" + e.plural + "/" + e.id
		add(404, "read", get(one))
		add(404, "head", request{method: http.MethodHead, path: one})
		add(404, "read with her tag", get(one).with("If-None-Match", `"1"`))
		add(404, "change", patch(one, `{"title":"mine now"}`, 1))
		add(404, "change with another version", patch(one, `{"title":"mine now"}`, 9))
		add(404, "delete", del(one))
		add(404, "backlinks", get(one+"/backlinks"))
		add(404, "link hers to mine", put(one+"/links/NOTE/"+mine))
		add(404, "link mine to hers", put("/v1/notes/"+mine+"/links/"+e.typeName+"/"+e.id))
		add(404, "create with a link to hers",
			post("/v1/notes", `{"title":"x","links":[{"targetType":"`+e.typeName+`","targetId":"`+e.id+`"}]}`))
		add(404, "patch a link to hers in",
			patch("/v1/notes/"+mine, `{"links":[{"targetType":"`+e.typeName+`","targetId":"`+e.id+`"}]}`, 1))
		add(404, "remove her link", request{method: http.MethodDelete, path: one + "/links/NOTE/" + ann.note})
		add(404, "restore what lives", act("/v1/archive/"+e.id+"/restore"))
		add(404, "her partition in the id", get("/v1/"+e.plural+"/USER%23ann%23"+e.id))
		add(404, "a separator behind the id", get(one+"%23x"))
		add(404, "a slash within the id", get("/v1/"+e.plural+"/..%2F..%2Fann%2F"+e.id))
		add(404, "a null behind the id", get(one+"%00"))
		add(404, "an id of another type", get("/v1/"+map[string]string{
			"events": "tasks", "tasks": "notes", "reminders": "events", "notes": "reminders", "series": "tasks",
		}[e.plural]+"/"+e.id))
	}
	date := ann.occurrence[5:13]
	for name, one := range map[string]string{
		"an exception":  "/v1/series/" + ann.series + "/instances/" + date,
		"an occurrence": "/v1/series/" + ann.series + "/instances/20260314",
	} {
		add(404, "change "+name, request{method: http.MethodPut, path: one, body: `{"title":"mine now"}`, header: ifMatch(1)})
		add(404, "undo "+name, request{method: http.MethodPut, path: one, body: `{}`, header: ifMatch(1)})
		add(404, "cancel "+name, del(one))
	}
	add(404, "end her series", request{
		method: http.MethodPost, path: "/v1/series/" + ann.series + "/end", body: `{"untilUtc":"2026-04-01T00:00:00Z"}`,
		header: ifMatch(1),
	})
	add(404, "split her series", request{
		method: http.MethodPost, path: "/v1/series/" + ann.series + "/split", body: `{"date":"20260401"}`, header: ifMatch(1),
	})
	add(404, "make a series of her event", request{
		method: http.MethodPost, path: "/v1/series", body: `{"fromEventId":"` + ann.event + `","rrule":"FREQ=DAILY"}`,
		header: ifMatch(1),
	})
	add(404, "her series as an event", get("/v1/events/"+ann.series))
	add(404, "her exception", get("/v1/events/"+ann.occurrence))
	add(404, "her occurrence", get("/v1/events/"+entity.InstanceID(ann.series, "20260314")))
	add(422, "her partition in the date", del("/v1/series/"+ann.series+"/instances/USER%23ann"))
	add(404, "link mine to her exception", put("/v1/notes/"+mine+"/links/INSTANCE/"+ann.occurrence))
	add(400, "her cursor of exceptions", get("/v1/series/"+ann.series+"?cursor="+ann.exceptions))
	for _, verb := range []string{"complete", "dismiss"} {
		add(404, verb, act("/v1/reminders/"+ann.reminder+"/"+verb))
	}
	add(404, "snooze", post("/v1/reminders/"+ann.reminder+"/snooze", `{"minutes":5}`))
	add(404, "restore her copy", act("/v1/archive/"+ann.cold+"/restore"))
	add(404, "restore her copy with her key", act("/v1/archive/"+ann.cold+"/restore").with("Idempotency-Key", ann.key))
	add(404, "restore through her object's name", act("/v1/archive/archive%2Fann%2F"+ann.cold+"%2F2.json/restore"))
	add(404, "restore a row", act("/v1/archive/COLD%23"+ann.cold+"/restore"))
	add(404, "restore her meta row", act("/v1/archive/ann/restore"))

	add(400, "her cursor of tasks", get("/v1/tasks?status=BACKLOG&cursor="+ann.tasks))
	add(400, "her cursor of events", get("/v1/events?cursor="+ann.events))
	add(400, "her cursor of events, for reminders", get("/v1/reminders?cursor="+ann.events))
	add(400, "her cursor of a text", get("/v1/tasks?q=s&cursor="+ann.tagged))
	add(200, "all events", get("/v1/events"))
	add(200, "all series", get("/v1/series"))
	add(200, "all reminders", get("/v1/reminders"))
	add(200, "tasks by her text", get("/v1/tasks?q=sesa"))
	add(200, "notes by her text", get("/v1/notes?q=sesa"))
	add(400, "her cursor of notes", get("/v1/notes?state=recent&cursor="+ann.notes))
	add(400, "her cursor of the agenda", get(agenda+"&cursor="+ann.agenda))
	add(400, "her cursor of the archive", get("/v1/archive?cursor="+ann.archive))
	add(400, "her cursor of backlinks", get("/v1/notes/"+mine+"/backlinks?cursor="+ann.backlinks))
	add(400, "her cursor of her backlinks", get("/v1/notes/"+ann.note+"/backlinks?cursor="+ann.backlinks))
	own := b.want(200, get("/v1/notes?state=recent&limit=1").by("bob")).text("nextCursor")
	for i, forged := range b.forge(own, ann) {
		add(400, fmt.Sprintf("forged cursor %d", i), get("/v1/notes?state=recent&cursor="+forged))
	}

	for name, value := range map[string]string{
		"another's name in the token": "Bearer ann#2026", "two names": "Bearer bob ann",
		"a year partition": "Bearer bob#2026", "a path": "Bearer ../ann", "a percent": "Bearer %61nn", "no scheme": "ann",
	} {
		add(401, name, get("/v1/me").with("Authorization", value))
	}
	add(200, "devices", get("/v1/me/devices"))
	add(204, "delete her device", request{method: http.MethodDelete, path: oneDevice})
	add(404, "act on what she was told",
		post("/v1/act/ann.d.3f0c1c5e-6a52-4c39-9a0e-0d1b6c2f7a11.x", `{"action":"complete"}`))
	add(400, "her name as a parameter", get("/v1/me?userId=ann"))
	add(400, "her name in a list", get("/v1/tasks?status=BACKLOG&user=ann"))
	add(400, "her partition in a list", get("/v1/notes?state=recent&PK=USER%23ann"))
	add(422, "a column with a separator", get("/v1/tasks?status=BACKLOG%23P1"))
	add(422, "a part of the grid with a separator", get("/v1/notes?state=1%23"))
	add(422, "a type with a separator", get(agenda+"&types=TASK%23task"))
	add(422, "her name in a body", post("/v1/tasks", `{"title":"x","userId":"ann"}`))
	add(422, "her key in a body", post("/v1/tasks", `{"title":"x","PK":"USER#ann","SK":"TASK#`+ann.task+`"}`))
	add(422, "her meta row in a patch", patch("/v1/me", `{"userId":"ann"}`, 0))
	add(422, "an id with a separator", post("/v1/tasks", `{"title":"x","taskId":"task_a#b"}`))
	add(422, "a link target with a separator",
		post("/v1/tasks", `{"title":"x","links":[{"targetType":"NOTE","targetId":"`+ann.note+`#x"}]}`))
	add(422, "a link to her meta row",
		post("/v1/tasks", `{"title":"x","links":[{"targetType":"USER_META","targetId":"ann"}]}`))
	add(404, "a link to a row", put("/v1/tasks/"+task+"/links/COLD/"+ann.cold))
	add(404, "a link with a separator", put("/v1/tasks/"+task+"/links/NOTE%23"+ann.note+"/x"))
	add(422, "her name in a batch", post("/v1/commands", `{"userId":"ann","commands":[]}`))

	require.GreaterOrEqual(t, len(attempts), 60)
	for _, a := range attempts {
		res := b.do(a.by("bob"))
		b.Equal(a.status, res.Code, "%s: %s %s: %s", a.name, a.method, a.path, res.Body)
		b.NotContains(res.Body.String(), secret, a.name)
		b.NotContains(res.Body.String(), "Asia/Tokyo", a.name)
		b.NotContains(res.Body.String(), "ann", a.name)
		b.Equal(ann.rows, b.foreignRows(), a.name)
	}
	t.Logf("%d attempts", len(attempts))
}

func TestRunBatch_reachesNothingOfAnotherUser(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.overHTTP()
	ann := b.own()
	mine := b.want(201, post("/v1/notes", `{"title":"bob's own"}`).by("bob")).text("noteId")
	commands := map[string]string{}
	for _, c := range []struct{ typeName, data string }{
		{"UpdateTask", `{"taskId":"` + ann.task + `","title":"mine"}`},
		{"DeleteTask", `{"taskId":"` + ann.task + `"}`},
		{"UpdateNote", `{"noteId":"` + ann.note + `","title":"mine"}`},
		{"DeleteEvent", `{"eventId":"` + ann.event + `"}`},
		{"SnoozeReminder", `{"reminderId":"` + ann.reminder + `","minutes":5}`},
		{"CompleteReminder", `{"reminderId":"` + ann.reminder + `"}`},
		{"DismissReminder", `{"reminderId":"` + ann.reminder + `"}`},
		{"AddNoteLink", `{"noteId":"` + mine + `","targetType":"TASK","targetId":"` + ann.task + `"}`},
		{"RemoveTaskLink", `{"taskId":"` + ann.task + `","targetType":"NOTE","targetId":"` + ann.note + `"}`},
		{"RestoreArchived", `{"id":"` + ann.cold + `"}`},
		{"UpdateSeries", `{"masterId":"` + ann.series + `","title":"mine"}`},
		{"EndSeries", `{"masterId":"` + ann.series + `","untilUtc":"2026-04-01T00:00:00Z"}`},
		{"SplitSeries", `{"masterId":"` + ann.series + `","date":"20260401"}`},
		{"DeleteSeries", `{"masterId":"` + ann.series + `"}`},
		{"PutInstance", `{"masterId":"` + ann.series + `","date":"20260401","title":"mine"}`},
		{"CancelInstance", `{"masterId":"` + ann.series + `","date":"20260401"}`},
		{"CreateSeries", `{"fromEventId":"` + ann.event + `","rrule":"FREQ=DAILY"}`},
		{"DeleteTask", `{"taskId":"` + ann.task + `#x"}`},
		{"DeleteTask", `{"taskId":"../ann/` + ann.task + `"}`},
	} {
		expected := `,"expectedVersion":1`
		if c.typeName == "RestoreArchived" {
			expected = ""
		}
		id := fmt.Sprintf("c%d", len(commands))
		commands[id] = `{"id":"` + id + `","type":"` + c.typeName + `","data":` + c.data + expected + `}`
	}
	for id, command := range commands {
		got := b.batch("bob", command)[0]
		b.Equal(id, got.ID)
		b.Equal(404, got.Status, command)
		b.NotContains(fmt.Sprint(*got.Problem), secret)
		b.Equal(ann.rows, b.foreignRows(), command)
	}
	b.want(401, post("/v1/commands", `{"commands":[]}`).by("-"))
}

func TestAPI_separatesTheSameNamesOfDifferentUsers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.overHTTP()
	ann := b.own()
	// The same idempotency key, even with the same request, is another user's own.
	res := b.want(201, post("/v1/tasks", ann.keyed).by("bob").with("Idempotency-Key", ann.key))
	b.Empty(res.Header().Get(replayed))
	// The same id is free for another user; nothing of the first comes with it.
	res = b.want(201, post("/v1/tasks", `{"title":"x","taskId":"`+ann.task+`"}`).by("bob"))
	b.Equal(ann.task, res.text("taskId"))
	b.want(200, patch("/v1/tasks/"+ann.task, `{"title":"y"}`, 1).by("bob"))
	b.linkRows()
	b.want(201, post("/v1/notes", `{"title":"n","noteId":"`+ann.note+`"}`).by("bob"))
	backlinks := b.want(200, get("/v1/notes/"+ann.note+"/backlinks").by("bob"))
	b.Empty(backlinks.items())
	b.NotContains(backlinks.Body.String(), secret)
	b.Equal("UTC", b.want(200, get("/v1/me").by("bob")).text("defaultTzid"))
	b.Empty(b.want(200, get("/v1/archive").by("bob")).items())
	for _, path := range []string{
		"/v1/board", "/v1/notes?state=recent", "/v1/agenda?from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z", "/v1/me/stats",
		"/v1/me/insights", "/v1/plans?from=2026-03-02&to=2026-04-01",
	} {
		b.NotContains(b.want(200, get(path).by("carol")).Body.String(), secret)
	}
	b.Equal(ann.rows, b.foreignRows())
	// Names that begin alike are no relatives.
	for _, user := range []string{"an", "ann_", "ann2", "ANN", "-ann"} {
		b.want(404, get("/v1/tasks/"+ann.task).by(user))
	}
}

// forge changes a user's own cursor so that it names what belongs to another user.
func (b *fixture) forge(own string, ann owned) []string {
	raw, err := decodeBase64(own)
	b.NoError(err)
	var fields map[string]any
	b.NoError(json.Unmarshal(raw, &fields))
	var out []string
	for _, change := range []map[string]any{
		{"s": "TASK#" + ann.task}, {"x": "TASK#BACKLOG#P3#2026-03-02T12:00:00Z"}, {"s": "USER_META#ann"}, {"l": 7}, {"v": 2},
		{"q": "x"},
		{"PK": "USER#ann"}, {"s": "NOTE#" + ann.note + "#x"},
	} {
		forged := map[string]any{}
		for name, v := range fields {
			forged[name] = v
		}
		for name, v := range change {
			forged[name] = v
		}
		text, err := json.Marshal(forged)
		b.NoError(err)
		out = append(out, encodeBase64(text))
	}
	return append(out, encodeBase64([]byte(`{"PK":{"S":"USER#ann"}}`)), own+"A", strings.ToUpper(own),
		encodeBase64([]byte("null")))
}

func TestAuthenticate_takesTheUserFromTheTokenAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.overHTTP()
	ann := b.own()
	req := httptest.NewRequest(http.MethodGet, "http://ann:ann@nexus/v1/tasks/"+ann.task, nil)
	req.Header = http.Header{
		"Authorization": {"Bearer bob"}, "X-User-Id": {"ann"}, "Cookie": {"user=ann"}, "X-Forwarded-User": {"ann"},
	}
	b.Equal(404, b.serve(req).Code)
	req = httptest.NewRequest(http.MethodGet, "/v1/tasks/"+ann.task, nil)
	req.Header = http.Header{"Authorization": {"Bearer bob", "Bearer ann"}}
	b.Equal(401, b.serve(req).Code)
}
