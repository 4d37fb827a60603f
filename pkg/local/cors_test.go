package local_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

func TestDoors_letPagesOfAnAllowedOriginReachTheAPIAlone(t *testing.T) {
	t.Parallel()
	const app = "http://localhost:5173"
	s := startSystem(t, local.Options{Store: local.Memory, Origins: []string{app}})
	ask := func(method, path string) http.Header {
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, http.NoBody)
		require.NoError(t, err)
		r.Header.Set("Origin", app)
		r.Header.Set("Access-Control-Request-Method", http.MethodPost)
		res, err := s.client.Do(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.Header
	}
	require.Equal(t, app, ask(http.MethodOptions, "/v1/tasks").Get("Access-Control-Allow-Origin"))
	require.Equal(t, app, ask(http.MethodGet, "/v1/me").Get("Access-Control-Allow-Origin"),
		"a refusal, as no user is named")
	for _, path := range []string{"/dev/info", "/dev/clock", "/dev/settle"} {
		for _, method := range []string{http.MethodOptions, http.MethodGet} {
			require.Empty(t, ask(method, path).Get("Access-Control-Allow-Origin"), "%s %s", method, path)
		}
	}
}

func TestOptions_refuseAnOriginThatNoBrowserSends(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{"*", "localhost:5173", "http://localhost:5173/"} {
		_, err := local.Start(t.Context(), local.Options{Store: local.Memory, Origins: []string{origin}})
		require.ErrorIs(t, err, local.ErrOptions)
		require.ErrorContains(t, err, "--cors")
	}
	_, err := local.Start(t.Context(), local.Options{Store: local.Memory, Origins: []string{"https://app.example.com/"}})
	require.ErrorContains(t, err, `it ends with the path "/", and an origin has none`)
}
