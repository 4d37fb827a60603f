package api_test

import (
	"slices"
	"strings"
	"testing"
)

// ownRepositories lets ann have a tree and a plan that no other user may see.
func (b *fixture) ownRepositories() (tree, plan, cursor string) {
	b.t.Helper()
	first := b.want(201, post("/v1/values/revisions", strings.ReplaceAll(grown(""), "Run", secret))).text("revId")
	tree = b.edit(first, `{"op":"update","nodeId":"`+race+`","notes":"`+secret+`"}`).text("revId")
	plan = b.want(201, post(planOfDay+"/revisions",
		strings.Replace(planned(""), `"other"`, `"other","notes":"`+secret+`"`, 1))).text("revId")
	return tree, plan, b.want(200, get("/v1/values/revisions?limit=1")).text("nextCursor")
}

func TestValuesOperations_hideARepositoryFromOtherUsers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.overHTTP()
	tree, plan, cursor := b.ownRepositories()
	mine := b.want(201, post("/v1/values/revisions",
		edits("", `{"op":"create","nodeType":"DRIVER","title":"Bob's"}`)).by("bob")).text("revId")
	myPlan := b.want(201,
		post(planOfDay+"/revisions", `{"reason":"morning_plan","todos":[],"blocks":[]}`).by("bob")).text("revId")
	others := func() []string {
		return slices.DeleteFunc(b.foreignRows(), func(row string) bool { return strings.Contains(row, "U#bob") })
	}
	rows := others()

	for name, a := range map[string]struct {
		status int
		request
	}{
		"her tree":               {404, get("/v1/values/revisions/" + tree)},
		"her tree with its tag":  {404, get("/v1/values/revisions/"+tree).with("If-None-Match", `"`+tree+`"`)},
		"her plan":               {404, get(planOfDay + "/revisions/" + plan)},
		"her tree as a plan":     {404, get(planOfDay + "/revisions/" + tree)},
		"her plan as a tree":     {404, get("/v1/values/revisions/" + plan)},
		"her partition in an id": {404, get("/v1/values/revisions/" + mine + "%23x")},
		"a difference to hers":   {404, get("/v1/values/diff?from=" + mine + "&to=" + tree)},
		"a difference from hers": {404, get("/v1/values/diff?from=" + tree + "&to=" + mine)},
		"a difference of plans":  {404, get(planOfDay + "/diff?from=" + myPlan + "&to=" + plan)},
		"a rollback to hers":     {404, post("/v1/values/rollback", `{"parentRevId":"`+mine+`","revId":"`+tree+`"}`)},
		"a rollback of a plan":   {404, post(planOfDay+"/rollback", `{"parentRevId":"`+myPlan+`","revId":"`+plan+`"}`)},
		"a commit on hers":       {409, post("/v1/values/revisions", edits(tree, `{"op":"delete","nodeId":"`+race+`"}`))},
		"an edit of her node":    {422, post("/v1/values/revisions", edits(mine, `{"op":"delete","nodeId":"`+race+`"}`))},
		"a node below hers": {422,
			post("/v1/values/revisions", edits(mine, `{"op":"create","nodeType":"ACTION","title":"x","parentId":"`+race+`"}`))},
		"her node's children":             {200, get("/v1/values/nodes/" + race + "/children")},
		"her node's children in her tree": {404, get("/v1/values/revisions/" + tree + "/nodes/" + race + "/children")},
		"her node's children in his":      {200, get("/v1/values/revisions/" + mine + "/nodes/" + race + "/children")},
		"her partition in a node":         {404, get("/v1/values/nodes/" + race + "%23x/children")},
		"her action in a plan":            {422, post(planOfDay+"/revisions", planned(myPlan))},
		"completing hers":                 {404, done(run)},
		"her partition in a date":         {400, get("/v1/plans/" + day + "%23" + plan)},
		"her name in a date":              {400, get("/v1/plans/..%2F..%2Fann%2F" + day)},
		"her cursor":                      {400, get("/v1/values/revisions?cursor=" + cursor)},
		"her cursor in the log of a plan": {400, get(planOfDay + "/revisions?cursor=" + cursor)},
		"her name in a commit": {422,
			post("/v1/values/revisions", `{"userId":"ann","message":"m","source":"daily_update","operations":[]}`)},
		"her name as a parameter": {400, get("/v1/values?user=ann")},
	} {
		res := b.do(a.by("bob"))
		b.Equal(a.status, res.Code, "%s: %s", name, res.Body)
		b.NotContains(res.Body.String(), secret, name)
		if res.Code != 404 && res.Code != 422 { // those repeat the request's own words
			b.NotContains(res.Body.String(), tree, name)
		}
		b.Equal(rows, others(), name)
	}
	b.Equal(mine, b.want(200, get("/v1/values").by("bob")).text("revId"))
	b.want(404, get("/v1/values").by("an"))
	b.want(404, get("/v1/values").by("ann_"))
	// The same key and the same request are another user's own.
	commit := post("/v1/plans/2026-03-09/revisions",
		`{"reason":"morning_plan","todos":[],"blocks":[]}`).with("Idempotency-Key", "k")
	b.want(201, commit)
	b.Empty(b.want(201, commit.by("bob")).Header().Get(replayed))
}
