package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestAPI_countsWhatWasCompletedByDay(t *testing.T) {
	t.Parallel()
	b := setup(t) // 2 March 2026 is a Monday
	const week = "/v1/me/insights"
	days := make([]string, 7)
	for i := range days {
		days[i] = fmt.Sprintf(`{"date":"2026-03-%02d","completed":0,"overdue":0}`, 2+i)
	}
	b.JSONEq(`{"from":"2026-03-02","to":"2026-03-08","completed":0,"overdue":0,
		"byPriority":{"1":0,"2":0,"3":0,"4":0,"5":0},"days":[`+strings.Join(days, ",")+`],"streak":0}`,
		b.want(200, get(week)).Body.String())
	b.Equal("2026-03-09", b.want(200, get(week+"?from=2026-03-09&to=2026-03-09")).text("to"))
	for query, pointer := range map[string]string{
		"?from=2026-03-09": "/from", "?to=2026-03-01": "/to", "?from=2025-03-01&to=2026-03-02": "/to",
		"?from=2026-02-29": "/from", "?to=x": "/to",
	} {
		b.Equal([]string{pointer}, b.want(422, get(week+query)).pointers(), query)
	}
	b.want(400, get(week+"?since=2026-03-01"))
	b.advance(7 * 24 * time.Hour)
	b.Equal("2026-03-09", b.want(200, get(week)).text("from"))
}

func TestAPI_sumsUpThePlansOfDays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.JSONEq(`{"items":[]}`, b.want(200, get("/v1/plans?from=2026-03-02&to=2026-04-01")).Body.String())
	for query, pointer := range map[string]string{
		"?from=2026-03-02": "/to", "?to=2026-03-02": "/from", "?from=2026-03-02&to=2026-03-01": "/to",
		"?from=2026-03-02&to=2026-04-02": "/to", "?from=2026-02-29&to=2026-03-02": "/from",
		"?from=2026-03-02&to=x": "/to",
	} {
		b.Equal([]string{pointer}, b.want(422, get("/v1/plans"+query)).pointers(), query)
	}
}

func TestAPI_takesTheDayOfACompletion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	done := b.want(201, post("/v1/tasks", `{"title":"t","status":"COMPLETED","completedOn":"2026-03-01"}`))
	b.Equal("2026-03-01", done.text("completedOn"))
	b.NotContains(done.Body.String(), "completedOnAt")
	b.Equal([]string{"/completedOn"},
		b.want(422, post("/v1/tasks", `{"title":"t","status":"COMPLETED","completedOn":"2026-03-03"}`)).pointers())
	b.Equal([]string{"/completedOnAt"},
		b.want(422, post("/v1/tasks", `{"title":"t","completedOnAt":"2026-03-01T00:00:00Z"}`)).pointers())
}
