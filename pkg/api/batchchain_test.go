package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// chained is the result of one command of a batch.
type chained struct {
	Status  int
	Version *int64
	Entity  map[string]any
	Problem struct {
		Type           string
		Errors         []struct{ Pointer, Detail string }
		CurrentVersion int64
	}
}

func (c chained) kind() string { return strings.TrimPrefix(c.Problem.Type, "/problems/") }

// chain sends commands as a batch and returns their results.
func (b *fixture) chain(commands ...string) []chained {
	b.t.Helper()
	res := b.want(200, post("/v1/commands", `{"commands":[`+strings.Join(commands, ",")+`]}`))
	var out struct{ Results []chained }
	b.NoError(json.Unmarshal(res.Body.Bytes(), &out))
	b.Len(out.Results, len(commands))
	return out.Results
}

// shown writes the status of each result, and its version if it has one.
func shown(results []chained) string {
	var out []string
	for _, r := range results {
		text := fmt.Sprint(r.Status)
		if r.Version != nil {
			text += fmt.Sprintf("@%d", *r.Version)
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// cmd is a command of a batch; the condition is a member such as "expectedVersion":1, or empty.
func cmd(id, kind, data, condition string) string {
	if condition != "" {
		condition = "," + condition
	}
	return fmt.Sprintf(`{"id":%q,"type":%q,"data":{%s}%s}`, id, kind, data, condition)
}

func after(id string) string  { return fmt.Sprintf(`"expectedAfter":%q`, id) }
func version(v int) string    { return fmt.Sprintf(`"expectedVersion":%d`, v) }
func chosen(p string) string  { return p + "_00000000-0000-4000-8000-00000000aaaa" }
func titled(id string) string { return fmt.Sprintf(`"title":%q`, id) }

// A queue that was filled offline goes through although a reminder rings between two batches, and its repetition
// answers each command with the version that it made.
func TestResolve_expectsTheVersionThatTheNamedCommandMade(t *testing.T) {
	t.Parallel()
	b := setup(t)
	rem := `"reminderId":"` + chosen("rem") + `",`
	queue := []string{
		cmd("1", "CreateReminder",
			rem+`"title":"a","triggerUtc":"2026-03-02T13:00:00Z","tzid":"UTC","rrule":"FREQ=DAILY"`, ""),
		cmd("2", "UpdateReminder", rem+titled("b"), after("1")),
		cmd("3", "SnoozeReminder",
			rem+`"untilUtc":"2026-03-02T15:00:00Z","occurrenceUtc":"2026-03-02T13:00:00Z"`, after("2")),
		cmd("4", "UpdateReminder", rem+titled("b"), after("3")), // it changes nothing
		cmd("5", "UpdateReminder", rem+titled("c"), after("4")),
		cmd("6", "DeleteReminder", strings.TrimSuffix(rem, ","), after("5")),
	}
	b.Equal("201@1 200@2 200@3 200@3 200@4", shown(b.chain(queue[:5]...)))
	b.advance(89 * 24 * time.Hour)
	b.Equal("201@1 200@2 200@3 200@3 200@4 204@5", shown(b.chain(queue...)))
	b.advance(24 * time.Hour)
	queue[5] = cmd("6", "DeleteReminder", strings.TrimSuffix(rem, ","), version(4))
	b.Equal("409 424 424 424 424 204@5", shown(b.chain(queue...)), "what is 90 days old is forgotten")
	b.Equal("422", shown(b.chain(cmd("6", "DeleteReminder", strings.TrimSuffix(rem, ","), version(3)))),
		"the number that expectedAfter stood for is part of the request")
}

// A command that names one which was not carried out is not carried out either; the answer says whether it is to be
// repeated.
func TestResolve_leavesOutWhatFollowsAFailure(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.want(201, post("/v1/notes", `{"title":"a"}`)).text("noteId")
	note := `"noteId":"` + id + `",`
	late := b.chain(
		cmd("1", "UpdateNote", note+titled("b"), version(7)), cmd("2", "UpdateNote", note+titled("c"), after("1")),
		cmd("3", "UpdateNote", note+titled("d"), after("2")), cmd("4", "UpdateNote", note+titled("e"), version(1)),
	)
	b.Equal("412 424 424 200@2", shown(late))
	b.Equal("dependency-failed", late[1].kind())
	b.Equal("e", b.want(200, get("/v1/notes/"+id)).text("title"))

	writes := 0
	b.failWith(func(c memory.Call) error {
		if c.Op != "Transact" || c.Stage != memory.Before {
			return nil
		}
		if writes++; writes == 2 {
			return table.ErrThrottled
		}
		return nil
	})
	queue := []string{
		cmd("5", "UpdateNote", note+titled("f"), version(2)), cmd("6", "UpdateNote", note+titled("g"), after("5")),
		cmd("7", "UpdateNote", note+titled("h"), after("6")), cmd("8", "UpdateNote", note+titled("i"), after("7")),
	}
	throttled := b.chain(queue...)
	b.Equal("200@3 503 503 503", shown(throttled))
	b.Equal("unavailable", throttled[3].kind())
	b.failWith(nil)
	b.Equal("200@3 200@4 200@5 200@6", shown(b.chain(queue...)))
	b.Equal("200@4", shown(b.chain(cmd("6", "UpdateNote", note+titled("g"), version(3)))),
		"the next batch may name the number itself")
}

// The reference must lead back, to a command about the same entity.
func TestResolve_refusesACommandAboutAnotherEntity(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one := b.want(201, post("/v1/notes", `{"title":"a"}`)).text("noteId")
	other := b.want(201, post("/v1/notes", `{"title":"a"}`)).text("noteId")
	update := func(id, note, condition string) string {
		return cmd(id, "UpdateNote", `"noteId":"`+note+`","title":"`+id+`"`, condition)
	}
	for _, c := range []struct{ first, second, want, detail string }{
		{update("1", one, version(1)), update("2", other, after("1")), "200@2 400", "about another entity"},
		{update("3", one, version(9)), update("4", other, after("3")), "412 400", "about another entity"},
		{update("5", one, version(2)), update("6", one, after("6")), "200@3 400", "no command before this one"},
		{update("7", one, after("8")), update("8", one, version(3)), "400 200@4", "no command before this one"},
		{cmd("9", "CreateNote", titled("n"), ""), update("10", one, after("9")), "201@1 400", "about another entity"},
		{`{"id":"11"}`, update("12", one, after("11")), "422 424", ""},
		{update("13", one, version(4)), cmd("14", "UpdateMe", `"defaultTzid":"UTC"`, after("13")), "200@5 400",
			"about another entity"},
		{update("15", one, version(5)), update("16", one, after("15")+","+version(5)), "200@6 422",
			"must not come together with expectedVersion"},
		{update("17", one, version(6)), cmd("18", "CreateNote", titled("n"), after("17")), "200@7 422", "has no meaning"},
		{update("19", one, version(7)), cmd("20", "CreateSeries", standup+`,"rrule":"FREQ=DAILY"`, after("19")), "200@8 400",
			"has no meaning without fromEventId"},
		{update("21", one, version(8)), update("22", one, `"expectedAfter":21`), "200@9 422", "must be the id"},
	} {
		got := b.chain(c.first, c.second)
		b.Equal(c.want, shown(got), c.second)
		for _, r := range got {
			if r.Status == 400 || r.Status == 422 && c.detail != "" {
				b.Len(r.Problem.Errors, 1)
				b.Equal("/expectedAfter", r.Problem.Errors[0].Pointer)
				b.Contains(r.Problem.Errors[0].Detail, c.detail)
			}
		}
	}
}

// Of two commands with one id the one that was carried out counts.
func TestOutcomes_keepTheOneThatWasCarriedOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := `"noteId":"` + b.want(201, post("/v1/notes", `{"title":"a"}`)).text("noteId") + `",`
	b.Equal("412 200@2 422 200@3", shown(b.chain(
		cmd("1", "UpdateNote", note+titled("b"), version(9)), cmd("1", "UpdateNote", note+titled("b"), version(1)),
		cmd("1", "UpdateNote", note+titled("b"), version(9)), cmd("2", "UpdateNote", note+titled("c"), after("1")),
	)))
}

// A series, its occurrences and what it is split into are chained, too.
func TestResolve_letsAnOccurrenceFollowItsSeries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	series := chosen("mst")
	of := `"masterId":"` + series + `"`
	on := func(date string) string { return of + `,"date":"` + date + `"` }
	got := b.chain(
		cmd("1", "CreateSeries", of+`,`+standup+`,"rrule":"FREQ=WEEKLY;COUNT=6"`, ""),
		cmd("2", "PutInstance", on("20260309")+`,"title":"x"`, after("1")),
		cmd("3", "PutInstance", on("20260309"), after("2")), // undone
		cmd("4", "UpdateSeries", of+`,"title":"second"`, after("1")),
		cmd("5", "CancelInstance", on("20260309"), after("4")),
		cmd("6", "PutInstance", on("20260309")+`,"title":"y"`, after("4")), // it differs now
		cmd("7", "PutInstance", on("20260309")+`,"title":"y"`, after("5")),
		cmd("8", "SplitSeries", on("20260316")+`,"changes":{"title":"third"}`, after("4")),
		cmd("9", "UpdateSeries", of+`,"title":"fourth"`, after("8")),
		cmd("10", "UpdateSeries", of+`,"title":"fifth"`, after("7")), // a series does not follow its occurrence
	)
	b.Equal("201@1 200@2 200@4 200@2 200@6 412 200@7 201@3 200@4 400", shown(got))
	again := b.chain(
		cmd("3", "PutInstance", on("20260309"), version(2)),
		cmd("8", "SplitSeries", on("20260316")+`,"changes":{"title":"third"}`, version(2)),
		cmd("12", "EndSeries", of+`,"untilUtc":"2026-03-10T00:00:00Z"`, after("8")),
	)
	b.Equal("200@4 201@3 412", shown(again), "what they made, whatever came since")
	b.Equal(int64(4), again[2].Problem.CurrentVersion)
}

// The row of an exception may have the very version of its series. A device that does not know the exception says whose
// version it names.
func TestReadOfSeries_takesTheVersionOfTheSeriesForAnOccurrence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	of := `"masterId":"` + chosen("mst") + `"`
	put := func(key, date, data, condition string) string {
		return cmd(key, "PutInstance", of+`,"date":"`+date+`"`+data, condition)
	}
	series := func(v int) string { return version(v) + `,"ofSeries":true` }
	b.Equal("201@1 200@2 200@2 412 200@3", shown(b.chain(
		cmd("1", "CreateSeries", of+`,`+standup+`,"rrule":"FREQ=WEEKLY;COUNT=6"`, ""),
		put("2", "20260309", `,"title":"x"`, series(1)),
		cmd("3", "UpdateSeries", of+`,"title":"second"`, version(1)),
		put("4", "20260309", `,"title":"y"`, series(2)),
		put("5", "20260316", `,"title":"y"`, series(2)),
	)))
	b.Equal("200@3 412 200@6 200@7", shown(b.chain(
		put("5", "20260316", `,"title":"y"`, version(2)), // the number alone identifies the request
		put("6", "20260316", `,"title":"z"`, series(3)),
		put("7", "20260316", ``, version(3)), // undone
		put("8", "20260316", `,"title":"z"`, series(2)),
	)))
	for _, condition := range []string{
		version(2) + `,"ofSeries":"true"`, `"ofSeries":true`, after("2") + `,"ofSeries":true`,
	} {
		got := b.chain(put("2", "20260309", `,"title":"x"`, version(1)), put("9", "20260323", `,"title":"x"`, condition))
		b.Equal(422, got[1].Status, condition)
		b.Equal("/ofSeries", got[1].Problem.Errors[0].Pointer)
	}
	b.Equal("422", shown(b.chain(cmd("10", "UpdateSeries", of+`,"title":"third"`, series(2)))))
}

// An event that becomes a series is named by the command that makes it one, and the series by those that follow.
func TestResolve_followsAnEventThatBecomesASeries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	event, series := `"eventId":"`+chosen("evt")+`"`, `"masterId":"`+chosen("mst")+`"`
	from := series + `,"fromEventId":"` + chosen("evt") + `","rrule":"FREQ=DAILY"`
	queue := []string{
		cmd("1", "CreateEvent", event+`,`+standup, ""), cmd("2", "UpdateEvent", event+`,"title":"b"`, after("1")),
		cmd("3", "CreateSeries", from, after("2")), cmd("4", "UpdateSeries", series+`,"title":"c"`, after("3")),
		cmd("5", "UpdateSeries", series+`,"title":"d"`, after("2")), // the event is another entity
		cmd("6", "DeleteSeries", series, after("4")),
	}
	want := "201@1 200@2 201@1 200@2 400 204@3"
	b.Equal(want, shown(b.chain(queue...)))
	// The event and the series are gone: their commands were carried out all the same.
	b.Equal("204@1 204@2 204@1 204@2 400 204@3", shown(b.chain(queue...)))
}

// The settings have no id; their first version is 0, which a command that changes nothing leaves.
func TestResolve_followsTheSettings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Equal("200@0 200@1 200@2", shown(b.chain(
		cmd("1", "UpdateMe", `"defaultTzid":"UTC"`, version(0)),
		cmd("2", "UpdateMe", `"defaultTzid":"Asia/Tokyo"`, after("1")),
		cmd("3", "UpdateMe", `"defaultTzid":"Europe/Paris"`, after("2")),
	)))
}

// What an occurrence without an exception has for a version is the same wherever it is read, and never comes again.
func TestInstanceOperations_neverGiveAVersionOfAnOccurrenceTwice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.newSeries(`"rrule":"FREQ=WEEKLY;COUNT=4"`)
	one := "/v1/series/" + id + "/instances/20260309"
	b.want(200, put(one, `{"title":"x"}`, 1))
	b.want(200, put(one, `{}`, 2))
	for v := 1; v < 6; v++ {
		read := b.want(200, get("/v1/events/"+entity.InstanceID(id, "20260309")))
		b.EqualValues(3+v, read.doc["version"])
		b.Equal(fmt.Sprintf("%q", fmt.Sprint(3+v)), read.Header().Get("ETag"))
		agenda := b.want(200, get("/v1/agenda?from=2026-03-09T00:00:00Z&to=2026-03-17T00:00:00Z&tz=UTC")).items()
		b.Len(agenda, 2)
		b.EqualValues([]any{3.0 + float64(v), true}, []any{agenda[0]["version"], agenda[0]["virtual"]})
		b.EqualValues(v, agenda[1]["version"], "the other one never differed")
		b.want(412, put(one, `{"title":"late"}`, 2+v))
		b.want(200, patch("/v1/series/"+id, fmt.Sprintf(`{"title":"%d"}`, v), v))
	}
	b.want(200, put(one, `{"title":"y"}`, 3+6))
	b.EqualValues(3+6+1, b.want(200, get("/v1/events/"+entity.InstanceID(id, "20260309"))).doc["version"])
}

// A deletion answers with the version that its removal counts as; the client remembers the id at that version.
func TestDeletedAnswer_hasTheVersionOfTheRemoval(t *testing.T) {
	t.Parallel()
	b := setup(t)
	note := "/v1/notes/" + b.want(201, post("/v1/notes", `{"title":"a"}`)).text("noteId")
	b.want(200, patch(note, `{"title":"b"}`, 1))
	change := patch(note, `{"title":"c"}`, 2).with("Idempotency-Key", "change")
	b.want(200, change)
	gone := request{method: http.MethodDelete, path: note, header: ifMatch(3)}.with("Idempotency-Key", "k")
	for range 2 {
		res := b.want(204, gone)
		b.Equal(`"4"`, res.Header().Get("ETag"))
	}
	b.Empty(b.want(204, change).Header().Get("ETag"), "a repeated change removed nothing")
	series := "/v1/series/" + b.newSeries(`"rrule":"FREQ=WEEKLY"`)
	b.Equal(`"2"`, b.want(204, request{method: http.MethodDelete, path: series, header: ifMatch(1)}).Header().Get("ETag"))
}

// A restoration and what follows it offline go out together, also a second time.
func TestResolve_followsARestoration(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.expired()
	queue := []string{
		cmd("1", "RestoreArchived", `"id":"`+id+`"`, ""),
		cmd("2", "UpdateReminder", `"reminderId":"`+id+`","title":"again"`, after("1")),
	}
	for range 2 { // the copy has version 2, and the removal counts as 3
		b.Equal("200@4 200@5", shown(b.chain(queue...)))
	}
}

// TestBatch_refusesATextThatWasCutInACharacterAlone: JSON.stringify writes half of an emoji as an escape.
func TestBatch_refusesATextThatWasCutInACharacterAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got := b.chain(
		cmd("1", "CreateTask", `"title":"\ud83d"`, ""),
		cmd("2", "CreateTask", `"title":"whole \ud83d\ude00"`, ""),
		cmd("3", "CreateTask", `"title":"a","tags":["\ude00"]`, ""),
		cmd("4", "CommitPlan", `"date":"2026-03-02","reason":"morning_plan","todos":[],`+
			`"blocks":[{"blockType":"BREAK","startTimeIso":"2026-03-02T12:00:00Z","endTimeIso":"2026-03-02T13:00:00Z",`+
			`"title":"\ud83d"}]`, ""),
		cmd("5", "CreateTask", `"title":"b","\ud83d":1`, ""),
		cmd("6", "CreateTask", `"title":"\ufffd"`, ""),
	)
	b.Equal("422 201@1 422 422 422 201@1", shown(got))
	b.Equal("whole \U0001F600", got[1].Entity["title"])
	b.Equal("/data/title", got[0].Problem.Errors[0].Pointer)
	b.Equal("must not have half of a surrogate pair", got[0].Problem.Errors[0].Detail)
	b.Equal("/data/tags", got[2].Problem.Errors[0].Pointer)
	b.Equal("/data/blocks/0/title", got[3].Problem.Errors[0].Pointer)
	res := b.want(200, post("/v1/commands", `{"commands":[{"id":"\ud83d","type":"CreateTask","data":{"title":"c"}}]}`))
	b.Contains(res.Body.String(), `"status":422`)
}
