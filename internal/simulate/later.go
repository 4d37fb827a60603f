package simulate

import (
	"errors"
	"maps"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// laterForm is an unknown form of rows.
const laterForm = 1_000_000

// walkRevision counts the moves of a walk's cursor.
const walkRevision = "revision"

// rowsOfForms returns the rows of a user that have a form, each with the attribute of the form.
func (s *userState) rowsOfForms() map[item.Key]string {
	out := map[item.Key]string{}
	for _, rows := range []map[string]item.Item{
		s.deliveries, s.colds, s.walks, s.ledgers["stats"], s.ledgers["links"], s.ledgers[ownName],
	} {
		for _, row := range rows {
			if row.Has(entity.AttrForm) {
				continue // a repair of this release has staged it
			}
			out[row.Key()] = entity.AttrForm
		}
	}
	if s.own != nil {
		out[s.own.Key()] = entity.AttrForm
	}
	if s.meta.Has(product.AttrStats) {
		out[s.meta.Key()] = product.AttrStatsForm
	}
	return out
}

// rollBack leaves rows of a release that was rolled back: this one does not know their form, and must leave them
// unchanged. Records that need them are delivered again until that release is back, at the next rest at the latest.
func (h *history) rollBack() {
	if len(h.later) > 0 && h.luck.one(2) {
		h.goForward()
		return
	}
	h.absorb(nil)
	rows := h.oracle.users[h.users[h.luck.IntN(len(h.users))]].rowsOfForms()
	keys := slices.SortedFunc(maps.Keys(rows), item.Key.Compare)
	for range min(len(keys), 1+h.luck.IntN(3)) {
		key := keys[h.luck.IntN(len(keys))]
		h.label(key, rows[key])
	}
}

// overwriteLater lets a later release write rows that a worker of this one is about to write.
func (h *history) overwriteLater(writes []table.Action) {
	h.absorb(h.current)
	for _, action := range writes {
		s := h.oracle.users[userOf(action.Target())]
		if s == nil || h.later[action.Target()] != "" || !h.luck.one(2) {
			continue
		}
		if name := s.rowsOfForms()[action.Target()]; name != "" {
			h.label(action.Target(), name)
		}
	}
}

// label lets a later release write a row.
func (h *history) label(key item.Key, name string) {
	if h.mixture.former != nil {
		return // a rollback goes back by one release at most
	}
	h.happened["row of a later release"]++
	h.note("a later release wrote %s", key.SK)
	h.later[key] = name
	set := item.Item{name: item.Int(laterForm)}
	s := h.oracle.users[userOf(key)]
	switch { // every release adds to the version that its writes depend on
	case key == s.meta.Key():
		set[product.AttrStatsVersion] = item.Int(s.meta.Int(product.AttrStatsVersion) + 1)
	case s.own != nil && key == s.own.Key():
		set[ownVersion] = item.Int(s.own.Int(ownVersion) + 1)
	case s.walks[key.SK] != nil:
		set[walkRevision] = item.Int(s.walks[key.SK].Int(walkRevision) + 1)
	}
	h.relabel(table.Update{Key: key, Set: set, If: table.Exists()})
}

// goForward lets the later release process its rows: afterwards this one can read them.
func (h *history) goForward() {
	for _, key := range slices.SortedFunc(maps.Keys(h.later), item.Key.Compare) {
		name := h.later[key]
		delete(h.later, key)
		h.note("the later release goes on with %s", key.SK)
		h.relabel(table.Update{Key: key, Remove: []string{name}, If: table.Exists(table.Equal(name, item.Int(laterForm)))})
	}
}

func (h *history) relabel(u table.Update) {
	_, err := h.store.Update(noContext, u)
	var gone *table.ConditionError
	if err != nil && !errors.As(err, &gone) {
		h.violate("port", userOf(u.Key), u.Key.SK, "cannot be labelled: %v", err)
	}
	h.relabelling = true
	h.absorb(nil)
	h.relabelling = false
}

// checkLater checks that a row of an unknown form stays unchanged, and so does a sum with an unknown form in its row
// (I1).
func (h *history) checkLater(s *userState, r *record) {
	name, isLater := h.later[r.Key]
	if !isLater || h.relabelling || r.Old.Int(name) != laterForm || r.Expired {
		return
	}
	if r.by == outside || r.New == nil && r.by == commanding {
		return
	}
	if r.by == commanding && item.Equal(r.Old[product.AttrStats], r.New[product.AttrStats]) && r.New.Has(name) {
		return
	}
	h.violate("I1", s.user, r.Key.SK, "was written by a later release, and is changed by %s", h.writer.name)
}
