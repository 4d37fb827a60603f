package api_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestAgendaOperation_namesOccurrencesByTheirOwnAddresses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.overHTTP()
	id := b.newSeries(`"rrule":"FREQ=DAILY","tags":["team"]`)
	b.want(200, put("/v1/series/"+id+"/instances/20260304", `{"startUtc":"2026-03-04T16:00:00Z"}`, 1))
	b.want(200, del("/v1/series/"+id+"/instances/20260305", 1))
	b.want(201,
		post("/v1/reminders", `{"title":"pills","triggerUtc":"2026-03-04T07:00:00Z","tzid":"UTC","rrule":"FREQ=DAILY"}`))
	b.want(201, post("/v1/events", `{"title":"once","startUtc":"2026-03-06T07:00:00Z","startTzid":"UTC"}`))

	const window = "/v1/agenda?from=2026-03-03T00:00:00Z&to=2026-03-07T00:00:00Z"
	type entry struct{ title, start, date, virtual, typ any }
	var got []entry
	for _, it := range b.want(200, get(window)).items() {
		got = append(got, entry{it["title"], it["occurrenceStart"], it["occurrenceDate"], it["virtual"], it["entityType"]})
		if it["entityType"] == "INSTANCE" {
			b.Equal(id, it["masterId"])
			one := b.want(200, get("/v1/events/"+it["eventId"].(string))).doc
			b.Equal([]any{one["title"], one["startUtc"], one["endUtc"], one["recurrenceId"]},
				[]any{it["title"], it["startUtc"], it["endUtc"], it["recurrenceId"]}, "the same as by itself")
		}
	}
	b.Equal([]entry{
		{"standup", "2026-03-03T09:00:00Z", "20260303", true, "INSTANCE"},
		{"pills", "2026-03-04T07:00:00Z", "20260304", nil, "REMINDER"},
		{"standup", "2026-03-04T16:00:00Z", "20260304", nil, "INSTANCE"},
		{"pills", "2026-03-05T07:00:00Z", "20260305", true, "REMINDER"},
		{"once", "2026-03-06T07:00:00Z", nil, nil, "EVENT"},
		{"pills", "2026-03-06T07:00:00Z", "20260306", true, "REMINDER"},
		{"standup", "2026-03-06T09:00:00Z", "20260306", true, "INSTANCE"},
	}, got)
	b.Len(b.want(200, get(window+"&tags=team")).items(), 3)
	b.Len(b.want(200, get(window+"&types=EVENT")).items(), 4)
	for _, typ := range []string{"MASTER", "INSTANCE"} {
		b.Equal([]string{"/types"}, b.want(422, get(window+"&types="+typ)).pointers())
	}
}

func TestAgendaOperation_endsAPageOfLargeEntriesAtAMegabyte(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.overHTTP()
	const each, all = 48 << 10, 50
	body := strings.Repeat(`\"`, each/2)
	for i := range all {
		b.want(201, post("/v1/notes", fmt.Sprintf(`{"title":"%02d","body":"%s"}`, i, body)))
	}
	at := b.clock()
	window := "/v1/agenda?types=NOTE&limit=100&" + url.Values{
		"from": {at.Add(-time.Hour).Format(time.RFC3339)}, "to": {at.Add(time.Hour).Format(time.RFC3339)},
	}.Encode()
	seen, counts, cursor := map[any]bool{}, []int{}, ""
	for {
		page := b.want(200, get(window+cursor))
		b.LessOrEqual(page.Body.Len(), 1<<20+200, "the items, and the cursor behind them")
		counts = append(counts, len(page.items()))
		for _, it := range page.items() {
			seen[it["title"]] = true
		}
		next, more := page.doc["nextCursor"].(string)
		if !more {
			break
		}
		cursor = "&cursor=" + url.QueryEscape(next)
	}
	b.Equal([]int{21, 21, 8}, counts, "as many as fit")
	b.Len(seen, all)
}
