package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/account"
	"nexus/pkg/api"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// states is a fence by hand.
type states map[string]account.State

// The states of an account have an instant of the erasure, but that it stays.
func (s states) State(_ context.Context, user string) (account.State, time.Time, error) {
	switch {
	case user == "unknown":
		return account.Present, time.Time{}, table.ErrUnavailable
	case s[user] == account.Present:
		return account.Present, time.Time{}, nil
	}
	return s[user], noon.Add(account.Notice), nil
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
	const eraseAt = `"eraseAt":"2026-03-09T12:00:00Z"`
	b.Contains(b.want(200, read.by("leaving")).Body.String(), `,"leaving":{`+eraseAt+`}`)
	b.Contains(b.want(403, write.by("leaving")).Body.String(), eraseAt)
	b.NotContains(b.want(403, write.by("erasing")).Body.String(), "eraseAt")
	b.NotContains(b.want(200, read.by("ann")).Body.String(), "leaving")
	revoked := b.want(204, request{method: http.MethodDelete, path: "/v1/me/feed"}.by("leaving"))
	b.Empty(revoked.Body.String(), "what reaches outward can be ended")
	b.want(200, request{method: http.MethodGet, path: "/openapi.json"}.by("erased"))
	require.Zero(t, b.store.Len(), "a refusal writes nothing")

	_, err := b.api.Run(t.Context(), []byte(`{"userId":"erased","commands":[]}`))
	b.ErrorContains(err, "Account erased")
	_, err = b.api.Run(t.Context(), []byte(`{"userId":"leaving","commands":[]}`))
	b.ErrorContains(err, "Account leaves")
}

func TestAPI_letsAnAccountLeaveOfAUserWhoHasJustSignedIn(t *testing.T) {
	t.Parallel()
	var at time.Time
	b := setup(t, func(c *api.Config) { c.SignedInAt = func(*http.Request) time.Time { return at } })
	leave := request{method: http.MethodDelete, path: "/v1/me"}.by("ann")
	for _, wrong := range []time.Time{{}, noon.Add(-10*time.Minute - time.Second), noon.Add(11 * time.Minute)} {
		at = wrong
		answer := b.want(401, leave)
		b.Contains(answer.Body.String(), `"/problems/reauthenticate"`)
		b.Equal(`Bearer error="insufficient_user_authentication", max_age="600"`, answer.Header().Get("WWW-Authenticate"))
	}
	b.Zero(b.store.Len(), "a refusal writes nothing")

	at = noon.Add(-10 * time.Minute)
	var answer struct {
		EraseAt string
		Remains []struct{ What, Until string }
	}
	b.NoError(json.Unmarshal(b.want(202, leave).Body.Bytes(), &answer))
	b.Equal(item.FormatInstant(noon.AddDate(0, 0, 7)), answer.EraseAt, "7 days from now")
	b.Len(answer.Remains, len(account.Periods()))
	b.now = noon.Add(time.Hour)
	at = b.now
	b.Contains(b.want(202, leave).Body.String(), answer.EraseAt, "a repetition changes nothing")

	back := request{method: http.MethodPost, path: "/v1/me/restore"}.by("ann")
	for range 2 {
		b.JSONEq(`{"writesAfterSeconds":60}`, b.want(200, back).Body.String())
	}
}

func TestAPI_letsNoAccountLeaveWithoutAnEraser(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *api.Config) { c.Accounts = nil })
	b.want(404, request{method: http.MethodDelete, path: "/v1/me"}.by("ann"))
	b.want(404, request{method: http.MethodPost, path: "/v1/me/restore"}.by("ann"))
}

func TestAPI_endsTheCalendarAddressOfAnAccountThatIsGone(t *testing.T) {
	t.Parallel()
	fence := states{}
	b := setup(t, func(c *api.Config) { c.Fence = fence })
	var made struct{ Path string }
	b.NoError(json.Unmarshal(
		b.want(200, request{method: http.MethodPut, path: "/v1/me/feed", body: `{}`}.by("ann")).Body.Bytes(), &made))
	read := request{method: http.MethodGet, path: made.Path}
	b.want(200, read)
	fence["ann"] = account.Leaving
	b.want(200, read)
	for _, gone := range []account.State{account.Erasing, account.Erased} {
		fence["ann"] = gone
		b.want(404, read)
	}
}

func TestSignedInAt_readsTheClaim(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"1764590400": 1764590400, "1.7645904E9": 1764590400, "1764590400.9": 1764590400,
		"": 0, "0": 0, "-1": 0, "x": 0, "NaN": 0, "Infinity": 0, "1e300": 0,
	} {
		r := httptest.NewRequestWithContext(
			api.WithClaims(t.Context(), api.Claims{AuthTime: text}), http.MethodGet, "/", nil)
		if want == 0 {
			require.True(t, api.SignedInAt(r).IsZero(), text)
			continue
		}
		require.Equal(t, want, api.SignedInAt(r).Unix(), text)
	}
	require.True(t, api.SignedInAt(httptest.NewRequest(http.MethodGet, "/", nil)).IsZero())
}
