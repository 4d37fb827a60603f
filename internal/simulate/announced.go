package simulate

import (
	"encoding/json"
	"maps"
	"slices"

	"nexus/pkg/archive"
	"nexus/pkg/bus"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// happening identifies an announcement of the archive: the outcome, the item and its version.
type happening struct {
	user, kind, item string
	version          int64
}

// announcement is the required content of an announcement.
type announcement struct {
	happening
	at     string
	record *record
	detail string // of the first event
	told   int
}

// noteHappening records a write of an entity that the archive must announce (docs/contracts.md): a task became
// ARCHIVED, an item left the table, an item was restored.
func (h *history) noteHappening(s *userState, r *record, ref entity.Ref) {
	what := happening{user: s.user, item: ref.ID, version: r.New.Int(entity.AttrVersion)}
	var at string
	switch {
	case r.Expired && h.registry.ByName(ref.Type).Retention != nil:
		what.kind, what.version, at = archive.ItemExpired, r.Old.Int(entity.AttrVersion)+1, item.FormatInstant(r.Created)
	case r.New.Has(entity.AttrRestoredAt) && r.New.Str(entity.AttrRestoredAt) != r.Old.Str(entity.AttrRestoredAt):
		what.kind, at = archive.ItemRestored, r.New.Str(entity.AttrRestoredAt)
	case ref.Type == product.TypeTask && r.New.Str(entity.AttrStatus) == product.StatusArchived &&
		r.Old.Str(entity.AttrStatus) != product.StatusArchived:
		what.kind, at = archive.TaskArchived, r.New.Str(product.AttrArchivedAt)
	default:
		return
	}
	if h.oracle.happenings[what] != nil {
		h.violate("I6", s.user, ref.ID, "is %s at version %d a second time", what.kind, what.version)
	}
	a := &announcement{happening: what, at: at, record: r}
	h.oracle.happenings[what] = a
	h.oracle.toTell = append(h.oracle.toTell, a)
}

// announced checks an event of the archive when it reaches the bus. The event must be true, be the same each time, and
// have a unique delivery id.
func (h *history) announced(e bus.Event) {
	var detail struct {
		DeliveryID, UserID, OccurredAt, ItemType, ItemID string
		Version                                          int64
	}
	if err := json.Unmarshal(e.Detail, &detail); err != nil {
		h.violate("I6", "", string(e.Detail), "%v", err)
		return
	}
	h.note("  published %s %s", e.Type, e.Detail)
	if h.current != nil && !h.current.users[detail.UserID] {
		h.violate("I9", detail.UserID, detail.ItemID, "an event for somebody else")
		return
	}
	a := h.oracle.happenings[happening{detail.UserID, e.Type, detail.ItemID, detail.Version}]
	if a == nil || a.at != detail.OccurredAt || h.registry.ByID(a.item).Name != detail.ItemType {
		h.violate("I6", detail.UserID, detail.ItemID, "%s at version %d at %s is announced, and did not happen", e.Type,
			detail.Version, detail.OccurredAt)
		return
	}
	if other := h.oracle.deliveries[detail.DeliveryID]; other != nil && other != a {
		h.violate("I6", a.user, a.item, "%s has the deliveryId of %s of %s at version %d", a.kind, other.kind, other.item,
			other.version)
	}
	h.oracle.deliveries[detail.DeliveryID] = a
	if a.told++; a.told > 1 {
		h.happened["archive event again"]++
	}
	if a.detail == "" {
		a.detail = string(e.Detail)
	}
	if a.detail != string(e.Detail) {
		h.violate("I6", a.user, a.item, "%s is announced as %s, and was as %s", a.kind, e.Detail, a.detail)
	}
	h.happened["event "+a.kind]++
}

// checkAnnounced checks, when all is quiet, that everything was announced.
func (h *history) checkAnnounced() {
	for _, a := range h.oracle.toTell {
		if a.told == 0 && !h.oracle.forgotten[archive.Name+a.record.Sequence] {
			h.violate("I6", a.user, a.item, "%s at version %d, and nobody was told", a.kind, a.version)
		}
	}
}

// listPage is so small that a list of cold copies has several pages.
const listPage = 2

// checkListed checks that the list of cold copies equals the rows of the table.
func (h *history) checkListed(s *userState) {
	var start table.Position
	ids := slices.Sorted(maps.Keys(s.colds))
	for {
		page, next, err := h.system.Archive.List(noContext, s.user, listPage, start)
		if err != nil {
			h.violate("I6", s.user, "list", "%v", err)
			return
		}
		for _, c := range page {
			if len(ids) == 0 || c.Ref.ID != ids[0] || c.Version != s.colds[c.Ref.ID].Int(entity.AttrVersion) {
				h.violate("I6", s.user, c.Ref.ID, "is in the list of cold copies at version %d, want %v", c.Version, ids)
				return
			}
			ids = ids[1:]
		}
		if len(next) == 0 {
			break
		}
		start = next
	}
	if len(ids) > 0 {
		h.violate("I6", s.user, ids[0], "is missing in the list of cold copies")
	}
}
