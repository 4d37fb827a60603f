package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/entity"
	"nexus/pkg/product"
)

// contract is the document with its operations by id.
type contract struct {
	doc        *openapi3.T
	operations map[string]*routers.Route
}

// loadContract reads the document once for all tests; it is not changed afterwards.
var loadContract = sync.OnceValues(func() (contract, error) {
	openapi3filter.RegisterBodyDecoder("text/calendar", openapi3filter.PlainBodyDecoder)
	doc, err := openapi3.NewLoader().LoadFromData(api.Document(product.Registry()))
	c := contract{doc: doc, operations: map[string]*routers.Route{}}
	if err != nil {
		return c, err
	}
	for path, item := range doc.Paths.Map() {
		for method, o := range item.Operations() {
			c.operations[o.OperationID] = &routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: o}
		}
	}
	return c, nil
})

// checkDocumented holds any answer of any test against the document: its status, its media type, and that no member of
// the body is missing there.
func (b *fixture) checkDocumented(req *http.Request, res response) {
	b.t.Helper()
	b.seen.mu.Lock()
	last := b.seen.all[len(b.seen.all)-1]
	b.seen.mu.Unlock()
	b.Equal(res.Code, last.Status)
	if last.Operation == "" {
		return // no operation was reached
	}
	c, err := loadContract()
	b.NoError(err)
	route := c.operations[last.Operation]
	b.NotNil(route, last.Operation)
	documented := route.Operation.Responses.Status(res.Code)
	b.NotNil(documented, "%s does not document %d: %s", last.Operation, res.Code, res.Body)
	for name := range res.Header() {
		if known := c.doc.Components.Headers[name]; known != nil || strings.EqualFold(name, "etag") {
			_, ok := documented.Value.Headers[name]
			_, tag := documented.Value.Headers["ETag"]
			b.True(ok || tag, "%s does not document the header %s of %d", last.Operation, name, res.Code)
		}
	}
	if res.Body.Len() == 0 {
		b.True(len(documented.Value.Content) == 0 || req.Method == http.MethodHead, "%s documents a body", last.Operation)
		return
	}
	media := documented.Value.Content.Get(res.Header().Get("Content-Type"))
	b.NotNil(media, "%s does not document %s for %d", last.Operation, res.Header().Get("Content-Type"), res.Code)
	if last.Operation != "getDocument" {
		b.Empty(undocumented("", media.Schema, res.doc), "%s", last.Operation)
	}
}

// undocumented returns the places of a value that its schema does not mention.
func undocumented(at string, ref *openapi3.SchemaRef, value any) []string {
	switch value := value.(type) {
	case []any:
		var out []string
		items := itemsOf(ref)
		if items == nil {
			return []string{at}
		}
		for i, e := range value {
			out = append(out, undocumented(fmt.Sprintf("%s/%d", at, i), items, e)...)
		}
		return out
	case map[string]any:
		var out []string
		known := propertiesOf(ref, value)
		for name, v := range value {
			if known[name] == nil {
				out = append(out, at+"/"+name)
				continue
			}
			out = append(out, undocumented(at+"/"+name, known[name], v)...)
		}
		return out
	}
	return nil
}

func itemsOf(ref *openapi3.SchemaRef) *openapi3.SchemaRef {
	return ref.Value.Items
}

// propertiesOf are the properties of a schema, and of the one of a union that the value's discriminator names.
func propertiesOf(ref *openapi3.SchemaRef, value map[string]any) map[string]*openapi3.SchemaRef {
	out := maps.Clone(ref.Value.Properties)
	if out == nil {
		out = openapi3.Schemas{}
	}
	if union := ref.Value.Discriminator; union != nil {
		name, _ := value[union.PropertyName].(string)
		for _, option := range ref.Value.OneOf {
			if option.Ref == union.Mapping[name].Ref {
				maps.Copy(out, propertiesOf(option, value))
			}
		}
	}
	return out
}

func TestDocument_isValid(t *testing.T) {
	t.Parallel()
	c, err := loadContract()
	require.NoError(t, err)
	require.NoError(t, c.doc.Validate(t.Context()))
	require.Equal(t, "3.1.0", c.doc.OpenAPI)
}

// driver fills the document's examples with what exists.
type driver struct {
	*fixture
	contract contract
}

// made creates an entity by the example of its type and returns its id.
func (d driver) made(typeName string) string {
	t := product.Registry().ByName(typeName)
	operation := "create" + typeName[:1] + strings.ToLower(typeName[1:])
	if typeName == entity.TypeMaster {
		operation = "createSeries"
	}
	res := d.want(201, post("/v1/"+t.Plural, d.example(operation)))
	return res.text(t.IDAttr)
}

// example is the body of an operation's example; "" if it takes none.
func (d driver) example(id string) string {
	o := d.contract.operations[id].Operation
	if o.RequestBody == nil {
		return ""
	}
	for _, media := range o.RequestBody.Value.Content {
		if text, ok := media.Example.(string); ok {
			return text
		}
		text, err := json.Marshal(media.Example)
		d.NoError(err)
		return string(text)
	}
	return ""
}

// request is the operation's example request, with values that exist in its path.
func (d driver) request(route *routers.Route) *http.Request {
	o := route.Operation
	path, values := route.Path, map[string]string{}
	revision := d.repositories(o.OperationID, o.Tags[0])
	for _, p := range o.Parameters {
		switch {
		case p.Value.In == "path":
			values[p.Value.Name] = d.pathValue(o.Tags[0], p.Value.Name)
			if p.Value.Name == "revId" {
				values["revId"] = revision
			}
			path = strings.Replace(path, "{"+p.Value.Name+"}", values[p.Value.Name], 1)
		case p.Value.In == "query" && p.Value.Required:
			separator := "?"
			if strings.Contains(path, "?") {
				separator = "&"
			}
			path += separator + p.Value.Name + "=" + fmt.Sprint(p.Value.Example)
		}
	}
	path = strings.ReplaceAll(path, exampleRevision, revision)
	body := strings.ReplaceAll(d.example(o.OperationID), exampleRevision, revision)
	req := httptest.NewRequest(route.Method, path, strings.NewReader(body))
	if body == "" {
		req.Body, req.ContentLength = http.NoBody, 0
	} else {
		req.Header.Set("Content-Type", slices.Sorted(maps.Keys(o.RequestBody.Value.Content))[0])
	}
	if o.Security == nil {
		req.Header.Set("Authorization", "Bearer ann")
	}
	for _, p := range o.Parameters {
		if p.Value.In == "header" && p.Value.Name == "If-Match" && p.Value.Required {
			version := 1
			if len(values) == 0 {
				version = 0
			}
			req.Header.Set("If-Match", fmt.Sprintf("%q", fmt.Sprint(version)))
		}
	}
	return req
}

func (d driver) pathValue(tag, name string) string {
	switch name {
	case "revId":
		return exampleRevision
	case "nodeId":
		return run
	case "targetType":
		return product.TypeNote
	case "targetId":
		return d.made(product.TypeNote)
	case "date":
		if tag == "plans" {
			return day
		}
		return "20260302" // the first occurrence of the example's series
	case "id":
		return d.expired()
	case "exportId":
		return d.want(202, askExport()).text("exportId")
	case "deviceId":
		d.want(200, register(oneDevice, endpoint))
		return "3f0c1c5e-6a52-4c39-9a0e-0d1b6c2f7a11"
	case "act":
		d.want(200, register(oneDevice, endpoint))
		reminder := d.want(201, post("/v1/reminders", `{"title":"x","triggerUtc":"2026-03-02T12:00:00Z","tzid":"UTC"}`))
		acts := d.told("REMINDER", reminder.text("reminderId"), "2026-03-02T12:00:00Z", "d")
		return strings.TrimPrefix(acts[0], "/v1/act/")
	case "address":
		address := d.want(200, request{method: http.MethodPut, path: "/v1/me/feed"}).text("path")
		return strings.TrimPrefix(address, "/feed/")
	}
	for _, t := range product.Registry().Types() {
		if t.HasCollection() && t.IDAttr == name {
			return d.made(t.Name)
		}
	}
	d.FailNow("no example for the path value " + name)
	return ""
}

func TestDocument_describesEveryAnswer(t *testing.T) {
	t.Parallel()
	c, err := loadContract()
	require.NoError(t, err)
	for id, route := range c.operations {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			d := driver{setup(t), c}
			req := d.request(route)
			if id == "getFeed" || id == "changeFeed" {
				d.pathValue("calendar", "address")
			}
			values := map[string]string{}
			pattern, given := strings.Split(route.Path, "/"), strings.Split(req.URL.Path, "/")
			for i, segment := range pattern {
				if name, ok := strings.CutPrefix(segment, "{"); ok {
					values[strings.TrimSuffix(name, "}")] = given[i]
				}
			}
			input := &openapi3filter.RequestValidationInput{
				Request: req, PathParams: values, Route: route,
				Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
			}
			d.NoError(openapi3filter.ValidateRequest(t.Context(), input), "the example breaks the document")
			res := d.serve(req)
			d.Less(res.Code, 300, res.Body)
			d.NoError(openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
				RequestValidationInput: input, Status: res.Code, Header: res.Header(),
				Body: io.NopCloser(strings.NewReader(res.Body.String())),
			}))

			if route.Operation.Security != nil {
				return
			}
			anonymous := httptest.NewRequest(route.Method, req.URL.String(), nil)
			d.Equal(http.StatusUnauthorized, d.serve(anonymous).Code)
		})
	}
}

func TestDocument_saysWhichOperationsNeedAVersion(t *testing.T) {
	t.Parallel()
	c, err := loadContract()
	require.NoError(t, err)
	for id, route := range c.operations {
		d := driver{setup(t), c}
		req := d.request(route)
		needed := req.Header.Get("If-Match") != ""
		req.Header.Del("If-Match")
		res := d.serve(req)
		d.Equal(needed, res.Code == http.StatusPreconditionRequired, id)
	}
}

func TestDocumentOperation_servesItWithATag(t *testing.T) {
	t.Parallel()
	b := setup(t)
	res := b.want(200, get("/openapi.json").by("-"))
	b.Equal(string(api.Document(product.Registry())), res.Body.String())
	b.want(304, get("/openapi.json").by("-").with("If-None-Match", res.Header().Get("ETag")))
}
