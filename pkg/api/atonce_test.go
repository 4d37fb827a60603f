package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"nexus/pkg/entity"
	"nexus/pkg/product"
)

// Each body is wrong in the places that are named, all of them, and in no other: a refused field makes no field wrong
// that goes with it.
func TestAPI_namesEachWrongPlaceAndNothingThatFollows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const (
		zone    = `"startTzid":"Europe/Berlin"`
		nowhere = `"startUtc":"2026-03-04T07:00:00Z","startTzid":"Nowhere/X"`
	)
	for name, c := range map[string]struct {
		path, body string
		want       []string
	}{
		"a rule beside an unknown zone": {
			"/v1/series", `{"title":"a",` + nowhere + `,"rrule":"FREQ=NEVER"}`,
			[]string{"/rrule", "/startTzid"},
		},
		"a rule of no calendar beside an unknown zone": {
			"/v1/series", `{"title":"a",` + nowhere + `,"rrule":"FREQ=HOURLY"}`,
			[]string{"/rrule", "/startTzid"},
		},
		"a good rule beside an unknown zone": {
			"/v1/series", `{"title":"a",` + nowhere + `,"rrule":"FREQ=DAILY"}`,
			[]string{"/startTzid"},
		},
		"a rule beside a start that is none": {
			"/v1/series", `{"title":"a","startUtc":"soon",` + zone + `,"rrule":"FREQ=NEVER"}`,
			[]string{"/rrule", "/startUtc"},
		},
		"a good rule beside a start that is none": {
			"/v1/series", `{"title":"a","startUtc":"soon",` + zone + `,"rrule":"FREQ=DAILY;UNTIL=20200101"}`,
			[]string{"/startUtc"},
		},
		"a rule beside no start": {
			"/v1/series", `{"title":"a",` + zone + `,"rrule":"FREQ=NEVER"}`, []string{"/rrule", "/startUtc"},
		},
		"a rule beside an end before the start": {
			"/v1/series",
			`{"title":"a","startUtc":"2026-03-04T07:00:00Z","endUtc":"2026-03-04T06:00:00Z",` + zone + `,"rrule":"FREQ=NEVER"}`,
			[]string{"/endUtc", "/rrule"},
		},
		"a rule that is no text": {
			"/v1/series", `{"title":"a","startUtc":"2026-03-04T07:00:00Z",` + zone + `,"rrule":7}`, []string{"/rrule"},
		},
		"a reminder's rule beside an unknown zone": {
			"/v1/reminders",
			`{"title":"a","triggerUtc":"2026-03-04T07:00:00Z","tzid":"Nowhere/X","rrule":"FREQ=NEVER"}`,
			[]string{"/rrule", "/tzid"},
		},
		"a reminder's rule beside a trigger that is none": {
			"/v1/reminders", `{"title":"a","triggerUtc":"soon","tzid":"UTC","rrule":"FREQ=NEVER"}`,
			[]string{"/rrule", "/triggerUtc"},
		},
		"a reminder's good rule beside a trigger that is none": {
			"/v1/reminders", `{"title":"a","triggerUtc":"soon","tzid":"UTC","rrule":"FREQ=DAILY;UNTIL=20200101"}`,
			[]string{"/triggerUtc"},
		},
		"a reminder's rule beside no trigger": {
			"/v1/reminders", `{"title":"a","tzid":"UTC","rrule":"FREQ=NEVER"}`, []string{"/rrule", "/triggerUtc"},
		},
		"a zone that is no text": {
			"/v1/events", `{"title":"a","startUtc":"2026-03-04T07:00:00Z","startTzid":7,"endTzid":"Europe/Berlin"}`,
			[]string{"/startTzid"},
		},
		"a zone that is no text, and a time without offset": {
			"/v1/events", `{"title":"a","startUtc":"2026-03-04T07:00:00","startTzid":7}`,
			[]string{"/startTzid", "/startUtc"},
		},
		"a start that is none": {
			"/v1/events", `{"title":"a","startUtc":"soon","endUtc":"2026-03-04T07:00:00Z",` + zone + `}`,
			[]string{"/startUtc"},
		},
		"a flag that is none": {
			"/v1/events", `{"title":"a","isAllDay":"yes","startDate":"2026-03-04"}`, []string{"/isAllDay"},
		},
		"a flag that is none, of a task": {
			"/v1/tasks", `{"title":"a","isAllDay":"yes","dueDate":"2026-03-04"}`, []string{"/isAllDay"},
		},
		"whole days from a day that is none": {
			"/v1/events", `{"title":"a","isAllDay":true,"startDate":"2026-11-31","endDate":"2026-11-29"}`,
			[]string{"/startDate"},
		},
		"whole days from what is no date": {
			"/v1/events", `{"title":"a","isAllDay":true,"startDate":"9999","endDate":"2026-11-29"}`,
			[]string{"/startDate"},
		},
		"whole days to a day that is none": {
			"/v1/events", `{"title":"a","isAllDay":true,"startDate":"2026-12-05","endDate":"2026-11-31"}`,
			[]string{"/endDate"},
		},
		"a series of whole days from a day that is none": {
			"/v1/series",
			`{"title":"a","isAllDay":true,"startDate":"2026-11-31","endDate":"2026-11-29","rrule":"FREQ=NEVER"}`,
			[]string{"/rrule", "/startDate"},
		},
		"a start beyond all years": {
			"/v1/events", `{"title":"a","startUtc":"9000-01-01T00:00:00Z","endUtc":"2026-03-04T07:00:00Z",` + zone + `}`,
			[]string{"/startUtc"},
		},
		"a task's start beyond all years": {
			"/v1/tasks",
			`{"title":"a","startUtc":"9000-01-01T00:00:00Z","dueUtc":"2026-03-04T07:00:00Z","dueTzid":"UTC"}`,
			[]string{"/startUtc"},
		},
		"a due time that is none": {
			"/v1/tasks", `{"title":"a","dueUtc":"soon","dueTzid":"UTC","status":7}`, []string{"/dueUtc", "/status"},
		},
		"a due zone that is no text": {
			"/v1/tasks", `{"title":7,"dueUtc":"2026-03-04T07:00:00Z","dueTzid":7}`, []string{"/dueTzid", "/title"},
		},
		"a trigger's zone that is no text": {
			"/v1/reminders", `{"title":"a","triggerUtc":"2026-03-04T07:00:00Z","tzid":7}`, []string{"/tzid"},
		},
	} {
		got := b.want(422, post(c.path, c.body)).pointers()
		slices.Sort(got)
		b.Equal(c.want, got, name)
	}
}

func TestAPI_namesEverythingWrongInAChangeAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	floating := b.want(201, post("/v1/series", `{"title":"a","startUtc":"2026-03-04T07:00:00","rrule":"FREQ=DAILY"}`))
	zoned := b.want(201, post("/v1/series", `{"title":"a","startUtc":"2026-03-04T07:00:00Z","startTzid":"Europe/Berlin",
		"rrule":"FREQ=WEEKLY;BYDAY=WE,FR;UNTIL=20270101T000000Z","rruleUntil":"2026-12-01T00:00:00Z"}`))
	first := "/v1/series/" + floating.text("masterId")
	second := "/v1/series/" + zoned.text("masterId")
	before := []any{b.want(200, get(first)).doc, b.want(200, get(second)).doc}
	split := func(path, body string) request { return post(path+"/split", body).with("If-Match", `"1"`) }
	for name, c := range map[string]struct {
		request request
		want    []string
	}{
		"a zone that is no text": {
			patch(first, `{"startTzid":7,"startUtc":"2026-03-04T07:00:00Z"}`, 1), []string{"/startTzid"},
		},
		"an unknown zone": {
			patch(first, `{"startTzid":"Nowhere/X","startUtc":"2026-03-04T07:00:00Z","rrule":"FREQ=NO"}`, 1),
			[]string{"/rrule", "/startTzid"},
		},
		"a start, a rule and a title": {
			patch(first, `{"startUtc":"soon","rrule":"FREQ=NO","title":7}`, 1),
			[]string{"/rrule", "/startUtc", "/title"},
		},
		"a flag":           {patch(first, `{"isAllDay":1}`, 1), []string{"/isAllDay"}},
		"a rule and dates": {patch(first, `{"rrule":7,"exdate":7}`, 1), []string{"/exdate", "/rrule"}},
		"an end":           {patch(first, `{"rruleUntil":"soon"}`, 1), []string{"/rruleUntil"}},
		"reminders":        {patch(first, `{"reminderMinutes":"5"}`, 1), []string{"/reminderMinutes"}},
		"a start alone":    {patch(second, `{"startUtc":"soon"}`, 1), []string{"/startUtc"}},
		"a zone alone":     {patch(second, `{"startTzid":7}`, 1), []string{"/startTzid"}},
		"an end beside it": {
			patch(second, `{"startUtc":7,"endUtc":"2026-03-04T08:00:00Z"}`, 1),
			[]string{"/startUtc"},
		},
		"of one occurrence": {
			put(second+"/instances/20260304", `{"startUtc":"soon","title":7}`, 1),
			[]string{"/startUtc", "/title"},
		},
		"a flag of one": {put(second+"/instances/20260304", `{"isAllDay":1}`, 1), []string{"/isAllDay"}},
		"of all that follows": {
			split(second, `{"date":"20260311","changes":{"startUtc":"soon"}}`),
			[]string{"/changes/startUtc"},
		},
		"a zone of all that follows": {
			split(second, `{"date":"20260311","changes":{"startTzid":7,"rrule":"FREQ=NO"}}`),
			[]string{"/changes/rrule", "/changes/startTzid"},
		},
	} {
		got := b.want(422, c.request).pointers()
		slices.Sort(got)
		b.Equal(c.want, got, name)
	}
	b.Equal(before, []any{b.want(200, get(first)).doc, b.want(200, get(second)).doc}, "nothing was written")
}

// Each field that a client sends is refused once, with every other field right, and nothing else is named.
func TestAPI_namesOneWrongFieldAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const timed = `"startUtc":"2026-03-04T07:00:00Z","endUtc":"2026-03-04T08:00:00Z",` +
		`"startTzid":"Europe/Berlin","endTzid":"UTC"`
	const due = `"dueUtc":"2026-03-04T08:00:00Z","dueTzid":"UTC"`
	const days = `"isAllDay":true,"startDate":"2026-03-04","endDate":"2026-03-06"`
	const rule = `,"rrule":"FREQ=WEEKLY;BYDAY=WE;COUNT=9","rruleUntil":"2026-12-01T08:00:00Z","exdate":["20260311"]`
	for _, c := range []struct{ path, typ, whole string }{
		{"/v1/events", product.TypeEvent, `{"title":"a",` + timed + `}`},
		{"/v1/events", product.TypeEvent, `{"title":"a",` + days + `}`},
		{"/v1/series", entity.TypeMaster, `{"title":"a",` + timed + rule + `}`},
		{"/v1/tasks", product.TypeTask, `{"title":"a","startUtc":"2026-03-04T07:00:00Z",` + due + `}`},
		{"/v1/tasks", product.TypeTask, `{"title":"a","isAllDay":true,"dueDate":"2026-03-04","reminderMinutes":[5]}`},
		{"/v1/tasks", product.TypeTask, `{"title":"a",` + due + `}`},
		{
			"/v1/reminders", product.TypeReminder,
			`{"title":"a","triggerUtc":"2026-03-04T08:00:00Z","tzid":"UTC","rrule":"FREQ=DAILY"}`,
		},
		{"/v1/notes", product.TypeNote, `{"title":"a","body":"b"}`},
	} {
		b.want(201, post(c.path, c.whole))
		for _, f := range product.Registry().ByName(c.typ).Fields {
			if f.Origin != entity.FromClient {
				continue
			}
			var doc map[string]any
			b.NoError(json.Unmarshal([]byte(c.whole), &doc))
			doc[f.Name] = map[string]any{}
			if f.Kind == entity.Object {
				doc[f.Name] = 7
			}
			body, err := json.Marshal(doc)
			b.NoError(err)
			got := b.want(422, post(c.path, string(body))).pointers()
			b.Equal([]string{"/" + f.Name}, got, fmt.Sprintf("%s of %s", f.Name, c.whole))
		}
	}
}
