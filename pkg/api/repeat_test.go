package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

const replayed = "Idempotency-Replayed"

func TestIdempotencyKey_givesARepeatedRequestOneEffect(t *testing.T) {
	t.Parallel()
	b := setup(t)
	create := post("/v1/notes", `{"title":"a"}`).with("Idempotency-Key", "one")
	first := b.want(201, create)
	b.Empty(first.Header().Get(replayed))
	path := "/v1/notes/" + first.text("noteId")
	b.want(200, patch(path, `{"title":"b"}`, 1).with("Idempotency-Key", "two"))

	again := b.want(201, create)
	b.Equal("true", again.Header().Get(replayed))
	b.Equal("b", again.text("title"), "the entity as it is now")
	b.Equal(path, again.Header().Get("Location"))
	b.Equal(`"2"`, again.Header().Get("ETag"))
	b.Equal("true", b.want(200, patch(path, `{"title":"b"}`, 1).with("Idempotency-Key", "two")).Header().Get(replayed))

	b.Equal("idempotency-key-reused",
		b.want(422, post("/v1/notes", `{"title":"c"}`).with("Idempotency-Key", "one")).problem())
	b.want(422, patch(path, `{"title":"b"}`, 2).with("Idempotency-Key", "two"))

	gone := request{method: http.MethodDelete, path: path, header: ifMatch(2)}.with("Idempotency-Key", "three")
	b.want(204, gone)
	b.Equal("true", b.want(204, gone).Header().Get(replayed))
	b.Equal("true", b.want(204, create).Header().Get(replayed))
	b.advance(25 * time.Hour)
	b.want(410, gone)
}

func TestArchiveOperations_restoreAnItemOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.expired()
	b.want(410, get("/v1/reminders/"+id))
	list := b.want(200, get("/v1/archive"))
	require.Len(t, list.items(), 1)
	b.Equal(map[string]any{"entityType": "REMINDER", "itemId": id, "title": "Left", "version": 2.0,
		"expiresAt": "2026-03-03T12:00:00Z"}, list.items()[0])

	restore := request{method: http.MethodPost, path: "/v1/archive/" + id + "/restore"}
	first := b.want(200, restore.with("Idempotency-Key", "back"))
	b.Equal(`"4"`, first.Header().Get("ETag"))
	b.Equal(first.doc, b.want(200, get("/v1/reminders/"+id)).doc)
	again := b.want(200, restore.with("Idempotency-Key", "back"))
	b.Equal("true", again.Header().Get(replayed))
	b.Equal(first.doc, again.doc)
	b.Equal("state-conflict", b.want(409, restore).problem())
	b.want(422, post("/v1/notes", `{"title":"a"}`).with("Idempotency-Key", "back"))
	b.Empty(b.want(200, get("/v1/archive")).items())

	b.want(400, restore.with("If-Match", `"4"`))
	for _, id := range []string{"rem_none", "x", "pizza_1", "USER_META", "rem_%23", "COLD%23rem_1"} {
		b.want(404, request{method: http.MethodPost, path: "/v1/archive/" + id + "/restore"})
	}
}

func TestArchiveOperations_answerFromTheReceiptAfterALostAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	restore := request{method: http.MethodPost,
		path: "/v1/archive/" + b.expired() + "/restore"}.with("Idempotency-Key", "back")
	b.failWith(func(c memory.Call) error {
		if c.Op == "Transact" && c.Stage == memory.After {
			return table.ErrUnavailable
		}
		return nil
	})
	b.Equal("true", b.want(200, restore).Header().Get(replayed))
	b.failWith(nil)
	b.Equal("true", b.want(200, restore).Header().Get(replayed))
}

func TestArchiveOperations_agreeForTwinsOfARestore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	restore := request{method: http.MethodPost,
		path: "/v1/archive/" + b.expired() + "/restore"}.with("Idempotency-Key", "back")
	var once sync.Once
	b.failWith(func(c memory.Call) error {
		if c.Op != "Transact" || c.Stage != memory.Before {
			return nil
		}
		var err error
		once.Do(func() {
			// The twin comes between the first one's reads and its write.
			b.failWith(nil)
			if res := b.do(restore); res.Code != 200 || res.Header().Get(replayed) != "" {
				err = errors.New("the twin was refused")
			}
		})
		return err
	})
	b.Equal("true", b.want(200, restore).Header().Get(replayed))
}

func TestListArchive_isPaged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 3 {
		b.expired()
	}
	first := b.want(200, get("/v1/archive?limit=2"))
	b.Len(first.items(), 2)
	second := b.want(200, get("/v1/archive?limit=2&cursor="+first.text("nextCursor")))
	b.Len(second.items(), 1)
	b.NotContains(second.doc, "nextCursor")
	b.want(400, get("/v1/archive?cursor="+first.text("nextCursor")).by("bob"))
	b.want(400, get("/v1/notes?state=recent&cursor="+first.text("nextCursor")))
}

// result is one result of a batch.
type result struct {
	ID      string
	Status  int
	Entity  map[string]any
	Problem *api.Problem
}

func (b *fixture) batch(user string, commands ...string) []result {
	b.t.Helper()
	res := b.want(200, post("/v1/commands", `{"commands":[`+strings.Join(commands, ",")+`]}`).by(user))
	var out struct{ Results []result }
	b.NoError(json.Unmarshal(res.Body.Bytes(), &out))
	b.Len(out.Results, len(commands))
	return out.Results
}

func TestRunBatch_goesOnInOrderAfterAFailure(t *testing.T) {
	t.Parallel()
	b := setup(t)
	task := "task_" + uuid(900)
	got := b.batch("ann",
		`{"id":"1","type":"CreateTask","data":{"taskId":"`+task+`","title":"a"}}`,
		`{"id":"2","type":"UpdateTask","data":{"taskId":"`+task+`","title":"b"},"expectedVersion":1}`,
		`{"id":"3","type":"UpdateTask","data":{"taskId":"`+task+`","title":"c"},"expectedVersion":1}`,
		`{"id":"4","type":"UpdateTask","data":{"taskId":"`+task+`","title":"c"}}`,
		`{"id":"5","type":"CreateNote","data":{"title":"","mood":1}}`,
		`{"id":"6","type":"AddTaskLink","data":{"taskId":"`+task+`","targetType":"NOTE","targetId":"note_none"}}`,
		`{"id":"7","type":"UpdateMe","data":{"defaultTzid":"Asia/Tokyo"},"expectedVersion":0}`,
		`{"id":"8","type":"CompleteReminder","data":{"reminderId":"rem_none","series":true}}`,
		`{"id":"9","type":"DeleteTask","data":{"taskId":"`+task+`"},"expectedVersion":2}`,
		`{"id":"1","type":"CreateTask","data":{"taskId":"`+task+`","title":"a"}}`,
		`{"id":"1","type":"CreateTask","data":{"title":"other"}}`,
	)
	statuses := []int{}
	for i, r := range got {
		statuses = append(statuses, r.Status)
		b.Equal(r.Status >= 400, r.Problem != nil, i)
		b.Equal(r.Status == 200 || r.Status == 201, r.Entity != nil, i)
	}
	b.Equal([]int{201, 200, 412, 428, 422, 404, 200, 404, 204, 204, 422}, statuses)
	b.Equal(int64(2), *got[2].Problem.CurrentVersion)
	b.Contains(got[3].Problem.Detail, "expectedVersion")
	b.Equal("/data/title", got[4].Problem.Errors[1].Pointer)
	b.Equal("/data/targetId", got[5].Problem.Errors[0].Pointer)
	b.Equal("/problems/idempotency-key-reused", got[10].Problem.Type)
}

func TestReadCommand_readsTheFrameStrictly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for command, pointers := range map[string][]string{
		`7`:                              {""},
		`{}`:                             {"/id", "/type"},
		`{"id":7,"type":"CreateTask"}`:   {"/id"},
		`{"id":"1","type":"createTask"}`: {"/type"},
		`{"id":"1","type":"GetTask","data":{"taskId":"task_1"}}`:                  {"/type"},
		`{"id":"1","type":"RunCommands","data":{"commands":[]}}`:                  {"/type"},
		`{"id":"1","type":"CreateTask","data":[],"user":"bob"}`:                   {"/user", "/data"},
		`{"id":"1","type":"CreateTask","data":{"title":"a"},"expectedVersion":1}`: {"/expectedVersion"},
		`{"id":"1","type":"DeleteTask","expectedVersion":"1"}`:                    {"/expectedVersion", "/data/taskId"},
		`{"id":"1","type":"DeleteTask","data":{"taskId":7},"expectedVersion":1.5}`: {"/expectedVersion",
			"/data/taskId"},
		`{"id":"1","type":"DeleteTask","data":{"taskId":"task_1","x":1}}`:                   {"/data/x"},
		`{"id":"1","type":"CreateTask"}`:                                                    {"/data/title"},
		`{"id":"1","type":"SnoozeReminder","data":{"reminderId":"rem_1","minutes":"soon"}}`: {"/data/minutes"},
		`{"id":"1","type":"CreateNote","data":{"title":"a","~/x":1}}`:                       {"/data/~0~1x"},
	} {
		got := b.batch("ann", command)[0]
		b.Equal(422, got.Status, command)
		var found []string
		for _, e := range got.Problem.Errors {
			found = append(found, e.Pointer)
		}
		b.ElementsMatch(pointers, found, command)
		if len(found) == 1 && found[0] != "" {
			want := found[0] + " " + got.Problem.Errors[0].Detail
			if !strings.HasSuffix(want, "?") {
				want += "."
			}
			b.Equal(want, got.Problem.Detail, command)
		}
	}
	b.Equal(400,
		b.batch("ann", `{"id":"`+strings.Repeat("k", 256)+`","type":"CreateNote","data":{"title":"a"}}`)[0].Status)
	b.Zero(b.store.Len())
}

func TestRunBatch_boundsTheWholeBatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one := `{"id":"1","type":"CreateNote","data":{"title":"a"}}`
	b.want(422, post("/v1/commands", `{"commands":[`+strings.Repeat(one+",", 100)+one+`]}`))
	b.want(422, post("/v1/commands", `{}`))
	b.want(422, post("/v1/commands", `{"commands":{}}`))
	b.want(422, post("/v1/commands", `{"commands":[],"userId":"bob"}`))
	b.want(400, post("/v1/commands", `{"commands":[`+one))
	b.want(413, post("/v1/commands", `{"commands":["`+strings.Repeat("a", 5<<20)+`"]}`))
	b.Zero(b.store.Len())
	b.Empty(b.batch("ann"))

	var many []string
	for i := range 100 {
		many = append(many,
			fmt.Sprintf(`{"id":"n%d","type":"CreateNote","data":{"title":"a","body":"%s"}}`, i, strings.Repeat("x", 30_000)))
	}
	for _, r := range b.batch("ann", many...) {
		b.Equal(201, r.Status)
	}
}

func TestReadCommand_boundsWhatItReports(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var unknown strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&unknown, `,"x%d":0`, i)
	}
	for _, command := range []string{
		`{"id":"1","type":"CreateNote","data":{"title":"a"}` + unknown.String() + `}`,
		`{"id":"1","type":"DismissReminder","data":{"reminderId":"rem_1"` + unknown.String() + `}}`,
		`{"id":"1","type":"DeleteNote","expectedVersion":1,"data":{"noteId":"note_1"` + unknown.String() + `}}`,
	} {
		got := b.batch("ann", command)[0]
		b.Equal(422, got.Status)
		b.NotEmpty(got.Problem.Errors)
		b.LessOrEqual(len(got.Problem.Errors), 256)
	}
}

func TestRun_takesTheUserFromTheInvocation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	payload := `"commands":[{"id":"1","type":"CreateNote","data":{"title":"a"}}]}`
	out, err := b.api.Run(t.Context(), []byte(`{"userId":"ann",`+payload))
	b.NoError(err)
	var answer struct{ Results []result }
	b.NoError(json.Unmarshal(out, &answer))
	b.Equal(201, answer.Results[0].Status)
	b.Len(b.want(200, get("/v1/notes?state=recent")).items(), 1)

	for _, wrong := range []string{
		`{`, `{` + payload, `{"userId":"ann#2026",` + payload, `{"userId":7,` + payload, `{"userId":"ann"}`,
		`{"userId":"ann","userId":"bob",` + payload,
	} {
		out, err := b.api.Run(t.Context(), []byte(wrong))
		var problem *api.Problem
		b.ErrorAs(err, &problem, wrong)
		b.Nil(out)
	}
}

func TestRunBatch_logsAnInternalFailureOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	calls := 0
	b.failWith(func(c memory.Call) error {
		if c.Stage == memory.Before && c.Op == "Transact" {
			if calls++; calls == 1 {
				panic("boom")
			}
			if calls == 2 {
				return table.ErrThrottled
			}
		}
		return nil
	})
	note := `{"id":"%s","type":"CreateNote","data":{"title":"a"}}`
	got := b.batch("ann", fmt.Sprintf(note, "1"), fmt.Sprintf(note, "2"), fmt.Sprintf(note, "3"))
	b.Equal([]int{500, 503, 201}, []int{got[0].Status, got[1].Status, got[2].Status})
	b.Equal(1, strings.Count(b.log.String(), "\n"))
	b.Contains(b.log.String(), "command 0: panic: boom")

	calls = 0
	_, err := b.api.Run(t.Context(), []byte(`{"userId":"ann","commands":[`+fmt.Sprintf(note, "4")+`]}`))
	b.NoError(err)
	b.Equal(2, strings.Count(b.log.String(), "\n"))
}
