package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"
)

// series is one step about series: its owner alone changes which dates a series has and what differs on them; anybody
// may change the rest of it, or link it.
func (w *worker) series(ctx context.Context) error {
	k := w.told.among(w.user, w.rand.Int(), func(k *known) bool { return k.kind == "MASTER" && w.own(k) })
	n := w.rand.IntN(20)
	switch {
	case k == nil || n < 3:
		return w.createSeries(ctx)
	case n < 10:
		return w.exception(ctx, k)
	case n < 13:
		return w.reshape(ctx, k)
	case n < 16:
		return w.split(ctx, k)
	case n < 18:
		return w.end(ctx, k)
	default:
		return w.promote(ctx)
	}
}

func (w *worker) createSeries(ctx context.Context) error {
	fields := w.seriesFields()
	for name, v := range fields {
		if v == nil {
			delete(fields, name)
		}
	}
	if w.rand.IntN(2) == 0 {
		fields["masterId"] = "mst_" + w.uuid()
	}
	got, err := w.ask(ctx, request{method: http.MethodPost, path: "/v1/series", body: fields, key: w.key()})
	if err == nil && got.status != http.StatusCreated {
		err = fmt.Errorf("create series %s: %s", text(fields), got)
	}
	if err == nil {
		w.told.created(w.user, "MASTER", w.number, got.object())
	}
	return err
}

// seriesFields are those of an event with its times, and a rule.
func (w *worker) seriesFields() map[string]any {
	fields := w.fields("EVENT")
	if fields["isAllDay"] == false && fields["startTzid"] != nil && w.rand.IntN(2) == 0 {
		fields["status"] = "CONFIRMED" // with reminders, in a zone: what schedules are recounted of
	}
	fields["rrule"] = []string{
		"FREQ=DAILY", "FREQ=DAILY;COUNT=40", "FREQ=WEEKLY;BYDAY=MO,WE,FR", "FREQ=WEEKLY;INTERVAL=2",
		"FREQ=DAILY;INTERVAL=3;COUNT=12",
	}[w.rand.IntN(5)]
	return fields
}

// insistAt repeats a request about a version, each time with the version that the answer named as the present one and
// a new key, until it is not stale.
func (w *worker) insistAt(ctx context.Context, r request, version int64) (got answer, sent int64, err error) {
	for range 100 {
		r.match, r.key = matching(version), w.key()
		got, err = w.ask(ctx, r)
		if err != nil || got.status != http.StatusPreconditionFailed {
			return got, version, err
		}
		if version, err = wholeNumber(got.object(), "currentVersion"); err != nil {
			return got, version, fmt.Errorf("%s %s: %s", r.method, r.path, got)
		}
	}
	return got, version, fmt.Errorf("%s %s: stale a hundred times", r.method, r.path)
}

// master returns the series as its owner knows it: no other client changes its dates.
func (w *worker) master(k *known) row {
	w.told.mu.Lock()
	defer w.told.mu.Unlock()
	return row(k.entity)
}

// offered are the dates that steps pick from.
const offered = 12

// exception changes, cancels or takes back one occurrence.
func (w *worker) exception(ctx context.Context, k *known) error {
	dates := w.master(k).first(w.load.system.t, offered)
	date := dates[w.rand.IntN(len(dates))]
	id := "inst_" + date + "_" + strings.TrimPrefix(k.id, "mst_")
	now, _, err := w.insist(ctx, request{method: http.MethodGet, path: "/v1/events/" + id})
	version, wrong := wholeNumber(now.object(), "version")
	if err = errors.Join(err, wrong); err != nil {
		return fmt.Errorf("read occurrence %s of %s: %s: %w", date, text(k.entity), now, err)
	}
	r := request{method: http.MethodPut, path: "/v1/series/" + k.id + "/instances/" + date}
	n := w.rand.IntN(10)
	switch {
	case n < 2:
		r.method = http.MethodDelete
	case n < 4:
		r.body = map[string]any{}
	default:
		r.body = w.ownFields(k, row(now.object()))
	}
	got, _, err := w.insistAt(ctx, r, version)
	if err != nil {
		return err
	}
	if got.status == http.StatusNotFound && r.body != nil && r.body.(map[string]any)["links"] != nil {
		return nil // the link's target has been deleted since
	}
	shown := row(got.object())
	if got.status != http.StatusOK || shown.text("eventId") != id {
		return fmt.Errorf("occurrence %s with %s: %s", id, text(r.body), got)
	}
	w.told.writes.Add(1)
	if shown["modifiedFields"] == nil {
		delete(k.exceptions, date)
		return nil
	}
	if k.exceptions == nil {
		k.exceptions = map[string]row{}
	}
	k.exceptions[date] = shown
	return nil
}

// ownFields are the fields that an occurrence is to have of its own: at least a title that was never used.
func (w *worker) ownFields(k *known, now row) map[string]any {
	out := map[string]any{"title": "exception " + w.key()}
	if w.rand.IntN(3) == 0 {
		out["tags"] = []any{[]string{"own"}, nil}[w.rand.IntN(2)]
	}
	master := w.master(k)
	if isTimed := now.text("startUtc") != ""; isTimed && w.rand.IntN(2) == 0 {
		moved := now.wall(w.load.system.t, "startUtc").Add(time.Duration(w.rand.IntN(60)-30) * time.Hour)
		out["startUtc"] = moved.Format(reading)
		if master.text("startTzid") != "" {
			out["startUtc"] = moved.Format(time.RFC3339)
		}
	}
	if master.text("startTzid") != "" && w.rand.IntN(3) == 0 {
		out["reminderMinutes"] = []any{w.offsets(), nil}[w.rand.IntN(2)]
	}
	if target := w.told.among(w.user, w.rand.Int(), func(t *known) bool { return t != k }); target != nil &&
		w.rand.IntN(3) == 0 {
		out["links"] = []any{map[string]any{"targetType": target.kind, "targetId": target.id}}
	}
	return out
}

// reshape gives a series other times or another rule.
func (w *worker) reshape(ctx context.Context, k *known) error {
	patch := w.seriesFields()
	switch w.rand.IntN(3) {
	case 0: // only the rule
		patch = map[string]any{"title": patch["title"], "rrule": patch["rrule"], "rruleUntil": nil}
	case 1: // only a date
		dates := w.master(k).first(w.load.system.t, offered)
		patch = map[string]any{"title": patch["title"], "exdate": dates[len(dates)-1:]}
		if len(dates) == 1 {
			patch["exdate"] = nil
		}
	default:
		patch["exdate"], patch["rruleUntil"] = nil, nil
	}
	version, _, _ := w.told.present(k)
	got, _, err := w.insistAt(ctx, request{method: http.MethodPatch, path: "/v1/series/" + k.id, body: patch}, version)
	if err != nil {
		return err
	}
	if got.status != http.StatusOK {
		return fmt.Errorf("reshape %s with %s: %s", text(k.entity), text(patch), got)
	}
	w.told.changed(k, got.object())
	w.prune(k, got.object())
	return nil
}

// prune forgets the exceptions whose dates the series has lost.
func (w *worker) prune(k *known, entity map[string]any) {
	maps.DeleteFunc(k.exceptions, func(date string, _ row) bool { return !row(entity).occursOn(w.load.system.t, date) })
}

func (w *worker) end(ctx context.Context, k *known) error {
	master := w.master(k)
	dates := master.first(w.load.system.t, offered)
	if master.text("rruleUntil") != "" || len(dates) < 2 {
		return nil
	}
	day, err := time.Parse("20060102", dates[w.rand.IntN(len(dates)-1)+1])
	if err != nil {
		return err
	}
	until := day.Add(12 * time.Hour).Format(reading)
	if master.text("startTzid") != "" {
		until += "Z"
	}
	version, _, _ := w.told.present(k)
	got, _, err := w.insistAt(ctx, request{method: http.MethodPost, path: "/v1/series/" + k.id + "/end",
		body: map[string]any{"untilUtc": until}}, version)
	if err != nil {
		return err
	}
	if got.status != http.StatusOK {
		return fmt.Errorf("end %s at %s: %s", text(k.entity), until, got)
	}
	w.told.changed(k, got.object())
	w.prune(k, got.object())
	return nil
}

// promote makes a series out of an event.
func (w *worker) promote(ctx context.Context) error {
	k := w.told.among(w.user, w.rand.Int(), func(k *known) bool { return k.kind == "EVENT" && w.own(k) })
	if k == nil {
		return nil
	}
	w.told.claim(k)
	version, _, _ := w.told.present(k)
	body := map[string]any{"fromEventId": k.id, "rrule": "FREQ=DAILY;COUNT=10"}
	got, _, err := w.insistAt(ctx, request{method: http.MethodPost, path: "/v1/series", body: body}, version)
	if err != nil {
		return err
	}
	if got.status != http.StatusCreated {
		return fmt.Errorf("series of %s: %s", text(k.entity), got)
	}
	w.told.gone(k)
	w.told.created(w.user, "MASTER", w.number, got.object())
	return nil
}

// snooze puts off a reminder, recurring or not.
func (w *worker) snooze(ctx context.Context) error {
	k := w.told.among(w.user, w.rand.Int(), func(k *known) bool { return k.kind == "REMINDER" })
	if k == nil {
		return nil
	}
	body := map[string]any{"minutes": 45 + 60*w.rand.IntN(100)}
	got, err := w.ask(ctx, request{
		method: http.MethodPost, path: "/v1/reminders/" + k.id + "/snooze", body: body, key: w.key(),
	})
	switch {
	case err != nil:
		return err
	case got.status == http.StatusOK:
		w.told.changed(k, got.object())
		return nil
	}
	return w.unlessGone(k, got, http.StatusGone)
}
