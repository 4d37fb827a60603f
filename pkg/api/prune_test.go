package api_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/item"
	"nexus/pkg/revision"
)

// counted is a pruning's answer as a text.
func (r response) counted() string {
	return fmt.Sprint(r.doc["revisions"], " ", r.doc["rows"], " ", r.doc["removed"], " ", r.doc["more"])
}

// words counts the rows of the table with a text.
func (b *fixture) words(text string) (rows int) {
	b.NoError(b.store.Walk(b.t.Context(), 0, 1, func(row item.Item) error {
		if strings.Contains(string(change.AppendItem(nil, row)), text) {
			rows++
		}
		return nil
	}))
	return rows
}

func TestPrune_shortensTheHistory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.want(404, post("/v1/values/prune", `{"keep":{"last":1}}`))
	first := b.grow("")
	b.advance(time.Hour)
	second := b.edit(first, `{"op":"delete","nodeId":"`+run+`"}`).text("revId")
	b.advance(time.Hour)
	third := b.edit(second, `{"op":"forget","nodeId":"`+run+`"}`)
	b.Empty(third.node(run)["title"])
	b.Equal("2026-03-02T14:00:00Z", third.node(run)["forgottenAt"])
	b.Equal(2, b.words("slowly"))

	prune := func(body string) string { return b.want(200, post("/v1/values/prune", body)).counted() }
	b.Equal("1 7 0 false", prune(`{"keep":{"since":"2026-03-02T13:30:00Z"},"dryRun":true}`))
	b.Equal("2 13 0 false", prune(`{"keep":{"last":1}}`))
	b.Equal("0 0 0 false", prune(`{"keep":{"last":1}}`))
	for _, gone := range []response{
		b.want(410, get("/v1/values?at=2026-03-02T13:59:59Z")), b.want(410, get("/v1/values/revisions/"+first)),
		b.want(410, get("/v1/values/revisions/"+second+"/nodes/"+health+"/children")),
		b.want(410, get("/v1/values/diff?from="+first+"&to="+third.text("revId"))),
		b.want(410, post("/v1/values/rollback", `{"parentRevId":"`+third.text("revId")+`","revId":"`+second+`"}`)),
	} {
		b.Equal("pruned", gone.problem())
		b.Equal("2026-03-02T14:00:00Z", gone.text("prunedUntil"))
	}
	b.Len(b.want(200, get("/v1/values/revisions")).items(), 1)
	b.Equal(third.doc, b.want(200, get("/v1/values?at=2026-03-02T14:00:00Z")).doc)
	b.Equal(2, b.words("slowly"), "for fifteen minutes")
	b.advance(revision.Patience)
	b.Equal("0 0 0 false", prune(`{"keep":{"last":1},"dryRun":true}`))
	b.Equal("0 0 13 false", prune(`{"keep":{"last":1}}`))
	b.Zero(b.words("slowly"))
}

func TestPrune_keepsWhatTheNextDayNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.grow("")
	first := b.want(201, post(planOfDay+"/revisions", planned(""))).text("revId")
	b.want(200, post(planOfDay+"/rollover", ``))
	second := b.want(201, post(planOfDay+"/revisions", planned(first))).text("revId")
	b.want(201, post(planOfDay+"/revisions", planned(second)))
	b.Equal("1 4 0 false", b.want(200, post(planOfDay+"/prune", `{"keep":{"last":1}}`)).counted())
	b.want(200, get(planOfDay+"/revisions/"+first))
	b.Equal("pruned", b.want(410, get(planOfDay+"/revisions/"+second)).problem())
	b.want(404, post("/v1/plans/2026-03-09/prune", `{"keep":{"last":1}}`))
}

func TestMadeTree_namesWhatIsRemembered(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.grow("")
	head := b.edit(first, `{"op":"delete","nodeId":"`+run+`"}`, `{"op":"forget","nodeId":"`+run+`"}`).text("revId")
	back := b.want(201, post("/v1/values/rollback", `{"parentRevId":"`+head+`","revId":"`+first+`"}`))
	b.Equal([]any{run}, back.doc["remembered"])
	b.Equal("Run", back.node(run)["title"])
}

func TestDeletePlanOperation_removesItUnlessTheNextDayNamesIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.grow("")
	b.want(404, deletion(planOfDay))
	for _, day := range []string{"today", "2026-12-32", "20261201"} {
		b.Contains(b.want(400, get("/v1/plans/"+day)).text("detail"), "Malformed identifier: a plan's date is YYYY-MM-DD in ")
	}
	b.want(400, deletion("/v1/plans/today"))
	first := b.want(201, post(planOfDay+"/revisions", planned(""))).text("revId")
	b.want(503, deletion(planOfDay))
	b.advance(time.Second)
	b.want(200, post(planOfDay+"/rollover", ``))
	b.advance(time.Second)
	refused := b.want(409, deletion(planOfDay))
	b.Equal("state-conflict", refused.problem())
	b.Contains(refused.text("detail"), "2026-03-03")
	b.want(204, deletion("/v1/plans/2026-03-03"))
	b.want(204, deletion(planOfDay))
	b.want(404, get(planOfDay))
	b.want(404, get(planOfDay+"/revisions/"+first))
	b.Empty(b.want(200, get(planOfDay+"/revisions")).items())
	b.Empty(b.want(201, post(planOfDay+"/revisions", planned(""))).doc["parentRevId"])
}

// TestDeletePlanOperation_saysHowLongABurstIsAhead: each commit of a second is a second later than the one before.
func TestDeletePlanOperation_saysHowLongABurstIsAhead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	follows := ""
	for n := 1; n <= 70; n++ {
		made := b.want(201, post(planOfDay+"/revisions", `{"reason":"morning_plan","todos":[],"blocks":[]`+follows+`}`))
		follows = `,"parentRevId":"` + made.text("revId") + `"`
		b.Equal(strconv.Itoa(min(n, 60)), b.want(503, deletion(planOfDay)).Header().Get("Retry-After"))
	}
	b.advance(69500 * time.Millisecond)
	b.Equal("1", b.want(503, deletion(planOfDay)).Header().Get("Retry-After"))
	b.advance(500 * time.Millisecond)
	b.want(204, deletion(planOfDay))
}

func TestPruneBody_saysWhichLineIsMeant(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.grow("")
	for body, pointer := range map[string]string{
		`{}`: "/keep", `{"keep":{}}`: "/keep", `{"keep":{"last":1,"since":"2026-03-02T13:30:00Z"}}`: "/keep",
		`{"keep":{"last":0}}`: "/keep/last", `{"keep":{"last":"1"}}`: "/keep/last", `{"keep":{"last":1,"x":1}}`: "/keep/x",
		`{"keep":{"since":"2026-03-02"}}`: "/keep/since", `{"keep":{"last":1},"dryRun":1}`: "/dryRun",
		`{"keep":{"last":1},"x":1}`: "/x", `{"keep":7}`: "/keep",
	} {
		b.Equal([]string{"  " + pointer}, b.want(422, post("/v1/values/prune", body)).faults(), body)
	}
	b.want(400, post("/v1/values/prune", `{"keep":{"last":1}}`).with("Idempotency-Key", strings.Repeat("k", 256)))
}

func deletion(path string) request { return request{method: http.MethodDelete, path: path} }
