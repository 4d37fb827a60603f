package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// series is one step about series: its owner alone changes which dates a series has and what differs on them; anybody may
// change the rest of it, or link it.
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
	fields["rrule"] = []string{"FREQ=DAILY", "FREQ=DAILY;COUNT=40", "FREQ=WEEKLY;BYDAY=MO,WE,FR", "FREQ=WEEKLY;INTERVAL=2", "FREQ=DAILY;INTERVAL=3;COUNT=12"}[w.rand.IntN(5)]
	return fields
}

// insistAt repeats a request about a version, each time with the version that it was told to be the present one and a new
// key, until it is not stale.
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

// present is the series as its owner knows it: nobody else changes its dates.
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
		return nil // the link's target was deleted meanwhile
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

// ownFields are what an occurrence is to have of its own: at least a title that nobody has used.
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
	if target := w.told.among(w.user, w.rand.Int(), func(t *known) bool { return t != k }); target != nil && w.rand.IntN(3) == 0 {
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
	got, _, err := w.insistAt(ctx, request{method: http.MethodPost, path: "/v1/series/" + k.id + "/end", body: map[string]any{"untilUtc": until}}, version)
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

// split lets a new series go on from one of the occurrences, with another title or an hour later.
func (w *worker) split(ctx context.Context, k *known) error {
	before := w.master(k)
	dates := before.first(w.load.system.t, offered)
	if len(dates) < 2 {
		return nil
	}
	date := dates[1+w.rand.IntN(len(dates)-1)]
	changes := map[string]any{"title": "second half " + w.key()}
	if w.rand.IntN(3) == 0 && before.text("startUtc") != "" {
		got, _, err := w.insist(ctx, request{method: http.MethodGet, path: "/v1/events/inst_" + date + "_" + strings.TrimPrefix(k.id, "mst_")})
		if err != nil {
			return err
		}
		if at := row(got.object()); !at.owns(spanMembers...) {
			moved := at.wall(w.load.system.t, "startUtc").Add(time.Hour)
			changes["startUtc"] = moved.Format(reading)
			if before.text("startTzid") != "" {
				changes["startUtc"] = moved.Format(time.RFC3339)
			}
		}
	}
	version, _, _ := w.told.present(k)
	got, _, err := w.insistAt(ctx, request{
		method: http.MethodPost, path: "/v1/series/" + k.id + "/split", body: map[string]any{"date": date, "changes": changes},
	}, version)
	if err != nil {
		return err
	}
	ended, _ := got.object()["ended"].(map[string]any)
	following, _ := got.object()["following"].(map[string]any)
	if got.status == http.StatusUnprocessableEntity && strings.Contains(string(got.body), "clocks skip") {
		return nil
	}
	if got.status != http.StatusCreated || ended == nil || following == nil {
		return fmt.Errorf("split %s at %s: %s", text(k.entity), date, got)
	}
	w.told.changed(k, ended)
	w.told.created(w.user, "MASTER", w.number, following)
	w.takeAlong(k, following, date, changes)
	w.prune(k, ended)
	if changes["startUtc"] != nil {
		return nil
	}
	const many = 100
	halves := slices.Concat(row(ended).first(w.load.system.t, many), row(following).first(w.load.system.t, many))
	if whole := before.first(w.load.system.t, many); !slices.Equal(halves[:min(len(halves), many)], whole) {
		return fmt.Errorf("split %s at %s: %v became %v", text(before), date, whole, halves)
	}
	return nil
}

// takeAlong moves the exceptions from the split on to the following series. At the split itself a field that the changes
// name is what they say.
func (w *worker) takeAlong(k *known, following map[string]any, date string, changes map[string]any) {
	w.told.mu.Lock()
	next := w.told.entities[w.user+"/"+row(following).text("masterId")]
	w.told.mu.Unlock()
	next.exceptions = map[string]row{}
	for at, e := range k.exceptions {
		if at < date || !row(following).occursOn(w.load.system.t, at) {
			continue
		}
		if at == date {
			var left []any
			for _, name := range e.dates("modifiedFields") {
				isTime := changes["startUtc"] != nil && slices.Contains(spanMembers, name)
				if changes[name] == nil && !isTime {
					left = append(left, name)
				}
			}
			if left == nil {
				continue
			}
			e = maps.Clone(e)
			e["modifiedFields"] = left
		}
		next.exceptions[at] = e
	}
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
	got, err := w.ask(ctx, request{method: http.MethodPost, path: "/v1/reminders/" + k.id + "/snooze", body: body, key: w.key()})
	switch {
	case err != nil:
		return err
	case got.status == http.StatusOK:
		w.told.changed(k, got.object())
		return nil
	}
	return w.unlessGone(k, got)
}

// compareExceptions holds what owners were shown of the occurrences that differ against the table: those rows in force and
// no others, each with what it was given of its own.
func (a *acknowledged) compareExceptions(rows []row) (differences []string) {
	left := map[string]row{}
	for _, k := range a.entities {
		if k.kind == "MASTER" && !k.deleted {
			for date, e := range k.exceptions {
				left[fmt.Sprintf("USER#%s/INSTANCE#%s#%s", k.user, k.id, date)] = e
			}
		}
	}
	for _, r := range rows {
		if r.kind() != "INSTANCE" || r["modifiedFields"] == nil {
			continue
		}
		want := left[r.key()]
		if want == nil {
			differences = append(differences, "exception that nobody was shown: "+r.String())
			continue
		}
		delete(left, r.key())
		for _, name := range append(want.dates("modifiedFields"), "modifiedFields") {
			got := r[name]
			if at := r.text(name); (name == "startUtc" || name == "endUtc") && r["startTzid"] == nil {
				got = strings.TrimSuffix(at, "Z")
				if at == "" {
					got = nil
				}
			}
			if text(got) != text(want[name]) {
				differences = append(differences, fmt.Sprintf("exception %s: %s is %s, acknowledged %s", r.key(), name, text(got), text(want[name])))
			}
		}
	}
	for key, e := range left {
		differences = append(differences, fmt.Sprintf("exception %s was acknowledged and is lost: %s", key, text(e)))
	}
	return differences
}
