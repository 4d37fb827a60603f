package httpapi_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/stretchr/testify/require"

	"nexus/functions/internal/httpapi"
	"nexus/pkg/api"
)

// called returns the context of an invocation by the function's alias.
func called(t *testing.T, alias string) context.Context {
	return lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{
		InvokedFunctionArn: "arn:aws:lambda:eu-central-1:123456789012:function:nexus-query:" + alias,
	})
}

// urlEvent is an event as a function URL sends it (AWS Lambda Developer Guide, "Invoking Lambda function URLs"):
// without an authorizer, and with null for what there is not.
func urlEvent(path string, more request) []byte {
	e := request{
		"version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": "",
		"headers": map[string]string{"authorization": "Bearer good", "host": "x7url.lambda-url.eu-central-1.on.aws"},
		"requestContext": map[string]any{
			"accountId": "anonymous", "apiId": "x7url", "authentication": nil,
			"domainName": "x7url.lambda-url.eu-central-1.on.aws", "domainPrefix": "x7url",
			"http": map[string]any{"method": "POST", "path": path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7",
				"userAgent": "nexus-client/3.1"},
			"requestId": "0c4d5e6f", "routeKey": "$default", "stage": "$default", "time": "02/Mar/2026:09:00:00 +0000",
			"timeEpoch": 1772442000000,
		},
		"pathParameters": nil, "stageVariables": nil, "isBase64Encoded": false,
	}
	return payload(e, more)
}

var errForged = errors.New("it is forged")

// check takes one token.
func check(_ context.Context, token string) (api.Claims, error) {
	if token != "good" {
		return api.Claims{}, errForged
	}
	return api.Claims{Issuer: "https://id.example.com", Subject: "ann"}, nil
}

// entered hands the event to the handler, by the alias, and returns what the http handler saw.
func entered(t *testing.T, alias string, payload []byte) (seen *http.Request, body string) {
	t.Helper()
	h := httpapi.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		seen, body = r, string(content)
	}), check)
	_, err := h.Handle(called(t, alias), payload)
	require.NoError(t, err)
	return seen, body
}

func TestHandler_readsTheEventOfAFunctionURL(t *testing.T) {
	t.Parallel()
	r, body := entered(t, "direct", urlEvent("/v1/tasks/a%2Fb%3Fc%20d", request{
		"rawQueryString": "tags=a%2Cb&tags=c", "queryStringParameters": map[string]string{"tags": "a,b,c"},
		"headers": map[string]string{"x-many": "1,2"}, "cookies": []string{"a=1", "b=2"}, "isBase64Encoded": true,
		"body": base64.StdEncoding.EncodeToString([]byte("\xff\x00a")),
	}))
	require.Equal(t, "/v1/tasks/a/b?c d", r.URL.Path)
	require.Equal(t, "/v1/tasks/a/b%3Fc%20d?tags=a%2Cb&tags=c", r.RequestURI)
	require.Equal(t, []string{"a,b", "c"}, r.URL.Query()["tags"])
	require.Equal(t, []string{"1,2"}, r.Header.Values("X-Many"))
	require.Equal(t, "a=1; b=2", r.Header.Get("Cookie"))
	require.Equal(t, "\xff\x00a", body)
	require.Equal(t, "203.0.113.7:0", r.RemoteAddr)
	require.Equal(t, "x7url.lambda-url.eu-central-1.on.aws", r.Host)

	r, _ = entered(t, "direct", urlEvent("/v1/%zz", nil))
	require.Equal(t, "/v1/%25zz", r.URL.EscapedPath(), "it leads nowhere")
}

// An HTTP API passes the path decoded, a function URL as the client sent it: of one path they make one request.
func TestHandler_readsAPathAtBothDoorsAlike(t *testing.T) {
	t.Parallel()
	for sent, decoded := range map[string]string{
		"/v1/tasks/task_1": "/v1/tasks/task_1", "/v1/tasks/a%2Fb": "/v1/tasks/a/b", "/v1/tasks/a%2fb": "/v1/tasks/a/b",
		"/v1%2Ftasks": "/v1/tasks", "/v1/tasks/%2E%2E%2Fme": "/v1/tasks/../me", "/v1/tasks/a%252Fb": "/v1/tasks/a%2Fb",
		"/v1/tasks/a%3Fb%23c": "/v1/tasks/a?b#c", "/v1/tasks/%C3%BC+%20": "/v1/tasks/ü+ ",
		"/%2Fevil.example": "//evil.example",
	} {
		direct, _ := entered(t, "direct", urlEvent(sent, request{"rawQueryString": "limit=2%2F"}))
		gateway, _ := entered(t, "live", event(decoded, request{"rawQueryString": "limit=2%2F"}))
		require.Equal(t, decoded, direct.URL.Path, sent)
		require.Equal(t, gateway.URL, direct.URL, sent)
		require.Equal(t, gateway.RequestURI, direct.RequestURI, sent)
	}
}

func TestHandler_takesTheUserOfAFunctionURLFromItsTokenAlone(t *testing.T) {
	t.Parallel()
	claimed := func(authorization string) []byte {
		return urlEvent("/v1/me", request{
			"headers": map[string]string{"authorization": authorization, "x-user": "mallory"},
			"requestContext": map[string]any{
				"http": map[string]any{"method": "GET"},
				"authorizer": map[string]any{
					"jwt": map[string]any{"claims": map[string]string{"sub": "mallory"}},
					"iam": map[string]string{"userId": "mallory"},
				},
			},
		})
	}
	user := func(alias, authorization string) string {
		r, _ := entered(t, alias, claimed(authorization))
		user, _ := api.LiteralSubjects.Authenticate(r)
		return user
	}
	for authorization, want := range map[string]string{
		"Bearer good": "ann", "bearer good": "ann", "Bearer bad": "", "": "", "Basic good": "", "good": "",
		"Bearer good,Bearer good": "", "Bearer ": "",
	} {
		require.Equal(t, want, user("direct", authorization), authorization)
	}
	for _, alias := range []string{"live", "7", "$LATEST", "indirect"} {
		require.Equal(t, "mallory", user(alias, "Bearer bad"), "%s: the gateway has decided", alias)
	}
}
