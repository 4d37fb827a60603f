package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/product"
	"nexus/pkg/table/memory"
)

const (
	appOrigin   = "https://app.example.com"
	otherOrigin = "https://other.example.com"
)

func preflight(path, method, origin string) request {
	return request{method: http.MethodOptions, path: path, user: "-"}.with("Origin",
		origin).with("Access-Control-Request-Method", method)
}

func TestAllowOrigin_letsAPageReadEveryAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.Origins = []string{"http://localhost:5173", appOrigin} })
	readable := func(res response) {
		t.Helper()
		b.Equal(appOrigin, res.Header().Get("Access-Control-Allow-Origin"))
		b.Contains(strings.Join(res.Header().Values("Vary"), ", "), "Origin")
		b.Equal("ETag, Location, Retry-After, Idempotency-Replayed, X-Request-Id, X-Trace-Id, Date, Nexus-Calendar-Parts, "+
			"Nexus-Calendar-Since, RateLimit-Policy, RateLimit, Nexus-Effective-After",
			res.Header().Get("Access-Control-Expose-Headers"))
		b.Empty(res.Header().Get("Access-Control-Allow-Credentials"))
	}
	res := b.want(201, post("/v1/notes", `{"title":"a"}`).with("Origin", appOrigin))
	readable(res)
	path := "/v1/notes/" + res.text("noteId")
	readable(b.want(304, get(path).with("If-None-Match", `"1"`).with("Origin", appOrigin)))
	readable(b.want(200, get("/v1/board").with("Origin", appOrigin)))
	readable(b.want(200, get("/v1/calendar.ics").with("Origin", appOrigin)))
	readable(b.want(401, get(path).by("-").with("Origin", appOrigin)))
	readable(b.want(404, get("/v1/nothing").with("Origin", appOrigin)))
	readable(b.want(405, post(path, `{}`).with("Origin", appOrigin)))
	readable(b.want(412, patch(path, `{"title":"b"}`, 7).with("Origin", appOrigin)))
	readable(b.want(400, get(path).with("X-Large", strings.Repeat("x", 40<<10)).with("Origin", appOrigin)))
	b.failWith(func(memory.Call) error { panic("boom") })
	readable(b.want(500, get(path).with("Origin", appOrigin)))
}

func TestAnswerPreflight_needsNoToken(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.Origins = []string{appOrigin} })
	methods := map[string]map[string]bool{}
	for _, r := range api.Routes(product.Registry()) {
		if methods[r.Path] == nil {
			methods[r.Path] = map[string]bool{}
		}
		methods[r.Path][r.Method] = true
	}
	for path, there := range methods {
		res := b.want(204, preflight(path, "PATCH", appOrigin))
		b.Equal(appOrigin, res.Header().Get("Access-Control-Allow-Origin"))
		allowed := strings.Split(res.Header().Get("Access-Control-Allow-Methods"), ", ")
		b.Len(allowed, len(there), path)
		for _, m := range allowed {
			b.True(there[m], "%s %s", path, m)
			b.Contains(api.CORSMethods(), m)
		}
		b.Equal("Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match",
			res.Header().Get("Access-Control-Allow-Headers"))
		b.Equal("7200", res.Header().Get("Access-Control-Max-Age"))
		b.Empty(res.Body.String())
	}
	b.want(404, preflight("/v1/nothing", "GET", appOrigin))
	b.want(401, request{method: http.MethodOptions, path: "/v1/notes", user: "-"})
	b.want(405, request{method: http.MethodOptions, path: "/v1/notes"})
}

func TestAllowOrigin_sendsNothingToAnotherOrigin(t *testing.T) {
	t.Parallel()
	for name, origins := range map[string][]string{"allowed are others": {appOrigin}, "allowed is none": nil} {
		b := setup(t, func(c *api.Config) { c.Origins = origins })
		for _, origin := range []string{
			otherOrigin, "null", "*", appOrigin + ".example.org", strings.ToUpper(appOrigin), appOrigin + "/",
		} {
			for _, r := range []request{
				preflight("/v1/notes", "POST", origin), get("/v1/notes?state=recent").with("Origin", origin),
				get("/v1/me").by("-").with("Origin", origin),
			} {
				for header := range b.do(r).Header() {
					b.False(strings.HasPrefix(header, "Access-Control-"), "%s: %s has %s", name, origin, header)
				}
			}
		}
		b.Equal(origins != nil, strings.Contains(strings.Join(b.do(get("/v1/me")).Header().Values("Vary"), ", "), "Origin"))
	}
}

func TestCheckOrigin_takesWhatABrowserSends(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"https://app.example.com", "http://localhost:5173", "http://127.0.0.1:8080", "http://[::1]:3000",
	} {
		require.NoError(t, api.CheckOrigin(good))
	}
	for _, bad := range []string{
		"", "*", "null", "app.example.com", "https://*.example.com", "https://app.example.com/", "https://app.example.com/x",
		"https://APP.example.com",
		"https://app.example.com:443", "http://app.example.com:80", "https://ann@app.example.com",
		"https://app.example.com?x", "https://app.example.com#x",
		"ftp://app.example.com", "https://", "https://:8443", "https://app.example.com:",
		"https://app.example.com, https://b.example.com",
	} {
		require.Error(t, api.CheckOrigin(bad), bad)
	}
	require.Panics(t, func() { setup(t, func(c *api.Config) { c.Origins = []string{"*"} }) })
}
