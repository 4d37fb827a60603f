package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// maxEvent is the largest answer of a function in Lambda, in bytes of its JSON form.
const maxEvent = 6 << 20

type sizedResult struct {
	ID      string
	Status  int
	Entity  map[string]any
	Problem struct {
		Detail string
		Errors []any
	}
	Omitted bool
}

// sized runs commands as a batch, checks that the function can send the answer, and returns the results.
func (b *fixture) sized(commands ...string) []sizedResult {
	res := b.want(200, post("/v1/commands", `{"commands":[`+strings.Join(commands, ",")+`]}`))
	sent, err := json.Marshal(res.Body.String())
	b.NoError(err)
	b.Less(len(sent), maxEvent)
	var out struct{ Results []sizedResult }
	b.NoError(json.Unmarshal(res.Body.Bytes(), &out))
	b.Len(out.Results, len(commands))
	return out.Results
}

// Small commands may have large answers: each is carried out, and the result says so where the entity has no room.
func TestRunBatch_sendsWhatManyLargeEntitiesBecame(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body, err := json.Marshal(strings.Repeat(`"`, 32<<10))
	b.NoError(err)
	var create, pin []string
	for i := range 100 {
		id := fmt.Sprintf("note_00000000-0000-4000-8000-%012d", i)
		create = append(create,
			fmt.Sprintf(`{"id":"c%d","type":"CreateNote","data":{"noteId":%q,"title":"n","body":%s}}`, i, id, body))
		pin = append(pin, fmt.Sprintf(
			`{"id":"p%d","type":"UpdateNote","data":{"noteId":%q,"isPinned":true},"expectedVersion":1}`, i, id))
	}
	for half := range 2 {
		b.sized(create[50*half : 50*half+50]...)
	}
	for range 2 { // the second time it is a replay
		brought := 0
		for i, r := range b.sized(pin...) {
			b.Equal(200, r.Status, i)
			b.Equal(r.Entity == nil, r.Omitted, i)
			if r.Entity != nil {
				b.Equal(true, r.Entity["isPinned"])
				brought++
			}
		}
		b.Equal(31, brought, "one note takes 128 KB")
	}
	b.Len(b.want(200, get("/v1/notes?state=recent")).doc["items"], 0)
}

// A batch may consist of unknown fields, and of ids that are none.
func TestRunBatch_sendsWhatIsWrongAsFarAsThereIsRoom(t *testing.T) {
	t.Parallel()
	b := setup(t)
	names := make([]string, 256)
	for i := range names {
		names[i] = fmt.Sprintf(`"%s%d":1`, strings.Repeat(`\"`, 45), i)
	}
	var commands []string
	for i := range 100 {
		commands = append(commands, fmt.Sprintf(`{"id":"%d","type":"CreateNote","data":{%s}}`, i, strings.Join(names, ",")))
	}
	told := 0
	for i, r := range b.sized(commands...) {
		b.Equal(422, r.Status, i)
		b.Equal(len(r.Problem.Errors) == 0, r.Omitted, i)
		b.NotEmpty(r.Problem.Detail)
		if !r.Omitted {
			told++
		}
	}
	b.Greater(told, 10)
	long := strings.Repeat(`<`, 3<<20)
	r := b.sized(fmt.Sprintf(`{"id":%q,"type":"CreateNote","data":{"title":"n"}}`, long),
		`{"id":"`+strings.Repeat("é", 255)+`","type":"CreateNote","data":{"title":"n"}}`)
	b.Equal(400, r[0].Status)
	b.Less(len(r[0].ID), 2000)
	b.Equal(201, r[1].Status)
	b.Equal(strings.Repeat("é", 255), r[1].ID)
}
