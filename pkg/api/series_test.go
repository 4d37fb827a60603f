package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// standup is a series on Mondays at nine in London, from 2 March 2026.
const standup = `"title":"standup","startUtc":"2026-03-02T09:00:00Z","endUtc":"2026-03-02T09:15:00Z",` +
	`"startTzid":"Europe/London"`

func (b *fixture) newSeries(more string) string {
	b.t.Helper()
	return b.want(201, post("/v1/series", `{`+standup+`,`+more+`}`)).text("masterId")
}

func put(path, body string, version int) request {
	return request{method: http.MethodPut, path: path, body: body, header: ifMatch(version)}
}

func del(path string, version int) request {
	return request{method: http.MethodDelete, path: path, header: ifMatch(version)}
}

// part is a member of an answer that is an object.
func (r response) part(name string) map[string]any { m, _ := r.doc[name].(map[string]any); return m }

func TestSeriesOperations_createReadChangeEndAndDelete(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.overHTTP()
	res := b.want(201, post("/v1/series", `{`+standup+`,"rrule":"FREQ=WEEKLY;BYDAY=MO","masterId":"mst_`+uuid(77)+`"}`))
	one := "/v1/series/mst_" + uuid(77)
	b.Equal(one, res.Header().Get("Location"))
	b.Equal(`"1"`, res.Header().Get("ETag"))
	b.Equal([]any{"MASTER", "mst_" + uuid(77), "mst_" + uuid(77)},
		[]any{res.doc["entityType"], res.doc["eventId"], res.doc["masterId"]})
	b.NotContains(res.doc, "exceptionsVersion")
	b.NotContains(res.doc, "dueSetAt")

	res = b.want(200, patch(one, `{"startUtc":"2026-03-03T09:00:00Z","endUtc":"2026-03-03T09:30:00Z"}`, 1))
	b.Equal("FREQ=WEEKLY;BYDAY=TU", res.text("rrule"))
	b.want(428, request{method: http.MethodPatch, path: one, body: `{"title":"x"}`})
	stale := b.want(412, patch(one, `{"title":"x"}`, 1))
	b.Equal([]any{2.0, "The series has version 2 now."}, []any{stale.doc["currentVersion"], stale.text("detail")})

	b.want(200, put(one+"/instances/20260310", `{"title":"with guests"}`, 2))
	res = b.want(200, get(one))
	b.Equal(`"2"`, res.Header().Get("ETag"))
	b.Equal(true, res.part("master")["hasExceptions"])
	instances := res.doc["instances"].([]any)
	b.Len(instances, 1)
	b.Equal("with guests", instances[0].(map[string]any)["title"])
	b.NotContains(res.doc, "nextCursor")
	b.want(200, get(one).with("If-None-Match", `"2"`)) // exceptions change without a version of the series
	b.want(400, get(one+"?cursor=x"))

	res = b.want(200, request{
		method: http.MethodPost, path: one + "/end", body: `{"untilUtc":"2026-03-24T23:00:00+02:00"}`, header: ifMatch(2),
	})
	b.Equal([]string{"2026-03-24T21:00:00Z", "2026-03-24T09:00:00Z"},
		[]string{res.text("rruleUntil"), res.text("lastStartUtc")})
	b.want(428, post(one+"/end", `{"untilUtc":"2026-03-20T00:00:00Z"}`))
	refused := b.want(422, request{
		method: http.MethodPost, path: one + "/end", body: `{"untilUtc":"2026-03-01T00:00:00Z"}`, header: ifMatch(3),
	})
	b.Equal("/untilUtc leaves no occurrence: delete the series instead.", refused.text("detail"))
	b.want(428, request{method: http.MethodDelete, path: one})
	b.want(412, del(one, 2))
	b.want(204, del(one, 3))
	b.want(410, get(one))
	b.want(410, get("/v1/events/inst_20260310_"+uuid(77)))
}

func TestSeriesOperations_readEveryIDOfAnEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.want(201, post("/v1/events", `{`+standup+`}`)).text("eventId")
	id := b.newSeries(`"rrule":"FREQ=WEEKLY","location":"room 1"`)
	b.want(200, patch("/v1/series/"+id, `{"title":"daily"}`, 1))
	occurrence := "/v1/events/" + entity.InstanceID(id, "20260309")
	for path, typ := range map[string]string{
		"/v1/events/" + event: "EVENT", "/v1/events/" + id: "MASTER", occurrence: "INSTANCE",
	} {
		b.Equal(typ, b.want(200, get(path)).text("entityType"))
		b.want(200, request{method: http.MethodHead, path: path})
		b.want(404, get(path).by("bob"))
	}
	res := b.want(200, get(occurrence))
	b.Equal(`"2"`, res.Header().Get("ETag"), "virtual, it has the series' version")
	b.want(200, get(occurrence).with("If-None-Match", `"2"`))
	b.want(304, get("/v1/events/"+event).with("If-None-Match", `"1"`))
	b.Equal("2026-03-09T09:00:00Z", res.text("recurrenceId"))
	res = b.want(200,
		put("/v1/series/"+id+"/instances/20260309", `{"startUtc":"2026-03-10T10:00:00Z","location":null}`, 2))
	b.Equal(`"3"`, res.Header().Get("ETag"))
	b.Empty(res.Header().Get("Location"))
	b.want(412, put("/v1/series/"+id+"/instances/20260309", `{"title":"another's"}`, 2))
	res = b.want(200, get(occurrence))
	b.Equal(`"3"`, res.Header().Get("ETag"))
	b.Equal([]string{"daily", "2026-03-10T10:15:00Z", ""},
		[]string{res.text("title"), res.text("endUtc"), res.text("location")})
	b.Equal([]any{"startUtc", "endUtc", "location"}, res.doc["modifiedFields"])
	for _, path := range []string{
		"/v1/events/inst_20260310_" + uuid(1), "/v1/events/mst_x", "/v1/events/inst_1_x", "/v1/events/task_1",
		"/v1/events/inst_20260309",
	} {
		b.want(404, get(path))
	}
	for _, r := range []request{
		patch(occurrence, `{"title":"x"}`, 1), del(occurrence, 1), patch("/v1/events/"+id, `{"title":"x"}`, 2),
		del("/v1/events/"+id, 2),
	} {
		b.want(404, r)
	}
}

func TestLeadToSeries_answersASingleEventThatIsToRecur(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event := b.want(201, post("/v1/events", `{`+standup+`,"tags":["a"]}`)).text("eventId")
	for _, r := range []request{
		patch("/v1/events/"+event, `{"rrule":"FREQ=DAILY","mood":1}`, 1),
		post("/v1/events", `{`+standup+`,"rrule":"FREQ=DAILY","mood":1}`),
	} {
		res := b.want(422, r)
		b.ElementsMatch([]string{"/rrule", "/mood"}, res.pointers())
		b.Contains(res.Body.String(), "POST /v1/series")
	}
	promote := post("/v1/series", `{"fromEventId":"`+event+`","rrule":"FREQ=DAILY"}`)
	b.want(428, promote)
	b.want(412, promote.with("If-Match", `"2"`))
	b.want(404, promote.with("If-Match", `"1"`).by("bob"))
	b.Equal([]string{"/fromEventId"},
		b.want(404, post("/v1/series", `{"fromEventId":"evt_x","rrule":"FREQ=DAILY"}`).with("If-Match", `"1"`)).pointers())
	for _, wrong := range []string{`null`, `7`, `""`, `{}`} {
		b.Equal([]string{"/fromEventId"},
			b.want(422, post("/v1/series", `{"fromEventId":`+wrong+`,"rrule":"FREQ=DAILY"}`).with("If-Match", `"1"`)).pointers())
	}
	b.want(400, post("/v1/series", `{`+standup+`,"rrule":"FREQ=DAILY"}`).with("If-Match", `"1"`))
	res := b.want(201, promote.with("If-Match", `"1"`).with("Idempotency-Key", "k"))
	b.Equal([]any{event + "@nexus.app", "standup"}, []any{res.doc["icalUid"], res.doc["title"]})
	b.want(410, get("/v1/events/"+event))
	b.Equal("true", b.want(201, promote.with("If-Match", `"1"`).with("Idempotency-Key", "k")).Header().Get(replayed))
}

func TestLeadToSeries_answersAChangeOfASeriesAsAnEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	for name, where := range map[string]string{
		id: "/v1/series/{masterId}.",
		"inst_20260309_" + strings.TrimPrefix(id, "mst_"): "/v1/series/{masterId}/instances/{YYYYMMDD}.",
	} {
		for _, r := range []request{patch("/v1/events/"+name, `{"title":"x"}`, 1), del("/v1/events/"+name, 1)} {
			b.Contains(b.want(404, r).text("detail"), where)
		}
	}
}

func TestInstanceOperations_changeCancelAndRestoreOneOccurrence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY;COUNT=4"`)
	one := "/v1/series/" + id + "/instances/20260309"
	b.want(428, request{method: http.MethodPut, path: one, body: `{}`})
	b.want(428, request{method: http.MethodDelete, path: one})
	b.Equal("The occurrence has version 1 now.", b.want(412, put(one, `{"title":"x"}`, 7)).text("detail"))
	b.want(200, put(one, `{"title":"x"}`, 1).with("Idempotency-Key", "k"))
	b.Equal("true", b.want(200, put(one, `{"title":"x"}`, 1).with("Idempotency-Key", "k")).Header().Get(replayed))
	b.want(412, del(one, 1))
	res := b.want(200, del(one, 2))
	b.Equal([]any{"CANCELLED", "x"}, []any{res.doc["status"], res.doc["title"]})
	res = b.want(200, put(one, `{}`, 3))
	b.Equal([]any{"CONFIRMED", "standup", nil}, []any{res.doc["status"], res.doc["title"], res.doc["modifiedFields"]})
	b.Equal(`"5"`, res.Header().Get("ETag"), "4 of its row and 1 of the series")
	b.Equal(res.doc, b.want(200, get("/v1/events/"+entity.InstanceID(id, "20260309"))).doc)
	for date, status := range map[string]int{
		"20260310": 404, "20260330": 404, "2026-03-09": 422, "x": 422, "20260309%23": 422, "%2e%2e": 422,
	} {
		b.want(status, put("/v1/series/"+id+"/instances/"+date, `{"title":"x"}`, 1))
		b.want(status, del("/v1/series/"+id+"/instances/"+date, 1))
	}
	res = b.want(422, put(one, `{"title":null,"rrule":"FREQ=DAILY","endUtc":"2026-03-09T08:00:00Z","tags":[""]}`, 5))
	b.ElementsMatch([]string{"/title", "/rrule", "/endUtc", "/tags"}, res.pointers())
	b.Equal([]string{"/links/0/targetId"},
		b.want(404, put(one, `{"links":[{"targetType":"NOTE","targetId":"note_x"}]}`, 5)).pointers())
	b.want(400, put(one, `{"title":`, 1))
	b.want(400, request{method: http.MethodPut, path: one, header: ifMatch(1)})
	b.want(422, put(one, `[]`, 1))
	b.want(413, put(one, `{"title":"`+strings.Repeat("a", 300<<10)+`"}`, 1))
}

func TestSplitSeries_changesThisAndAllFollowingOccurrences(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.overHTTP()
	id := b.newSeries(`"rrule":"FREQ=WEEKLY;COUNT=5"`)
	one := "/v1/series/" + id
	b.want(200, put(one+"/instances/20260323", `{"title":"special"}`, 1))
	split := func(body string, version int) request {
		return request{method: http.MethodPost, path: one + "/split", body: body, header: ifMatch(version)}
	}
	b.want(428, post(one+"/split", `{"date":"20260316"}`))
	b.want(412, split(`{"date":"20260316"}`, 2))
	for body, pointers := range map[string][]string{
		`{}`:                                    {"/date"},
		`{"date":7,"changes":[],"mood":1}`:      {"/date", "/changes", "/mood"},
		`{"date":"20260302"}`:                   {"/date"},
		`{"date":"20260317"}`:                   {"/date"},
		`{"date":"2026-03-16"}`:                 {"/date"},
		`{"date":"20260316","changes":{"a":1}}`: {"/changes/a"},
		`{"date":"20260316","changes":{"title":null,"rrule":"x"}}`: {"/changes/title", "/changes/rrule"},
	} {
		b.ElementsMatch(pointers, b.want(422, split(body, 1)).pointers(), body)
	}
	body := `{"date":"20260316","changes":{"title":"later","startUtc":"2026-03-16T15:00:00Z"}}`
	res := b.want(201, split(body, 1).with("Idempotency-Key", "k"))
	b.Equal(entity.TraceID("ann", res.part("following")["masterId"].(string), 1), res.Header().Get("X-Trace-Id"))
	ended, following := res.part("ended"), res.part("following")
	b.Equal("/v1/series/"+following["masterId"].(string), res.Header().Get("Location"))
	b.Equal([]any{id, "2026-03-16T08:59:59Z", 2.0, "2026-03-09T09:00:00Z"},
		[]any{ended["masterId"], ended["rruleUntil"], ended["version"], ended["lastStartUtc"]})
	b.Equal([]any{"later", "FREQ=WEEKLY;COUNT=3", "2026-03-16T15:15:00Z", true},
		[]any{following["title"], following["rrule"], following["endUtc"], following["hasExceptions"]})
	instances := b.want(200, get(res.Header().Get("Location"))).doc["instances"].([]any)
	b.Len(instances, 1)
	b.Equal([]any{"special", "2026-03-23T15:00:00Z"},
		[]any{instances[0].(map[string]any)["title"], instances[0].(map[string]any)["startUtc"]})
	again := b.want(201, split(body, 1).with("Idempotency-Key", "k"))
	b.Equal("true", again.Header().Get(replayed))
	b.Equal(res.Body.String(), again.Body.String())
	b.want(204, del(one, 2))
	b.NotContains(b.want(201, split(body, 1).with("Idempotency-Key", "k")).doc, "ended")
	b.want(204, del(res.Header().Get("Location"), 1))
	b.Equal("true", b.want(204, split(body, 1).with("Idempotency-Key", "k")).Header().Get(replayed))
}

func TestRunBatch_carriesCommandsAboutSeries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := "mst_" + uuid(55)
	res := b.want(200, post("/v1/commands", `{"commands":[
		{"id":"1","type":"CreateSeries","data":{`+standup+`,"rrule":"FREQ=WEEKLY","masterId":"`+id+`"}},
		{"id":"2","type":"PutInstance","data":{"masterId":"`+id+`","date":"20260309","title":"x"},"expectedVersion":1},
		{"id":"3","type":"CancelInstance","data":{"masterId":"`+id+`","date":"20260330"},"expectedVersion":1},
		{"id":"4","type":"UpdateSeries","data":{"masterId":"`+id+`","title":"y"},"expectedVersion":1},
		{"id":"5","type":"SplitSeries","data":{"masterId":"`+id+
		`","date":"20260323","changes":{"title":"z"}},"expectedVersion":2},
		{"id":"6","type":"EndSeries","data":{"masterId":"`+id+`","untilUtc":"2026-03-10T00:00:00Z"},"expectedVersion":3},
		{"id":"7","type":"PutInstance","data":{"masterId":"`+id+`","date":"20260310","title":"x"},"expectedVersion":4},
		{"id":"8","type":"SplitSeries","data":{"masterId":"`+id+
		`","date":"20260309","changes":{"title":null}},"expectedVersion":4},
		{"id":"9","type":"DeleteSeries","data":{"masterId":"`+id+`"}},
		{"id":"10","type":"DeleteSeries","data":{"masterId":"`+id+`"},"expectedVersion":4}]}`))
	var out struct {
		Results []struct {
			Status  int
			Entity  map[string]any
			Result  map[string]map[string]any
			Problem map[string]any
		}
	}
	b.NoError(json.Unmarshal(res.Body.Bytes(), &out))
	var statuses []int
	for _, r := range out.Results {
		statuses = append(statuses, r.Status)
	}
	b.Equal([]int{201, 200, 200, 200, 201, 200, 404, 422, 428, 204}, statuses, res.Body.String())
	b.Equal("CANCELLED", out.Results[2].Entity["status"])
	b.Equal([]any{id, "z"}, []any{out.Results[4].Result["ended"]["masterId"], out.Results[4].Result["following"]["title"]})
	b.Contains(fmt.Sprint(out.Results[7].Problem), "/data/changes/title")
}

func TestLinkOperations_showALinkOfASeriesFromBothSides(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	note := b.want(201, post("/v1/notes", `{"title":"n"}`)).text("noteId")
	link := "/v1/series/" + id + "/links/NOTE/" + note
	b.Equal(`"2"`, b.want(200, request{
		method: http.MethodPut, path: link, body: `{"relation":"agenda"}`,
	}).Header().Get("ETag"))
	b.want(200, put("/v1/series/"+id+"/instances/20260309",
		`{"title":"special","links":[{"targetType":"NOTE","targetId":"`+note+`"}]}`, 2))
	b.want(200, request{method: http.MethodPut, path: "/v1/notes/" + note + "/links/MASTER/" + id})
	b.linkRows()
	var got []string
	for _, it := range b.want(200, get("/v1/notes/"+note+"/backlinks")).items() {
		got = append(got, it["entityType"].(string)+" "+it["title"].(string))
	}
	b.Equal([]string{"INSTANCE special", "MASTER standup"}, got)
	b.Len(b.want(200, get("/v1/series/"+id+"/backlinks")).items(), 1)
	b.Len(b.want(200, get("/v1/events/"+id+"/backlinks")).items(), 1)
	occurrence := "inst_20260309_" + strings.TrimPrefix(id, "mst_")
	b.want(200, request{method: http.MethodPut, path: "/v1/notes/" + note + "/links/INSTANCE/" + occurrence})
	b.linkRows()
	b.Len(b.want(200, get("/v1/events/"+occurrence+"/backlinks")).items(), 1)
	b.Empty(b.want(200, get("/v1/events/"+strings.Replace(occurrence, "0309", "0316", 1)+"/backlinks")).items(),
		"one that is virtual")
	b.want(404, get("/v1/events/"+strings.Replace(occurrence, "0309", "0310", 1)+"/backlinks"))
	b.want(404, get("/v1/events/"+occurrence+"/backlinks").by("bob"))
	b.want(404, get("/v1/events/"+note+"/backlinks"))
	b.want(200, put("/v1/series/"+id+"/instances/20260309", `{}`, 3))
	b.Len(b.want(200, get("/v1/notes/"+note+"/backlinks")).items(), 1)
	b.want(200, request{method: http.MethodDelete, path: link})
}

func TestSeriesOperations_askForARepetitionIfTidyingFails(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	one := "/v1/series/" + id
	b.want(200, put(one+"/instances/20260323", `{"title":"special"}`, 1))
	transactions := 0
	b.failWith(func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.Before {
			if transactions++; transactions == 2 {
				return fmt.Errorf("tidying: %w", table.ErrThrottled)
			}
		}
		return nil
	})
	end := request{method: http.MethodPost, path: one + "/end", body: `{"untilUtc":"2026-03-10T00:00:00Z"}`,
		header: ifMatch(1)}.with("Idempotency-Key", "k")
	b.Equal("1", b.want(503, end).Header().Get("Retry-After"))
	b.Empty(b.want(200, get(one)).doc["instances"], "what was lost is out of sight at once")
	b.Equal("true", b.want(200, end).Header().Get(replayed))
	require.Equal(t, 3, transactions, "the repetition finished it")
}

func TestSeriesOperations_boundEverything(t *testing.T) {
	t.Parallel()
	b := setup(t)
	dates := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, `"`+noon.AddDate(0, 0, i+1).Format("20060102")+`"`)
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	b.want(201, post("/v1/series", `{`+standup+`,"rrule":"FREQ=DAILY","exdate":`+dates(500)+`,"rdate":`+dates(500)+`}`))
	for fields, pointer := range map[string]string{
		`"rrule":"FREQ=DAILY","exdate":` + dates(501):                           "/exdate",
		`"rrule":"FREQ=DAILY","rdate":` + dates(501):                            "/rdate",
		`"rrule":"FREQ=DAILY","exdate":["20260230"]`:                            "/exdate",
		`"rrule":"FREQ=DAILY","exdate":"20260303"`:                              "/exdate",
		`"rrule":"FREQ=DAILY","rdate":[20260303]`:                               "/rdate",
		`"rrule":"` + strings.Repeat("A", 2001) + `"`:                           "/rrule",
		`"rrule":"FREQ=DAILY;BYHOUR=1"`:                                         "/rrule",
		`"rrule":"FREQ=DAILY;COUNT=100000"`:                                     "/rrule",
		`"rrule":"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"`:                         "/rrule",
		`"rrule":["FREQ=DAILY"]`:                                                "/rrule",
		`"rrule":"FREQ=DAILY","rruleUntil":"2026-03-03T00:00:00"`:               "/rruleUntil",
		`"rrule":"FREQ=DAILY","masterId":"mst_mine"`:                            "/masterId",
		`"rrule":"FREQ=DAILY","eventId":"evt_` + uuid(1) + `"`:                  "/eventId",
		`"rrule":"FREQ=DAILY","modifiedFields":["title"]`:                       "/modifiedFields",
		`"rrule":"FREQ=DAILY","tags":["` + strings.Repeat("a", 65) + `"]`:       "/tags",
		`"rrule":"FREQ=DAILY","links":[{"targetType":"MASTER","targetId":"x"}]`: "/links/0/targetId",
	} {
		b.Equal([]string{pointer}, b.want(422, post("/v1/series", `{`+standup+`,`+fields+`}`)).pointers(), fields)
	}
	b.Equal([]string{"/endUtc"}, b.want(422, post("/v1/series", `{"title":"t","startUtc":"2026-03-02T09:00:00Z",`+
		`"endUtc":"2027-03-04T09:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY"}`)).pointers())
	id := b.newSeries(`"rrule":"FREQ=DAILY"`)
	one := "/v1/series/" + id
	b.want(413, request{
		method: http.MethodPost, path: one + "/split", body: `{"date":"` + strings.Repeat("2", 300<<10) + `"}`,
		header: ifMatch(1),
	})
	b.want(400, request{
		method: http.MethodPost, path: one + "/split", body: `{"date":"20260309","changes":` + strings.Repeat(`{"a":`, 40) +
			`1` + strings.Repeat("}", 40) + `}`, header: ifMatch(1),
	})
	var many []string
	for i := range 3000 {
		many = append(many, fmt.Sprintf(`"f%d":1`, i))
	}
	for path, body := range map[string]string{
		"/split": `{"date":"20260309",` + strings.Join(many, ",") + `}`, "/end": `{` + strings.Join(many, ",") + `}`,
	} {
		res := b.want(422, request{method: http.MethodPost, path: one + path, body: body, header: ifMatch(1)})
		b.LessOrEqual(len(res.pointers()), 257)
	}
	b.LessOrEqual(len(b.want(422, put(one+"/instances/20260309", `{`+strings.Join(many, ",")+`}`, 1)).pointers()), 257)
	for _, path := range []string{
		"/v1/series/" + strings.Repeat("a", 900), "/v1/series/mst_" + strings.Repeat("a", 51), "/v1/series/mst_a%23b",
		"/v1/series/evt_1", "/v1/series/USER%23ann",
	} {
		b.want(404, get(path))
		b.want(404, del(path, 1))
		b.want(404, put(path+"/instances/20260309", `{"title":"x"}`, 1))
		b.want(404, del(path+"/instances/20260309", 1))
	}
	b.want(400, get(one+"?limit=1"))
	b.want(400, get(one+"?cursor="+strings.Repeat("a", 2000)))
}
