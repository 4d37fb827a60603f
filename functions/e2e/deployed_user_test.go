package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// person is a user of a deployed API who changes something at random. What an answer leaves open is asked again under
// its key, as a client does.
type person struct {
	*deployed
	token  bearer
	chance *rand.Rand
	number int
	things []*thing
	zoned  bool
}

// thing is an item of a person, as the last answer has it.
type thing struct {
	kind, id string
	version  int
	finished bool // no more than a deletion is left
}

func (d *deployed) person(number int) *person {
	authorizer := d.stack.one("AWS::ApiGatewayV2::Authorizer", nil)
	var scopes []string
	for _, r := range d.routes {
		scopes = append(scopes, textsOf(r.at("AuthorizationScopes"))...)
	}
	return &person{
		deployed: d, number: number, chance: rand.New(rand.NewPCG(uint64(number), 7)),
		token: bearer{
			fmt.Sprintf("user-%d", number), authorizer.text("JwtConfiguration", "Issuer"),
			textsOf(authorizer.at("JwtConfiguration", "Audience"))[0], strings.Join(scopes, " "),
		},
	}
}

// patientAttempts bounds how often a request is sent.
const patientAttempts = 100

// do sends a request until it has an answer that is no fault of the system's, and returns its body.
func (p *person) do(method, path string, version int, body map[string]any) (status int, got map[string]any) {
	p.Helper()
	headers := map[string]string{"Idempotency-Key": fmt.Sprintf("key-%d-%d", p.number, p.chance.Uint64())}
	if version >= 0 {
		headers["If-Match"] = fmt.Sprintf(`"%d"`, version)
	}
	text := ""
	if body != nil {
		encoded, err := json.Marshal(body)
		require.NoError(p, err)
		text = string(encoded)
	}
	if method == http.MethodGet {
		headers = nil
	}
	var a answer
	for range patientAttempts {
		a = p.ask(p.token, method, path, text, headers)
		if a.StatusCode < http.StatusInternalServerError && a.StatusCode != http.StatusTooManyRequests {
			break
		}
		p.pause(betweenReads)
	}
	if a.Body != "" {
		require.NoError(p, json.Unmarshal([]byte(a.Body), &got), "%d %s", a.StatusCode, a.Body)
	}
	return a.StatusCode, got
}

// must is do for a request that succeeds.
func (p *person) must(method, path string, version int, body map[string]any) map[string]any {
	p.Helper()
	status, got := p.do(method, path, version, body)
	require.Less(p, status, http.StatusBadRequest, "%s %s: %v", method, path, got)
	return got
}

// ids are the members with the id of an item, and titles what its user wrote, by collection.
var ids = map[string]string{"tasks": "taskId", "events": "eventId", "reminders": "reminderId", "notes": "noteId"}

func (p *person) create(kind string, body map[string]any) *thing {
	p.Helper()
	body["title"] = "Something of a " + kind[:len(kind)-1]
	got := p.must(http.MethodPost, "/v1/"+kind, -1, body)
	t := &thing{kind: kind, id: got[ids[kind]].(string)}
	t.answered(got)
	p.things = append(p.things, t)
	return t
}

func (t *thing) answered(got map[string]any) {
	if version, ok := got["version"].(float64); ok {
		t.version = int(version)
	}
}

func (t *thing) path() string { return "/v1/" + t.kind + "/" + t.id }

// hours is an instant of the week to come, too late for anything to ring.
func (p *person) hours() time.Time {
	return time.Now().Add(time.Duration(30+p.chance.IntN(130)) * time.Hour).UTC().Truncate(time.Minute)
}

// link is a link to a note of the person, if there is one.
func (p *person) link() []map[string]any {
	for _, t := range p.things {
		if t.kind == "notes" && t.version > 0 && p.chance.IntN(2) == 0 {
			return []map[string]any{{"targetType": "NOTE", "targetId": t.id}}
		}
	}
	return nil
}

// act does one thing at random.
func (p *person) act() {
	p.Helper()
	at := p.hours()
	floating, fixed := strings.TrimSuffix(at.Format(instantForm), "Z"), at.Format(instantForm)
	switch p.chance.IntN(9) {
	case 0:
		p.create("notes", map[string]any{})
	case 1:
		body := map[string]any{"dueUtc": floating, "reminderMinutes": []int{10, 60}}
		if links := p.link(); links != nil {
			body["links"] = links
		}
		p.create("tasks", body)
	case 2:
		p.create("events", map[string]any{
			"startUtc": fixed, "endUtc": at.Add(time.Hour).Format(instantForm), "startTzid": "Europe/Berlin",
			"reminderMinutes": []int{15},
		})
	case 3:
		p.create("reminders", map[string]any{"triggerUtc": floating})
	case 4:
		if !p.zoned {
			p.zoned = true
			me := p.must(http.MethodGet, "/v1/me", -1, nil)
			version, _ := me["version"].(float64)
			p.must(http.MethodPatch, "/v1/me", int(version), map[string]any{"defaultTzid": "Asia/Kolkata"})
		}
	default:
		if len(p.things) > 0 {
			p.change(p.things[p.chance.IntN(len(p.things))], at)
		}
	}
}

// change changes or deletes something.
func (p *person) change(t *thing, at time.Time) {
	p.Helper()
	if t.version < 0 {
		return
	}
	if t.finished || p.chance.IntN(6) == 0 {
		p.must(http.MethodDelete, t.path(), t.version, nil)
		t.version = -1
		return
	}
	body := map[string]any{"title": "Something else"}
	switch t.kind {
	case "tasks":
		body = []map[string]any{
			{"status": "COMPLETED"}, {"status": "IN_PROGRESS"}, {"dueUtc": at.Format(instantForm), "dueTzid": "Europe/Paris"},
		}[p.chance.IntN(3)]
	case "events":
		body = map[string]any{"reminderMinutes": []int{5, 20}}
		if p.chance.IntN(3) == 0 {
			body, t.finished = map[string]any{"status": "CANCELLED"}, true
		}
	case "reminders":
		if p.chance.IntN(2) == 0 {
			t.finished = true
			how := []string{"/complete", "/dismiss"}[p.chance.IntN(2)]
			t.answered(p.must(http.MethodPost, t.path()+how, -1, nil))
			return
		}
		body = map[string]any{"triggerUtc": at.Format(instantForm), "tzid": "Europe/Paris"}
	}
	t.answered(p.must(http.MethodPatch, t.path(), t.version, body))
}
