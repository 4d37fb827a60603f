package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDev_hidesSeriesOccurrencesAndCalendarsFromStrangers(t *testing.T) {
	t.Parallel()
	s := ephemeral(t)
	owner, stranger := s.client("owner"), s.client("stranger")
	const secret = "Sesame"
	event := owner.create("events", map[string]any{
		"title": secret, "startUtc": "2026-03-01T09:00:00Z", "startTzid": "UTC",
	})["eventId"].(string)
	series := owner.create("series", map[string]any{
		"title": secret, "startUtc": "2026-03-02T09:00:00Z", "startTzid": "UTC", "rrule": "FREQ=DAILY",
		"tags": []string{secret},
	})["masterId"].(string)
	own := stranger.create("series", map[string]any{
		"title": "own", "startUtc": "2026-03-02T09:00:00Z", "startTzid": "UTC", "rrule": "FREQ=DAILY",
	})["masterId"].(string)
	one, occurrence := "/v1/series/"+series, "inst_20260303_"+strings.TrimPrefix(series, "mst_")
	exception := one + "/instances/20260303"
	owner.do(http.StatusOK, request{
		method: http.MethodPut, path: exception, body: map[string]any{"title": secret + " again"}, match: matching(1),
	})
	feed, _ := owner.do(http.StatusOK, request{method: http.MethodPut, path: "/v1/me/feed"}).object()["path"].(string)
	require.Contains(t, string(s.anonymous().do(http.StatusOK, request{method: http.MethodGet, path: feed}).body), secret,
		"anyone who knows the address may read")
	s.waitUntilIdle()
	others := func() []row {
		return slices.DeleteFunc(s.scan(), func(r row) bool { return r.user() == "stranger" })
	}
	rows := others()

	links := func(kind, id string) []any { return []any{map[string]any{"targetType": kind, "targetId": id}} }
	for _, r := range []request{
		{method: http.MethodGet, path: one},
		{method: http.MethodGet, path: "/v1/events/" + series},
		{method: http.MethodGet, path: "/v1/events/" + occurrence},
		{method: http.MethodGet, path: "/v1/events/inst_20260304_" + strings.TrimPrefix(series, "mst_")},
		{method: http.MethodPatch, path: one, body: map[string]any{"title": "mine"}, match: matching(1)},
		{method: http.MethodDelete, path: one, match: matching(1)},
		{method: http.MethodPost, path: one + "/end", body: map[string]any{"untilUtc": "2026-03-20T00:00:00Z"},
			match: matching(1)},
		{method: http.MethodPost, path: one + "/split", body: map[string]any{"date": "20260305"}, match: matching(1)},
		{method: http.MethodPut, path: exception, body: map[string]any{"title": "mine"}, match: matching(1)},
		{method: http.MethodPut, path: exception, body: map[string]any{}, match: matching(1)},
		{method: http.MethodDelete, path: exception, match: matching(1)},
		{method: http.MethodPost, path: "/v1/series", body: map[string]any{"fromEventId": event, "rrule": "FREQ=DAILY"},
			match: matching(1)},
		{method: http.MethodPut, path: one + "/links/MASTER/" + own},
		{method: http.MethodPut, path: "/v1/series/" + own + "/links/MASTER/" + series},
		{method: http.MethodPut, path: "/v1/series/" + own + "/links/INSTANCE/" + occurrence},
		{method: http.MethodPut, path: "/v1/series/" + own + "/instances/20260303",
			body: map[string]any{"links": links("INSTANCE", occurrence)}, match: matching(1)},
		{method: http.MethodGet, path: one + "/backlinks"},
		{method: http.MethodGet, path: "/v1/me/feed"},
		{method: http.MethodGet, path: strings.Replace(feed, ".", ".A", 1)},
	} {
		got := stranger.do(http.StatusNotFound, r)
		require.NotContains(t, string(got.body), secret, "%s %s", r.method, r.path)
	}
	for _, path := range []string{
		"/v1/agenda?from=2026-03-01T00:00:00Z&to=2026-03-31T00:00:00Z",
		"/v1/agenda?from=2026-03-01T00:00:00Z&to=2026-03-31T00:00:00Z&tags=" + secret, "/v1/calendar.ics",
	} {
		got := stranger.do(http.StatusOK, request{method: http.MethodGet, path: path})
		require.NotContains(t, string(got.body), secret, path)
	}
	// The same series under the stranger's own hand is another's: ids do not cross users.
	stranger.do(http.StatusCreated, request{method: http.MethodPost, path: "/v1/series", body: map[string]any{
		"masterId": series, "title": "namesake", "startUtc": "2026-03-02T09:00:00Z", "startTzid": "UTC",
		"rrule": "FREQ=DAILY",
	}})
	stranger.do(http.StatusNoContent, request{method: http.MethodDelete, path: one, match: matching(1)})
	stranger.do(http.StatusNoContent, request{method: http.MethodDelete, path: "/v1/me/feed"})
	s.waitUntilIdle()
	require.Empty(t, changes(rows, others()), "rows of others that a stranger changed")
	require.Contains(t, string(s.anonymous().do(http.StatusOK, request{method: http.MethodGet, path: feed}).body), secret)
}
