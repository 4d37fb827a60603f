package api

import (
	"net/http"
	"slices"
	"strings"
)

// permits reports whether the request's token has one of the scopes that the side needs. A gateway in front of the API
// decides the same; behind a door without one, this is the only decision.
func (a *API) permits(r *http.Request) bool {
	return len(a.cfg.Scopes) == 0 || slices.ContainsFunc(claimsOf(r).scopes(), func(scope string) bool {
		return slices.Contains(a.cfg.Scopes, scope)
	})
}

// scopes returns the token's scopes: texts in either claim, separated by spaces. A list arrives as such a text between
// brackets (Amazon API Gateway writes it so).
func (c Claims) scopes() []string {
	var out []string
	for _, claim := range []string{c.Scope, c.ScopeList} {
		if inner, begins := strings.CutPrefix(claim, "["); begins && strings.HasSuffix(inner, "]") {
			claim = strings.TrimSuffix(inner, "]")
		}
		out = append(out, strings.Fields(claim)...)
	}
	return out
}
