package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"

	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/mask"
	"nexus/pkg/product"
	"nexus/pkg/text"
)

const (
	// maxCommands bounds the commands of one batch.
	maxCommands = 100
	// maxSent bounds what the results of a batch have beside their ids and states, in bytes as the function sends them.
	// Lambda answers with 6 MB.
	maxSent = 4 << 20
	// maxShownID bounds the id that a result repeats, in bytes: a key has at most 255 characters.
	maxShownID = 255 * utf8.UTFMax

	batchID       = "runCommands"
	memberOmitted = "omitted"

	memberExpected = "expectedVersion"
	memberOfSeries = "ofSeries"
	memberAfter    = "expectedAfter"
)

// membersOfFrame are those that a command of a batch may have.
var membersOfFrame = []string{"id", "type", "data", memberExpected, memberOfSeries, memberAfter}

// batchOperation returns POST /v1/commands. The surface answers it by itself, because it needs the whole table.
func batchOperation() *operation {
	return &operation{
		id: batchID, method: http.MethodPost, path: "/v1/commands", tag: "commands", writes: true, pays: true,
		summary: "Carry out a batch of commands",
		detail: "In order; each goes on whether or not one before it failed, unless its expectedAfter names that one. The " +
			"result's place is the command's. A pointer in a problem leads into its command. " +
			"Idempotency-Key is not needed: each command's id is its own key, and is remembered for 90 days.",
		body: &body{
			required: true, limit: maxBatch,
			schema: object{
				{"type", "object"},
				{"properties",
					object{{"commands", object{{"type", "array"}, {"maxItems", maxCommands}, {"items", schemaRef(commandSchema)}}}}},
				{"required", []string{"commands"}}, {"additionalProperties", false},
			},
			example: map[string]any{"commands": []any{map[string]any{
				"id": "9f6c1b1e-0d5e-4a39-8f0b-5c7a4f1f2a10", "type": "CreateNote",
				"data": map[string]any{entity.AttrTitle: "Written on the train"},
			}}},
		},
		answers: []documented{{status: http.StatusOK, doc: "A result for each command.", schema: object{
			{"type", "object"}, {"properties", object{{"results", listOf(schemaRef(resultSchema))}}},
			{"required", []string{"results"}},
		}}},
	}
}

// batch returns the operation of the batch.
func (a *API) batch() *operation {
	i := slices.IndexFunc(a.operations, func(o *operation) bool { return o.id == batchID })
	return a.operations[i]
}

// Run carries out a batch that came by direct invocation: {"userId": …, "commands": […]}. The right to invoke is
// the authorisation, so it trusts the user id. It returns {"results": […]}, or a [*Problem] if the batch as a whole
// cannot be read. A deadline of ctx leaves the remaining commands with a 503 each.
func (a *API) Run(ctx context.Context, payload []byte) ([]byte, error) {
	if len(payload) > maxBatch {
		return nil, refuse(tooLarge, "The payload is longer than %d bytes.", maxBatch)
	}
	doc, p := decodeObject(payload)
	if p != nil {
		return nil, p
	}
	user, ok := doc[product.AttrUserID].(string)
	if !ok || entity.CheckUserID(user) != nil {
		return nil, refuseFields(entity.FieldError{Pointer: "/" + product.AttrUserID, Detail: "must be a user id"})
	}
	doc = maps.Clone(doc)
	delete(doc, product.AttrUserID)
	ctx = mask.With(ctx, user)
	if _, err := a.askFence(ctx, user, a.batch()); err != nil {
		return nil, problemOf(err)
	}
	begun := a.cfg.Now()
	out, err := a.runBatch(ctx, call{user: user, doc: doc})
	var problem *Problem
	if out.body == nil && errors.As(err, &problem) {
		return nil, problem
	}
	took := a.cfg.Now().Sub(begun)
	a.cfg.Observe(Observation{Operation: batchID, Status: out.status, Duration: took})
	attrs := []slog.Attr{
		slog.String("operation", batchID), slog.Int("bytes", len(out.body)), millisecondsAttr(took), mask.User(user),
	}
	attrs = append(attrs, traceAttrs(out.traces)...)
	if err != nil {
		attrs = append(attrs, errorAttr(err))
	}
	a.cfg.Log.LogAttrs(context.WithoutCancel(ctx), severity(out.status, err), "invocation", attrs...)
	return out.body, nil
}

// runBatch answers with the results. The error beside an answer is for the log: the faults inside single commands.
func (a *API) runBatch(ctx context.Context, batch call) (answer, error) {
	list, p := commandsOf(batch.doc)
	if err := batch.spending.pay(ctx, max(1, len(list)), max(1, len(list))); err != nil {
		return answer{}, err
	}
	if p != nil {
		return answer{}, p
	}
	var causes []error
	var traces []string
	out := []byte(`{"results":[`)
	sent := 0
	done := outcomes{}
	for i, raw := range list {
		result, one, cause := a.runOne(ctx, batch, raw, done, maxSent-sent)
		sent += sentSize(result)
		out = append(appendComma(out, i), result...)
		traces = append(traces, one...)
		if cause != nil {
			causes = append(causes, fmt.Errorf("command %d: %w", i, cause))
		}
	}
	return answer{status: http.StatusOK, body: append(out, `]}`...), traces: traces}, errors.Join(causes...)
}

func commandsOf(doc map[string]any) ([]any, *Problem) {
	for _, name := range sortedNames(doc) {
		if name != "commands" {
			return nil, refuseFields(unknownField("", name, []string{"commands"}))
		}
	}
	list, ok := doc["commands"].([]any)
	switch {
	case !ok:
		return nil, refuseFields(entity.FieldError{Pointer: "/commands", Detail: "must be a list of commands"})
	case len(list) > maxCommands:
		return nil, refuseFields(entity.FieldError{
			Pointer: "/commands", Detail: fmt.Sprintf("must have at most %d members, has %d", maxCommands, len(list)),
		})
	}
	return list, nil
}

// sentSize returns the size of a text as the function sends it: JSON within JSON.
func sentSize(text []byte) int {
	return len(text) + bytes.Count(text, []byte{'"'}) + bytes.Count(text, []byte{'\\'})
}

// runOne carries out one command of a batch and returns its result and its writes, with the cause if the client must
// not see it. The result has its entity, or the faults and the present entity of a refusal, as far as they fit into the
// remaining room.
func (a *API) runOne(
	ctx context.Context, batch call, raw any, done outcomes, room int,
) (result []byte, traces []string, cause error) {
	id, o, c, p := a.readCommand(batch.user, raw)
	c.limited = batch.limited
	c.spending = batch.spending
	var out answer
	if p == nil && c.after != "" {
		p = done.resolve(o, &c)
	}
	if p == nil {
		var err error
		if out, err = a.perform(ctx, o, c); err != nil {
			p = problemOf(err)
			prefixPointers(p)
		}
	}
	done.add(id, o, c, out, p)
	result = appendText([]byte(`{"id":`), text.Clip(id, maxShownID))
	fits := func(content []byte) bool { return sentSize(result)+sentSize(content) < room }
	if p != nil {
		result = strconv.AppendInt(append(result, `,"status":`...), int64(p.Status), 10)
		content := p.json()
		if !fits(content) {
			content = p.withoutCurrent().json()
		}
		if !fits(content) && len(p.Errors) > 0 {
			result, content = append(result, omitted...), p.withoutErrors().json()
		}
		return append(append(append(result, `,"problem":`...), content...), '}'), nil, p.cause
	}
	result = strconv.AppendInt(append(result, `,"status":`...), int64(out.status), 10)
	if out.made > 0 || out.item != nil { // settings without a row have version 0
		result = strconv.AppendInt(append(result, `,"version":`...), out.made, 10)
	}
	body := out.json()
	if out.brief != nil {
		body = out.brief
	}
	switch {
	case body == nil:
	case !fits(body):
		result = append(result, omitted...)
	case out.item == nil:
		result = append(append(result, `,"result":`...), body...)
	default:
		result = append(append(result, `,"entity":`...), body...)
	}
	return append(result, '}'), out.traces, nil
}

// omitted marks a result without the content for which the answer had no room.
const omitted = `,"` + memberOmitted + `":true`

// maxFindings bounds the findings about one command's frame, which may consist of unknown fields alone.
const maxFindings = 256

// findings collects the faults of a command's frame, up to maxFindings.
type findings []entity.FieldError

func (f *findings) add(pointer, format string, args ...any) {
	if len(*f) == maxFindings {
		return
	}
	*f = append(*f, entity.FieldError{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
}

// maxGuesses bounds the unknown members of a document that get proposals: a document may consist of such members.
const maxGuesses = 8

// addUnknown records an unknown member.
func (f *findings) addUnknown(parent, name string, known []string) {
	if len(*f) >= maxGuesses {
		known = nil
	}
	unknown := unknownField(parent, name, known)
	f.add(unknown.Pointer, "%s", unknown.Detail)
}

// unknownField returns the fault of an unknown member.
func unknownField(parent, name string, known []string) entity.FieldError {
	return entity.FieldError{
		Pointer: pointerTo(parent, shorten(name)),
		Detail:  "is not a known field" + text.DidYouMean(text.Near(name, known)),
	}
}

// readCommand reads one member of a batch and reports all faults of its frame at once.
func (a *API) readCommand(user string, raw any) (id string, o *operation, c call, p *Problem) {
	frame, ok := raw.(map[string]any)
	if !ok {
		return "", nil, call{}, refuseFields(entity.FieldError{Pointer: "", Detail: "must be an object"})
	}
	var wrong findings
	for _, name := range sortedNames(frame) {
		if !slices.Contains(membersOfFrame, name) {
			wrong.addUnknown("", name, membersOfFrame)
		}
	}
	if id, _ = frame["id"].(string); id == "" {
		wrong.add("/id", "must be a text of 1 to 255 printable characters")
	}
	data, isObject := frame["data"].(map[string]any)
	if frame["data"] != nil && !isObject {
		wrong.add("/data", "must be an object")
	}
	name, _ := frame["type"].(string)
	if o = a.commands[name]; o == nil {
		near := text.Near(name, slices.Sorted(maps.Keys(a.commands)))
		wrong.add("/type", "must be a command such as CreateTask%s", text.DidYouMean(near))
		return id, nil, call{}, refuseFields(wrong...)
	}
	c = call{
		user: user, key: id, retention: idempotency.BatchRetention, path: map[string]string{}, doc: maps.Clone(data),
	}
	c.expected = o.readVersion(frame[memberExpected], &wrong)
	c.ofSeries = o.readOfSeries(frame, &wrong)
	c.after = o.readAfter(frame, &wrong)
	o.takePathValues(&c, &wrong)
	if len(wrong) > 0 {
		return id, nil, call{}, refuseFields(wrong...)
	}
	return id, o, c, nil
}

// readVersion reads the member that replaces If-Match; nil if it is absent.
func (o *operation) readVersion(raw any, wrong *findings) *int64 {
	if raw == nil {
		return nil
	}
	number, _ := raw.(json.Number)
	version, ok := parseVersion(string(number))
	switch {
	case !ok:
		wrong.add("/"+memberExpected, "must be a version")
	case o.precondition == withoutVersion:
		wrong.add("/"+memberExpected, "has no meaning for %s", o.commandType())
	}
	return &version
}

// readOfSeries reads the member that says whose version is expected.
func (o *operation) readOfSeries(frame map[string]any, wrong *findings) bool {
	raw := frame[memberOfSeries]
	if raw == nil {
		return false
	}
	is, ok := raw.(bool)
	switch {
	case !ok:
		wrong.add("/"+memberOfSeries, "must be true or false")
	case !o.isAboutOccurrence():
		wrong.add("/"+memberOfSeries, "has no meaning for %s", o.commandType())
	case is && frame[memberExpected] == nil:
		wrong.add("/"+memberOfSeries, "has no meaning without %s", memberExpected)
	}
	return is
}

// readAfter reads the member that names an earlier command in place of a version; "" if it is absent.
func (o *operation) readAfter(frame map[string]any, wrong *findings) string {
	raw := frame[memberAfter]
	if raw == nil {
		return ""
	}
	id, _ := raw.(string)
	switch {
	case id == "":
		wrong.add("/"+memberAfter, "must be the id of an earlier command of the batch")
	case o.precondition == withoutVersion:
		wrong.add("/"+memberAfter, "has no meaning for %s", o.commandType())
	case frame[memberExpected] != nil:
		wrong.add("/"+memberAfter, "must not come together with %s", memberExpected)
	}
	return id
}

// takePathValues moves the path's values out of the data; the rest is the body.
func (o *operation) takePathValues(c *call, wrong *findings) {
	for _, name := range o.pathNames() {
		text, ok := c.doc[name].(string)
		if !ok {
			wrong.add("/data/"+name, "must be a text")
		}
		c.path[name] = text
		delete(c.doc, name)
	}
	if o.body != nil {
		return
	}
	for _, name := range sortedNames(c.doc) {
		wrong.addUnknown("/data", name, nil)
	}
}

// prefixPointers makes the pointers of an operation's refusal point into the command, whose data is the operation's
// body.
func prefixPointers(p *Problem) {
	for i := range p.Errors {
		p.Errors[i].Pointer = "/data" + p.Errors[i].Pointer
	}
	if p.Type == invalid.uri() {
		p.Detail = summary(p.Errors)
	}
}
