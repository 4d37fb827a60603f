package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/metering"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// span is an hour.
const span = `"startUtc":"2026-03-10T09:00:00Z","startTzid":"UTC","endUtc":"2026-03-10T10:00:00Z","endTzid":"UTC"`

// counted sets ann's statistics, as their consumer would.
func (b *fixture) counted(stats map[string]int) {
	b.t.Helper()
	totals := item.Map{}
	for name, n := range stats {
		totals[name] = item.Int(int64(n))
	}
	_, err := b.store.Update(b.t.Context(), table.Update{
		Key: entity.MetaKey("ann"), Set: item.Item{
			product.AttrStats: totals, entity.AttrType: item.String(entity.TypeUserMeta),
			product.AttrUserID: item.String("ann"), entity.AttrVersion: item.Int(0),
			product.AttrDefaultTzid: item.String("UTC"), product.AttrPreferences: item.Map{},
			entity.AttrCreatedAt: item.String(item.FormatInstant(noon)),
			entity.AttrUpdatedAt: item.String(item.FormatInstant(noon)),
		},
	})
	b.NoError(err)
}

// full checks the documented form of a quota's refusal.
func (b *fixture) full(res response, problem, quota string, limit, used int) {
	b.t.Helper()
	b.Equal(http.StatusConflict, res.Code, "%s", res.Body)
	b.Equal("/problems/"+problem, res.doc["type"])
	b.Equal([]string{quota, fmt.Sprint(limit), fmt.Sprint(used)},
		[]string{fmt.Sprint(res.doc["quota"]), fmt.Sprint(res.doc["limit"]), fmt.Sprint(res.doc["used"])})
}

func TestFillsContent_refusesWhatExceedsTheQuotaAndFreesIt(t *testing.T) {
	t.Parallel()
	creates := map[string]string{
		"/v1/events":    `{"title":"x",` + span + `}`,
		"/v1/tasks":     `{"title":"x"}`,
		"/v1/reminders": `{"title":"x","triggerUtc":"2026-03-10T09:00:00Z","tzid":"UTC"}`, "/v1/notes": `{"title":"x"}`,
		"/v1/series": `{"title":"x",` + span + `,"rrule":"FREQ=DAILY"}`,
	}
	for path, body := range creates {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			b := limited(t, always, map[string]int{limit.Content: 10, limit.Notes: 10})
			quota, stat := limit.Content, "totalTasks"
			if path == "/v1/notes" {
				quota, stat = limit.Notes, "totalNotes"
			}
			create := func() response { return b.do(request{method: "POST", path: path, body: body}) }
			b.counted(map[string]int{stat: 9})
			b.Equal(http.StatusCreated, create().Code)
			b.counted(map[string]int{stat: 10})
			before := b.rows("")
			b.full(create(), "quota-reached", quota, 10, 10)
			b.Equal(before, b.rows(""), "nothing was written")
			other := "/v1/notes"
			if path == other {
				other = "/v1/tasks"
			}
			b.Equal(http.StatusCreated, b.do(request{method: "POST", path: other, body: creates[other]}).Code)
			b.Equal(http.StatusCreated, b.do(request{method: "POST", path: path, body: body, user: "bob"}).Code)

			b.counted(map[string]int{stat: 9})
			b.full(create(), "quota-reached", quota, 10, 10) // it is kept for a minute
			b.advance(time.Minute)
			b.Equal(http.StatusCreated, create().Code)
		})
	}
}

func TestFillsContent_judgesEachCommandOfABatch(t *testing.T) {
	t.Parallel()
	b := limited(t, always, map[string]int{limit.Notes: 10})
	b.counted(map[string]int{"totalNotes": 10})
	res := b.do(request{method: "POST", path: "/v1/commands", body: `{"commands":[
		{"id":"a","type":"CreateNote","data":{"title":"x"}},{"id":"b","type":"CreateTask","data":{"title":"x"}}]}`})
	results := res.doc["results"].([]any)
	first, second := results[0].(map[string]any), results[1].(map[string]any)
	b.Equal("409", fmt.Sprint(first["status"]))
	b.Equal("notes", first["problem"].(map[string]any)["quota"])
	b.Equal("201", fmt.Sprint(second["status"]))
}

func TestFillsContent_answersARepetitionAsBefore(t *testing.T) {
	t.Parallel()
	b := limited(t, always, map[string]int{limit.Notes: 10})
	create := request{
		method: "POST", path: "/v1/notes", body: `{"title":"x"}`, header: map[string]string{"Idempotency-Key": "k"},
	}
	b.Equal(http.StatusCreated, b.do(create).Code)
	b.counted(map[string]int{"totalNotes": 10})
	b.advance(time.Minute)
	again := b.do(create)
	b.Equal(http.StatusCreated, again.Code)
	b.Equal("true", again.Header().Get("Idempotency-Replayed"))
	create.header = map[string]string{"Idempotency-Key": "another"}
	b.full(b.do(create), "quota-reached", limit.Notes, 10, 10)
}

func TestNearLimits_warnsFrom80PercentOn(t *testing.T) {
	t.Parallel()
	b := limited(t, never, map[string]int{limit.Content: 10, limit.Notes: 10})
	me := func() any { return b.do(request{method: "GET", path: "/v1/me"}).doc["nearLimits"] }
	b.Nil(me())
	b.counted(map[string]int{"totalNotes": 7, "totalTasks": 3, "totalEvents": 3, "totalReminders": 1})
	b.Nil(me())
	b.counted(map[string]int{"totalNotes": 7, "totalTasks": 3, "totalEvents": 3, "totalReminders": 2})
	b.Equal("[map[limit:10 quota:content used:8]]", fmt.Sprint(me()))
}

func TestFillsSeries_countsThem(t *testing.T) {
	t.Parallel()
	b := limited(t, always, map[string]int{limit.Series: 2})
	body := `{"title":"x",` + span + `,"rrule":"FREQ=DAILY"}`
	create := func() response { return b.do(request{method: "POST", path: "/v1/series", body: body}) }
	b.Equal(http.StatusCreated, create().Code)
	second := create()
	b.Equal(http.StatusCreated, second.Code)
	b.full(create(), "quota-reached", limit.Series, 2, 2)
	one := "/v1/series/" + second.doc["masterId"].(string)
	split := request{method: "POST", path: one + "/split", body: `{"date":"20260312","changes":{"title":"y"}}`,
		header: map[string]string{"If-Match": `"1"`}}
	b.full(b.do(split), "quota-reached", limit.Series, 2, 2)
	b.Equal(http.StatusNoContent, b.do(request{method: "DELETE", path: one, header: split.header}).Code)
	b.advance(time.Minute) // a refusal is kept as long
	b.Equal(http.StatusCreated, create().Code)
}

func TestFillsPlan_boundsRevisionsAndDays(t *testing.T) {
	t.Parallel()
	b := limited(t, always, map[string]int{limit.PlanRevisions: 3, limit.Plans: 2})
	commit := func(day, parent, message string) response {
		return b.do(request{method: "POST", path: "/v1/plans/" + day + "/revisions", body: fmt.Sprintf(
			`{"parentRevId":%q,"reason":"morning_plan","message":%q,"todos":[],"blocks":[]}`, parent, message)})
	}
	parent := ""
	for range 3 {
		res := commit("2026-03-02", parent, "")
		b.Equal(http.StatusCreated, res.Code, "%s", res.Body)
		parent = res.doc["revId"].(string)
		b.advance(time.Second)
	}
	b.full(commit("2026-03-02", parent, ""), "history-full", limit.PlanRevisions, 3, 3)
	pruned := b.do(request{method: "POST", path: "/v1/plans/2026-03-02/prune", body: `{"keep":{"last":1}}`})
	b.Equal(http.StatusOK, pruned.Code)
	b.Equal(http.StatusCreated, commit("2026-03-02", parent, "").Code)

	b.Equal(http.StatusCreated, commit("2026-03-03", "", "").Code)
	b.full(commit("2026-03-04", "", ""), "quota-reached", limit.Plans, 2, 2)
	b.NotEqual(http.StatusConflict, commit("no-date", "", "").Code)
}

func TestFillsTree_allowsALargeTreeFewer(t *testing.T) {
	t.Parallel()
	b := limited(t, never, map[string]int{limit.TreeRevisions: 4, limit.LargeTreeRevisions: 2})
	commit := func(parent string, nodes int) response {
		list := ""
		for n := range nodes {
			list += fmt.Sprintf(`,{"nodeId":"drv_00000000-0000-4000-9000-%012d","nodeType":"DRIVER","title":"x"}`, n)
		}
		return b.do(request{method: "POST", path: "/v1/values/revisions", body: fmt.Sprintf(
			`{"parentRevId":%q,"message":"m","source":"weekly_review","nodes":[%s],"edges":[]}`, parent, list[1:])})
	}
	parent := ""
	for range 4 {
		res := commit(parent, 3)
		b.Equal(http.StatusCreated, res.Code, "%s", res.Body)
		parent = res.doc["revId"].(string)
		b.advance(time.Second)
	}
	b.full(commit(parent, 3), "history-full", limit.TreeRevisions, 4, 4)
	b.Equal(http.StatusOK, b.do(request{method: "POST", path: "/v1/values/prune", body: `{"keep":{"last":1}}`}).Code)
	res := commit(parent, 501)
	b.Equal(http.StatusCreated, res.Code, "%s", res.Body)
	b.Contains(res.Header().Get("RateLimit"), `"user";r=`, "what costs more than 20 points is always counted")
	b.full(commit(res.doc["revId"].(string), 501), "history-full", limit.LargeTreeRevisions, 2, 2)
}

func TestFillsTree_holdsANumberBelowThatOfLargeTrees(t *testing.T) {
	t.Parallel()
	b := limited(t, never, map[string]int{limit.TreeRevisions: 1, limit.LargeTreeRevisions: 2})
	commit := func(parent string) response {
		return b.do(request{method: "POST", path: "/v1/values/revisions", body: fmt.Sprintf(
			`{"parentRevId":%q,"message":"m","source":"weekly_review","operations":[`+
				`{"op":"create","nodeType":"DRIVER","title":"x"}]}`, parent)})
	}
	first := commit("")
	b.Equal(http.StatusCreated, first.Code, "%s", first.Body)
	b.advance(time.Second)
	b.full(commit(first.doc["revId"].(string)), "history-full", limit.TreeRevisions, 1, 1)
}

// recount sets ann's counts, as a verification would.
func (b *fixture) recount(c limit.Counts) {
	b.t.Helper()
	b.NoError(b.store.Put(b.t.Context(), table.Put{Item: c.Row(metering.CountKey("ann"), noon)}))
}

// Each create leaves an id for good, whatever it makes.
func TestFillsContent_refusesCreatesOfOneWhoHasManyIDsThatAreGone(t *testing.T) {
	t.Parallel()
	b := limited(t, always, map[string]int{limit.Gone: 10})
	note := b.do(request{method: "POST", path: "/v1/notes", body: `{"title":"x"}`}).doc["noteId"].(string)
	b.recount(limit.Counts{Gone: 10})
	b.advance(time.Minute)
	for path, body := range map[string]string{
		"/v1/events": `{"title":"x",` + span + `}`, "/v1/tasks": `{"title":"x"}`, "/v1/notes": `{"title":"x"}`,
		"/v1/reminders": `{"title":"x","triggerUtc":"2026-03-10T09:00:00Z","tzid":"UTC"}`,
		"/v1/series":    `{"title":"x",` + span + `,"rrule":"FREQ=DAILY"}`,
	} {
		b.full(b.do(request{method: "POST", path: path, body: body}), "quota-reached", limit.Gone, 10, 10)
		b.Equal(http.StatusCreated, b.do(request{method: "POST", path: path, body: body, user: "bob"}).Code)
	}
	b.Equal(http.StatusOK, b.do(request{method: "PATCH", path: "/v1/notes/" + note, body: `{"title":"y"}`,
		header: map[string]string{"If-Match": `"1"`}}).Code, "what is there can be changed")
	b.Equal(http.StatusNoContent, b.do(request{method: "DELETE", path: "/v1/notes/" + note,
		header: map[string]string{"If-Match": `"2"`}}).Code, "a deletion is never refused")
	b.recount(limit.Counts{Gone: 9})
	b.advance(time.Minute)
	b.Equal(http.StatusCreated, b.do(request{method: "POST", path: "/v1/notes", body: `{"title":"x"}`}).Code)
}

func TestFillsReminders_refusesWhatBringsOne(t *testing.T) {
	t.Parallel()
	b := limited(t, always, map[string]int{limit.Schedules: 10})
	event := func(more string) response {
		return b.do(request{method: "POST", path: "/v1/events", body: `{"title":"x",` + span + more + `}`})
	}
	id := event("").doc["eventId"].(string)
	patch := func(body, version string) response {
		return b.do(request{method: "PATCH", path: "/v1/events/" + id, body: body,
			header: map[string]string{"If-Match": `"` + version + `"`}})
	}
	b.recount(limit.Counts{Schedules: 12})
	b.advance(time.Minute)
	b.full(event(`,"reminderMinutes":[10]`), "quota-reached", limit.Schedules, 10, 12)
	b.full(b.do(request{method: "POST", path: "/v1/reminders",
		body: `{"title":"x","triggerUtc":"2026-03-10T09:00:00Z","tzid":"UTC"}`}), "quota-reached", limit.Schedules, 10, 12)
	b.full(patch(`{"reminderMinutes":[10]}`, "1"), "quota-reached", limit.Schedules, 10, 12)
	b.Equal(http.StatusOK, patch(`{"title":"y"}`, "1").Code)
	b.Equal(http.StatusOK, patch(`{"reminderMinutes":[]}`, "2").Code)
	b.Equal(http.StatusCreated, event(`,"reminderMinutes":[]`).Code)
	b.recount(limit.Counts{Schedules: 9})
	b.advance(time.Minute)
	b.Equal(http.StatusOK, patch(`{"reminderMinutes":[10]}`, "2").Code, "the title was the last change")
}

func TestFillsException_refusesAnotherOneAndNoChangeOfOne(t *testing.T) {
	t.Parallel()
	b := limited(t, always, map[string]int{limit.Exceptions: 10})
	made := b.do(request{method: "POST", path: "/v1/series", body: `{"title":"x",` + span + `,"rrule":"FREQ=DAILY"}`})
	at := "/v1/series/" + made.doc["masterId"].(string) + "/instances/"
	do := func(method, date, body, version string) response {
		return b.do(request{method: method, path: at + date, body: body,
			header: map[string]string{"If-Match": `"` + version + `"`}})
	}
	b.Equal(http.StatusOK, do("PUT", "20260311", `{"title":"y"}`, "1").Code)
	b.recount(limit.Counts{Exceptions: 10})
	b.advance(time.Minute)
	b.full(do("PUT", "20260312", `{"title":"y"}`, "1"), "quota-reached", limit.Exceptions, 10, 10)
	b.full(do("DELETE", "20260312", "", "1"), "quota-reached", limit.Exceptions, 10, 10)
	b.Equal(http.StatusOK, do("PUT", "20260311", `{"title":"z"}`, "2").Code, "it is there")
	b.Equal(http.StatusOK, do("PUT", "20260311", `{}`, "3").Code, "undoing is never refused")
	b.NotEqual(http.StatusConflict, do("PUT", "no-date", `{"title":"y"}`, "1").Code)
	b.recount(limit.Counts{Exceptions: 9})
	b.advance(time.Minute)
	b.Equal(http.StatusOK, do("PUT", "20260312", `{"title":"y"}`, "1").Code)
}

func TestAdmitImport_judgesWhatAnImportMayBring(t *testing.T) {
	t.Parallel()
	b := limited(t, always, map[string]int{limit.Exceptions: 10, limit.Gone: 10, limit.Schedules: 10})
	for quota, counts := range map[string]limit.Counts{
		limit.Exceptions: {Exceptions: 10}, limit.Gone: {Gone: 10}, limit.Schedules: {Schedules: 10},
	} {
		b.recount(counts)
		b.advance(time.Minute)
		b.full(b.do(request{
			method: "POST", path: "/v1/calendar/import", header: map[string]string{"Content-Type": "text/calendar"},
			body: "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\nBEGIN:VEVENT\r\nUID:1@example.com\r\n" +
				"DTSTAMP:20260301T120000Z\r\nDTSTART:20260310T090000Z\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
		}), "quota-reached", quota, 10, 10)
	}
}
