package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"nexus/pkg/api"
	"nexus/pkg/product"
)

func TestFeedBody_givesTheAddressBelowTheOriginThatLasts(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.FeedOrigin = "https://nexus.example.net" })
	made := b.want(200, request{method: http.MethodPut, path: "/v1/me/feed"})
	b.Equal("https://nexus.example.net"+made.text("path"), made.text("url"))
	b.NotContains(b.want(200, get("/v1/me/feed")).Body.String(), "url")
	b.Equal("/", b.want(200, get("/openapi.json")).doc["servers"].([]any)[0].(map[string]any)["url"],
		"the document names no address either")

	unnamed := setup(t)
	b.NotContains(unnamed.want(200, request{method: http.MethodPut, path: "/v1/me/feed"}).Body.String(), "url")
}

var anyVariable = regexp.MustCompile(`\{[^}]*\}`)

func TestFeedBody_isTheOnlyAnswerWithAnAddressOfTheService(t *testing.T) {
	t.Parallel()
	const origin, host = "https://nexus.example.net", "x7.execute-api.eu-central-1.amazonaws.com"
	b := setup(t, func(c *api.Config) { c.FeedOrigin = origin })
	ask := func(method, path, body string) string {
		r := httptest.NewRequestWithContext(t.Context(), method, "https://"+host+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer ann")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Forwarded-Host", host)
		answer := httptest.NewRecorder()
		b.api.ServeHTTP(answer, r)
		return fmt.Sprint(answer.Header(), answer.Body)
	}
	created := ask(http.MethodPost, "/v1/tasks", `{"title":"Write","dueUtc":"2026-12-01T17:00:00Z","dueTzid":"UTC"}`)
	b.Contains(created, "Location:[/v1/tasks/", "a path, which is good under every name")
	for _, r := range append(api.Routes(product.Registry()), api.Route{Method: http.MethodGet, Path: "/nothing"}) {
		told := ask(r.Method, anyVariable.ReplaceAllString(r.Path, "x"), `{}`)
		b.NotContains(told, host, "%s %s: the name by which one request came", r.Method, r.Path)
		b.Equal(r.Operation == "makeFeed", strings.Contains(told, origin), "%s %s", r.Method, r.Path)
	}
}
