package query

import (
	"context"
	"fmt"
	"slices"

	"nexus/pkg/entity"
)

// maxDue is how many tasks are fetched for their due time at once: one batch, and as many as a page can hold.
const maxDue = MaxLimit

// fetchDue reads the tasks that fall due in the window and were not found by their start, at most [maxDue] of them. The counters lag behind the tasks, so it is the task that says when it is due.
func (r *reading) fetchDue(ctx context.Context) error {
	wanted := r.dueElsewhere()
	if len(wanted) > maxDue {
		r.due.limit(wanted[maxDue-1])
		wanted = wanted[:maxDue]
	}
	if len(wanted) == 0 {
		return nil
	}
	keys := make([]entity.Key, len(wanted))
	for i, p := range wanted {
		keys[i] = entity.ItemKey(r.user, entity.Ref{Type: entity.TypeTask, ID: p.id})
	}
	rows, err := r.store.BatchGet(ctx, keys)
	if err != nil {
		return fmt.Errorf("read the tasks of %s that fall due: %w", r.user, err)
	}
	for _, row := range rows {
		if r.keepsTags(row) {
			r.file(row)
		}
	}
	return nil
}

// dueElsewhere returns the places of due tasks that are not at hand, in order, without those that cannot be on this page.
func (r *reading) dueElsewhere() []place {
	entries, known := r.entries()
	if len(entries) > r.limit {
		known.limit(entries[r.limit].place)
	}
	var out []place
	for _, sc := range r.scans {
		if !sc.isDue {
			continue
		}
		for _, row := range sc.rows {
			p, ok := r.duePlace(sc, row)
			if _, held := r.items[p.id]; ok && !held && known.covers(p) && p.compare(r.after) > 0 && r.shows(p.start, p.start) {
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, place.compare)
	return out
}

// duePlace reads an open counter's row.
func (r *reading) duePlace(sc *scan, row entity.Item) (place, bool) {
	key, err := entity.ParseSortKey(row.Str(entity.AttrSK))
	if err != nil || key.Prefix != entity.RowLedger {
		return place{}, false
	}
	at, err := entity.ParseInstant(row.Str(entity.AttrGSI3SK)[len(sc.prefix):])
	if err != nil {
		return place{}, false
	}
	if sc.floating {
		at = entity.Resolve(at, r.zone)
	}
	id := key.Components[1]
	t := r.registry.Named(entity.TypeTask)
	return place{at, id}, t != nil && entity.CheckID(t.IDPrefix, id) == nil
}
