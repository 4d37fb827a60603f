package simulate

import (
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// ring is the last delivery of a reminder.
type ring struct {
	occurrence time.Time
	done       time.Time // the due instant, or the occurrence if a snooze ended before it
	unsure     bool      // the rule or the trigger changed since: the log does not show which of the two
}

// noteSent records a closed delivery.
func (s *userState) noteSent(r *record) {
	if r.New.Str(deliveryState) != deliverySent {
		return
	}
	occurrence, _ := r.New.Time("occurrenceUtc")
	done, _ := r.New.Time("dueUtc")
	if occurrence.After(done) {
		done = occurrence
	}
	s.sent[r.New.Str("itemId")] = ring{occurrence: occurrence, done: done}
}

// noteRing records the last delivery according to a write of a reminder: the system's own write closes a delivery, in
// one transaction with the delivery. A snooze that had ended also counts as delivered if its user acts on it before it
// was closed.
func (h *history) noteRing(s *userState, r *record, ref entity.Ref) {
	last, known := s.rang[ref.ID]
	switch {
	case r.Old == nil || r.New == nil:
	case r.by != commanding:
		if sent := s.sent[ref.ID]; closesDelivery(r.Old, r.New) && (last.unsure || !sent.done.Before(last.done)) {
			sent.unsure = h.saysNotWhatRang(r, sent)
			s.rang[ref.ID] = sent
		}
	case setAnew(r.Old, r.New):
		s.rang[ref.ID] = ring{unsure: true}
	case r.New.Str(entity.AttrStatus) == product.StatusPending:
		snooze := r.Old.Map(product.AttrSnoozeState)
		until, ok := snooze.Time(product.SnoozeUntilUtc)
		if ok && !until.After(h.instantOf(r.New)) && (!known || !last.unsure) {
			occurrence, _ := snooze.Time(product.SnoozeOccurrenceUtc)
			s.rang[ref.ID] = ring{occurrence: occurrence, done: last.done}
		}
	}
}

func closesDelivery(before, after item.Item) bool {
	return !item.Equal(before[product.AttrLastFiredUtc], after[product.AttrLastFiredUtc]) ||
		!item.Equal(before[product.AttrFiredOccurrenceUtc], after[product.AttrFiredOccurrenceUtc])
}

// setAnew reports whether a command may have set the reminder again, or changed the dates of its rule.
func setAnew(before, after item.Item) bool {
	for _, name := range []string{
		product.AttrFirstTriggerUtc, product.AttrRRule, product.AttrRRuleUntil, product.AttrTzid,
	} {
		if !item.Equal(before[name], after[name]) {
			return true
		}
	}
	from, _ := before.Time(product.AttrTriggerUtc)
	to, _ := after.Time(product.AttrTriggerUtc)
	status := before.Str(entity.AttrStatus)
	return to.Before(from) || status != product.StatusPending && status != product.StatusSnoozed
}
