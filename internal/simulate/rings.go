package simulate

import (
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// ring is what rang last of a reminder.
type ring struct {
	occurrence time.Time
	done       time.Time // the due instant, or the occurrence if a snooze ended before it
	unsure     bool      // the rule or the trigger changed since: which of the two is hard to tell from outside
}

// noteSent takes in a fence whose delivery was closed.
func (s *shelf) noteSent(r *record) {
	if r.New.Str(fenceState) != fenceSent {
		return
	}
	occurrence, _ := r.New.Time("occurrenceUtc")
	done, _ := r.New.Time("dueUtc")
	if occurrence.After(done) {
		done = occurrence
	}
	s.sent[r.New.Str("itemId")] = ring{occurrence: occurrence, done: done}
}

// noteRing takes in what a write of a reminder says about what rang last: the system's own closes a delivery, in one
// transaction with the fence. A snooze that had ended rang, too, when its user deals with it before it was closed.
func (h *history) noteRing(s *shelf, r *record, ref entity.Ref) {
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
	case r.New.Str(entity.AttrStatus) == entity.StatusPending:
		snooze := r.Old.Map(entity.AttrSnoozeState)
		until, ok := snooze.Time(entity.SnoozeUntilUtc)
		if ok && !until.After(h.instantOf(r.New)) && (!known || !last.unsure) {
			occurrence, _ := snooze.Time(entity.SnoozeOccurrenceUtc)
			s.rang[ref.ID] = ring{occurrence: occurrence, done: last.done}
		}
	}
}

func closesDelivery(before, after item.Item) bool {
	return !item.Equal(before[entity.AttrLastFiredUtc], after[entity.AttrLastFiredUtc]) ||
		!item.Equal(before[entity.AttrFiredOccurrenceUtc], after[entity.AttrFiredOccurrenceUtc])
}

// setAnew reports whether a command may have set the reminder anew, or changed what its rule has.
func setAnew(before, after item.Item) bool {
	for _, name := range []string{entity.AttrFirstTriggerUtc, entity.AttrRRule, entity.AttrRRuleUntil, entity.AttrTzid} {
		if !item.Equal(before[name], after[name]) {
			return true
		}
	}
	from, _ := before.Time(entity.AttrTriggerUtc)
	to, _ := after.Time(entity.AttrTriggerUtc)
	status := before.Str(entity.AttrStatus)
	return to.Before(from) || status != entity.StatusPending && status != entity.StatusSnoozed
}
