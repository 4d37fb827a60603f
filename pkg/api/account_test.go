package api_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	"nexus/pkg/api"
	"nexus/pkg/table"
)

// states is a fence by hand.
type states map[string]account.State

func (s states) State(_ context.Context, user string) (account.State, error) {
	if user == "unknown" {
		return account.Present, table.ErrUnavailable
	}
	return s[user], nil
}

func TestAPI_refusesWhatTheStateOfTheAccountForbids(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) {
		c.Fence = states{"leaving": account.Leaving, "erasing": account.Erasing, "erased": account.Erased}
	})
	read := request{method: http.MethodGet, path: "/v1/me"}
	write := request{method: http.MethodPatch, path: "/v1/me", body: `{"defaultTzid":"Europe/Paris"}`}
	batch := request{method: http.MethodPost, path: "/v1/commands", body: `{"commands":[]}`}
	for user, want := range map[string]struct {
		reads, writes int
		problem       string
	}{
		"ann": {200, 428, ""}, "leaving": {200, 403, "account-leaving"}, "erasing": {403, 403, "account-erased"},
		"erased": {403, 403, "account-erased"}, "unknown": {503, 503, "unavailable"},
	} {
		b.want(want.reads, read.by(user))
		answer := b.want(want.writes, write.by(user)).Body.String()
		if want.problem != "" {
			b.Contains(answer, `"/problems/`+want.problem+`"`, user)
			b.want(want.writes, batch.by(user))
		}
	}
	revoked := b.want(204, request{method: http.MethodDelete, path: "/v1/me/feed"}.by("leaving"))
	b.Empty(revoked.Body.String(), "what reaches outward can be ended")
	b.want(200, request{method: http.MethodGet, path: "/openapi.json"}.by("erased"))
	require.Zero(t, b.store.Len(), "a refusal writes nothing")

	_, err := b.api.Run(t.Context(), []byte(`{"userId":"erased","commands":[]}`))
	b.ErrorContains(err, "Account erased")
	_, err = b.api.Run(t.Context(), []byte(`{"userId":"leaving","commands":[]}`))
	b.ErrorContains(err, "Account leaves")
}
