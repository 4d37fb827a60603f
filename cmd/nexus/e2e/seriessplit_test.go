package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

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
		got, _, err := w.insist(ctx, request{
			method: http.MethodGet, path: "/v1/events/inst_" + date + "_" + strings.TrimPrefix(k.id, "mst_"),
		})
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
		method: http.MethodPost, path: "/v1/series/" + k.id + "/split",
		body: map[string]any{"date": date, "changes": changes},
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

// takeAlong moves the exceptions from the split on to the following series. At the split itself a field that the
// changes name has the value that they give it.
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
