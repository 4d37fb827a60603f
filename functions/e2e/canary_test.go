package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/internal/tools/bundle"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
	"nexus/pkg/table"
)

const (
	canaryUser   = "canary-of-the-test"
	canarySecret = "a secret/with signs+"
)

// platform is `nexus dev` as a process of its own.
type platform struct {
	*testing.T
	address string
	now     time.Time
}

// startPlatform builds and starts it; it ends with the test.
func startPlatform(t *testing.T) *platform {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, bundle.Build(t.Context(), "", bundle.Here(), dir, "nexus/cmd/nexus"))
	command := exec.Command(filepath.Join(dir, "nexus"), "dev", "--store", "memory", "--addr", "127.0.0.1:0")
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		require.NoError(t, command.Process.Signal(os.Interrupt))
		require.NoError(t, command.Wait())
	})
	lines := bufio.NewReader(out)
	ready, err := lines.ReadString('\n')
	require.NoError(t, err)
	address, isReady := strings.CutPrefix(strings.TrimSpace(ready), "ready ")
	require.True(t, isReady, ready)
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return &platform{T: t, address: address, now: time.Now().UTC().Truncate(time.Minute)}
}

// post asks something of the platform itself.
func (p *platform) post(path string, body any) {
	p.Helper()
	text, err := json.Marshal(body)
	require.NoError(p, err)
	response, err := http.Post(p.address+path, "application/json", bytes.NewReader(text))
	require.NoError(p, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	require.NoError(p, err)
	require.Equal(p, http.StatusOK, response.StatusCode, "%s: %s", path, answer)
}

// moveOn lets the time of a rule pass: what is due in between is carried out.
func (p *platform) moveOn() {
	p.Helper()
	p.now = p.now.Add(size.CanaryEvery)
	p.post("/dev/clock", map[string]string{"set": p.now.Format(instantForm)})
}

// issuer gives tokens for the canary's credentials, which last for an hour, and counts them.
func issuer(t *testing.T) (address string, given *atomic.Int64) {
	t.Helper()
	given = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		w.Header().Set("Content-Type", "application/json")
		if r.Method != http.MethodPost || id != "canary" || secret != "a+secret%2Fwith+signs%2B" ||
			r.PostFormValue("grant_type") != "client_credentials" || r.PostFormValue("scope") != "nexus/read nexus/write" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"invalid_client"}`)
			return
		}
		given.Add(1)
		fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3600}`, canaryUser)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/oauth2/token", given
}

// startCanary starts the function as a user of the platform.
func startCanary(t *testing.T, api, secret string) (*function, *atomic.Int64) {
	t.Helper()
	endpoint, given := issuer(t)
	return start(t, env.Canary, map[string]string{
		"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": string(env.Canary), "AWS_SECRET_ACCESS_KEY": "local",
		env.APIAddress: api, env.TokenEndpoint: endpoint, env.TokenScope: "nexus/read nexus/write",
		env.ClientID: "canary", env.ClientSecret: secret,
	}), given
}

// canaryCall returns the event of the rule at an instant.
func canaryCall(t *testing.T, at time.Time) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "events", "canary-scheduled.json"))
	require.NoError(t, err)
	return changed(t, text, map[string]any{"time": at.Format(instantForm)})
}

func TestCanary_findsALocalSystemInOrderRunAfterRun(t *testing.T) {
	t.Parallel()
	p := startPlatform(t)
	p.post("/dev/clock", map[string]string{"set": p.now.Add(time.Minute).Format(instantForm)})
	p.now = p.now.Add(time.Minute)
	address, asked := between(t, p.address)
	f, given := startCanary(t, address, canarySecret)
	f.limit = size.For(env.Canary).Timeout
	var units [2]float64
	for run := range 6 {
		if run == 2 { // what begins once is over
			units[0], units[1] = p.used()
		}
		require.JSONEq(t, `{}`, string(f.succeed(canaryCall(t, p.now))), "run %d", run)
		p.moveOn()
		require.EqualValues(t, 2, asked[http.MethodPost].Load(), "only the first run creates something")
	}
	require.Zero(t, asked[http.MethodDelete].Load())
	reads, writes := p.used()
	requests := float64(asked[http.MethodGet].Load()+asked[http.MethodPatch].Load()) / 6
	reads, writes = (reads-units[0])/4, (writes-units[1])/4
	t.Logf("a run takes %.1f requests, %.1f read and %.1f write units", requests, reads, writes)
	require.Less(t, requests, 12.0)
	require.Less(t, reads, 80.0)
	require.Less(t, writes, 30.0)
	require.EqualValues(t, 6+5, asked[http.MethodPatch].Load(), "the task in each run, the reminder from the second on")
	require.EqualValues(t, 1, given.Load(), "a token is used until it ends")
	require.Len(t, f.logged("canary"), 6)
	require.NotContains(t, f.log.String(), canarySecret)
	require.NotContains(t, f.log.String(), canaryUser)
}

// used returns what the table has been used for since the start, by everybody.
func (p *platform) used() (reads, writes float64) {
	p.Helper()
	p.post("/dev/settle", struct{}{})
	response, err := http.Get(p.address + "/dev/metrics")
	require.NoError(p, err)
	defer response.Body.Close()
	var metrics struct{ Store map[string]table.Totals }
	require.NoError(p, json.NewDecoder(response.Body).Decode(&metrics))
	for _, used := range metrics.Store {
		reads, writes = reads+used.ReadUnits, writes+used.WriteUnits
	}
	return reads, writes
}

// between returns an address that leads to the API and counts the requests by their method.
func between(t *testing.T, api string) (address string, asked map[string]*atomic.Int64) {
	t.Helper()
	asked = map[string]*atomic.Int64{}
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		asked[method] = &atomic.Int64{}
	}
	target, err := url.Parse(api)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked[r.Method].Add(1)
		r.Host = target.Host
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func TestCanary_failsIfItsReminderDidNotRing(t *testing.T) {
	t.Parallel()
	p := startPlatform(t)
	p.post("/dev/clock", map[string]string{"set": p.now.Add(time.Minute).Format(instantForm)})
	f, _ := startCanary(t, p.address, canarySecret)
	f.limit = size.For(env.Canary).Timeout
	f.succeed(canaryCall(t, p.now))
	late := f.invoke(canaryCall(t, p.now.Add(2*size.CanaryEvery))) // the platform's clock stands
	require.NotNil(t, late.failure)
	require.Contains(t, late.failure.ErrorMessage, "has not rung by")
	require.Len(t, f.logged("invocation failed"), 1)
}

func TestCanary_failsWithoutATokenAndWithoutAnAPI(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	wrong, given := startCanary(t, server.URL, "another")
	o := wrong.invoke(canaryCall(t, present))
	require.NotNil(t, o.failure)
	require.Equal(t, "token endpoint: status 401, no access token: invalid_client", o.failure.ErrorMessage)
	require.Zero(t, given.Load())

	right, _ := startCanary(t, server.URL, canarySecret)
	o = right.invoke(canaryCall(t, present))
	require.NotNil(t, o.failure)
	require.Contains(t, o.failure.ErrorMessage, "GET /v1/tasks?status=IN_PROGRESS: answer")
	require.Contains(t, o.failure.ErrorMessage, "GET /v1/reminders/", "one failure hides no other")

	o = right.invoke([]byte(`{}`))
	require.NotNil(t, o.failure)
	require.Contains(t, o.failure.ErrorMessage, "it has no time")
}
