package simulate

import (
	"regexp"
	"slices"
	"strings"

	"nexus/pkg/consume"
	"nexus/pkg/entity"
	logrow "nexus/pkg/entity/device"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/reminders"
	"nexus/pkg/schedule"
	"nexus/pkg/schedule/memory"
	"nexus/pkg/verify"
)

// Rules that the release before does not follow, because it is older than they are. Each concerns rows that that
// release itself wrote, and is listed in docs/simulation.md.

// byFormer reports whether the release before made the present write.
func (h *history) byFormer() bool { return h.writer != nil && h.writer.isFormer }

// keepsNoEdit reports a write of the release before without the mark that a system's write leaves the user's edit
// unchanged (I11). So each of its writes counts as an edit.
func (h *history) keepsNoEdit(r *record) bool {
	return h.byFormer() && r.New != nil
}

// noteIndex records the edges that have the release before's index keys, without their user. That is so until a repair
// of this release (docs/operations.md, "Exceptions").
func (s *userState) noteIndex(r *record, byFormer bool) {
	if byFormer && r.New != nil {
		s.strewn[r.Key.SK] = true
		return
	}
	if r.New == nil || !item.Equal(r.Old[item.AttrGSI4PK], r.New[item.AttrGSI4PK]) {
		delete(s.strewn, r.Key.SK)
	}
}

// isLeftByFormer reports whether a difference concerns such an edge, or the KEPT row of an item that the release
// before deleted: it does not know the row (docs/operations.md, "Exceptions").
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
	case verify.Schedule:
		if one, exists := h.schedules.Entry(d.Key); exists {
			return h.schedules.isLeftTo(d.Key) || h.isOutdated(one.Schedule)
		}
		return slices.ContainsFunc(h.schedules.Entries(), func(one memory.Entry) bool {
			subject, err := reminders.ReadPayload(h.registry, one.Payload)
			return err == nil && subject.Name() == d.Key && one.Name == subject.FormerName() && h.schedules.isLeftTo(one.Name)
		})
	}
	return false
}

// isAbandoned reports whether a worker of a walk wrote a schedule last, failed, and had been overtaken by another one.
// One of the two was of the release before, which leaves no trace of a worker that it overtakes and looks for none. So
// no repetition comes back to the item.
func (s *schedules) isAbandoned(name string) bool {
	w := s.by[name]
	return w != nil && w.overtaken && (w.dead || w.failed)
}

// scheduleName returns the name of an offset's schedule (I4). It is the former one if the release before was the last
// to write or delete there: the present release deletes that name whenever it touches the offset.
func (h *history) scheduleName(user, id string, offset int64) string {
	if former := reminders.FormerName(user, id, offset); h.schedules.isLeftTo(former) {
		return former
	}
	return reminders.ScheduleName(user, id, offset)
}

// isOutdated reports whether a schedule stands under the present name of an offset that the release before touched last
// (I4). That release does not know the name. The call of the schedule finds its delivery, or nothing due.
func (h *history) isOutdated(one schedule.Schedule) bool {
	subject, err := reminders.ReadPayload(h.registry, one.Payload)
	return err == nil && one.Name == subject.Name() && h.schedules.isLeftTo(subject.FormerName())
}

// isLeftTo reports whether the release before wrote or deleted the schedule last.
func (s *schedules) isLeftTo(name string) bool { return s.by[name] != nil && s.by[name].isFormer }

// isNewRow reports whether the release before parks the record of a row that it does not know. No filter lets such a
// record pass.
func (h *history) isNewRow(r *record) bool {
	sk, err := entity.ParseSortKey(r.Key.SK)
	return h.mixture.former != nil && err == nil && (sk.Prefix == entity.RowKept || sk.Prefix == logrow.RowChange)
}

// saysNotWhatRang reports whether the release before closed a delivery without its occurrence (I11). This release can
// derive it from the row unless a snooze ended after its occurrence, or the row names the previous one.
func (h *history) saysNotWhatRang(r *record, rang ring) bool {
	return h.byFormer() && (!rang.occurrence.Equal(rang.done) || r.Old.Has(product.AttrFiredOccurrenceUtc))
}

// rungWants returns the expected deliveries of a reminder that the release before delivers twice: a floating one-time
// reminder whose user moved to a zone in which it is in the future (I5).
func (h *history) rungWants(s *userState, it item.Item, byFormer bool) []expectedDelivery {
	if !byFormer || it.Str(entity.AttrType) != product.TypeReminder || it.Has(product.AttrRRule) ||
		it.Has(product.AttrTzid) || !it.Has(product.AttrDoneTriggerUtc) {
		return nil
	}
	it = it.Clone()
	delete(it, product.AttrDoneTriggerUtc)
	return s.wantsOf(it, h.now)
}

// forgetOver removes the mark that a one-time reminder is over: that release loses it when it restores the reminder
// (I6).
func (h *history) forgetOver(left item.Item) {
	if h.byFormer() && !left.Has(product.AttrRRule) {
		delete(left, product.AttrDoneTriggerUtc)
	}
}

// forgetDay removes the day of a completion that the release before took back: that release leaves it, and it does not
// count (docs/insights.md).
func forgetDay(it item.Item) {
	if of := it.Str(product.AttrCompletedOnAt); of != "" && of != it.Str(product.AttrCompletedAt) {
		delete(it, product.AttrCompletedOn)
		delete(it, product.AttrCompletedOnAt)
	}
}

// isOfRung reports whether that release leaves a schedule for such a reminder (I4). Its call finds nothing to do.
func (h *history) isOfRung(one schedule.Schedule) bool {
	s := h.oracle.users[userOfPayload(one.Payload)]
	if s == nil || !h.schedules.isLeftTo(one.Name) {
		return false
	}
	for _, it := range s.items {
		for _, w := range h.rungWants(s, it, true) {
			if namesDue(one.Payload, w) {
				return true
			}
		}
	}
	return false
}

// blocksOnEntry reports whether the release before gives up a record of a sum because the store refuses the ledger row
// of the pending entry, another item's, for good (I8). This release removes the entry again.
func (w *worker) blocksOnEntry(c *curse, parked consume.Parked) bool {
	return w.isFormer && c.harm == refusal && strings.Contains(parked.Reason, ": put ledger row of ")
}

// unowned is the name that the release before gives a parked record that it cannot decode (I9): no part of it is a
// user. An erasure reads all such objects, as it reads those of this release in [consume.Unreadable].
var unowned = regexp.MustCompile(`^parked/[a-z]+/(unreadable/[0-9a-f]{32}|[0-9a-f]{32}/[0-9]+)\.json$`)

func (h *history) parksUnowned(name string) bool {
	if h.current == nil || !h.current.isFormer || !unowned.MatchString(name) {
		return false
	}
	h.happened["before: parked without a user"]++
	return true
}
