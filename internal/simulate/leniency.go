package simulate

import (
	"strings"

	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	"nexus/pkg/verify"
)

// Rules that the release before does not keep, because it was made before they held. Each is about what that release
// itself wrote, and is listed in docs/simulation.md.

// byFormer reports whether the release before made the write that is being taken in.
func (h *history) byFormer() bool { return h.writer != nil && h.writer.isFormer }

// keepsNoEdit: the release before does not say that a write of the system leaves its user's edit as it was (I11). So
// each of its writes counts as an edit.
func (h *history) keepsNoEdit(r *record) bool {
	return h.byFormer() && r.New != nil
}

// noteIndex keeps which edges stand where the release before has them in the index, without their user. That is so
// until a repair of this release (docs/operations.md, "Exceptions").
func (s *userState) noteIndex(r *record, byFormer bool) {
	if byFormer && r.New != nil {
		s.strewn[r.Key.SK] = true
		return
	}
	if r.New == nil || !item.Equal(r.Old[item.AttrGSI4PK], r.New[item.AttrGSI4PK]) {
		delete(s.strewn, r.Key.SK)
	}
}

// isLeftByFormer says that a difference is about such an edge, or about what is kept of an item that the release before
// deleted: it does not know the row (docs/operations.md, "Exceptions").
func (h *history) isLeftByFormer(user string, d verify.Difference) bool {
	s := h.oracle.users[user]
	switch d.Kind {
	case verify.Edge:
		for sk := range s.strewn {
			if d.Key == (item.Key{PK: entity.UserPK(user), SK: sk}).String() {
				return true
			}
		}
	case verify.Kept:
		for key := range s.orphans {
			if d.Key == key.String() {
				return true
			}
		}
	}
	return false
}

// isNewRow: the release before parks the record of a row that it does not know. No filter lets such a record pass.
func (h *history) isNewRow(r *record) bool {
	sk, err := entity.ParseSortKey(r.Key.SK)
	return h.mixture.former != nil && err == nil && sk.Prefix == entity.RowKept
}

// saysNotWhatRang: the release before closes a delivery without saying which occurrence rang (I11). This release can
// tell it from the row unless a snooze ended behind its occurrence, or the row says what rang before.
func (h *history) saysNotWhatRang(r *record, rang ring) bool {
	return h.byFormer() && (!rang.occurrence.Equal(rang.done) || r.Old.Has(product.AttrFiredOccurrenceUtc))
}

// rungWants: the release before rings a floating one-time reminder once more for a user who moved to where it is still
// to come (I5). These are the wants of such a reminder.
func (h *history) rungWants(s *userState, it item.Item, byFormer bool) []expectedDelivery {
	if !byFormer || it.Str(entity.AttrType) != product.TypeReminder || it.Has(product.AttrRRule) ||
		it.Has(product.AttrTzid) || !it.Has(product.AttrDoneTriggerUtc) {
		return nil
	}
	it = it.Clone()
	delete(it, product.AttrDoneTriggerUtc)
	return s.wantsOf(it, h.now)
}

// forgetOver: that release takes from a one-time reminder that it restores that it is over (I6).
func (h *history) forgetOver(left item.Item) {
	if h.byFormer() && !left.Has(product.AttrRRule) {
		delete(left, product.AttrDoneTriggerUtc)
	}
}

// isOfRung: that release leaves a schedule for it, too (I4). Called, it finds nothing to do.
func (h *history) isOfRung(one schedule.Schedule) bool {
	s := h.oracle.users[userOfPayload(one.Payload)]
	if h.mixture.former == nil || s == nil {
		return false
	}
	for _, it := range s.items {
		for _, w := range h.rungWants(s, it, true) {
			if reminders.ScheduleName(s.user, w.id, w.offset) == one.Name && namesDue(one.Payload, w) {
				return true
			}
		}
	}
	return false
}

// blocksOnEntry: the release before gives up a record of a sum where the store refuses the ledger row of the last
// entry, another item's, for good (I8). This release takes the entry back out.
func (w *worker) blocksOnEntry(c *curse, parked consume.Parked) bool {
	return w.isFormer && c.harm == refusal && strings.Contains(parked.Reason, ": put ledger row of ")
}
