package wiretest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Service is the HTTP interface of a service, as far as Nexus uses it.
type Service struct {
	// Name is the service in a signature's scope, which identifies the recipient of a request (AWS General Reference,
	// "Signature Version 4").
	Name string
	// Target begins the X-Amz-Target header of a service whose requests are all POST / with a JSON body; empty for one
	// that distinguishes operations by method and path.
	Target string
	// ContentType is that of such a JSON body.
	ContentType string
	Operations  []Operation
	refuse      func(http.ResponseWriter, Refusal)
}

// Operation is one operation of a service.
type Operation struct {
	Name string
	// Source is the document that states the constraints.
	Source string
	// Method and Path identify the operation, if the target does not. A part of the path in braces is a member; one with
	// a plus sign takes the rest of the path.
	Method, Path string
	// Query and Header map names on the wire to members. A query name with an equals sign identifies the operation.
	Query, Header map[string]string
	// HasBody says that the body is a member, Body; otherwise it is JSON and its members are the operation's.
	HasBody bool
	Input   Shape
	// Rules bind several members.
	Rules []Rule
	// Refusals are the documented errors of the operation, and those of every operation of the service. They exclude
	// errors that carry rows, which have separate tests.
	Refusals []Refusal
}

// Rule returns the faults of a call.
type Rule func(Call) []string

// Call is one request in the service's terms.
type Call struct {
	Operation string
	Input     map[string]any
	Header    http.Header
	// Service and Caller are the scope and the access key id of the signature.
	Service, Caller string
}

// Refusal is an error answer.
type Refusal struct {
	Status int
	Code   string
	// Repeated says that the SDK tries again by itself (AWS SDKs and Tools Reference Guide, "Retry behavior"):
	// throttling, and every fault of the service.
	Repeated bool
}

// Refuse answers a request as the service does.
func (s Service) Refuse(w http.ResponseWriter, r Refusal) { s.refuse(w, r) }

// Operation returns the operation of that name; an unknown name is the test's mistake.
func (s Service) Operation(name string) Operation {
	for _, operation := range s.Operations {
		if operation.Name == name {
			return operation
		}
	}
	panic("wiretest: " + s.Name + " has no operation " + name)
}

// sourceOf names the document with the rules of an operation, or says that there is no such operation.
func (s Service) sourceOf(name string) string {
	i := slices.IndexFunc(s.Operations, func(o Operation) bool { return o.Name == name })
	if i < 0 {
		return "no operation that Nexus knows"
	}
	return s.Operations[i].Source
}

// Check returns the call of a request and all its faults.
func (s Service) Check(r *http.Request, body []byte) (Call, []string) {
	operation, members, err := s.find(r)
	if err != nil {
		return Call{}, []string{err.Error()}
	}
	call := Call{Operation: operation.Name, Input: map[string]any{}, Header: r.Header}
	call.Caller, call.Service = signer(r)
	found := checkSignature(r, s.Name)
	add := func(name string, value any) {
		if _, twice := call.Input[name]; twice {
			found = append(found, name+" is sent twice")
		}
		call.Input[name] = value
	}
	for name, value := range members {
		add(name, value)
	}
	for name, values := range r.URL.Query() {
		if _, tells := operation.Query[name+"="+values[0]]; tells {
			continue
		}
		if member, known := operation.Query[name]; known && len(values) == 1 {
			add(member, typed(operation.Input.Members[member], values[0]))
		} else {
			found = append(found, fmt.Sprintf("%s: the query %s=%q is unknown", operation.Name, name, values))
		}
	}
	for name, values := range r.Header {
		if member, known := operation.Header[name]; known {
			add(member, typed(operation.Input.Members[member], values[0]))
		} else if strings.HasPrefix(name, "X-Amz-") && !slices.Contains(everywhere, name) {
			found = append(found, fmt.Sprintf("%s: the header %s is unknown", operation.Name, name))
		}
	}
	switch {
	case operation.HasBody:
		add("Body", body)
	case len(body) > 0:
		decoded, err := decodeObject(body)
		if err != nil {
			found = append(found, "the body is no JSON object: "+err.Error())
		}
		for name, value := range decoded {
			add(name, value)
		}
	}
	if s.ContentType != "" && r.Header.Get("Content-Type") != s.ContentType {
		found = append(found, fmt.Sprintf("the content type is %q, want %q", r.Header.Get("Content-Type"), s.ContentType))
	}
	found = append(found, operation.Input.check(operation.Name, call.Input)...)
	for _, rule := range operation.Rules {
		for _, wrong := range rule(call) {
			found = append(found, operation.Name+": "+wrong)
		}
	}
	return call, found
}

// find returns the operation of a request, and the members in its path.
func (s Service) find(r *http.Request) (Operation, map[string]any, error) {
	if s.Target != "" {
		name, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), s.Target+".")
		i := slices.IndexFunc(s.Operations, func(o Operation) bool { return o.Name == name })
		if !ok || i < 0 || r.Method != http.MethodPost || r.URL.Path != "/" {
			return Operation{}, nil,
				fmt.Errorf("%s %s with target %q is no operation of %s", r.Method, r.URL.Path, r.Header.Get("X-Amz-Target"), s.Name)
		}
		return s.Operations[i], nil, nil
	}
	for _, operation := range s.Operations {
		if members, ok := matchPath(operation, r); ok {
			return operation, members, nil
		}
	}
	return Operation{}, nil, fmt.Errorf("%s %s is no operation of %s", r.Method, r.URL, s.Name)
}

func matchPath(operation Operation, r *http.Request) (map[string]any, bool) {
	if r.Method != operation.Method {
		return nil, false
	}
	for name := range operation.Query {
		if key, value, tells := strings.Cut(name, "="); tells && !slices.Contains(r.URL.Query()[key], value) {
			return nil, false
		}
	}
	members := map[string]any{}
	rest := strings.TrimPrefix(r.URL.EscapedPath(), "/")
	for _, part := range strings.Split(strings.TrimPrefix(operation.Path, "/"), "/") {
		var found string
		if strings.HasSuffix(part, "+}") {
			found, rest = rest, ""
		} else {
			found, rest, _ = strings.Cut(rest, "/")
		}
		name, isMember := strings.CutPrefix(part, "{")
		if !isMember && found != part {
			return nil, false
		}
		if isMember {
			plain, err := url.PathUnescape(found)
			if err != nil || plain == "" {
				return nil, false
			}
			members[strings.TrimRight(name, "+}")] = plain
		}
	}
	return members, rest == ""
}

// everywhere are the headers of the protocol, which no operation lists.
var everywhere = []string{
	"X-Amz-Date", "X-Amz-Target", "X-Amz-Security-Token", "X-Amz-Content-Sha256", "X-Amz-User-Agent", "X-Amz-Api-Version",
}

// typed returns a member that is sent as text, in its JSON form.
func typed(s Shape, value string) any {
	switch s.Kind {
	case Integer, Timestamp:
		return json.Number(value)
	case Boolean:
		return value == "true"
	}
	return value
}

func decodeObject(body []byte) (map[string]any, error) {
	var out map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows it")
	}
	return out, nil
}
