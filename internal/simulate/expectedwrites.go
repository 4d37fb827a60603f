package simulate

import (
	"slices"
	"strings"
	"time"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// expectedWrite describes the required writes and results of a command, to compare with the real ones (I11).
type expectedWrite struct {
	id       string // of the entity that is changed under a version; for an occurrence, the occurrence's
	masterID string // of the command's series
	expected int64
	date     string // of an occurrence, or of a split
	split    bool
	// before is the series as it was when the command changed it; bare are the exceptions that it undid since.
	before item.Item
	bare   []item.Item
}

// orderOf returns nil for a command whose user names no version.
func orderOf(r command.Request) *expectedWrite {
	if r.ExpectedVersion == nil {
		return nil
	}
	o := &expectedWrite{expected: *r.ExpectedVersion}
	switch cmd := r.Command.(type) {
	case command.Update:
		o.id = cmd.ID
	case command.Delete:
		o.id = cmd.ID
	case command.UpdateSeries:
		o.id, o.masterID = cmd.ID, cmd.ID
	case command.EndSeries:
		o.id, o.masterID = cmd.ID, cmd.ID
	case command.DeleteSeries:
		o.id, o.masterID = cmd.ID, cmd.ID
	case command.SplitSeries:
		o.id, o.masterID, o.date, o.split = cmd.ID, cmd.ID, cmd.Date, true
	case command.PutInstance:
		o.id, o.date = entity.InstanceID(cmd.MasterID, cmd.Date), cmd.Date
	case command.CancelInstance:
		o.id, o.date = entity.InstanceID(cmd.MasterID, cmd.Date), cmd.Date
	default:
		return nil
	}
	return o
}

// checkOrder checks a write of the command: it changes the edit that its user saw, and no other. An unchanged
// occurrence has the series' version, with that of the row that an undone exception left.
func (h *history) checkOrder(s *userState, o *expectedWrite, r *record, ref entity.Ref) {
	if o == nil {
		return
	}
	if o.masterID != "" && ref.Type == entity.TypeInstance && r.Old.Str(product.AttrMasterID) == o.masterID &&
		!r.New.Has(product.AttrModifiedFields) {
		o.bare = append(o.bare, r.Old)
	}
	if ref.ID != o.id || r.New != nil && r.Old.Int(entity.AttrVersion) == r.New.Int(entity.AttrVersion) {
		return
	}
	seen, left := r.Old, int64(0)
	if ref.Type == entity.TypeInstance && !r.Old.Has(product.AttrModifiedFields) {
		masterID, _, err := entity.ParseInstanceID(ref.ID)
		if err != nil {
			h.violate("I11", s.user, ref.ID, "%v", err)
		}
		seen, left = s.items[masterID], r.Old.Int(entity.AttrVersion)
	}
	edit, is := s.edits[seen.Key()]+left, seen.Int(entity.AttrVersion)+left
	if o.expected < edit || o.expected > is {
		h.violate("I11", s.user, ref.ID, "was changed at version %d, last edited at %d, by a user who saw %d", is, edit,
			o.expected)
	}
	if o.expected < is {
		h.happened["edit across a write of the system"]++
	}
	o.before = r.Old
}

// checkSeries checks a successful command about a series: exceptions of lost dates are undone, and a split moves them
// to the new series.
func (h *history) checkSeries(s *userState, o *expectedWrite, res command.Result) {
	if o == nil || o.masterID == "" || o.before == nil || res.Replayed {
		return
	}
	master := s.items[o.masterID]
	if res.Deleted {
		for _, id := range s.ids[entity.TypeInstance] {
			if row := s.items[id]; row.Str(product.AttrMasterID) == o.masterID && row != nil {
				h.violate("I11", s.user, id, "is still there after its series was deleted")
			}
		}
		return
	}
	if master.Int(entity.AttrVersion) != o.expected+1 {
		return // another writer has changed it again
	}
	shape := append(product.SpanFields(), product.AttrRRule, product.AttrRRuleUntil, product.AttrExDate, product.AttrRDate)
	if !slices.ContainsFunc(shape, func(name string) bool { return !item.Equal(o.before[name], master[name]) }) {
		return // a change of another kind does not tidy the rest of an earlier one that crashed
	}
	rule, err := product.CompileMaster(master)
	if err != nil {
		h.violate("I11", s.user, o.masterID, "%v", err)
		return
	}
	for _, id := range s.ids[entity.TypeInstance] {
		row := s.items[id]
		if row.Str(product.AttrMasterID) != o.masterID || !row.Has(product.AttrModifiedFields) {
			continue
		}
		if day, ok := dayOf(id); ok {
			if _, occurs := rule.On(day); !occurs {
				h.violate("I11", s.user, id, "speaks of a date that its series lost")
			}
		}
	}
	if o.split {
		h.checkSplit(s, o, res.Item.Str(product.AttrMasterID))
	}
}

// checkSplit checks that the ended series has no date at or after the split, and that its later dates are in the new
// one.
func (h *history) checkSplit(s *userState, o *expectedWrite, followerID string) {
	follower := s.items[followerID]
	if follower.Int(entity.AttrVersion) != 1 || follower.Int(product.AttrExceptionsVersion) != 0 {
		return
	}
	ended, errEnded := product.CompileMaster(s.items[o.masterID])
	before, errBefore := product.CompileMaster(o.before)
	after, errAfter := product.CompileMaster(follower)
	day, err := time.Parse("20060102", o.date)
	if errEnded != nil || errBefore != nil || errAfter != nil || err != nil {
		h.violate("I11", s.user, o.masterID, "cannot be expanded after a split: %v %v %v %v", errEnded, errBefore,
			errAfter, err)
		return
	}
	if _, occurs := ended.On(day); occurs {
		h.violate("I11", s.user, o.masterID, "still occurs on %s, where it was split", o.date)
	}
	for _, row := range o.bare {
		day, ok := dayOf(row.Str(product.AttrEventID))
		if !ok || day.Format("20060102") <= o.date {
			continue
		}
		_, was := before.On(day)
		_, is := after.On(day)
		taken := s.items[entity.InstanceID(followerID, day.Format("20060102"))]
		if was && is && !slices.Equal(taken.Strings(product.AttrModifiedFields), row.Strings(product.AttrModifiedFields)) {
			h.violate("I11", s.user, row.Str(product.AttrEventID), "had %v of its own, and has %v behind the split",
				row.Strings(product.AttrModifiedFields), taken.Strings(product.AttrModifiedFields))
		}
	}
}

// dayOf returns the date in the id of an occurrence.
func dayOf(instanceID string) (time.Time, bool) {
	rest, ok := strings.CutPrefix(instanceID, "inst_")
	if !ok || len(rest) < 8 {
		return time.Time{}, false
	}
	day, err := time.Parse("20060102", rest[:8])
	return day, err == nil
}

// checkSnooze checks that a snooze applies to the present occurrence: the one snoozed before; else the one delivered
// last, or a later one that was due since; else the trigger (I11). The trigger then is past it, unless it was the
// last. A command decides by the instant at which it began, by its own clock, and that may be before the item's last
// change.
func (h *history) checkSnooze(s *userState, r *record, ref entity.Ref) {
	until := r.New.Map(product.AttrSnoozeState)
	if ref.Type != product.TypeReminder || until == nil || r.Old == nil ||
		item.Equal(r.Old[product.AttrSnoozeState], r.New[product.AttrSnoozeState]) {
		return
	}
	at, _ := until.Time(product.SnoozeOccurrenceUtc)
	if was := r.Old.Map(product.AttrSnoozeState); was != nil {
		if before, _ := was.Time(product.SnoozeOccurrenceUtc); !before.Equal(at) {
			h.violate("I11", s.user, ref.ID, "snoozes %s again as %s", item.FormatInstant(before), item.FormatInstant(at))
		}
		return
	}
	if !r.Old.Has(product.AttrRRule) || !r.Old.Has(product.AttrTzid) || !r.New.Has(product.AttrRRule) {
		return // a floating time is resolved in the zone that its user had then
	}
	rule, err := product.CompileReminder(r.Old)
	if err != nil {
		h.violate("I11", s.user, ref.ID, "%v", err)
		return
	}
	want, _ := r.Old.Time(product.AttrTriggerUtc)
	rang, hasRung := s.rang[ref.ID]
	if rang.unsure {
		return
	}
	if hasRung {
		want = rang.occurrence
	}
	began := h.writer.begun.Add(-maxAhead)
	isPresent := false
	from := h.instantOf(r.New).Add(-horizon)
	if want.Before(from) {
		from = want // nothing was due for longer than the horizon
	}
	for o := range rule.In(time.UTC).Each(from, h.instantOf(r.New).Add(time.Second)) {
		if !o.Start.After(h.instantOf(r.New)) && o.Start.After(rang.done) {
			isPresent = isPresent || o.Start.After(began) && want.Equal(at)
			want = o.Start
		}
	}
	if !isPresent && !want.Equal(at) {
		h.violate("I11", s.user, ref.ID, "snoozes %s at %s, when %s was present", item.FormatInstant(at),
			item.FormatInstant(h.instantOf(r.New)), item.FormatInstant(want))
	}
	if trigger, _ := r.New.Time(product.AttrTriggerUtc); !trigger.After(at) && !r.New.Has(product.AttrDoneTriggerUtc) {
		h.violate("I11", s.user, ref.ID, "snoozes %s and keeps it for its trigger", item.FormatInstant(at))
	}
}
