package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

const (
	planOfDay = "/v1/plans/" + day
	nextDay   = "/v1/plans/2026-03-03"
)

func act(path string) request { return request{method: "POST", path: path} }

func done(action string) request { return post(planOfDay+"/complete", `{"actionId":"`+action+`"}`) }

// ids are the actions of a plan's to-dos in their order.
func (r response) ids() []string {
	var out []string
	for _, t := range r.doc["todos"].([]any) {
		out = append(out, t.(map[string]any)["actionId"].(string))
	}
	return out
}

func TestPlanOperations_commitReadAndReplan(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.grow("")
	b.want(404, get(planOfDay))
	made := b.want(201, post(planOfDay+"/revisions", planned("")))
	first := made.text("revId")
	b.Equal(planOfDay+"/revisions/"+first, made.Header().Get("Location"))
	b.Equal("morning_plan", made.text("reason"))
	b.Equal(day, made.text("date"))
	b.advance(time.Hour)
	replan := fmt.Sprintf(`{"parentRevId":%q,"reason":"midday_replan","message":"Rain","todos":[{"actionId":%q,`+
		`"classification":"urgent"}],"blocks":[]}`, first, stretch)
	second := b.want(201, post(planOfDay+"/revisions", replan))
	b.Equal(second.text("revId"), b.want(409, post(planOfDay+"/revisions", replan)).text("currentRevId"))

	now := b.want(200, get(planOfDay))
	b.Equal([]string{stretch}, now.ids())
	b.Equal([]any{}, now.doc["blocks"])
	b.want(304, get(planOfDay).with("If-None-Match", now.Header().Get("ETag")))
	b.Equal(made.doc, b.want(200, get(planOfDay+"?at=2026-03-02T12:59:59Z")).doc)
	b.Equal(made.doc, b.want(200, get(planOfDay+"/revisions/"+first)).doc)
	b.Equal([]any{second.text("revId"), first}, []any{
		b.want(200, get(planOfDay+"/revisions")).items()[0]["revId"],
		b.want(200, get(planOfDay+"/revisions")).items()[1]["revId"],
	})
	diff := b.want(200, get(planOfDay+"/diff?from="+first+"&to="+second.text("revId")))
	b.Len(diff.doc["removed"].(map[string]any)["blocks"], 2)
	back := b.want(201, post(planOfDay+"/rollback", `{"parentRevId":"`+second.text("revId")+`","revId":"`+first+`"}`))
	b.Equal([]any{made.doc["todos"], made.doc["blocks"], "rollback"},
		[]any{back.doc["todos"], back.doc["blocks"], back.text("reason")})
	b.want(404, get(nextDay+"/revisions/"+first))
}

func TestPlanOperations_refuseADateThatIsNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, date := range []string{"20260302", "2026-02-30", "today", "2026-3-2", "1899-12-31", "2026-03-02%23x"} {
		path := "/v1/plans/" + date
		b.want(400, get(path))
		b.want(400, get(path+"/revisions"))
		b.want(400, act(path+"/rollover"))
		b.want(400, post(path+"/complete", `{"actionId":"`+run+`"}`))
		b.want(400, post(path+"/revisions", planned("")))
	}
	b.Zero(b.store.Len())
}

func TestPlanOperations_nameEachBrokenRuleWithItsActionOrBlock(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.grow("")
	rows := b.store.Len()
	res := b.want(422, post(planOfDay+"/revisions", `{"reason":"morning_plan","todos":[{"actionId":"`+race+
		`","classification":"vital"},{"actionId":"act_none","classification":"other"}],
		"blocks":[{"blockId":"blk_1","blockType":"NAP","startTimeIso":"2026-03-02T09:00:00Z",`+
		`"endTimeIso":"2026-03-02T08:00:00Z"},{"blockType":"BREAK"}]}`))
	for _, fault := range []string{
		race + " classification /todos/0/classification", "act_none todo-action-unknown /todos/1/actionId",
		"blk_1 block-type /blocks/0/blockType", "blk_1 block-end /blocks/0/endTimeIso",
	} {
		b.Contains(res.faults(), fault)
	}
	b.Equal([]string{" source-unknown /reason"},
		b.want(422, post(planOfDay+"/revisions", `{"reason":"mood","todos":[],"blocks":[]}`)).faults())
	b.Equal([]string{"/todos", "/blocks"},
		b.want(422, post(planOfDay+"/revisions", `{"reason":"morning_plan"}`)).pointers())
	b.Equal(rows, b.store.Len())
}

func TestCompletePlan_completesAnActionInPlanAndTree(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(404, done(run))
	tree := b.grow("")
	b.want(201, post(planOfDay+"/revisions", planned("")))
	b.advance(time.Hour)
	first := b.want(200, done(run).with("Idempotency-Key", "done"))
	b.Equal([]any{true, true}, []any{first.doc["planChanged"], first.doc["valuesChanged"]})
	b.Len(first.Header().Get("X-Trace-Id"), 32)
	values, plan := b.want(200, get("/v1/values")), b.want(200, get(planOfDay))
	b.Equal("2026-03-02T13:00:00Z", values.node(run)["completedAt"])
	b.Equal("2026-03-02T13:00:00Z", plan.doc["todos"].([]any)[0].(map[string]any)["completedAt"])
	b.Equal(values.text("revId"), first.doc["values"].(map[string]any)["revId"])
	b.NotEqual(tree, values.text("revId"))

	again := b.want(200, done(run).with("Idempotency-Key", "done"))
	b.Equal("true", again.Header().Get(replayed))
	third := b.want(200, done(run))
	b.Equal([]any{false, false}, []any{third.doc["planChanged"], third.doc["valuesChanged"]})
	b.Empty(third.Header().Get("X-Trace-Id"))
	b.Equal(first.doc["plan"], third.doc["plan"])
	b.Equal(plan.doc, b.want(200, get(planOfDay)).doc)
	b.want(404, done("act_none"))
	b.want(422, post(planOfDay+"/complete", `{}`))
}

func TestRolloverPlan_isRepeatable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.grow("")
	b.want(404, act(planOfDay+"/rollover"))
	made := b.want(201, post(planOfDay+"/revisions", planned("")))
	b.want(200, done(run))
	over := b.want(200, act(planOfDay+"/rollover").with("Idempotency-Key", "over"))
	b.Equal([]any{stretch}, over.doc["carried"])
	b.Equal([]any{}, over.doc["left"])
	b.Equal("2026-03-03", over.doc["plan"].(map[string]any)["date"])
	b.Equal("true", b.want(200, act(planOfDay+"/rollover").with("Idempotency-Key", "over")).Header().Get(replayed))
	again := b.want(200, act(planOfDay+"/rollover"))
	b.Equal([]any{}, again.doc["carried"])
	b.Equal(over.doc["plan"], again.doc["plan"])
	b.Equal([]string{stretch}, b.want(200, get(nextDay)).ids())
	b.Equal(made.ids(), b.want(200, get(planOfDay)).ids())
	b.want(400, post(planOfDay+"/rollover", `{}`))

	b.want(200, done(stretch))
	empty := b.want(200, act(planOfDay+"/rollover").by("ann"))
	b.Equal([]any{}, empty.doc["carried"])
}

func TestRolloverPlan_namesWhatItLeft(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tree := b.grow("")
	b.want(201, post(planOfDay+"/revisions", planned("")))
	b.edit(tree, `{"op":"complete","nodeId":"`+run+`"}`)
	over := b.want(200, act(planOfDay+"/rollover"))
	b.Equal([]any{stretch}, over.doc["carried"])
	b.Equal([]any{map[string]any{"actionId": run, "reason": "completed"}}, over.doc["left"])
	b.Equal([]string{stretch}, b.want(200, get(nextDay)).ids())
}

func TestRolloverPlan_makesNoPlanOfNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(201, post(planOfDay+"/revisions", `{"reason":"morning_plan","todos":[],"blocks":[]}`))
	over := b.want(200, act(planOfDay+"/rollover"))
	b.Equal(map[string]any{"date": "2026-03-03", "todos": []any{}, "blocks": []any{}}, over.doc["plan"])
	b.want(404, get(nextDay))
}

func TestRunBatch_carriesTheCommandsOfADay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.grow("")
	commit := strings.Replace(planned(""), "{", `{"date":"`+day+`",`, 1)
	res := b.want(200, post("/v1/commands", `{"commands":[
		{"id":"1","type":"CommitPlan","data":`+commit+`},
		{"id":"2","type":"CompletePlan","data":{"date":"`+day+`","actionId":"`+run+`"}},
		{"id":"3","type":"RolloverPlan","data":{"date":"`+day+`"}},
		{"id":"4","type":"CommitPlan","data":`+commit+`},
		{"id":"5","type":"CompletePlan","data":{"date":"`+day+`","actionId":"`+run+`"},"expectedVersion":1},
		{"id":"6","type":"CommitPlan","data":{"date":"`+day+`","todos":[1],"blocks":[]}},
		{"id":"7","type":"CommitValues","data":{}},
		{"id":"8","type":"RollbackPlan","data":{}}]}`))
	var statuses []float64
	results := res.doc["results"].([]any)
	for _, r := range results {
		statuses = append(statuses, r.(map[string]any)["status"].(float64))
	}
	b.Equal([]float64{201, 200, 200, 409, 422, 422, 422, 422}, statuses, res.Body)
	of := func(i int, name string) map[string]any { return results[i].(map[string]any)[name].(map[string]any) }
	b.Equal(b.want(200, get("/v1/values")).text("revId"), of(1, "result")["values"].(map[string]any)["revId"])
	b.Equal(of(3, "problem")["currentRevId"], of(1, "result")["plan"].(map[string]any)["revId"])
	b.Equal("/data/todos/0", of(5, "problem")["errors"].([]any)[0].(map[string]any)["pointer"])
	b.NotContains(res.Body.String(), "classification", "results name revisions, they do not hold them")
}

func TestCommitPlan_answersFromItsReceiptAfterALostAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lost := 0
	b.failWith(func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.After && lost == 0 {
			lost++
			return table.ErrUnavailable
		}
		return nil
	})
	made := b.want(201, post("/v1/values/revisions", grown("")).with("Idempotency-Key", "once"))
	b.Equal(1, lost)
	b.Equal(made.text("revId"), b.want(200, get("/v1/values")).text("revId"))
	b.failWith(func(memory.Call) error { return table.ErrThrottled })
	b.want(503, get("/v1/values"))
	b.want(503, post("/v1/values/revisions", grown("")))
}
