package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"nexus/pkg/table/memory"
)

// calls counts the store calls of a request as "Get Query".
func (b *fixture) calls(status int, r request) string {
	b.t.Helper()
	var mu sync.Mutex
	var ops []string
	b.failWith(func(c memory.Call) error {
		mu.Lock()
		defer mu.Unlock()
		if c.Stage == memory.Before {
			ops = append(ops, c.Op)
		}
		return nil
	})
	defer b.failWith(nil)
	b.want(status, r)
	return strings.Join(ops, " ")
}

func TestValuesOperations_costWhatEachReadIsToCost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.grow("")
	plan := b.want(201, post(planOfDay+"/revisions", planned(""))).text("revId")
	second := b.edit(first, `{"op":"complete","nodeId":"`+run+`"}`).text("revId")
	for path, want := range map[string]string{
		"/v1/values": "Get Query",
		"/v1/values/nodes/" + health + "/children":                         "Get Query",
		"/v1/values?at=2027-01-01T00:00:00Z":                               "Query Get Query",
		"/v1/values/revisions":                                             "Query",
		"/v1/values/revisions/" + first:                                    "Get Query",
		"/v1/values/revisions/" + first + "/nodes/" + health + "/children": "Get Query",
		"/v1/values/diff?from=" + first + "&to=" + second:                  "Get Query Get Query",
		planOfDay:                                        "Get Query",
		planOfDay + "?at=2027-01-01T00:00:00Z":           "Query Get Query",
		planOfDay + "/revisions":                         "Query",
		planOfDay + "/revisions/" + plan:                 "Get Query",
		planOfDay + "/diff?from=" + plan + "&to=" + plan: "Get Query Get Query",
	} {
		b.Equal(want, b.calls(200, get(path)), path)
	}
	b.Equal("Get Query Transact",
		b.calls(201, post("/v1/values/revisions", edits(second, `{"op":"reopen","nodeId":"`+run+`"}`))))
	b.Equal("Get Query Get Query Transact", b.calls(200, done(run)))
	b.Equal("Get Query Get Query", b.calls(200, done(run)), "what is done already is not written")
}

// large is the body of a commit of a tree of so many nodes: a driver with milestones, and below each ten actions.
func large(nodes int) string {
	var n, e []string
	n = append(n, `{"nodeId":"`+health+`","nodeType":"DRIVER","title":"Health"}`)
	milestone, below, milestones := "", 0, 0
	for i := 1; i < nodes; i++ {
		if i%11 == 1 {
			milestones++
			milestone, below = fmt.Sprintf("mil_00000000-0000-4000-9000-%012d", i), 0
			n = append(n, fmt.Sprintf(`{"nodeId":%q,"nodeType":"MILESTONE","title":"Milestone %d"}`, milestone, i))
			e = append(e, edge(health, milestones, milestone))
			continue
		}
		below++
		action := fmt.Sprintf("act_00000000-0000-4000-9000-%012d", i)
		n = append(n, fmt.Sprintf(`{"nodeId":%q,"nodeType":"ACTION","title":"Action %d","driverId":%q,"notes":%q}`, action, i,
			health, strings.Repeat("n", 400)))
		e = append(e, edge(milestone, below, action))
	}
	return `{"message":"All of it","source":"weekly_review","nodes":[` + strings.Join(n, ",") + `],"edges":[` +
		strings.Join(e, ",") + `]}`
}

func TestValuesOperations_sendAndReadTwoThousandNodes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.overHTTP()
	made := b.want(201, post("/v1/values/revisions", large(2000)))
	b.Less(made.Body.Len(), 2<<20)
	b.Len(made.doc["nodes"], 2000)
	got := b.want(200, get("/v1/values"))
	b.Equal(made.doc["nodes"], got.doc["nodes"])
	b.Equal(made.doc["edges"], got.doc["edges"])
	b.want(304, get("/v1/values").with("If-None-Match", got.Header().Get("ETag")))
	head := b.want(200, request{method: http.MethodHead, path: "/v1/values"})
	b.Zero(head.Body.Len())
	refused := b.want(422, post("/v1/values/revisions",
		strings.Replace(large(2001), `{"message"`, `{"parentRevId":"`+got.text("revId")+`","message"`, 1)))
	b.Equal([]string{" too-many-nodes /nodes"}, refused.faults())
	back := b.want(201,
		post("/v1/values/rollback", `{"parentRevId":"`+got.text("revId")+`","revId":"`+got.text("revId")+`"}`))
	b.Equal(got.doc["nodes"], back.doc["nodes"])
}
