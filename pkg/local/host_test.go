package local

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDoors_answerThisMachineAlone(t *testing.T) {
	t.Parallel()
	guard := doors{names: []string{"nexus.example", "192.0.2.7"}}
	mux := http.NewServeMux()
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.Handle("/dev/", guard.inner(ok))
	mux.Handle("/", ok)
	const here, there = "127.0.0.1:4711", "192.0.2.9:4711"
	for _, c := range []struct {
		peer, host    string
		api, internal int
	}{
		{here, "localhost:8080", 204, 204},
		{here, "127.0.0.1", 204, 204},
		{"[::1]:9", "[::1]:8080", 204, 204},
		{here, "nexus.example", 204, 403}, // through a proxy, or a page whose name was resolved to this machine
		{there, "nexus.example:8080", 204, 403},
		{there, "NEXUS.example.", 204, 403},
		{there, "192.0.2.7:8080", 204, 403},
		{there, "localhost:8080", 421, 421}, // said by another machine
		{there, "127.0.0.1:8080", 421, 421},
		{here, "evil.example", 421, 421},
		{there, "evil.example", 421, 421},
		{there, "", 421, 421},
	} {
		for path, want := range map[string]int{"/v1/me": c.api, "/dev/info": c.internal, "/dev/": c.internal} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			r.RemoteAddr, r.Host = c.peer, c.host
			w := httptest.NewRecorder()
			guard.outer(mux).ServeHTTP(w, r)
			require.Equal(t, want, w.Code, "%s asks for %s of %q", c.peer, path, c.host)
		}
	}
}

func TestExposedToken_isNeededByAReachableSystem(t *testing.T) {
	t.Parallel()
	p, err := Start(t.Context(), Options{
		Store: Memory, Addr: "127.0.0.1:0", Expose: true, AllowHosts: []string{"nexus.example"},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop(t.Context())) })
	require.GreaterOrEqual(t, len(p.Token()), 26, "128 bits")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	status := func(path, host, bearer string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL()+path, nil)
		require.NoError(t, err)
		r.Host = host
		r.Header.Set("Authorization", "Bearer "+bearer)
		response, err := client.Do(r)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	for _, bearer := range []string{
		"ann", "", "ann.", "." + p.Token(), p.Token(), "ann." + p.Token() + "x", "ann." + p.Token()[1:],
	} {
		require.Equal(t, http.StatusUnauthorized, status("/v1/me", "nexus.example", bearer), bearer)
		require.Equal(t, http.StatusUnauthorized, status("/v1/me", "localhost", bearer), bearer)
	}
	for _, host := range []string{"nexus.example", "localhost"} {
		require.Equal(t, http.StatusOK, status("/v1/me", host, "ann."+p.Token()), host)
	}
	require.Equal(t, http.StatusOK, status("/docs", "nexus.example", ""))
	require.Equal(t, http.StatusForbidden, status("/dev/info", "nexus.example", "ann."+p.Token()))
	require.Equal(t, http.StatusOK, status("/dev/info", "localhost", ""))
	require.Equal(t, http.StatusMisdirectedRequest, status("/v1/me", "evil.example", "ann."+p.Token()))
}
