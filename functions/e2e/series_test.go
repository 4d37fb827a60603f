package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
)

// seriesStory is the life of the payloads' one series.
var seriesStory = []string{
	"stream-series-created", "stream-occurrence-changed", "stream-occurrence-cancelled", "stream-series-deleted",
}

// occurrence is the id of the series' occurrence so many days after its first, as its payloads are moved.
func (w *fixture) occurrence(days int) string {
	return entity.InstanceID(seriesID, w.moved(present.Add(time.Hour).AddDate(0, 0, days)).Format("20060102"))
}

func TestProjections_countASeriesOnceAndKeepOccurrencesLinks(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Projections)
	note := entity.Ref{Type: product.TypeNote, ID: noteID}
	series := entity.LinkKey(user, entity.Ref{Type: entity.TypeMaster, ID: seriesID}, note)
	changed := entity.LinkKey(user, entity.Ref{Type: entity.TypeInstance, ID: w.occurrence(1)}, note)
	for i, want := range []struct {
		events          int64
		series, changed bool
	}{{1, true, false}, {1, true, true}, {1, true, true}, {0, false, false}} {
		f.handled(w.happen(seriesStory[i]))
		require.Equal(t, want.events, item.Item(w.stats()).Int(product.StatTotalEvents), seriesStory[i])
		require.Equal(t, want.series, w.row(series) != nil, seriesStory[i])
		require.Equal(t, want.changed, w.row(changed) != nil, seriesStory[i])
	}
	for _, name := range seriesStory { // delivered again, after everything has happened
		f.handled(w.now(name))
		require.Zero(t, item.Item(w.stats()).Int(product.StatTotalEvents), name)
		require.Nil(t, w.row(series), name)
		require.Nil(t, w.row(changed), name)
	}
}

func TestEffects_keepOneScheduleForASeriesNextOccurrence(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Effects)
	next := func(days int) time.Time { return w.moved(present.Add(30*time.Minute).AddDate(0, 0, days)) }
	ofSeries := reminders.ScheduleName(user, seriesID, 30)
	own := map[string]time.Time{
		reminders.ScheduleName(user, w.occurrence(1), 10): w.moved(present.Add(28*time.Hour - 10*time.Minute)),
		reminders.ScheduleName(user, w.occurrence(1), 60): w.moved(present.Add(27 * time.Hour)),
	}
	with := func(at time.Time) map[string]time.Time {
		out := map[string]time.Time{ofSeries: at}
		for name, at := range own {
			out[name] = at
		}
		return out
	}
	f.handled(w.happen("stream-series-created"))
	w.requireSchedules(map[string]time.Time{ofSeries: next(0)})
	f.handled(w.happen("stream-occurrence-changed"))
	w.requireSchedules(with(next(0)))
	f.handled(w.happen("stream-occurrence-cancelled"))
	w.requireSchedules(with(next(2))) // the second occurrence has reminders of its own
	f.handled(w.happen("stream-series-deleted"))
	w.requireSchedules(nil)
	for _, name := range seriesStory {
		f.handled(w.now(name))
		w.requireSchedules(nil)
	}
	require.Empty(t, w.services.stored(), "nothing of a series is archived")
}

func TestFunctions_serveSeriesAndCalendars(t *testing.T) {
	t.Parallel()
	w := setup(t)
	commands, queries := w.start(env.Command), w.start(env.Query)
	var out struct {
		Results []struct {
			Status         int
			Entity, Result map[string]any
		}
	}
	require.NoError(t, json.Unmarshal(commands.succeed(w.payload("command-direct-series")), &out))
	var statuses []int
	for _, r := range out.Results {
		statuses = append(statuses, r.Status)
	}
	require.Equal(t, []int{201, 200, 200, 201, 412}, statuses)
	series := out.Results[0].Entity["masterId"].(string)
	following := out.Results[3].Result["following"].(map[string]any)
	require.Equal(t, "FREQ=WEEKLY;COUNT=6", following["rrule"], "what four occurrences leave of ten")

	read := func(path string) map[string]any {
		a := queries.request(changed(t, w.payload("query-task"), map[string]any{"rawPath": path}))
		require.Equal(t, http.StatusOK, a.StatusCode, "%s: %s", path, a.Body)
		return object(t, a.Body)
	}
	require.Len(t, read("/v1/series/" + series)["instances"], 1)
	require.Len(t, read("/v1/series/" + following["masterId"].(string))["instances"], 1, "the cancelled one went along")
	require.Equal(t, "2026-03-10T18:00:00", read("/v1/events/" + entity.InstanceID(series, "20260309"))["startUtc"])

	imported := commands.request(w.payload("command-import-calendar"))
	require.Equal(t, http.StatusOK, imported.StatusCode, "%s", imported.Body)
	require.EqualValues(t, 2, object(t, imported.Body)["created"])
	again := commands.request(w.payload("command-import-calendar"))
	require.Equal(t, "true", again.Headers["idempotency-replayed"])
	require.JSONEq(t, imported.Body, again.Body)

	made := commands.request(changed(t, w.payload("command-import-calendar"), map[string]any{
		"rawPath": "/v1/me/feed", "requestContext/http/path": "/v1/me/feed", "requestContext/http/method": http.MethodPut,
		"body": nil, "isBase64Encoded": false, "headers/content-type": nil, "headers/content-length": "0",
	}))
	require.Equal(t, http.StatusOK, made.StatusCode, "%s", made.Body)
	path := object(t, made.Body)["path"].(string)
	feed := queries.request(changed(t, w.payload("query-health"), map[string]any{
		"rawPath": path, "requestContext/http/path": path, "headers/accept-encoding": nil,
	}))
	require.Equal(t, http.StatusOK, feed.StatusCode, "%s", feed.Body)
	require.Contains(t, feed.Headers["content-type"], "text/calendar")
	require.Contains(t, feed.Body, "Grüne Küche\\, verlegt")
}
