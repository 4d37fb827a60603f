package httpapi_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/functions/internal/httpapi"
	"nexus/pkg/api"
)

// request is an event with what a test sets in it.
type request map[string]any

func event(path string, more request) []byte {
	e := request{
		"version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": "",
		"headers": map[string]string{"host": "api.example.com", "x-forwarded-proto": "https"},
		"requestContext": map[string]any{
			"domainName": "api.example.com",
			"http":       map[string]any{"method": "POST", "path": path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7"},
		},
		"isBase64Encoded": false,
	}
	return payload(e, more)
}

// payload returns an event as JSON, with other members in place of its own.
func payload(e, more request) []byte {
	maps.Copy(e, more)
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return text
}

// serve hands the event to the handler and returns what the http handler saw.
func serve(t *testing.T, payload []byte) (seen *http.Request, body string) {
	t.Helper()
	h := httpapi.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		seen, body = r, string(content)
	}), nil)
	_, err := h.Handle(t.Context(), payload)
	require.NoError(t, err)
	require.NotNil(t, seen)
	return seen, body
}

type answer struct {
	StatusCode      int
	Headers         map[string]string
	Cookies         []string
	Body            string
	IsBase64Encoded bool
}

func respond(t *testing.T, h http.HandlerFunc) answer {
	t.Helper()
	text, err := httpapi.New(h, nil).Handle(t.Context(), event("/", nil))
	require.NoError(t, err)
	var a answer
	require.NoError(t, json.Unmarshal(text, &a))
	return a
}

func write(t *testing.T, w http.ResponseWriter, content []byte) {
	n, err := w.Write(content)
	require.NoError(t, err)
	require.Len(t, content, n)
}

func TestHandler_takesThePathAsTheGatewayDecodedIt(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]struct{ path, escaped string }{
		"/v1/tasks/task_1":       {"/v1/tasks/task_1", "/v1/tasks/task_1"},
		"/v1/tasks/a b":          {"/v1/tasks/a b", "/v1/tasks/a%20b"},
		"/v1/tasks/a?admin=true": {"/v1/tasks/a?admin=true", "/v1/tasks/a%3Fadmin=true"},
		"/v1/tasks/a#b":          {"/v1/tasks/a#b", "/v1/tasks/a%23b"},
		"/v1/tasks/%41":          {"/v1/tasks/%41", "/v1/tasks/%2541"},
		"/v1/tasks/%zz":          {"/v1/tasks/%zz", "/v1/tasks/%25zz"},
		"/v1/tasks/ü":            {"/v1/tasks/ü", "/v1/tasks/%C3%BC"},
		"//evil.example/x":       {"//evil.example/x", "//evil.example/x"},
	} {
		r, _ := serve(t, event(sent, request{"rawQueryString": "limit=2"}))
		require.Equal(t, want.path, r.URL.Path)
		require.Equal(t, want.escaped, r.URL.EscapedPath())
		require.Equal(t, "limit=2", r.URL.RawQuery, "%s", sent)
		require.Empty(t, r.URL.Host)
		require.Equal(t, "api.example.com", r.Host)
	}
}

func TestHandler_keepsTheQueryAsTheClientSentIt(t *testing.T) {
	t.Parallel()
	r, _ := serve(t, event("/v1/agenda", request{
		"rawQueryString":        "tags=a%2Cb&tags=c&from=2026-03-01T00%3A00%3A00%2B01%3A00",
		"queryStringParameters": map[string]string{"tags": "a,b,c", "from": "2026-03-01T00:00:00+01:00"},
	}))
	require.Equal(t, []string{"a,b", "c"}, r.URL.Query()["tags"])
	require.Equal(t, "2026-03-01T00:00:00+01:00", r.URL.Query().Get("from"))
}

func TestHandler_doesNotSplitHeadersAndJoinsCookies(t *testing.T) {
	t.Parallel()
	r, _ := serve(t, event("/", request{
		"headers": map[string]string{
			"host": "other.example", "idempotency-key": "a,b", "if-modified-since": "Sun, 06 Nov 1994 08:49:37 GMT",
			"x-many": "1,2",
		},
		"cookies": []string{"a=1", "b=2"},
	}))
	require.Equal(t, []string{"a,b"}, r.Header.Values("Idempotency-Key"))
	require.Equal(t, []string{"Sun, 06 Nov 1994 08:49:37 GMT"}, r.Header.Values("If-Modified-Since"))
	require.Equal(t, []string{"1,2"}, r.Header.Values("X-Many"))
	require.Equal(t, []string{"a=1; b=2"}, r.Header.Values("Cookie"))
	require.Empty(t, r.Header.Values("Host"))
	require.Equal(t, "203.0.113.7:0", r.RemoteAddr)
}

func TestHandler_passesTheBodyOnByteForByte(t *testing.T) {
	t.Parallel()
	r, body := serve(t, event("/", request{"body": `{"title":"Grüße"}`}))
	require.Equal(t, `{"title":"Grüße"}`, body)
	require.EqualValues(t, len(body), r.ContentLength)

	_, body = serve(t, event("/", request{"body": "/wBhCg==", "isBase64Encoded": true}))
	require.Equal(t, "\xff\x00a\n", body)

	r, body = serve(t, event("/", nil))
	require.Empty(t, body)
	require.Equal(t, http.NoBody, r.Body)

	_, err := httpapi.New(http.NotFoundHandler(), nil).Handle(t.Context(), event("/", request{
		"body": "%%", "isBase64Encoded": true,
	}))
	require.ErrorContains(t, err, "body of the event")
}

func TestHandler_takesTheUserFromTheVerifiedClaimAlone(t *testing.T) {
	t.Parallel()
	withClaims := func(claims string) []byte {
		return fmt.Appendf(nil, `{"version":"2.0","rawPath":"/v1/me","headers":{"authorization":"Bearer mallory",`+
			`"sub":"mallory","x-user":"mallory"},
			"body":"{\"sub\":\"mallory\"}","requestContext":{"domainName":"api.example.com","http":{"method":"GET",`+
			`"path":"/v1/me","sourceIp":"203.0.113.7"}%s}}`, claims)
	}
	digest, _ := api.UserOfIssuer("https://id.example.com", "ann")
	for claims, want := range map[string]string{
		`,"authorizer":{"jwt":{"claims":{"iss":"https://id.example.com","sub":"ann","ISS":"x"}}}`:   "ann",
		`,"authorizer":{"jwt":{"claims":{"sub":"ann","scope":"nexus/all"},"scopes":["nexus/all"]}}`: "ann",
		`,"authorizer":{"jwt":{"claims":{"Sub":"ann"},"scopes":null}}`:                              "",
		`,"authorizer":{"jwt":{"claims":{"sub":"ann","SUB":"mallory"},"scopes":null}}`:              "ann",
		`,"authorizer":{"lambda":{"sub":"ann"}}`:                                                    "",
		``:                                                                                          "",
	} {
		r, _ := serve(t, withClaims(claims))
		user, ok := api.LiteralSubjects.Authenticate(r)
		require.Equal(t, want, user, "%s", claims)
		require.Equal(t, want != "", ok)
		user, ok = api.DigestedSubjects.Authenticate(r)
		require.Equal(t, strings.Contains(claims, `"iss"`), ok, "without an issuer there is no user of the second form")
		require.Equal(t, ok, user == digest, "%s", claims)
		_, ok = api.SubjectForm(0).Authenticate(r)
		require.False(t, ok)
	}
	for claim, want := range map[string]int64{
		`"1764590400"`: 1764590400, `1764590400`: 1764590400, `"1.7645904E9"`: 1764590400, `null`: 0, `"x"`: 0,
	} {
		r, _ := serve(t, withClaims(`,"authorizer":{"jwt":{"claims":{"sub":"ann","auth_time":`+claim+`}}}`))
		require.Equal(t, want, max(0, api.SignedInAt(r).Unix()), claim)
	}
	twice := withClaims(`,"authorizer":{"jwt":{"claims":{"sub":"ann","sub":"mallory"}}}`)
	_, err := httpapi.New(http.NotFoundHandler(), nil).Handle(t.Context(), twice)
	require.ErrorContains(t, err, "duplicate")
}

func TestHandler_keepsStatusHeadersCookiesAndBytes(t *testing.T) {
	t.Parallel()
	a := respond(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"3"`)
		w.Header().Set("Content-Length", "20")
		w.Header().Add("Vary", "Accept")
		w.Header().Add("Vary", "Origin")
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "1"})
		http.SetCookie(w, &http.Cookie{Name: "b", Value: "2"})
		w.WriteHeader(http.StatusCreated)
		w.Header().Set("Late", "too late")
		w.WriteHeader(http.StatusTeapot)
		write(t, w, []byte(`{"title":`))
		write(t, w, []byte(`"Grüße"}`))
	})
	require.Equal(t, answer{
		StatusCode: http.StatusCreated, Headers: map[string]string{"etag": `"3"`, "vary": "Accept, Origin"},
		Cookies: []string{"a=1", "b=2"}, Body: `{"title":"Grüße"}`,
	}, a)

	a = respond(t, func(w http.ResponseWriter, r *http.Request) { write(t, w, []byte{0xff, 0}) })
	require.True(t, a.IsBase64Encoded)
	require.Equal(t, "/wA=", a.Body)
	require.Equal(t, http.StatusOK, a.StatusCode)

	quotes := bytes.Repeat([]byte{'"'}, httpapi.MaxAnswer/2)
	a = respond(t, func(w http.ResponseWriter, r *http.Request) { write(t, w, quotes) })
	require.True(t, a.IsBase64Encoded, "as a text it would be too long")
	require.Equal(t, base64.StdEncoding.EncodeToString(quotes), a.Body)

	a = respond(t, func(w http.ResponseWriter, r *http.Request) {})
	require.Equal(t, http.StatusOK, a.StatusCode)
	require.Empty(t, a.Body)
}

func TestHandler_failsOnAnAnswerThatLambdaWouldRefuse(t *testing.T) {
	t.Parallel()
	h := httpapi.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		write(t, w, make([]byte, httpapi.MaxAnswer))
	}), nil)
	_, err := h.Handle(t.Context(), event("/", nil))
	require.ErrorContains(t, err, "bytes")
}

func TestHandler_failsOnWhatIsNoRequest(t *testing.T) {
	t.Parallel()
	const get = `"requestContext":{"http":{"method":"GET"}}`
	require.NoError(t, handle(`{"version":"2.0",`+get+`}`))
	for _, payload := range []string{
		``, `null`, `[]`, `{`, `{}`, `{"version":"1.0","path":"/","httpMethod":"GET"}`,
		`{"version":"2.0","requestContext":{}}`, `{"Records":[]}`, `{"version":2.0,` + get + `}`,
		`{"version":"2.0",` + get + `}{}`, `{"version":"2.0",` + get + `,"cookies":"a=1"}`,
		`{"version":"2.0",` + get + `,"isBase64Encoded":"true"}`, `{"version":"2.0",` + get + `,"headers":{"a":["1"]}}`,
		`{"version":"2.0",` + get + `,"version":"2.0"}`, `{"version":"2.0",` + get + `,"other":{"a":1,"a":2}}`,
		`{"version":"2.0",` + get + ",\"rawPath\":\"\xff\"}", `{"version":"2.0",` + get + `,"other":`,
	} {
		require.Error(t, handle(payload), "%s", payload)
	}
}

func TestDecode_readsANullMemberAsAbsent(t *testing.T) {
	t.Parallel()
	nothing := request{"cookies": nil, "headers": nil, "body": nil, "rawQueryString": nil, "isBase64Encoded": nil}
	r, body := serve(t, event("/v1/me", nothing))
	require.Empty(t, r.Header)
	require.Empty(t, body)
	require.Equal(t, "/v1/me", r.URL.Path)
	require.NoError(t, handle(`{"version":"2.0","requestContext":{"authorizer":null,"http":{"method":"GET"}}}`))
	require.Error(t, handle(`{"version":"2.0","requestContext":null}`))
}

// handle answers the payload with a handler that finds nothing.
func handle(payload string) error {
	_, err := httpapi.New(http.NotFoundHandler(), nil).Handle(context.Background(), []byte(payload))
	return err
}

func TestHandler_distinguishesARequestFromADirectInvocation(t *testing.T) {
	t.Parallel()
	require.NoError(t, handle(string(event("/", nil))))
	require.NoError(t, handle(string(event("/", request{"body": `{"userId":"ann","commands":[]}`}))))
	for _, payload := range []string{
		`{"userId":"ann","commands":[]}`, `{}`, `null`, `"x"`, ``, `{"RequestContext":{}}`, `{"version":2.0,"body":5}`,
		`{"requestContext":{}`, `{"requestContext":{}}{}`, `{"requestContext":{},"other":{"a":1,"a":2}}`,
	} {
		require.ErrorIs(t, handle(payload), httpapi.ErrNoEvent, "%s", payload)
	}
	for _, payload := range []string{
		`{"requestContext":null}`, `{"version":2.0,"requestContext":{}}`, `{"requestContext":[{}]}`,
	} {
		err := handle(payload)
		require.Error(t, err)
		require.NotErrorIs(t, err, httpapi.ErrNoEvent, "%s", payload)
	}
}
