package local_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// A template is a request of an operation. A place in it is "{{kind}}": there a stranger's own value of the
// kind makes the request one that succeeds, and a value of the owner's makes it an attempt.
type template struct {
	operation, method string
	path              string            // as the document has it
	values            map[string]string // of the path, by name
	query, body       string
	media             string
	header            map[string]string
	command           string // its type in a batch; "" for none
	versioned         bool
	unproven          bool // its own request does not succeed, because its place has no own value
}

func (t template) String() string {
	return fmt.Sprint(t.operation, " ", t.values, t.query, t.body, t.header)
}

// pathKinds are the kinds of places that path values are, by name, and where a name means several things by
// group and name.
var pathKinds = map[string]string{
	"eventId": "event", "masterId": "series", "taskId": "task", "reminderId": "reminder", "noteId": "note", "id": "cold",
	"nodeId": "milestone", "address": "address", "series/date": "date", "plans/date": "day", "values/revId": "rev",
	"plans/revId": "planRev", "exportId": "export", "deviceId": "device", "act": "act",
	"webhookId": "webhook",
}

// targetKinds are the kinds of what a link may lead to, by type. A stranger's own is not what the request is
// about.
var targetKinds = map[string]string{
	"EVENT": "eventTarget", "MASTER": "seriesTarget", "INSTANCE": "occurrenceTarget", "TASK": "taskTarget",
	"REMINDER": "reminderTarget", "NOTE": "noteTarget", "WEBHOOK": "webhookTarget",
}

// queries are the values that a query parameter is tried with.
var queries = map[string][]string{
	"cursor": {"{{cursor}}"}, "tag": {"{{text}}"}, "tags": {"{{text}}"}, "q": {"{{text}}"},
	"values/from": {"{{rev}}"}, "values/to": {"{{rev}}"}, "plans/from": {"{{planRev}}"}, "plans/to": {"{{planRev}}"},
	"agenda/from": {"2026-03-01T00:00:00Z"}, "agenda/to": {"2026-04-01T00:00:00Z"},
	"search/from": {"2026-03-01T00:00:00Z"}, "search/to": {"2026-04-01T00:00:00Z"},
	"updatedFrom": {"2020-03-01T00:00:00Z"}, "anyTag": {"{{text}}"}, "is": {"today"}, "sort": {"title"},
	"me/from": {"2026-03-01"}, "me/to": {"2026-03-31"},
	"changes/since": {"{{token}}"}, "changes/limit": {"100&since={{token}}"},
	"webhooks/state": {"dead"}, "webhooks/type": {"task.created"}, "webhooks/from": {"2026-03-01T00:00:00Z"},
	"webhooks/to": {"2026-04-01T00:00:00Z"},
	"limit":       {"100"}, "overdue": {"true"}, "due": {"week"}, "part": {"1"}, "priority": {"3"},
	"at":    {"2026-03-02T12:00:00Z"},
	"tz":    {"Asia/Tokyo"},
	"state": {"recent"}, "status": {"BACKLOG"}, "types": {"TASK"},
}

// newKinds are members that name what a create makes.
var newKinds = map[string]string{
	"eventId": "newEvent", "masterId": "newSeries", "taskId": "newTask", "reminderId": "newReminder",
	"noteId": "newNote", "webhookId": "newWebhook",
}

// bodies stand in the place of the document's example, where that does not succeed or does not have every
// reference.
var bodies = map[string][]string{
	"createSeries": {
		`{"title":"x","startUtc":"2026-03-02T09:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY",
			"links":[{"targetType":"NOTE","targetId":"{{noteTarget}}"}]}`,
		`{"masterId":"{{newSeries}}","title":"x","startUtc":"2026-03-02T09:00:00Z","startTzid":"UTC","rrule":"FREQ=DAILY"}`,
		`{"fromEventId":"{{event}}","rrule":"FREQ=DAILY"}`,
	},
	"splitSeries": {
		`{"date":"20260310"}`,
		`{"date":"20260310","changes":{"title":"x","links":[{"targetType":"NOTE","targetId":"{{noteTarget}}"}]}}`,
	},
	"endSeries": {`{"untilUtc":"2026-04-01T00:00:00Z"}`},
	"commitValues": {
		edit(`{"op":"update","nodeId":"{{action}}","title":"x","driverId":"{{driver}}"}`),
		edit(`{"op":"update","nodeId":"{{action}}","parentMilestoneId":"{{milestone}}"}`),
		edit(`{"op":"create","nodeType":"ACTION","nodeId":"{{newAction}}","title":"x","parentId":"{{milestone}}"}`),
		edit(`{"op":"move","nodeId":"{{action}}","fromId":"{{milestone}}","parentId":"{{driver}}"}`),
		edit(`{"op":"reorder","nodeId":"{{milestone}}","order":["{{action}}"]}`),
		edit(`{"op":"complete","nodeId":"{{action}}"}`),
		edit(`{"op":"archive","nodeId":"{{action}}"}`),
		edit(`{"op":"delete","nodeId":"{{action}}"}`),
		`{"parentRevId":"{{rev}}","message":"m","source":"daily_update","nodes":[{"nodeId":"{{driver}}",
		"nodeType":"DRIVER","title":"x"},
			{"nodeId":"{{milestone}}","nodeType":"MILESTONE","title":"x"},{"nodeId":"{{action}}","nodeType":"ACTION",
			"title":"x",
			"driverId":"{{driver}}","parentMilestoneId":"{{milestone}}","rootDriverId":"{{driver}}"}],"edges":[
			{"parentNodeId":"{{driver}}","order":1,"childNodeId":"{{milestone}}"},{"parentNodeId":"{{milestone}}","order":1,
			"childNodeId":"{{action}}"}]}`,
	},
	"rollbackValues": {`{"parentRevId":"{{rev}}","revId":"{{rev}}"}`},
	"commitPlan": {
		`{"parentRevId":"{{planRev}}","reason":"midday_replan","todos":[{"actionId":"{{action}}",
		"classification":"urgent"}],"blocks":[]}`,
		`{"parentRevId":"{{planRev}}","reason":"midday_replan","todos":[{"actionId":"{{action}}",
		"classification":"urgent","estimatedPomodoros":1}],"blocks":[
			{"blockId":"{{block}}","blockType":"POMODORO","actionId":"{{action}}","pomodoroIndex":1,
			"startTimeIso":"2026-03-03T09:00:00Z","endTimeIso":"2026-03-03T09:25:00Z"}]}`,
	},
	"rollbackPlan": {`{"parentRevId":"{{planRev}}","revId":"{{planRev}}"}`},
	"completePlan": {`{"actionId":"{{action}}"}`},
	"importCalendar": {"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nBEGIN:VEVENT\r\nUID:{{uid}}\r\n" +
		"DTSTAMP:20260301T120000Z\r\n" +
		"DTSTART:20260310T090000Z\r\nSUMMARY:x\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"},
	"runCommands": {`{"commands":[{"id":"{{key}}","type":"CreateNote","data":{"title":"x"}}]}`},
	"createWebhook": {
		`{"url":"https://hooks.invalid/x","types":["note.deleted"]}`,
		`{"webhookId":"{{newWebhook}}","url":"https://hooks.invalid/x","types":["note.deleted"]}`,
	},
	"updateMe": {`{"defaultTzid":"Asia/Tokyo"}`},
}

func edit(operation string) string {
	return `{"parentRevId":"{{rev}}","message":"m","source":"daily_update","operations":[` + operation + `]}`
}

// templates are all requests that are made of the document. An operation, a parameter or a member that holds a
// reference and that no template has fails the test.
func templates(t *testing.T, text []byte) map[string][]template {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(text)
	require.NoError(t, err)
	commands := doc.Components.Schemas["Command"].Value.Discriminator.Mapping
	out := map[string][]template{}
	for path, item := range doc.Paths.Map() {
		for method, o := range item.Operations() {
			first := template{operation: o.OperationID, method: method, path: path, values: map[string]string{},
				header: map[string]string{}}
			name := strings.ToUpper(o.OperationID[:1]) + o.OperationID[1:]
			if _, ok := commands[name]; ok {
				first.command = name
			}
			out[o.OperationID] = withHeaders(o, withQueries(t, o, withBodies(t, o, withPaths(t, o, first))))
		}
	}
	return out
}

// kindNamed finds a kind by the operation's group and the name, or by the name alone.
func kindNamed[T any](known map[string]T, o *openapi3.Operation, name string) (T, bool) {
	if kind, ok := known[o.Tags[0]+"/"+name]; ok {
		return kind, true
	}
	kind, ok := known[name]
	return kind, ok
}

// withPaths fills the path; what may lead to several types is there once for each.
func withPaths(t *testing.T, o *openapi3.Operation, first template) []template {
	t.Helper()
	var types []any
	for _, p := range o.Parameters {
		switch {
		case p.Value.In != "path" || p.Value.Name == "targetId":
		case p.Value.Name == "targetType":
			types = p.Value.Schema.Value.Enum
		default:
			kind, ok := kindNamed(pathKinds, o, p.Value.Name)
			require.True(t, ok, "%s: no attempt for the path value %s", o.OperationID, p.Value.Name)
			first.values[p.Value.Name] = "{{" + kind + "}}"
			first.unproven = first.unproven || p.Value.Name == "act" // it comes in a message alone
		}
	}
	if types == nil {
		return []template{first}
	}
	var out []template
	for _, target := range types {
		kind, ok := targetKinds[target.(string)]
		require.True(t, ok, "%s: no attempt for links to %s", o.OperationID, target)
		one := first
		one.values = maps.Clone(first.values)
		one.values["targetType"], one.values["targetId"] = target.(string), "{{"+kind+"}}"
		out = append(out, one)
	}
	return out
}

// withBodies adds the bodies.
func withBodies(t *testing.T, o *openapi3.Operation, bare []template) []template {
	t.Helper()
	if o.RequestBody == nil {
		return bare
	}
	media := slices.Sorted(maps.Keys(o.RequestBody.Value.Content))[0]
	content := o.RequestBody.Value.Content[media]
	names := map[string]bool{}
	references(content.Schema, "", names, map[*openapi3.Schema]bool{})
	texts := bodies[o.OperationID]
	if texts == nil {
		texts = examples(t, o, content, names)
	}
	for name := range names {
		has := regexp.MustCompile(`"` + name + `":\[?"\{\{`).MatchString(strings.Join(texts, ""))
		require.True(t, has || o.OperationID == "runCommands", "%s: no attempt for the member %s", o.OperationID, name)
	}
	var out []template
	for _, one := range bare {
		for _, text := range texts {
			one.body, one.media = text, media
			out = append(out, one)
		}
	}
	return out
}

// references finds the names of members that hold an id.
func references(ref *openapi3.SchemaRef, name string, names map[string]bool, seen map[*openapi3.Schema]bool) {
	if ref == nil || ref.Value == nil {
		return
	}
	s := ref.Value
	if strings.Contains(s.Pattern, "_") || strings.HasSuffix(name, "Id") {
		names[name] = true
	}
	if seen[s] {
		return
	}
	seen[s] = true
	for _, list := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf, s.AllOf} {
		for _, option := range list {
			references(option, name, names, seen)
		}
	}
	references(s.Items, name, names, seen)
	for name, property := range s.Properties {
		references(property, name, names, seen)
	}
	delete(seen, s)
}

// examples are the document's example as it is, with the id of what it makes, and with a link of each type.
func examples(t *testing.T, o *openapi3.Operation, content *openapi3.MediaType, names map[string]bool) []string {
	t.Helper()
	example := content.Example
	if text, ok := example.(string); ok {
		return []string{text}
	}
	with := func(name string, value any) string {
		body := maps.Clone(example.(object))
		body[name] = value
		text, err := json.Marshal(body)
		require.NoError(t, err)
		return string(text)
	}
	plain, err := json.Marshal(example)
	require.NoError(t, err)
	out := []string{string(plain)}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if name == "targetId" {
			for _, target := range slices.Sorted(maps.Keys(targetKinds)) {
				out = append(out, with("links", []object{{"targetType": target, "targetId": "{{" + targetKinds[target] + "}}"}}))
			}
			continue
		}
		kind, ok := newKinds[name]
		require.True(t, ok, "%s: no attempt for the member %s", o.OperationID, name)
		out = append(out, with(name, "{{"+kind+"}}"))
	}
	return out
}

// withQueries adds the parameters that are required, and each of the others alone.
func withQueries(t *testing.T, o *openapi3.Operation, bare []template) []template {
	t.Helper()
	required := url.Values{}
	var others []string
	for _, p := range o.Parameters {
		if p.Value.In != "query" {
			continue
		}
		values, ok := kindNamed(queries, o, p.Value.Name)
		require.True(t, ok, "%s: no attempt for the parameter %s", o.OperationID, p.Value.Name)
		for _, value := range values {
			if p.Value.Required {
				required.Set(p.Value.Name, value)
			} else {
				others = append(others, p.Value.Name+"="+value)
			}
		}
	}
	base, err := url.QueryUnescape(required.Encode())
	require.NoError(t, err)
	var out []template
	for _, one := range bare {
		one.query = base
		out = append(out, one)
		for _, other := range others {
			more := one
			more.query = strings.TrimPrefix(base+"&"+other, "&")
			more.unproven = strings.Contains(other, "{{cursor}}")
			out = append(out, more)
		}
	}
	return out
}

// withHeaders adds the version where it is needed, and after everything else the owner's keys and tags.
func withHeaders(o *openapi3.Operation, bare []template) []template {
	extra := map[string]string{}
	for _, p := range o.Parameters {
		switch p.Value.Name {
		case "If-Match":
			for i := range bare {
				if p.Value.Required || strings.Contains(bare[i].body, "fromEventId") {
					bare[i].header, bare[i].versioned = map[string]string{"If-Match": "*"}, true
				}
			}
		case "Idempotency-Key":
			extra["Idempotency-Key"] = "{{key}}"
		case "If-None-Match":
			extra["If-None-Match"] = "{{etag}}"
		}
	}
	last := bare[0]
	for name, value := range extra {
		last.header = maps.Clone(last.header)
		last.header[name] = value
	}
	if len(extra) == 0 {
		return bare
	}
	last.command = ""
	return append(bare, last)
}

var placeholder = regexp.MustCompile(`\{\{(\w+)\}\}`)

// filled is a request of a template: fill gives each place, counted from 0, its value.
type filled struct {
	method, path, query, body, media string
	header                           map[string]string
	raw                              map[string]string // the path's values as a batch has them
}

func (t template) fill(value func(place int, kind string) string) filled {
	place := -1
	put := func(text string, escape func(string) string) string {
		return placeholder.ReplaceAllStringFunc(text, func(found string) string {
			place++
			return escape(value(place, placeholder.FindStringSubmatch(found)[1]))
		})
	}
	out := filled{method: t.method, path: t.path, media: t.media, header: map[string]string{}, raw: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(t.values)) {
		out.raw[name] = put(t.values[name], func(s string) string { return s })
		out.path = strings.Replace(out.path, "{"+name+"}", url.PathEscape(out.raw[name]), 1)
	}
	out.query = put(t.query, url.QueryEscape)
	out.body = put(t.body, func(s string) string {
		text, err := json.Marshal(s)
		if err != nil {
			panic(err) // a string always has a JSON form
		}
		return string(text[1 : len(text)-1])
	})
	for _, name := range slices.Sorted(maps.Keys(t.header)) {
		out.header[name] = put(t.header[name], func(s string) string { return s })
	}
	return out
}

// kinds are the kinds of the template's places in their order.
func (t template) kinds() []string {
	var kinds []string
	t.fill(func(_ int, kind string) string { kinds = append(kinds, kind); return "" })
	return kinds
}

// asCommand is the request as a command of a batch.
func (f filled) asCommand(t testing.TB, id string, of template) object {
	t.Helper()
	data := object{}
	if f.body != "" {
		require.NoError(t, json.Unmarshal([]byte(f.body), &data))
	}
	for name, value := range f.raw {
		data[name] = value
	}
	out := object{"id": id, "type": of.command, "data": data}
	if of.versioned {
		out["expectedVersion"] = 1
	}
	return out
}

func methodsBeside(method string) []string {
	return slices.DeleteFunc([]string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodTrace,
	}, func(m string) bool { return m == method })
}
