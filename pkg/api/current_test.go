package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"nexus/pkg/entity"
	"nexus/pkg/table/memory"
)

// Whatever change comes too late, the answer has the entity as its own GET answers it, and nothing more was read for
// it.
func TestAPI_returnsTheEntityWithAFailedPrecondition(t *testing.T) {
	t.Parallel()
	b := setup(t)
	task := "/v1/tasks/" + b.want(201, post("/v1/tasks", `{"title":"<a> & \"b\"","tags":["x"]}`)).text("taskId")
	b.want(200, patch(task, `{"title":"b <>"}`, 1))
	event := b.want(201, post("/v1/events", `{`+standup+`}`)).text("eventId")
	b.want(200, patch("/v1/events/"+event, `{"title":"other"}`, 1))
	id := b.want(201, post("/v1/series", `{`+standup+`,"rrule":"FREQ=WEEKLY;BYDAY=MO"}`)).text("masterId")
	series, one := "/v1/series/"+id, "/v1/events/"+id
	b.want(200, patch(series, `{"title":"moved"}`, 1))
	b.want(200, put(series+"/instances/20260309", `{"title":"with guests"}`, 2))
	b.want(200, patch("/v1/me", `{"defaultTzid":"Asia/Tokyo"}`, 0))
	note := b.want(201, post("/v1/notes", `{"title":"n"}`)).text("noteId")
	occurrence := func(date string) string {
		return "/v1/events/" + entity.InstanceID(id, date)
	}
	stale := func(method, path, body string) request {
		return request{method: method, path: path, body: body, header: ifMatch(1)}
	}
	for _, c := range []struct {
		late  request
		now   string
		calls string // a change of a series also tidies up, in case it repeats one that was cut short
	}{
		{stale(http.MethodPatch, task, `{"title":"c"}`), task, "BatchGet"},
		{stale(http.MethodDelete, task, ""), task, "Transact"},
		{stale(http.MethodPut, task+"/links/NOTE/"+note, ""), task, "BatchGet"},
		{stale(http.MethodPatch, series, `{"title":"c"}`), one, "BatchGet BatchGet Query"},
		{stale(http.MethodPost, series+"/end", `{"untilUtc":"2026-03-20T00:00:00Z"}`), one, "BatchGet BatchGet Query"},
		{stale(http.MethodPost, series+"/split", `{"date":"20260316","changes":{}}`), one,
			"BatchGet BatchGet Query BatchGet Query"},
		{stale(http.MethodPut, series+"/instances/20260309", `{"title":"c"}`), occurrence("20260309"), "BatchGet"},
		{stale(http.MethodPut, series+"/instances/20260316", `{"title":"c"}`), occurrence("20260316"), "BatchGet"},
		{stale(http.MethodDelete, series+"/instances/20260316", ""), occurrence("20260316"), "BatchGet"},
		{stale(http.MethodPost, "/v1/series", `{"rrule":"FREQ=DAILY","fromEventId":"`+event+`"}`), "/v1/events/" + event,
			"BatchGet"},
		{request{method: http.MethodPatch, path: "/v1/me", body: `{"defaultTzid":"UTC"}`, header: ifMatch(0)}, "/v1/me",
			"BatchGet"},
	} {
		var calls []string
		b.fault = func(c memory.Call) error {
			if c.Stage == memory.Before {
				calls = append(calls, c.Op)
			}
			return nil
		}
		refused := b.want(412, c.late)
		b.fault = nil
		now := b.want(200, get(c.now))
		b.Equal(now.doc, refused.doc["current"], "%s %s", c.late.method, c.late.path)
		b.Equal(now.doc["version"], refused.doc["currentVersion"])
		b.NotContains(refused.doc, "currentOmitted")
		b.Equal(c.calls, strings.Join(calls, " "), "%s %s", c.late.method, c.late.path)
	}
}

// A batch brings the present entities of what came too late as long as the answer has room, as the function sends it.
func TestRunBatch_returnsPresentEntitiesWhileThereIsRoom(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body, err := json.Marshal(strings.Repeat(`"`, 32<<10))
	b.NoError(err)
	note := b.want(201, post("/v1/notes", fmt.Sprintf(`{"title":"n","body":%s}`, body))).text("noteId")
	b.want(200, patch("/v1/notes/"+note, `{"title":"m"}`, 1))
	now := b.want(200, get("/v1/notes/"+note))
	var commands []string
	for i := range 100 {
		commands = append(commands,
			fmt.Sprintf(`{"id":"%d","type":"UpdateNote","data":{"noteId":%q,"title":"late"},"expectedVersion":1}`, i, note))
	}
	res := b.want(200, post("/v1/commands", `{"commands":[`+strings.Join(commands, ",")+`]}`))
	sent, err := json.Marshal(res.Body.String())
	b.NoError(err)
	b.LessOrEqual(len(sent), 4<<20+64)
	var out struct {
		Results []struct {
			Status  int
			Problem map[string]any
		}
	}
	b.NoError(json.Unmarshal(res.Body.Bytes(), &out))
	brought := 0
	for i, r := range out.Results {
		b.Equal(412, r.Status)
		b.Equal(2.0, r.Problem["currentVersion"])
		_, has := r.Problem["current"]
		b.Equal(!has, r.Problem["currentOmitted"] == true, i)
		if has {
			brought++
			b.Equal(now.doc, r.Problem["current"])
		}
	}
	b.Equal(31, brought, "one note takes 128 KB")
}
