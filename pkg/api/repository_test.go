package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// exampleRevision stands in the document's examples for a revision.
const exampleRevision = "rev_20260302T093000Z_1b9d6bcdbbfd4b2d9b5dab8dfbbd4bed"

const day = "2026-03-02"

// Nodes of the tree that the tests grow.
const (
	health  = "drv_00000000-0000-4000-9000-000000000001"
	race    = "mil_00000000-0000-4000-9000-000000000002"
	run     = "act_1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"
	stretch = "act_00000000-0000-4000-9000-000000000004"
)

// grown is the body of a commit of a driver, a milestone below it, and two actions.
func grown(parent string) string {
	return fmt.Sprintf(`{"parentRevId":%q,"message":"Weekly review","source":"weekly_review","nodes":[
		{"nodeId":%q,"nodeType":"DRIVER","title":"Health"},
		{"nodeId":%q,"nodeType":"MILESTONE","title":"A race in May"},
		{"nodeId":%q,"nodeType":"ACTION","title":"Run","driverId":%q,"notes":"slowly"},
		{"nodeId":%q,"nodeType":"ACTION","title":"Stretch","driverId":%q}],"edges":[
		{"parentNodeId":%q,"order":1,"childNodeId":%q},
		{"parentNodeId":%q,"order":1,"childNodeId":%q},
		{"parentNodeId":%q,"order":2,"childNodeId":%q}]}`,
		parent, health, race, run, health, stretch, health, health, race, race, run, health, stretch)
}

// planned is the body of a commit of a plan with both actions.
func planned(parent string) string {
	return fmt.Sprintf(`{"parentRevId":%q,"reason":"morning_plan","todos":[
		{"actionId":%q,"classification":"important","estimatedPomodoros":2},{"actionId":%q,"classification":"other"}],`+
		`"blocks":[
		{"blockType":"POMODORO","startTimeIso":"2026-03-02T09:00:00Z","endTimeIso":"2026-03-02T09:25:00Z","actionId":%q,`+
		`"pomodoroIndex":1},
		{"blockType":"BREAK","startTimeIso":"2026-03-02T09:25:00Z","endTimeIso":"2026-03-02T09:30:00Z"}]}`, parent, run,
		stretch, run)
}

// grow commits the tree on the parent, "" for the first, and returns the revision.
func (b *fixture) grow(parent string) string {
	b.t.Helper()
	return b.want(201, post("/v1/values/revisions", grown(parent))).text("revId")
}

// edit commits operations.
func (b *fixture) edit(parent string, operations ...string) response {
	b.t.Helper()
	return b.want(201, post("/v1/values/revisions", edits(parent, operations...)))
}

func edits(parent string, operations ...string) string {
	return fmt.Sprintf(`{"parentRevId":%q,"message":"Edited","source":"daily_update","operations":[%s]}`, parent,
		strings.Join(operations, ","))
}

// repositories lets there be what an operation's example needs, and returns a revision to put in the example's place.
func (d driver) repositories(id, tag string) string {
	if id == "commitValues" || tag != "values" && tag != "plans" {
		return exampleRevision
	}
	tree := d.grow("")
	if id == "commitPlan" || tag == "values" {
		return tree
	}
	revID := d.want(201, post("/v1/plans/"+day+"/revisions", d.example("commitPlan"))).text("revId")
	d.advance(time.Second) // a plan is not deleted in the second of its last revision
	return revID
}

// node is a node of an answer's tree.
func (r response) node(id string) map[string]any {
	for _, n := range r.doc["nodes"].([]any) {
		if n := n.(map[string]any); n["nodeId"] == id {
			return n
		}
	}
	return nil
}

// faults are the rules that a problem names, as "subject rule pointer".
func (r response) faults() []string {
	var doc struct {
		Errors []struct{ Subject, Rule, Pointer, Detail string }
	}
	if err := json.Unmarshal(r.Body.Bytes(), &doc); err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, e := range doc.Errors {
		out = append(out, strings.Join([]string{e.Subject, e.Rule, e.Pointer}, " "))
	}
	return out
}

func TestValuesOperations_commitATreeAndReadEachRevision(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Equal("not-found", b.want(404, get("/v1/values")).problem())
	b.Empty(b.want(200, get("/v1/values/revisions")).items())

	made := b.want(201, post("/v1/values/revisions", grown("")))
	first := made.text("revId")
	b.Equal("/v1/values/revisions/"+first, made.Header().Get("Location"))
	b.Equal(`"`+first+`"`, made.Header().Get("ETag"))
	b.Len(made.Header().Get("X-Trace-Id"), 32)
	b.Equal("2026-03-02T12:00:00Z", made.text("revTs"))
	b.Equal(race, made.node(run)["parentMilestoneId"])
	b.advance(48 * 3600e9)
	second := b.edit(first, `{"op":"complete","nodeId":"`+run+`"}`,
		`{"op":"update","nodeId":"`+race+`","title":"A race in June"}`)
	b.Equal(first, second.text("parentRevId"))

	now := b.want(200, get("/v1/values"))
	b.Equal(second.text("revId"), now.text("revId"))
	b.Equal(second.doc["nodes"], now.doc["nodes"])
	b.Equal("2026-03-04T12:00:00Z", now.node(run)["completedAt"])
	yesterday := b.want(200, get("/v1/values?at=2026-03-03T12:00:00Z"))
	b.Equal(made.doc, yesterday.doc)
	b.Equal(made.doc, b.want(200, get("/v1/values/revisions/"+first)).doc)
	b.want(404, get("/v1/values?at=2026-03-01T00:00:00Z"))
	b.want(404, get("/v1/values/revisions/"+exampleRevision))
	b.want(404, get("/v1/values/revisions/x"))

	b.want(304, get("/v1/values").with("If-None-Match", now.Header().Get("ETag")))
	b.want(200, get("/v1/values").with("If-None-Match", made.Header().Get("ETag")))
}

func TestGetValuesChildren_keepsTheirOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(404, get("/v1/values/nodes/"+health+"/children"))
	rev := b.grow("")
	got := b.want(200, get("/v1/values/nodes/"+health+"/children"))
	b.Equal(rev, got.text("revId"))
	b.Equal([]map[string]any{
		{"parentNodeId": health, "order": 1.0, "childNodeId": race, "childNodeType": "MILESTONE"},
		{"parentNodeId": health, "order": 2.0, "childNodeId": stretch, "childNodeType": "ACTION"},
	}, got.items())
	b.Empty(b.want(200, get("/v1/values/nodes/"+run+"/children")).items())
	b.want(404, get("/v1/values/nodes/x/children"))

	later := b.edit(rev, `{"op":"move","nodeId":"`+stretch+`","parentId":"`+race+`"}`).text("revId")
	b.Len(b.want(200, get("/v1/values/nodes/"+health+"/children")).items(), 1)
	b.Equal(got.doc, b.want(200, get("/v1/values/revisions/"+rev+"/nodes/"+health+"/children")).doc, "as they were")
	moved := b.want(200, get("/v1/values/revisions/"+later+"/nodes/"+race+"/children"))
	b.Equal(later, moved.text("revId"))
	b.Len(moved.items(), 2)
	b.Empty(b.want(200, get("/v1/values/revisions/"+rev+"/nodes/"+run+"/children")).items())
	b.want(404, get("/v1/values/revisions/"+exampleRevision+"/nodes/"+health+"/children"))
	b.want(404, get("/v1/values/revisions/x/nodes/"+health+"/children"))
	b.want(404, get("/v1/values/revisions/"+rev+"/nodes/x/children"))
}

func TestProblemOfMovedHead_hasThePresentHead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	none := b.want(409, post("/v1/values/revisions", edits(exampleRevision, `{"op":"delete","nodeId":"`+run+`"}`)))
	b.Equal("head-moved", none.problem())
	b.Empty(none.text("currentRevId"))
	first := b.grow("")
	b.Equal(first, b.want(409, post("/v1/values/revisions", grown(""))).text("currentRevId"))
	second := b.edit(first, `{"op":"complete","nodeId":"`+run+`"}`).text("revId")
	late := b.want(409, post("/v1/values/revisions", edits(first, `{"op":"delete","nodeId":"`+run+`"}`)))
	b.Equal("head-moved", late.problem())
	b.Equal(second, late.text("currentRevId"))
	b.Equal(second,
		b.want(409, post("/v1/values/rollback", `{"parentRevId":"`+first+`","revId":"`+first+`"}`)).text("currentRevId"))
	b.Equal(second, b.want(200, get("/v1/values")).text("revId"))
	b.Len(b.want(200, get("/v1/values/revisions")).items(), 2)
}

func TestProblemOfRules_namesEachBrokenRuleWithItsNode(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res := b.want(422, post("/v1/values/revisions", `{"source":"boredom","nodes":[
		{"nodeId":"`+health+`","nodeType":"DRIVER","title":""},{"nodeId":"`+run+
		`","nodeType":"ACTION","title":"Run"}],"edges":[]}`))
	b.Equal("validation-failed", res.problem())
	b.Contains(res.faults(), " message-missing /message")
	b.Contains(res.faults(), " source-unknown /source")
	b.Contains(res.faults(), health+" title-missing /nodes/0/title")
	b.Contains(res.faults(), run+" driver-missing /nodes/1/driverId")
	b.Equal("not-found", b.want(404, get("/v1/values")).problem())
	b.Zero(b.store.Len())

	rev := b.grow("")
	broken := b.want(422, post("/v1/values/revisions", edits(rev, `{"op":"complete","nodeId":"`+health+`"}`)))
	b.Equal([]string{health + " completed-driver /operations/0"}, broken.faults())
}

func TestCommitValuesBody_readsTypesStrictly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for body, pointers := range map[string][]string{
		`{}`:           {""},
		`{"nodes":[]}`: {""},
		`{"nodes":[],"edges":[],"operations":[]}`:               {"/operations"},
		`{"nodes":{},"edges":1}`:                                {"/nodes", "/edges"},
		`{"nodes":[1],"edges":[{"order":"1"}]}`:                 {"/nodes/0", "/edges/0/order"},
		`{"nodes":[{"nodeID":"x","title":1}],"edges":[]}`:       {"/nodes/0/title", "/nodes/0/nodeID"},
		`{"nodes":[{"createdAt":"monday"}],"edges":[]}`:         {"/nodes/0/createdAt"},
		`{"nodes":[{"archived":"yes"}],"edges":[],"user":"b"}`:  {"/nodes/0/archived", "/user"},
		`{"operations":[{"op":"move","position":1.5}]}`:         {"/operations/0/position"},
		`{"operations":[{"op":"reorder","order":["a",1]}]}`:     {"/operations/0/order/1"},
		`{"operations":[{"op":"move","position":99999999999}]}`: {"/operations/0/position"},
		`{"message":1,"operations":[]}`:                         {"/message"},
	} {
		b.ElementsMatch(pointers, b.want(422, post("/v1/values/revisions", body)).pointers(), body)
	}
	b.want(400, post("/v1/values/revisions", `{"nodes":[],"nodes":[]}`))
	b.want(400, post("/v1/values/revisions", grown("")).with("If-Match", `"1"`))
	b.want(413, post("/v1/values/revisions", `{"message":"`+strings.Repeat("a", 4<<20)+`"}`))
	many := b.want(422,
		post("/v1/values/revisions", `{"operations":[`+strings.TrimSuffix(strings.Repeat("1,", 9000), ",")+`]}`))
	b.Len(many.pointers(), 256)
	b.Equal([]string{"/nodes"},
		b.want(422, post("/v1/values/revisions", `{"edges":[],"nodes":[`+strings.Repeat("{},", 10_000)+`{}]}`)).pointers())
	b.Equal("content-too-large",
		b.want(413, post("/v1/values/revisions", `{"nodes":[`+strings.Repeat("{},", 300_000)+`{}]}`)).problem())
	b.Zero(b.store.Len())
}

func TestHistoryAnswer_isPaged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	revs := []string{b.grow("")}
	for i := range 4 {
		op := `{"op":"update","nodeId":"` + run + `","notes":"` + strings.Repeat("x", i+1) + `"}`
		revs = append(revs, b.edit(revs[i], op).text("revId"))
	}
	b.want(201, post("/v1/values/revisions", grown("")).by("bob"))
	var seen []string
	next := ""
	for range 3 {
		page := b.want(200, get("/v1/values/revisions?limit=2"+next))
		for _, entry := range page.items() {
			seen = append([]string{entry["revId"].(string)}, seen...)
		}
		if next = "&cursor=" + page.text("nextCursor"); next == "&cursor=" {
			break
		}
		b.want(400, get("/v1/values/revisions?limit=2"+next).by("bob"))
		b.want(400, get("/v1/plans/"+day+"/revisions?limit=2"+next))
	}
	b.Equal(revs, seen)
	b.want(400, get("/v1/values/revisions?cursor="+revs[0]))
	b.want(422, get("/v1/values/revisions?limit=101"))
}

func TestValuesOperations_rollBackTheDifferenceShown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.want(201, post("/v1/values/revisions", grown("")))
	first := made.text("revId")
	second := b.edit(first, `{"op":"delete","nodeId":"`+stretch+`"}`,
		`{"op":"create","nodeType":"ACTION","title":"Swim","parentId":"`+race+`","position":1}`).text("revId")
	diff := b.want(200, get("/v1/values/diff?from="+first+"&to="+second))
	b.Len(diff.doc["added"].(map[string]any)["nodes"], 1)
	b.Len(diff.doc["changed"], 1)
	none := b.want(200, get("/v1/values/diff?from="+first+"&to="+first))
	b.JSONEq(`{"added":{"nodes":[],"edges":[]},"removed":{"nodes":[],"edges":[]},"changed":[],"moved":[]}`,
		none.Body.String())
	b.want(404, get("/v1/values/diff?from="+first+"&to="+exampleRevision))
	b.Equal([]string{"/to"}, b.want(422, get("/v1/values/diff?from="+first)).pointers())

	back := b.want(201, post("/v1/values/rollback", `{"parentRevId":"`+second+`","revId":"`+first+`"}`))
	b.Equal(made.doc["nodes"], back.doc["nodes"])
	b.Equal(made.doc["edges"], back.doc["edges"])
	b.Equal([]string{"rollback", first, second, "rolled back to " + first},
		[]string{back.text("source"), back.text("originRevId"), back.text("parentRevId"), back.text("message")})
	b.Len(b.want(200, get("/v1/values/revisions")).items(), 3)
	b.want(404, post("/v1/values/rollback", `{"parentRevId":"`+back.text("revId")+`","revId":"`+exampleRevision+`"}`))
	b.Equal([]string{"/parentRevId"}, b.want(422, post("/v1/values/rollback", `{"revId":"`+first+`"}`)).pointers())
}

func TestCommitValues_answersARepetitionAsTheFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	commit := post("/v1/values/revisions", grown("")).with("Idempotency-Key", "review")
	first := b.want(201, commit)
	b.edit(first.text("revId"), `{"op":"complete","nodeId":"`+run+`"}`)
	again := b.want(201, commit)
	b.Equal("true", again.Header().Get(replayed))
	b.Equal(first.doc, again.doc)
	b.Len(b.want(200, get("/v1/values/revisions")).items(), 2)
	b.Equal("idempotency-key-reused",
		b.want(422, post("/v1/values/revisions", grown(first.text("revId"))).with("Idempotency-Key", "review")).problem())
	b.Equal("idempotency-key-reused",
		b.want(422, post("/v1/notes", `{"title":"a"}`).with("Idempotency-Key", "review")).problem())
	b.want(201, post("/v1/notes", `{"title":"a"}`).with("Idempotency-Key", "note"))
	b.want(422, post("/v1/values/revisions", grown("")).with("Idempotency-Key", "note"))
	b.want(400, post("/v1/values/revisions", grown("")).with("Idempotency-Key", strings.Repeat("k", 256)))
}
