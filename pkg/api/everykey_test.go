package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each write that the document lists with Idempotency-Replayed refuses a key that another request used, and writes
// nothing. The document says of the other two that a repetition counts like any other request.
func TestIdempotencyKey_isTakenForEveryOtherWrite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(201, post("/v1/notes", `{"title":"a"}`).with("Idempotency-Key", "taken"))
	c, err := loadContract()
	b.NoError(err)
	values := strings.NewReplacer("{masterId}", "mst_"+someUUID,
		"{eventId}", "evt_"+someUUID, "{taskId}", "task_"+someUUID,
		"{noteId}", "note_"+someUUID, "{reminderId}", "rem_"+someUUID, "{instanceId}", "inst_20260302_"+someUUID,
		"{webhookId}", "whk_"+someUUID,
		"{id}", "task_"+someUUID, "{targetType}", "TASK", "{targetId}", "task_"+someUUID, "{exportId}", "000001",
		"/instances/{date}", "/instances/20260302", "{date}", "2026-03-02", "{nodeId}", "act_"+someUUID)
	asked := 0
	for id, route := range c.operations {
		isWrite := false
		for _, answer := range route.Operation.Responses.Map() {
			isWrite = isWrite || answer.Value.Headers["Idempotency-Replayed"] != nil
		}
		if !isWrite {
			b.True(route.Method == http.MethodGet || slices.Contains([]string{
				"runCommands", "watch", "makeFeed", "putDevice", "deleteDevice", "testDevice",
				"actOnNotification",
				"testWebhook", "redeliverWebhook",
			}, id), id)
			continue
		}
		asked++
		r := request{method: route.Method, path: values.Replace(route.Path)}.with("Idempotency-Key", "taken")

		if content := route.Operation.RequestBody; content != nil {
			media := slices.Sorted(maps.Keys(content.Value.Content))[0]
			example := content.Value.Content[media].Example
			text, isText := example.(string)
			if !isText {
				encoded, err := json.Marshal(example)
				b.NoError(err)
				text = string(encoded)
			}
			r.body = text
			r = r.with("Content-Type", media)
		}
		for _, p := range route.Operation.Parameters {
			if p.Value.Name == "If-Match" && p.Value.Required {
				r = r.with("If-Match", `"1"`)
			}
		}
		before := b.store.Len()
		got := b.do(r)
		b.Equal(422, got.Code, "%s: %s", id, got.Body)
		b.Equal("idempotency-key-reused", got.problem(), id)
		b.Equal(before, b.store.Len(), id)
	}
	b.Greater(asked, 40)
}

const someUUID = "0f8fad5b-d9cb-469f-a165-70867728950e"

func TestDeletePlanOperation_leavesThePlanThatBeganAfterItsFirstRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.grow("")
	b.want(201, post(planOfDay+"/revisions", planned("")))
	b.advance(time.Second)
	remove := deletion(planOfDay).with("Idempotency-Key", "k")
	b.Empty(b.want(204, remove).Header().Get(replayed))
	b.Equal("true", b.want(204, remove).Header().Get(replayed))
	made := b.want(201, post(planOfDay+"/revisions", planned(""))).text("revId")
	b.advance(time.Hour)
	b.Equal("true", b.want(204, remove).Header().Get(replayed))
	b.Equal(made, b.want(200, get(planOfDay)).text("revId"))
	b.want(204, deletion(planOfDay))
}

func TestPrune_isRepeatedUnderItsKeyWithoutEffect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	head := b.grow("")
	edit := func(op string) { head = b.edit(head, `{"op":"`+op+`","nodeId":"`+run+`"}`).text("revId") }
	edit("delete")
	prune := post("/v1/values/prune", `{"keep":{"last":1}}`).with("Idempotency-Key", "k")
	first := b.want(200, prune)
	b.Equal("1 7 0 false", first.counted())
	edit("forget")
	again := b.want(200, prune)
	b.Equal("true", again.Header().Get(replayed))
	b.Equal(first.doc, again.doc)
	b.Len(b.want(200, get("/v1/values/revisions")).items(), 2)
	b.want(422, post("/v1/values/prune", `{"keep":{"last":2}}`).with("Idempotency-Key", "k"))
	b.want(422, post(planOfDay+"/prune", `{"keep":{"last":1}}`).with("Idempotency-Key", "k"))
	b.want(200, post("/v1/values/prune", `{"keep":{"last":1}}`))
}

func TestAPI_letsAnAccountLeaveOnceUnderAKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	leave := request{method: http.MethodDelete, path: "/v1/me"}.with("Idempotency-Key", "go")
	back := request{method: http.MethodPost, path: "/v1/me/restore"}.with("Idempotency-Key", "stay")
	first := b.want(202, leave)
	b.Empty(first.Header().Get(replayed))
	again := b.want(202, leave)
	b.Equal("true", again.Header().Get(replayed))
	b.Equal(first.doc, again.doc)
	b.Empty(b.want(200, back).Header().Get(replayed))
	b.advance(time.Hour)
	late := b.want(204, leave)
	b.Equal("true", late.Header().Get(replayed))
	b.Equal(0, b.leaving(), "the request was taken back")
	b.want(202, request{method: http.MethodDelete, path: "/v1/me"})
	b.Equal("true", b.want(200, back).Header().Get(replayed))
	b.Equal(1, b.leaving())
}

// leaving counts the accounts that are to be erased.
func (b *fixture) leaving() int {
	names, err := b.copies.List(b.t.Context(), "leaving/", 10, "")
	b.NoError(err)
	return len(names)
}
