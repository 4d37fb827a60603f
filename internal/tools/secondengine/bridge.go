package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"nexus/internal/wiretest"
)

const (
	target      = "X-Amz-Target"
	endpoint    = "http://engine/" // the transport knows one place
	failedWrite = "ConditionalCheckFailedException"
)

// bridge is a handler in front of the engine that makes it behave as the service does, as far as [differences] says. It
// holds every answer of the engine against what the service documents, and notes what is unknown.
type bridge struct {
	engine  http.RoundTripper
	service wiretest.Service

	// alone is held for writing by what takes several requests, and for reading by every other request.
	alone sync.RWMutex

	mu      sync.Mutex
	counts  map[string]int      // by the name of a difference, how many requests
	unknown []string            // what the table does not have
	done    map[string]exchange // the answers to large transactions, by token
	places  map[string]place    // by iterator
}

// exchange is an answer of the engine.
type exchange struct {
	status int
	header http.Header
	body   []byte
}

func newBridge(engine http.RoundTripper, service wiretest.Service) *bridge {
	return &bridge{
		engine: engine, service: service, counts: map[string]int{}, done: map[string]exchange{},
		places: map[string]place{},
	}
}

// request is a request of a client.
type request struct {
	*http.Request
	operation string
	body      []byte
	in        map[string]any
}

// ServeHTTP answers a request.
func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // broken off: the client has gone
	}
	_, operation, _ := strings.Cut(r.Header.Get(target), ".")
	asked := request{Request: r, operation: operation, body: body}
	if err := decode(body, &asked.in); err != nil {
		b.surprise("%s: no JSON object: %v", operation, err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if fill(asked.in) > 0 {
		b.count(emptyValues)
	}
	if operation == "Query" && exactPrefix(asked.in) {
		b.count(prefixCase)
	}
	answer, err := b.answer(asked)
	if err != nil {
		if r.Context().Err() == nil {
			b.surprise("%s: %v", operation, err)
		}
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	b.check(asked, answer)
	for name, values := range answer.header {
		w.Header()[name] = values
	}
	content := empty(answer.body)
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(content)), 10))
	w.WriteHeader(answer.status)
	_, _ = w.Write(content)
}

// answer gets the engine's answer, in as many requests as that takes.
func (b *bridge) answer(r request) (exchange, error) {
	actions, _ := r.in["TransactItems"].([]any)
	if r.operation == "TransactWriteItems" && maxActions < len(actions) && len(actions) <= 100 {
		b.count(manyActions)
		return b.inParts(r, actions)
	}
	switch r.operation {
	case "GetShardIterator":
		return b.iterator(r)
	case "GetRecords":
		return b.records(r)
	}
	b.alone.RLock()
	got, err := b.send(r.Request, r.operation, r.in)
	b.alone.RUnlock()
	if err == nil && r.in["ReturnValuesOnConditionCheckFailure"] == "ALL_OLD" && got.code() == failedWrite {
		b.count(noOldRow)
		return b.withRow(r)
	}
	return got, err
}

// withRow sends a write again that failed on its condition, and adds the row to its failure. Between the two, nothing
// is written. The first attempt had no effect, so it is as if there had been the second alone.
func (b *bridge) withRow(r request) (exchange, error) {
	b.alone.Lock()
	defer b.alone.Unlock()
	got, err := b.send(r.Request, r.operation, r.in)
	if err != nil || got.code() != failedWrite {
		return got, err
	}
	key, ok := r.in["Key"].(map[string]any)
	if !ok {
		row, _ := r.in["Item"].(map[string]any)
		key = map[string]any{"PK": row["PK"], "SK": row["SK"]}
	}
	found, err := b.send(r.Request, "GetItem", map[string]any{
		"TableName": r.in["TableName"], "Key": key, "ConsistentRead": true,
	})
	if err != nil || found.status != http.StatusOK {
		return found, err
	}
	var failure, row map[string]any
	if err := decode(got.body, &failure); err != nil {
		return got, err
	}
	if err := decode(found.body, &row); err != nil {
		return got, err
	}
	if row["Item"] != nil {
		failure["Item"] = row["Item"]
	}
	got.body, err = json.Marshal(failure)
	return got, err
}

// send sends a request to the engine with the headers of the one it is about.
func (b *bridge) send(about *http.Request, operation string, in map[string]any) (exchange, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return exchange{}, err
	}
	sent, err := http.NewRequestWithContext(about.Context(), http.MethodPost, endpoint, bytes.NewReader(body))
	if err != nil {
		return exchange{}, err
	}
	sent.Header = about.Header.Clone()
	sent.Header.Del("Accept-Encoding")
	sent.Header.Del("Content-Length")
	version, _, _ := strings.Cut(about.Header.Get(target), ".")
	sent.Header.Set(target, version+"."+operation)
	response, err := b.engine.RoundTrip(sent)
	if err != nil {
		return exchange{}, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	return exchange{response.StatusCode, response.Header, answer}, err
}

// code is the name of a refusal, empty if there is none.
func (e exchange) code() string {
	var refusal struct {
		Type string `json:"__type"`
	}
	if e.status == http.StatusOK || json.Unmarshal(e.body, &refusal) != nil {
		return ""
	}
	return refusal.Type[strings.LastIndexByte(refusal.Type, '#')+1:]
}

// ofRow are the words of refusals that depend on the row which an update meets, and not on the request alone.
var ofRow = []string{"exceeded the maximum allowed size", "document path", "incorrect data type", "type mismatch"}

// check notes an answer that the service does not document for the request.
func (b *bridge) check(r request, answer exchange) {
	if answer.status == http.StatusOK {
		return
	}
	text, code := string(answer.body), answer.code()
	if answer.status >= http.StatusInternalServerError {
		b.surprise("%s: a fault of the engine: %s", r.operation, text)
		return
	}
	i := slices.IndexFunc(b.service.Operations, func(o wiretest.Operation) bool { return o.Name == r.operation })
	if i < 0 {
		return // tables are made and streams are read by the tests, and these see what fails
	}
	switch code {
	case failedWrite, "TransactionCanceledException":
		return
	case "ValidationException", "SerializationException":
		_, faults := b.service.Check(r.Request, r.body)
		isOfRow := slices.ContainsFunc(ofRow, func(word string) bool { return strings.Contains(text, word) })
		if len(faults) == 0 && !isOfRow {
			b.surprise("%s: the engine refuses what the service documents as valid: %s", r.operation, text)
		}
		return
	}
	if !slices.ContainsFunc(b.service.Operations[i].Refusals, func(f wiretest.Refusal) bool { return f.Code == code }) {
		b.surprise("%s: a refusal that the service does not document: %s", r.operation, text)
	}
}

func (b *bridge) count(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts[name]++
}

func (b *bridge) surprise(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unknown = append(b.unknown, fmt.Sprintf(format, args...))
}

// decode preserves numbers as text.
func decode(content []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	return decoder.Decode(into)
}
