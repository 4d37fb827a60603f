package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	"nexus/pkg/port"
)

func TestAddressesOperation_tellsWhatTheGatewayToldAndForHowLong(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		of   api.Addresses
		want string
	}{
		{api.Addresses{}, `{}`},
		{api.Addresses{Command: "https://c.example", Query: "https://q.example"},
			`{"command":"https://c.example","query":"https://q.example"}`},
	} {
		r := httptest.NewRequestWithContext(api.WithAddresses(t.Context(), c.of), http.MethodGet, "/.well-known/nexus", nil)
		answer := httptest.NewRecorder()
		b.api.ServeHTTP(answer, r)
		require.Equal(t, 200, answer.Code, "it needs no user")
		require.JSONEq(t, c.want, answer.Body.String())
		require.Equal(t, "public, max-age=3600", answer.Header().Get("Cache-Control"))
	}
	b.Equal("no-cache", b.want(200, get("/healthz").by("-")).Header().Get("Cache-Control"))
	b.want(200, get("/.well-known/nexus").by("-"))
	b.want(405, request{method: http.MethodPost, path: "/.well-known/nexus", user: "-"})
}

func TestAuthenticate_saysWhyATokenIsRefused(t *testing.T) {
	t.Parallel()
	var claims api.Claims
	b := setup(t, func(c *api.Config) {
		c.Authenticate = func(*http.Request) (string, bool) { return "ann", true }
	})
	ask := func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(api.WithClaims(t.Context(), claims), http.MethodGet, path, nil)
		answer := httptest.NewRecorder()
		b.api.ServeHTTP(answer, r)
		return answer
	}
	for _, path := range []string{"/v1/me", "/v1/nothing", "/healthz"} {
		for reason, status := range map[error]int{
			errors.New("it has expired"): 401, api.ErrNoToken: 401, fmt.Errorf("keys: %w", port.ErrUnavailable): 503,
		} {
			claims = api.Claims{Subject: "ann", Refused: reason}
			require.Equal(t, status, ask(path).Code, "%s: whatever else the claims say", path)
			seen := b.seen.all[len(b.seen.all)-1]
			require.Equal(t, status == 503, seen.Unjudged, "%s: the service itself is well", path)
		}
	}
	claims = api.Claims{Refused: errors.New("it has expired")}
	refused := ask("/v1/me")
	require.Equal(t, `Bearer error="invalid_token"`, refused.Header().Get("WWW-Authenticate"))
	require.Contains(t, refused.Body.String(), "The token is not accepted: it has expired.")
	claims = api.Claims{Refused: port.ErrUnavailable}
	require.NotEmpty(t, ask("/v1/me").Header().Get("Retry-After"))
}
