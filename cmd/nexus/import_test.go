package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/pkg/api"
	blobmemory "nexus/pkg/blob/memory"
	"nexus/pkg/limit"
	"nexus/pkg/local"
	"nexus/pkg/product"
	"nexus/pkg/system"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

// served is the HTTP surface over a store in memory; refusing counts down the requests it asks to repeat.
func served(t *testing.T, refusing int32) (url string) {
	t.Helper()
	clock := func() time.Time { return time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) }
	store := memory.New(clock, memory.Options{})
	s, err := system.New(product.Registry(), system.Ports{
		Store: func(string) table.Store { return store }, Now: clock, NewID: uuid.NewString, NewRevisionID: uuid.NewString,
		Pause:  func(context.Context, time.Duration) error { return nil },
		Random: rand.Reader, Copies: blobmemory.New(nil),
	})
	require.NoError(t, err)
	surface := s.API(api.Config{Authenticate: api.BearerIsUser, Now: clock})
	var left atomic.Int32
	left.Store(refusing)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := left.Add(-1); n >= 0 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader([]int{http.StatusServiceUnavailable, http.StatusTooManyRequests}[n%2])
			return
		}
		surface.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func file(t *testing.T, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.ics")
	all := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + strings.Join(lines, "\r\n") + "\r\nEND:VCALENDAR\r\n"
	require.NoError(t, os.WriteFile(name, []byte(all), 0o600))
	return name
}

func TestImportCommand_readsWhatExportCommandWrote(t *testing.T) {
	t.Parallel()
	url := served(t, 0)
	name := file(t, "BEGIN:VEVENT", "UID:a", "DTSTART:20260310T090000Z", "SUMMARY:Lunch", "END:VEVENT", "BEGIN:VEVENT",
		"UID:b", "SUMMARY:x", "END:VEVENT")
	code, results, messages := nexus(t, "import", "--url", url, "--user", "ann", name)
	require.Equal(t, exitDone, code, messages)
	require.Equal(t, "1 created, 0 updated, 0 unchanged, 1 refused\n", results)
	require.Contains(t, messages, name+":8: VEVENT refused: it has no DTSTART")

	code, text, messages := nexus(t, "export", "--url", url+"/", "--user", "ann")
	require.Equal(t, exitDone, code, messages)
	require.Contains(t, text, "SUMMARY:Lunch\r\n")
	out := filepath.Join(t.TempDir(), "out.ics")
	code, results, _ = nexus(t, "export", "--url", url, "--user", "ann", "--out", out)
	require.Equal(t, exitDone, code)
	require.Empty(t, results)
	written, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, text, string(written))

	code, results, _ = nexus(t, "import", "--url", url, "--user", "ann", "--json", out)
	require.Equal(t, exitDone, code)
	require.JSONEq(t, `{"created":0,"updated":0,"unchanged":1,"refused":[],"leftOut":[],"leftOutTotal":0}`, results)
}

func TestImportReport_countsWhatIsReadAnotherWayAsTaken(t *testing.T) {
	t.Parallel()
	name := file(t, "BEGIN:VEVENT", "UID:a", "DTSTART;TZID=europe/berlin:20260310T090000", "SUMMARY:Lunch", "END:VEVENT")
	code, results, messages := nexus(t, "import", "--url", served(t, 0), "--user", "ann", name)
	require.Equal(t, exitDone, code, messages)
	require.Equal(t, "1 created, 0 updated, 0 unchanged, 0 refused\n", results)
	require.Contains(t, messages, `not taken as it stands: the zone "europe/berlin" is read as Europe/Berlin`)
	require.NotContains(t, messages, "left out")
}

func TestImportCommand_cutsALargeFileAndKeepsItsLineNumbers(t *testing.T) {
	t.Parallel()
	url := served(t, 2)
	lines := []string{"BEGIN:VEVENT", "UID:broken", "DTSTART:20260310T090000Z", "RRULE;FREQ", "SUMMARY:x", "END:VEVENT"}
	for i := range 2100 {
		lines = append(lines, "BEGIN:VEVENT", fmt.Sprintf("UID:%d", i), "DTSTART:20260310T090000Z", "SUMMARY:x", "END:VEVENT")
	}
	lines = append(lines, "BEGIN:VEVENT", "UID:last", "END:VEVENT")
	name := file(t, lines...)
	code, results, messages := nexus(t, "import", "--url", url, "--user", "ann", "--json", name)
	require.Equal(t, exitDone, code, messages)
	var report importReport
	require.NoError(t, json.Unmarshal([]byte(results), &report))
	require.Equal(t, 2100, report.Created)
	require.Len(t, report.Refused, 2)
	require.Equal(t, 3, report.Refused[0].Line)
	require.Contains(t, report.Refused[0].Reason, "RRULE")
	require.Equal(t, 3+6+5*2100, report.Refused[1].Line)
}

func TestImportCommand_asksOnceForWhatNoBucketHolds(t *testing.T) {
	t.Parallel()
	limits, err := limit.Default().With(map[string]int{limit.User: 5})
	require.NoError(t, err)
	p, err := local.Start(t.Context(), local.Options{Store: local.Memory, Addr: "127.0.0.1:0", Limits: limits})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop(context.WithoutCancel(t.Context()))) })
	at, err := url.Parse(p.URL())
	require.NoError(t, err)
	var asked atomic.Int32
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		asked.Add(1)
		r.SetURL(at)
	}}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	var lines []string
	for n := range 10 {
		lines = append(lines, "BEGIN:VEVENT", fmt.Sprintf("UID:%d", n), "DTSTART:20260310T090000Z", "END:VEVENT")
	}
	code, _, messages := nexus(t, "import", "--url", server.URL, "--user", "ann", file(t, lines...))
	require.Equal(t, exitFailed, code)
	require.Contains(t, messages, "It needs 6 points, and the full bucket holds 5")
	require.EqualValues(t, 1, asked.Load())
}

func TestImportCommand_failsWhereSomethingCannotBeImported(t *testing.T) {
	t.Parallel()
	url := served(t, 0)
	good := file(t, "BEGIN:VEVENT", "UID:a", "DTSTART:20260310T090000Z", "SUMMARY:x", "END:VEVENT")
	bad := filepath.Join(t.TempDir(), "bad.ics")
	require.NoError(t, os.WriteFile(bad, []byte("nothing"), 0o600))
	code, results, messages := nexus(t, "import", "--url", url, "--user", "ann", bad, good, "no such file")
	require.Equal(t, exitFailed, code)
	require.Contains(t, results, "1 created")
	require.Contains(t, messages, bad)
	require.Contains(t, messages, "no such file")
	code, _, messages = nexus(t, "import", "--url", url, "--user", "a b", good)
	require.Equal(t, exitFailed, code)
	require.Contains(t, messages, "Authentication required")
	for _, args := range [][]string{
		{"import", "--user", "ann", good}, {"import", "--url", url, good}, {"import", "--url", url, "--user", "ann"},
		{"export", "--url", url},
	} {
		code, _, _ = nexus(t, args...)
		require.Equal(t, exitUsage, code, args)
	}
	code, _, _ = nexus(t, "export", "--url", "http://127.0.0.1:1", "--user", "ann")
	require.Equal(t, exitFailed, code)
}
