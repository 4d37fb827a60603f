package query

import (
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// dueElsewhere returns the places of due tasks that are not yet read, in order, without those that cannot be on this
// page. The counters follow the tasks with a delay, so the task itself decides when it is due.
func (r *reading) dueElsewhere() []place {
	var out []place
	for _, sc := range r.scans {
		if !sc.isDue {
			continue
		}
		for _, row := range sc.rows {
			p, ok := r.duePlace(sc, row)
			if _, held := r.versions[p.id]; ok && !held && r.fetched.covers(p) && p.compare(r.after) > 0 &&
				r.shows(p.start, p.start) {
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, place.compare)
	return out
}

// duePlace reads an open counter's row.
func (r *reading) duePlace(sc *scan, row item.Item) (place, bool) {
	key, err := entity.ParseSortKey(row.Str(item.AttrSK))
	if err != nil || key.Prefix != entity.RowLedger {
		return place{}, false
	}
	at, err := item.ParseInstant(row.Str(item.AttrGSI3SK)[len(sc.prefix):])
	if err != nil {
		return place{}, false
	}
	if sc.floating {
		at = item.Resolve(at, r.zone)
	}
	id := key.Components[1]
	t := r.registry.ByName(product.TypeTask)
	return place{at, id}, t != nil && entity.CheckID(t.IDPrefix, id) == nil
}
