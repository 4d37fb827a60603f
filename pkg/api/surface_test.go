package api_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/product"
)

// reached sends a request to a part and returns the operation that took it, and the answer's status.
func reached(t *testing.T, part api.Side, r api.Route, user string) (operation string, status int) {
	t.Helper()
	b := setup(t, func(c *api.Config) { c.Side = part })
	request := httptest.NewRequestWithContext(t.Context(), r.Method,
		regexp.MustCompile(`\{[^}]+\}`).ReplaceAllString(r.Path, "x"), nil)
	if user != "" {
		request.Header.Set("Authorization", "Bearer "+user)
	}
	answer := httptest.NewRecorder()
	b.api.ServeHTTP(answer, request)
	require.Len(t, b.seen.all, 1)
	return b.seen.all[0].Operation, answer.Code
}

func TestRoutes_leadToTheirOperationsInTheirParts(t *testing.T) {
	t.Parallel()
	other := map[api.Side]api.Side{api.SideCommands: api.SideQueries, api.SideQueries: api.SideCommands}
	seen := map[string]bool{}
	for _, r := range api.Routes(product.Registry()) {
		at := r.Method + " " + r.Path
		require.False(t, seen[at], "%s is there twice", at)
		seen[at] = true
		operation, _ := reached(t, r.Side, r, "ann")
		require.Equal(t, r.Operation, operation, "%s", at)
		if _, status := reached(t, other[r.Side], r, "ann"); r.Path != "/healthz" {
			require.Equal(t, http.StatusNotFound, status, "%s", at)
		}
		_, status := reached(t, r.Side, r, "")
		require.Equal(t, !r.Open, status == http.StatusUnauthorized, "%s", at)
	}
	require.True(t, seen["POST /v1/tasks"] && seen["HEAD /v1/tasks"] && seen["GET /openapi.json"])
}
