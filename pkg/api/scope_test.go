package api_test

import (
	"net/http"
	"testing"

	"nexus/pkg/api"
)

func TestAuthenticate_requiresOneOfTheScopesOfTheSide(t *testing.T) {
	t.Parallel()
	var claims api.Claims
	b := setup(t, func(c *api.Config) {
		c.Scopes = []string{"nexus/read", "nexus/all"}
		c.Authenticate = func(r *http.Request) (string, bool) {
			*r = *r.WithContext(api.WithClaims(r.Context(), claims))
			return api.BearerIsUser(r)
		}
	})
	for _, tt := range []struct {
		claims api.Claims
		ok     bool
	}{
		{api.Claims{Scope: "nexus/read"}, true},
		{api.Claims{Scope: "openid  nexus/all email"}, true},
		{api.Claims{ScopeList: "nexus/read"}, true},
		{api.Claims{ScopeList: "[openid nexus/read]"}, true},
		{api.Claims{ScopeList: "[nexus/all]", Scope: "openid"}, true},
		{api.Claims{}, false},
		{api.Claims{Scope: "nexus/write"}, false},
		{api.Claims{Scope: "nexus/readers nexus nexus/READ read"}, false},
		{api.Claims{Scope: "nexus/read,nexus/all"}, false},
		{api.Claims{Scope: "[nexus/read"}, false},
	} {
		claims = tt.claims
		if tt.ok {
			b.want(200, get("/v1/me"))
			b.want(404, get("/v1/nothing"))
			b.want(405, request{method: http.MethodDelete, path: "/v1/board"})
			continue
		}
		for _, r := range []request{
			get("/v1/me"), get("/v1/nothing"), post("/v1/tasks", `{}`), {method: http.MethodDelete, path: "/v1/board"},
		} {
			res := b.want(403, r)
			b.Equal("insufficient-scope", res.problem(), "%v", tt.claims)
			b.Equal(`Bearer error="insufficient_scope"`, res.Header().Get("WWW-Authenticate"))
		}
	}
	b.want(401, get("/v1/me").by("-"))
	b.want(200, get("/healthz").by("-"))
	b.want(404, get("/feed/x.ics").by("-"))
}
