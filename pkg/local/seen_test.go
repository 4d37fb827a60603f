package local_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/local"
	"nexus/pkg/span"
)

// changesOf are the changes of an item, the newest first.
func (s *system) changesOf(item string) []object {
	s.t.Helper()
	return s.items("/dev/changes?item=" + item)
}

func TestGetChanges_showsWhatEachConsumerMadeOfARecord(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		id := s.task("told")["taskId"].(string)
		s.waitUntilIdle()
		found := s.changesOf(id)
		require.Len(t, found, 1)
		one := found[0]
		require.Equal(t, "u1", one["user"])
		require.Equal(t, "TASK", one["type"])
		require.Equal(t, "inserted", one["kind"])
		require.EqualValues(t, 1, one["version"])
		require.Equal(t, entity.TraceID("u1", id, 1), one["traceId"])
		outcomes := one["outcomes"].(object)
		for _, consumer := range []string{"stats", "links", "changes", "insights", "reminders", "archive"} {
			outcome := outcomes[consumer].(object)
			require.Equal(t, "done", outcome["verdict"], consumer)
			require.EqualValues(t, 1, outcome["deliveries"], consumer)
		}
		s.must("POST", "/dev/redeliver", object{"consumer": "stats", "times": 3, "from": "start"})
		stats := s.changesOf(id)[0]["outcomes"].(object)["stats"].(object)
		require.Equal(t, "already", stats["verdict"])
		require.EqualValues(t, 4, stats["deliveries"])

		require.Empty(t, s.items("/dev/changes?outcome=parked"))
		require.Empty(t, s.items("/dev/changes?user=nobody"))
		require.NotEmpty(t, s.items("/dev/changes?consumer=stats&outcome=already,parked"))
		require.NotContains(t, s.changesOf(id)[0], "record")
		record := s.items("/dev/changes?records=true&item=" + id)[0]["record"].(object)
		require.Equal(t, "INSERT", record["eventName"])
	})
}

func TestGetChanges_namesTheRepositoryOfACommit(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	s.must("POST", "/v1/values/revisions", object{
		"message": "m", "source": "weekly_review", "edges": []any{},
		"nodes": []any{object{
			"nodeId": "drv_00000000-0000-4000-8000-000000000001", "nodeType": "DRIVER", "title": "Health",
		}},
	})
	s.must("POST", "/v1/plans/2026-03-02/revisions", object{"reason": "morning_plan", "todos": []any{}, "blocks": []any{}})
	s.waitUntilIdle()
	require.Len(t, s.items("/dev/changes?type=VALUES"), 1)
	plans := s.items("/dev/changes?type=PLAN")
	require.Len(t, plans, 1)
	require.Equal(t, "2026-03-02", plans[0]["title"])
	require.Equal(t, "inserted", plans[0]["kind"])
}

func TestGetChanges_leadsFromPageToPage(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	for i := range 23 {
		s.task(fmt.Sprint(i))
	}
	s.waitUntilIdle()
	seen := map[any]bool{}
	pages := s.pages("/dev/changes?type=TASK&limit=5", "after")
	require.Len(t, pages, 5)
	for _, page := range pages {
		for _, one := range page {
			seen[one.(object)["item"]] = true
		}
	}
	require.Len(t, seen, 23)
	for query, field := range map[string]string{
		"sequence=x": "sequence", "consumer=nobody": "consumer", "outcome=good": "outcome", "from=yesterday": "from",
		"to=x": "to", "after=0": "after", "records=1": "records", "limit=0": "limit",
	} {
		status, problem := s.call("GET", "/dev/changes?"+query, nil)
		require.Equal(t, http.StatusUnprocessableEntity, status, query)
		require.Contains(t, problem["detail"], field)
	}
}

// One tree leads from the request to the event.
func TestGetTrace_isOneTreeFromTheRequestToTheEvent(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		id := s.reminder("ring", s.now().Add(time.Hour))["reminderId"].(string)
		s.advance("2h")
		trace := entity.TraceID("u1", id, 1)
		require.Equal(t, trace, s.must("GET", "/dev/trace-id?user=u1&version=1&item="+id, nil)["traceId"])
		told := s.must("GET", "/dev/traces/"+trace, nil)
		require.NotEmpty(t, told["changes"])
		byID, names := map[any]object{}, []string{}
		for _, one := range told["spans"].([]any) {
			one := one.(object)
			require.NotContains(t, byID, one["spanId"])
			byID[one["spanId"]] = one
			names = append(names, one["name"].(string))
			require.NotContains(t, fmt.Sprint(one), id, "a span holds no key")
			require.NotContains(t, fmt.Sprint(one), "ring", "a span holds no title")
		}
		require.Contains(t, byID, span.ID(trace, "command", "write"))
		require.Contains(t, byID, span.ID(trace, "stats", "stats"))
		for _, name := range []string{"POST /v1/reminders", "reminders", "put schedule", "notify", "publish ReminderDue"} {
			require.Contains(t, names, name)
		}
		for _, one := range byID {
			up := one
			for depth := 0; up["parentId"] != nil; depth++ {
				require.Less(t, depth, 10)
				require.Contains(t, byID, up["parentId"], "the parent of %v", up)
				up = byID[up["parentId"]]
			}
			require.Equal(t, "POST /v1/reminders", up["name"])
		}
	})
}

func TestGetTrace_linksARepetitionToTheFirst(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	id := s.task("again")["taskId"].(string)
	s.waitUntilIdle()
	s.must("POST", "/dev/redeliver", object{"consumer": "stats", "from": "start"})
	trace := entity.TraceID("u1", id, 1)
	found := 0
	for _, one := range s.must("GET", "/dev/traces/"+trace, nil)["spans"].([]any) {
		one := one.(object)
		if one["spanId"] == span.ID(trace, "stats", "stats#2") {
			found++
			require.Equal(t, []any{span.ID(trace, "stats", "stats")}, one["links"])
			require.Equal(t, "already", one["outcome"])
		}
	}
	require.Equal(t, 1, found)
	status, problem := s.call("GET", "/dev/traces/"+strings.Repeat("0", 32), nil)
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, problem["detail"], "sha256sum")
	status, _ = s.call("GET", "/dev/traces/x", nil)
	require.Equal(t, http.StatusUnprocessableEntity, status)
}

// After a restart it is not known which write asked for a call: its trace is that of the item's last write.
func TestGetTrace_findsTheWriteOfACallAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := startSystem(t, local.Options{DataDir: dir})
	id := first.reminder("later", first.now().Add(3*time.Hour))["reminderId"].(string)
	first.waitUntilIdle()
	first.stop()
	second := startSystem(t, local.Options{DataDir: dir})
	second.advance("4h")
	spans := second.must("GET", "/dev/traces/"+entity.TraceID("u1", id, 1), nil)["spans"]
	require.Contains(t, fmt.Sprint(spans), "publish ReminderDue")
}

func TestGetDerived_isCutToTheItem(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		note := s.must("POST", "/v1/notes", object{"title": "n", "body": "b"})["noteId"].(string)
		link := object{"links": []object{{"targetType": "NOTE", "targetId": note}}}
		id := s.task("one", link)["taskId"].(string)
		other := s.task("other", link)["taskId"].(string)
		s.waitUntilIdle()
		state := s.must("GET", "/dev/derived?user=u1&item="+id, nil)["state"].(object)
		require.Len(t, state["links"], 1)
		require.NotEmpty(t, state["ledger"])
		require.NotContains(t, fmt.Sprint(state), other)
		require.Empty(t, state["stats"], "statistics name no item")
		whole := s.must("GET", "/dev/derived?user=u1", nil)["state"].(object)
		require.Len(t, whole["links"], 2)
		require.Len(t, whole["stats"], 1)
		status, _ := s.call("GET", "/dev/derived?user=%23", nil)
		require.Equal(t, http.StatusUnprocessableEntity, status)
	})
}

func TestGetUsers_listsWhoHasARowAlsoThoseWhoComeLater(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *system) {
		for _, s.user = range []string{"ben", "ann"} {
			s.task("t")
		}
		users := func() (all []any) {
			s.waitUntilIdle()
			for _, page := range s.pages("/dev/users?limit=1", "after") {
				all = append(all, page...)
			}
			return all
		}
		require.Equal(t, []any{"ann", "ben"}, users())
		s.user = "cid"
		s.task("t")
		require.Equal(t, []any{"ann", "ben", "cid"}, users())
	})
}

func TestGetStream_goesOnBehindTheLastEvent(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	first := s.listenTo("?kinds=outcome,span", "")
	s.task("one")
	last := ""
	for seen := map[string]bool{}; len(seen) < 2; {
		one := <-first.lines
		seen[strings.Fields(one)[1]], last = true, strings.Fields(one)[0]
	}
	first.end()
	s.task("two")
	s.waitUntilIdle()
	second := s.listenTo("?kinds=outcome", last)
	for line := range second.lines {
		if strings.Contains(line, `"title":"two"`) {
			break
		}
		require.NotContains(t, line, " gap")
	}
	second.end()
	late := s.listenTo("?kinds=outcome", "1000000")
	require.Contains(t, <-late.lines, " gap ", "such an event was never sent")
	late.end()
	status, problem := s.call("GET", "/dev/stream?kinds=colour", nil)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, problem["detail"], "kinds")
	status, _ = s.call("GET", "/dev/stream", nil, "Last-Event-ID", "x")
	require.Equal(t, http.StatusUnprocessableEntity, status)
}

func TestGetCapabilities_saysWhatIsMissing(t *testing.T) {
	t.Parallel()
	prices := &local.Prices{Source: "a list", Currency: "USD", ReadUnit: 1, WriteUnit: 5, ScheduleCall: 7, Event: 11}
	s := startSystem(t, local.Options{Store: local.Memory, Prices: prices})
	for _, one := range s.items("/dev/capabilities") {
		require.Equal(t, true, one["available"], one["name"])
	}
	without := startSystem(t, local.Options{Store: local.Memory})
	for _, one := range without.items("/dev/capabilities") {
		require.Equal(t, one["name"] != "cost", one["available"], one["name"])
	}
	status, _ := without.call("GET", "/dev/cost", nil)
	require.Equal(t, http.StatusNotFound, status)
	require.Equal(t, "3.1.0", s.must("GET", "/dev/openapi.json", nil)["openapi"])
}

func TestOptions_leaveTheConsoleOut(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory, NoConsole: true})
	s.reminder("r", s.now().Add(time.Hour))
	s.advance("2h")
	require.Len(t, s.items("/dev/events"), 1)
	status, _ := s.call("GET", "/dev/changes", nil)
	require.Equal(t, http.StatusNotFound, status)
}

// An erasure leaves nothing of the user among what has happened lately.
func TestForget_dropsWhatWasSeenOfTheUser(t *testing.T) {
	t.Parallel()
	s := startSystem(t, local.Options{Store: local.Memory})
	s.task("secret")
	s.waitUntilIdle()
	require.NotEmpty(t, s.items("/dev/changes?user=u1"))
	s.must("POST", "/dev/erase", object{"user": "u1", "now": true})
	require.Empty(t, s.items("/dev/changes?user=u1"))
}

func TestGetCost_pricesWhatWasUsed(t *testing.T) {
	t.Parallel()
	prices := &local.Prices{Source: "a list", Currency: "USD", ReadUnit: 1, WriteUnit: 5, ScheduleCall: 7, Event: 11}
	s := startSystem(t, local.Options{Store: local.Memory, Prices: prices})
	s.reminder("ring", s.now().Add(time.Hour))
	s.advance("2h")
	cost := s.must("GET", "/dev/cost", nil)
	require.Equal(t, "USD", cost["currency"])
	require.EqualValues(t, 1, cost["writes"])
	by := map[string]object{}
	for _, one := range cost["lines"].([]any) {
		line := one.(object)
		by[fmt.Sprint(line["part"], " ", line["operation"])] = line
		if line["part"] != "scheduler" && line["part"] != "bus" {
			require.InDelta(t, line["readUnits"].(float64)+5*line["writeUnits"].(float64), line["price"], 1e-9)
		}
	}
	require.EqualValues(t, 7, by["scheduler call"]["price"])
	require.EqualValues(t, 11, by["bus publish"]["price"])
	require.Contains(t, by, "stats Update")
}
