package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// numbers are those of the tables in docs/limits.md, but for the edge, which only AWS has.
func numbers(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "limits.md"))
	require.NoError(t, err)
	limits, _, _ := strings.Cut(string(text), "\n## The edge\n")
	out := map[string]int{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| ([0-9,]+)").FindAllStringSubmatch(limits, -1) {
		n, err := strconv.Atoi(strings.ReplaceAll(row[2], ",", ""))
		require.NoError(t, err)
		out[row[1]] = n
	}
	require.Len(t, out, 18, "%v", out)
	return out
}

// commands are so many of a batch, each under an id of its own.
func commands(n int, kind string, data func(int) map[string]any) map[string]any {
	all := make([]any, n)
	for i := range all {
		all[i] = map[string]any{"id": fmt.Sprintf("%d-%d", rand.Uint64(), i), "type": kind, "data": data(i)}
	}
	return map[string]any{"commands": all}
}

func note(int) map[string]any { return map[string]any{"title": "x"} }

func batch(body map[string]any) request {
	return request{method: http.MethodPost, path: "/v1/commands", body: body}
}

// A batch and an import pay before their first write, at the prices of docs/limits.md. What is refused is not done. A
// user who waits as told finds the bucket full.
func TestDev_takesPointsForBatchesAndImportsBeforeTheyWrite(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(seed(t), 2))
	points := 60 + chance.IntN(40)
	s := ephemeral(t, "--limit", "user="+strconv.Itoa(points))
	policy := fmt.Sprintf(`"user";q=%d;w=60`, points)
	device := s.client("device")
	most := points/2 + 1 + chance.IntN(points/2)
	first := device.do(http.StatusOK, batch(commands(most, "CreateNote", note)))
	require.Equal(t, policy, first.header.Get("RateLimit-Policy"), "a batch always asks")
	refused := device.do(http.StatusTooManyRequests, batch(commands(most, "CreateNote", note)))
	wait := requireRefused(t, refused, "user", policy)
	s.client("another").do(http.StatusOK, batch(commands(most, "CreateNote", note)))
	s.advance(wait)
	require.Len(t, device.list("/v1/notes"), most, "nothing of a refused batch is done")
	s.advance(time.Minute)
	device.do(http.StatusOK, batch(commands(most, "CreateNote", note)))
	for range 2 { // it never passes
		s.advance(time.Hour)
		requireTooMuch(t, device.do(http.StatusRequestEntityTooLarge, batch(commands(100, "CreateNote", note))), 100, points)
	}
	require.Len(t, device.list("/v1/notes"), 2*most)

	importer, events := s.client("importer"), 2*(points-2)
	s.advance(time.Minute)
	status, body, _ := importer.imports(t.Context(), calendarOf(events), "first")
	require.Equal(t, http.StatusOK, status, "%s", body)
	status, body, replayed := importer.imports(t.Context(), calendarOf(events), "first")
	require.Equal(t, http.StatusOK, status, "a repetition is one point: %s", body)
	require.True(t, replayed)
	status, body, _ = importer.imports(t.Context(), calendarOf(events), "second")
	require.Equal(t, http.StatusTooManyRequests, status, "%s", body)
	s.advance(time.Minute)
	status, body, _ = importer.imports(t.Context(), calendarOf(2*points), "third")
	requireTooMuch(t, answer{status: status, body: body}, points+1, points)
}

// calendarOf is a calendar of so many events.
func calendarOf(events int) string {
	text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\n"
	for n := range events {
		text += fmt.Sprintf("BEGIN:VEVENT\r\nUID:%d@example.com\r\nDTSTAMP:20260301T120000Z\r\nDTSTART:20300101T090000Z\r\n"+
			"SUMMARY:x\r\nEND:VEVENT\r\n", n)
	}
	return text + "END:VCALENDAR\r\n"
}

// requireTooMuch checks the documented refusal of what no bucket holds.
func requireTooMuch(t *testing.T, got answer, points, limit int) {
	t.Helper()
	body := got.object()
	require.Equal(t, http.StatusRequestEntityTooLarge, got.status, "%s", got)
	require.Equal(t, "/problems/exceeds-rate", body["type"], "%s", got)
	for name, want := range map[string]int{"points": points, "limit": limit} {
		n, err := wholeNumber(body, name)
		require.NoError(t, err)
		require.EqualValues(t, want, n, name)
	}
}

// A change of the zone inside a batch is refused in its own result, with the seconds to wait.
func TestDev_refusesTheSecondZoneOfABatchInItsResult(t *testing.T) {
	t.Parallel()
	s := ephemeral(t)
	c := s.client("traveller")
	zones := []string{"Asia/Tokyo", "Europe/Berlin", "UTC"}
	body := commands(3, "UpdateMe", func(n int) map[string]any { return map[string]any{"defaultTzid": zones[n]} })
	for n, command := range body["commands"].([]any) {
		command.(map[string]any)["expectedVersion"] = min(n, 1)
	}
	results := c.do(http.StatusOK, batch(body)).object()["results"].([]any)
	require.Len(t, results, 3)
	for n, result := range results {
		r := result.(map[string]any)
		status, err := wholeNumber(r, "status")
		require.NoError(t, err)
		if n == 0 {
			require.EqualValues(t, http.StatusOK, status, "%v", r)
			continue
		}
		require.EqualValues(t, http.StatusTooManyRequests, status, "%v", r)
		problem := r["problem"].(map[string]any)
		require.Equal(t, "/problems/rate-limited", problem["type"])
		wait, err := wholeNumber(problem, "retryAfter")
		require.NoError(t, err)
		require.InDelta(t, 30, wait, 30)
	}
	require.Equal(t, "Asia/Tokyo", c.get("/v1/me")["defaultTzid"])
}

// Each command of a batch has its own answer on a quota, a deletion is never refused, and the settings tell of what is
// nearly full.
func TestDev_judgesEachCommandOfABatchByTheQuota(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(seed(t), 3))
	q := quota{name: "notes", number: 5 + chance.IntN(5)}
	s := ephemeral(t, limits(q)...)
	c := s.client("writer")
	c.do(http.StatusOK, batch(commands(q.number, "CreateNote", note)))
	s.recountQuotas(q)
	near := c.get("/v1/me")["nearLimits"].([]any)
	require.Len(t, near, 1)
	require.Equal(t, q.name, near[0].(map[string]any)["quota"])
	made, _ := s.useUp(c, quota{name: q.name, number: 0, use: quotas()[1].use}) // until it is asked
	first := c.list("/v1/notes")[0]
	last := map[string]any{"noteId": first["noteId"]}
	body := map[string]any{"commands": []any{
		map[string]any{"id": "a", "type": "CreateNote", "data": map[string]any{"title": "x"}},
		map[string]any{"id": "b", "type": "CreateTask", "data": map[string]any{"title": "x"}},
		map[string]any{"id": "c", "type": "DeleteNote", "data": last, "expectedVersion": 1},
	}}
	results := c.do(http.StatusOK, batch(body)).object()["results"].([]any)
	for n, want := range []int64{http.StatusConflict, http.StatusCreated, http.StatusNoContent} {
		status, err := wholeNumber(results[n].(map[string]any), "status")
		require.NoError(t, err)
		require.Equal(t, want, status, "%v", results[n])
	}
	problem := results[0].(map[string]any)["problem"].(map[string]any)
	require.Equal(t, "/problems/quota-reached", problem["type"])
	require.Equal(t, q.name, problem["quota"])
	require.Len(t, c.list("/v1/notes"), q.number+len(made)-1)
}

// Exports are counted exactly: one is open at a time, and a number are begun within 24 hours, ended ones too.
func TestDev_countsExportsExactly(t *testing.T) {
	t.Parallel()
	defaults := numbers(t)
	full := func(got answer, name string, number int) {
		t.Helper()
		requireFull(t, quota{name: name, number: number}, got)
	}
	s := ephemeral(t)
	c := s.client("collector")
	ask := request{method: http.MethodPost, path: "/v1/me/exports"}
	for n := range defaults["daily-exports"] {
		at := c.do(http.StatusAccepted, ask).header.Get("Location")
		s.waitUntilIdle()
		if n == 1 {
			url := c.get(at)["url"].(string)
			c.do(http.StatusNoContent, request{method: http.MethodDelete, path: at})
			got, err := s.anonymous().call(t.Context(), request{method: http.MethodGet, path: url})
			require.NoError(t, err)
			require.Contains(t, []int{http.StatusNotFound, http.StatusForbidden, http.StatusGone}, got.status, "%s", got)
		}
		s.advance(time.Hour)
	}
	full(c.do(http.StatusConflict, ask), "daily-exports", defaults["daily-exports"])
	s.client("another").do(http.StatusAccepted, ask)
	s.advance(20 * time.Hour)
	full(c.do(http.StatusConflict, ask), "daily-exports", defaults["daily-exports"])
	s.advance(time.Hour + time.Minute) // 24 hours after the first
	c.do(http.StatusAccepted, ask)
	s.waitUntilIdle()
	full(c.do(http.StatusConflict, ask), "daily-exports", defaults["daily-exports"])

	many := ephemeral(t, "--limit", "daily-exports=1000")
	hasty, open := many.client("hasty"), false
	for range 300 {
		got, err := hasty.call(t.Context(), ask)
		require.NoError(t, err)
		if got.status != http.StatusAccepted {
			full(got, "open-exports", defaults["open-exports"])
			open = true
			break
		}
	}
	require.True(t, open, "another export is refused while one is open")
	many.waitUntilIdle()
	hasty.do(http.StatusAccepted, ask)
}

// The rates have the numbers of the document, where nothing else is set. A guessed address counts for no user, an
// address of another form is refused, and the calendar at its address is no part of the user's rate.
func TestDev_hasTheRatesOfTheDocument(t *testing.T) {
	t.Parallel()
	defaults := numbers(t)
	s := ephemeral(t)
	c := s.client("reader")
	policy := c.do(http.StatusOK, batch(commands(21, "CreateNote", note))).header
	require.Equal(t, fmt.Sprintf(`"user";q=%d;w=60`, defaults["user"]), policy.Get("RateLimit-Policy"))
	path := c.do(http.StatusOK, request{method: http.MethodPut, path: "/v1/me/feed"}).object()["path"].(string)
	guess := path[:len(path)-len(".ics")-8] + "AAAAAAAA.ics"
	anyone := s.anonymous()
	want := fmt.Sprintf(`"feed";q=%d;w=3600`, defaults["feed"])
	for n := range defaults["feed"] {
		anyone.do(http.StatusNotFound, request{method: http.MethodGet, path: guess})
		got := anyone.do(http.StatusOK, request{method: http.MethodGet, path: path})
		require.Equal(t, want, got.header.Get("RateLimit-Policy"), "read %d", n)
	}
	refused := anyone.do(http.StatusTooManyRequests, request{method: http.MethodGet, path: path})
	wait := requireRefused(t, refused, "feed", want)
	require.LessOrEqual(t, wait, time.Minute)
	anyone.do(http.StatusNotFound, request{method: http.MethodGet, path: "/feed/x.ics"})
	renewed := c.do(http.StatusOK, request{method: http.MethodPut, path: "/v1/me/feed"}).object()["path"].(string)
	anyone.do(http.StatusTooManyRequests, request{method: http.MethodGet, path: renewed})
	c.get("/v1/me")
	s.advance(time.Minute)
	anyone.do(http.StatusOK, request{method: http.MethodGet, path: renewed})
}
