package simulate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
)

// expectedDelivery is one instant at which a user must be reminded, computed by the rules of the documents.
type expectedDelivery struct {
	id         string // the item of the schedule and delivery
	offset     int64
	occurrence time.Time // as the delivery names it
	due        time.Time
	asked      time.Time
	snooze     bool
	date       string // of a series' occurrence
	last       time.Time
}

const (
	lateLimit = 24 * time.Hour
	// leastLead is how long after its instant a schedule may be set: a scheduler may not call one that is past.
	leastLead = time.Minute
	// horizon is how far ahead a next occurrence is searched.
	horizon = 800 * 24 * time.Hour
)

// startOf returns the stored start of an event, and whether it floats.
func startOf(it item.Item) (at time.Time, floats, ok bool) {
	if it.Bool(product.AttrIsAllDay) {
		day, err := time.Parse(time.DateOnly, it.Str(product.AttrStartDate))
		return day, true, err == nil
	}
	at, ok = it.Time(product.AttrStartUtc)
	return at, !it.Has(product.AttrStartTzid), ok
}

// taskDue returns the time from which a task's offsets count.
func taskDue(it item.Item) (at time.Time, floats, ok bool) {
	if it.Bool(product.AttrIsAllDay) {
		day, err := time.Parse(time.DateOnly, it.Str(product.AttrDueDate))
		return day, true, err == nil
	}
	if at, ok = it.Time(product.AttrDueUtc); !ok {
		at, ok = it.Time(product.AttrStartUtc)
	}
	return at, !it.Has(product.AttrDueTzid), ok
}

// plainDues returns a text of an item's dues, which shows whether a change moved them.
func plainDues(typeName string, it item.Item) string {
	if it == nil {
		return ""
	}
	status := it.Str(entity.AttrStatus)
	switch typeName {
	case product.TypeEvent:
		if at, floats, ok := startOf(it); ok && status != product.StatusCancelled && it.Has(product.AttrReminderMinutes) {
			return fmt.Sprint(at.Unix(), floats, it.Ints(product.AttrReminderMinutes))
		}
	case product.TypeTask:
		open := status == product.StatusBacklog || status == product.StatusInProgress
		if at, floats, ok := taskDue(it); ok && open && it.Has(product.AttrReminderMinutes) {
			return fmt.Sprint(at.Unix(), floats, it.Ints(product.AttrReminderMinutes))
		}
	case product.TypeReminder:
		if status == product.StatusPending || status == product.StatusSnoozed {
			return strings.Join([]string{
				it.Str(product.AttrTriggerUtc), fmt.Sprint(it.Has(product.AttrTzid)), it.Map(product.AttrSnoozeState).Str(
					product.SnoozeUntilUtc), it.Str(product.AttrRRule), it.Str(product.AttrRRuleUntil),
			}, " ")
		}
	}
	return ""
}

// view decides about floating times of a user.
type view struct {
	zone  *time.Location
	moved time.Time
}

func (s *userState) view() view {
	moved, _ := s.meta.Time(product.AttrZoneSetAt)
	return view{s.zone(), moved}
}

// real converts a reading to an instant, and returns since when that instant is requested.
func (v view) real(reading, asked time.Time, floats bool) (at, since time.Time) {
	if !floats {
		return reading, asked
	}
	if v.moved.After(asked) {
		asked = v.moved
	}
	return resolve(reading, v.zone), asked
}

// wantsOf returns the expected deliveries of an item that were due in the last 24 hours, and the next of each offset,
// by any clock. An INSTANCE has none here: they belong to its series.
func (s *userState) wantsOf(it item.Item, now time.Time) []expectedDelivery {
	v := s.view()
	if entity.Expired(it, now) {
		return nil
	}
	asked, _ := it.Time(product.AttrDueSetAt)
	status := it.Str(entity.AttrStatus)
	single := func(id string, at time.Time, floats bool) []expectedDelivery {
		at, since := v.real(at, asked, floats)
		var out []expectedDelivery
		for _, m := range it.Ints(product.AttrReminderMinutes) {
			out = append(out, expectedDelivery{id: id, offset: m, occurrence: at, due: at.Add(-minutes(m)), asked: since})
		}
		return out
	}
	switch it.Str(entity.AttrType) {
	case product.TypeEvent:
		if at, floats, ok := startOf(it); ok && status != product.StatusCancelled {
			return single(it.Str(product.AttrEventID), at, floats)
		}
	case product.TypeTask:
		if at, floats, ok := taskDue(it); ok && (status == product.StatusBacklog || status == product.StatusInProgress) {
			return single(it.Str("taskId"), at, floats)
		}
	case product.TypeReminder:
		if status == product.StatusPending || status == product.StatusSnoozed {
			return s.reminderWants(it, v, asked, now)
		}
	case entity.TypeMaster:
		return s.seriesWants(it, v, now)
	}
	return nil
}

func minutes(n int64) time.Duration { return time.Duration(n) * time.Minute }

func (s *userState) reminderWants(it item.Item, v view, asked, now time.Time) []expectedDelivery {
	id := it.Str("reminderId")
	last, _ := it.Time(product.AttrLastFiredUtc)
	var out []expectedDelivery
	if snooze := it.Map(product.AttrSnoozeState); it.Str(entity.AttrStatus) == product.StatusSnoozed {
		until, _ := snooze.Time(product.SnoozeUntilUtc)
		occurrence, _ := snooze.Time(product.SnoozeOccurrenceUtc)
		out = append(out, expectedDelivery{id: id, occurrence: occurrence, due: until, asked: asked, snooze: true})
		if !it.Has(product.AttrRRule) {
			return out
		}
	}
	trigger, _ := it.Time(product.AttrTriggerUtc)
	floats := !it.Has(product.AttrTzid)
	if !it.Has(product.AttrRRule) && it.Has(product.AttrDoneTriggerUtc) {
		return out // it rang
	}
	if !it.Has(product.AttrRRule) {
		at, since := v.real(trigger, asked, floats)
		return append(out, expectedDelivery{id: id, occurrence: at, due: at, asked: since, last: last})
	}
	rule, err := product.CompileReminder(it)
	if err != nil {
		return out
	}
	for o := range rule.In(v.zone).Each(now.Add(-lateLimit-time.Hour), now.Add(horizon)) {
		stored := o.Start
		if floats {
			stored = o.Wall
		}
		if stored.Before(trigger) || stored.Equal(trigger) && it.Has(product.AttrDoneTriggerUtc) &&
			it.Str(product.AttrDoneTriggerUtc) == it.Str(product.AttrTriggerUtc) {
			continue
		}
		_, since := v.real(o.Wall, asked, floats)
		out = append(out, expectedDelivery{id: id, occurrence: o.Start, due: o.Start, asked: since, last: last})
		if o.Start.After(now.Add(maxAhead)) && o.Start.After(last) {
			break
		}
	}
	return out
}

// seriesWants checks the exceptions of a series one by one, and its other occurrences from a day ago until each offset
// has a future one.
func (s *userState) seriesWants(master item.Item, v view, now time.Time) []expectedDelivery {
	if master.Str(entity.AttrStatus) == product.StatusCancelled {
		return nil
	}
	compiled, err := product.CompileMaster(master)
	if err != nil {
		return nil
	}
	rule := compiled.In(v.zone)
	masterID := master.Str(product.AttrMasterID)
	var out []expectedDelivery
	excepted := map[string]bool{}
	for _, id := range s.ids[entity.TypeInstance] {
		row := s.items[id]
		if row == nil || row.Str(product.AttrMasterID) != masterID || !row.Has(product.AttrModifiedFields) {
			continue
		}
		date := id[len("inst_") : len("inst_")+8]
		day, err := time.Parse("20060102", date)
		if err != nil {
			continue
		}
		excepted[date] = true
		if o, ok := rule.On(day); ok {
			out = append(out, s.occurrenceWants(master, row, o, v)...)
		}
	}
	offsets := master.Ints(product.AttrReminderMinutes)
	if len(offsets) == 0 {
		return out
	}
	longest := slices.Max(offsets)
	for o := range rule.Each(now.Add(-lateLimit-time.Hour), now.Add(horizon)) {
		if excepted[o.Wall.Format("20060102")] {
			continue
		}
		out = append(out, s.occurrenceWants(master, nil, o, v)...)
		if o.Start.Add(-minutes(longest)).After(now.Add(maxAhead)) {
			break
		}
	}
	return out
}

// occurrenceWants returns those of one occurrence; row is its exception, nil for none.
func (s *userState) occurrenceWants(master, row item.Item, o recurrence.Occurrence, v view) []expectedDelivery {
	fields := row.Strings(product.AttrModifiedFields)
	owns := func(name string) bool { return slices.Contains(fields, name) }
	if owns(entity.AttrStatus) && row.Str(entity.AttrStatus) == product.StatusCancelled {
		return nil
	}
	masterID, date := master.Str(product.AttrMasterID), o.Wall.Format("20060102")
	instanceID := entity.InstanceID(masterID, date)
	asked, _ := master.Time(product.AttrDueSetAt)
	if own, ok := s.items[instanceID].Time(product.AttrDueSetAt); ok && own.After(asked) {
		asked = own // also of an exception that was undone
	}
	_, floats, _ := startOf(master)
	name, start := o.Start, o.Start
	if floats {
		name = o.Wall
	}
	if slices.ContainsFunc(product.SpanFields(), owns) {
		var reading time.Time
		reading, floats, _ = startOf(row)
		start, _ = v.real(reading, asked, floats)
	}
	_, asked = v.real(start, asked, floats)
	whose, offsets := masterID, master.Ints(product.AttrReminderMinutes)
	if owns(product.AttrReminderMinutes) {
		whose, offsets = instanceID, row.Ints(product.AttrReminderMinutes)
	}
	var out []expectedDelivery
	for _, m := range offsets {
		out = append(out, expectedDelivery{
			id: whose, offset: m, occurrence: name, due: start.Add(-minutes(m)), asked: asked, date: date,
		})
	}
	return out
}

// delivery is the sort key of the delivery.
func (w expectedDelivery) delivery(user string) string {
	return entity.DeliveryKey(user, w.id, w.offset, w.occurrence, w.due).SK
}

// over reports whether a delivery that covered the trigger has completed it.
func (w expectedDelivery) over() bool { return !w.snooze && !w.last.IsZero() && !w.due.After(w.last) }
