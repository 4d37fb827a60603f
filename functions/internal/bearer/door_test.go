package bearer_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/functions/internal/endpoint"
	"nexus/functions/internal/httpapi"
	"nexus/pkg/api"
	"nexus/pkg/archive"
	"nexus/pkg/calendar"
	"nexus/pkg/command"
	"nexus/pkg/product"
	"nexus/pkg/push"
	"nexus/pkg/query"
	"nexus/pkg/revision"
	"nexus/pkg/revision/plan"
	"nexus/pkg/revision/values"
	"nexus/pkg/table/memory"
	"nexus/pkg/watch"
)

// surface returns the API as a function serves it, with the scopes of its side.
func surface(side api.Side, scopes ...string) *api.API {
	registry, store := product.Registry(), memory.New(time.Now, memory.Options{})
	publisher := revision.NewPublisher(revision.Config{Store: store, Now: time.Now, NewID: uuid.NewString})
	trees := values.New(publisher, uuid.NewString)
	return api.New(api.Config{
		Side: side, Registry: registry, Document: api.Document, Scopes: scopes,
		Commands: command.New(command.Config{Store: store, Registry: registry, Now: time.Now, NewID: uuid.NewString,
			Pause: command.RandomPause(func() float64 { return 0 }, time.Now)}),
		Queries:  query.New(query.Config{Store: store, Registry: registry, Now: time.Now, Fold: strings.ToLower}),
		Archive:  archive.New(archive.Config{Store: store, Registry: registry, Now: time.Now}),
		Calendar: calendar.New(calendar.Config{Store: store, Registry: registry, Now: time.Now, Random: rand.Reader}),
		Values:   trees, Plans: plan.New(publisher, trees, time.Now, uuid.NewString),
		Watches:      watch.New(store, push.PlaceOf("r.example", "h.example"), time.Now),
		Authenticate: api.LiteralSubjects.Authenticate, SignedInAt: api.SignedInAt,
		Log: slog.New(slog.DiscardHandler), Now: time.Now, NewID: uuid.NewString,
	})
}

// called returns the context of an invocation by the function's alias.
func called(ctx context.Context, alias string) context.Context {
	return lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{
		AwsRequestID: "request-1", InvokedFunctionArn: "arn:aws:lambda:eu-central-1:123456789012:function:nexus-x:" + alias,
	})
}

// urlEvent is an event as a function URL sends it (AWS Lambda Developer Guide, "Invoking Lambda function URLs"). It
// has no authorizer, and null for what there is not.
func urlEvent(method, path string, headers map[string]string, more object) object {
	return changed(object{
		"version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": "", "headers": headers,
		"queryStringParameters": nil, "pathParameters": nil, "stageVariables": nil, "isBase64Encoded": false,
		"requestContext": object{
			"accountId": "anonymous", "apiId": "x7url", "authentication": nil,
			"domainName": "x7url.lambda-url.eu-central-1.on.aws", "domainPrefix": "x7url",
			"http": object{"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7",
				"userAgent": "nexus-client/3.1"},
			"requestId": "0c4d5e6f", "routeKey": "$default", "stage": "$default", "time": "02/Mar/2026:09:00:00 +0000",
			"timeEpoch": 1772442000000,
		},
	}, more)
}

// answered is an answer as Lambda gets it.
type answered struct {
	StatusCode int
	Headers    map[string]string
	Body       string
}

// send sends an event to a handler.
func send(
	ctx context.Context, t *testing.T, handle func(context.Context, []byte) ([]byte, error), event object,
) answered {
	t.Helper()
	out, err := handle(ctx, encodeJSON(event))
	require.NoError(t, err)
	var a answered
	require.NoError(t, json.Unmarshal(out, &a))
	return a
}

// TestChecker_decidesByScopesAsTheAPIDoes walks all routes. What the API decides is written in its template, which
// infra/stack compares with the function behind it.
func TestChecker_decidesByScopesAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	i := newIssuer()
	check := i.checker().Claims
	scopes := map[api.Side]string{api.SideCommands: "nexus/write", api.SideQueries: "nexus/read"}
	doors := map[api.Side]*httpapi.Handler{}
	for side, scope := range scopes {
		doors[side] = httpapi.New(surface(side, scope), check)
	}
	routes := append(api.Routes(product.Registry()),
		api.Route{Method: http.MethodGet, Path: "/nothing", Side: api.SideQueries},
		api.Route{Method: http.MethodDelete, Path: "/nothing", Side: api.SideQueries})
	decided := map[string]int{}
	for _, r := range routes {
		require.Equal(t, r.Method == http.MethodGet || r.Method == http.MethodHead || r.Path == "/nothing",
			r.Side == api.SideQueries, "clients choose the address by the method: %s %s", r.Method, r.Path)
		path := strings.NewReplacer("{", "", "}", "").Replace(r.Path)
		for _, granted := range []string{
			"none", "", "openid", "nexus", "nexus/read", "nexus/write", "nexus/read nexus/write",
		} {
			headers := map[string]string{}
			if granted != "none" {
				headers["authorization"] = "Bearer " + i.good(object{"scope": granted})
			}
			a := send(called(t.Context(), "direct"), t, doors[r.Side].Handle, urlEvent(r.Method, path, headers, nil))
			want := "in"
			switch {
			case granted == "none":
				want = "401"
			case r.Open:
			case !strings.Contains(" "+granted+" ", " "+scopes[r.Side]+" "):
				want = "403"
			}
			got := "in"
			switch {
			case a.StatusCode == http.StatusUnauthorized && strings.Contains(a.Body, "/problems/unauthenticated"):
				got = "401"
				require.Equal(t, "Bearer", a.Headers["www-authenticate"])
			case a.StatusCode == http.StatusUnauthorized && r.Method == http.MethodHead:
				got = "401"
			case a.StatusCode == http.StatusForbidden:
				got = "403"
				require.Equal(t, `Bearer error="insufficient_scope"`, a.Headers["www-authenticate"])
			}
			require.Equal(t, want, got, "%s %s with %q: %s", r.Method, r.Path, granted, a.Body)
			decided[got]++
		}
	}
	require.Greater(t, min(decided["in"], decided["401"], decided["403"]), 50, "%v", decided)
	require.Equal(t, []string{discovery, keysAt}, i.taken())
}

func TestChecker_isNotAskedBehindTheGateway(t *testing.T) {
	t.Parallel()
	i := newIssuer()
	handle := httpapi.New(surface(api.SideQueries, "nexus/read"), i.checker().Claims).Handle
	claimed := func(token string) object {
		event := urlEvent(http.MethodGet, "/v1/me", map[string]string{"authorization": token}, object{
			"stageVariables": object{"queryUrl": "https://elsewhere.example/"},
		})
		event["requestContext"].(object)["authorizer"] = object{"jwt": object{"claims": object{
			"iss": issuerName, "sub": "mallory", "scope": "nexus/read",
		}}}
		return event
	}
	direct, live := called(t.Context(), "direct"), called(t.Context(), "live")
	require.Equal(t, 401, send(direct, t, handle, claimed("")).StatusCode)
	require.Equal(t, 401, send(direct, t, handle, claimed("Bearer mallory")).StatusCode)
	require.Equal(t, 401, send(direct, t, handle, claimed("Bearer "+i.good(nil)+",Bearer "+i.good(nil))).StatusCode)
	require.Equal(t, 200, send(direct, t, handle, claimed("bearer "+i.good(nil))).StatusCode)
	i.taken()
	require.Equal(t, 200, send(live, t, handle, claimed("Bearer forged")).StatusCode, "the gateway has decided")
	for _, alias := range []string{"live", "7", "$LATEST", "indirect"} {
		event := urlEvent(http.MethodGet, "/v1/me", map[string]string{"authorization": "Bearer " + i.good(nil)}, nil)
		require.Equal(t, 401, send(called(t.Context(), alias), t, handle, event).StatusCode, "%s: no gateway, no user", alias)
	}
	require.Empty(t, i.taken(), "tokens are checked for function URLs alone")

	about := claimed("")
	about["rawPath"] = "/.well-known/nexus"
	require.Equal(t, 401, send(direct, t, handle, about).StatusCode, "nor an address")
	require.JSONEq(t, `{"query":"https://elsewhere.example"}`, send(live, t, handle, about).Body)
}

// An escaped slash divides a path at the HTTP API, whose event has it decoded. So it does at a function URL.
func TestBearer_answersAnEscapedSlashAtBothDoorsAlike(t *testing.T) {
	t.Parallel()
	i := newIssuer()
	headers := map[string]string{"authorization": "Bearer " + i.good(nil), "x-request-id": "r-1"}
	for side, method := range map[api.Side]string{api.SideQueries: http.MethodGet, api.SideCommands: http.MethodDelete} {
		handle := httpapi.New(surface(side), i.checker().Claims).Handle
		for sent, decoded := range map[string]string{
			"/v1/tasks/a%2Fb": "/v1/tasks/a/b", "/v1/tasks%2Ftask_1": "/v1/tasks/task_1", "/v1%2Fboard": "/v1/board",
			"/v1/tasks/task_1": "/v1/tasks/task_1", "/v1/tasks/a%252Fb": "/v1/tasks/a%2Fb",
		} {
			behind := urlEvent(method, decoded, headers, nil)
			behind["requestContext"].(object)["authorizer"] = object{"jwt": object{"claims": i.claims(nil)}}
			want := send(called(t.Context(), "live"), t, handle, behind)
			got := send(called(t.Context(), "direct"), t, handle, urlEvent(method, sent, headers, nil))
			require.Equal(t, want, got, "%s %s", method, sent)
		}
	}
}

// By the alias of the URL everybody could send a batch in the name of any user.
func TestBearer_letsNoDirectInvocationInByTheAliasOfTheURL(t *testing.T) {
	t.Parallel()
	commands := surface(api.SideCommands, "nexus/write")
	handle := endpoint.Commands(commands, commands, newIssuer().checker().Claims)
	batch := []byte(`{"commands":[]}`)
	_, err := handle(called(t.Context(), "direct"), batch)
	require.ErrorIs(t, err, httpapi.ErrNoEvent)
	_, err = handle(called(t.Context(), "live"), batch)
	require.ErrorContains(t, err, "validation-failed", "it was read as one")
}
