package query

import (
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
	"nexus/pkg/series"
	"nexus/pkg/wallclock"
)

const (
	// firstStep is the part of a window that is expanded first; each further step is twice as long as the one before.
	firstStep = 24 * time.Hour
	// maxStep bounds the occurrences of a step after the first: each series has at most one a day.
	maxStep = 4096
)

// recurring is a series or a recurring reminder.
type recurring struct {
	typ     *entity.Type // of its entries
	id      string
	row     item.Item
	version int64
	rule    *recurrence.Series
	series  *series.Series // nil for a reminder
	// reach is how long before a window an occurrence may start and still be found in it.
	reach time.Duration
	// uncertain says that occurrences may differ from the rule.
	uncertain bool
	// tagged says that the series itself has one of the requested tags; its exceptions may have others.
	tagged bool
	// trigger is the date of a reminder's next trigger.
	trigger string
}

func (r *reading) fileSeries(t *entity.Type, row item.Item) error {
	id, version := row.Str(t.IDAttr), row.Int(entity.AttrVersion)
	if held, ok := r.series[id]; ok && held.version >= version {
		return nil
	}
	instance := r.registry.ByName(entity.TypeInstance)
	if _, ok := t.VisibleAt(row, r.asOf); !ok || instance == nil {
		return nil
	}
	rule, err := r.masterRules.compiled(row, series.Compile)
	if err != nil {
		return fmt.Errorf("agenda of %s: %w", entity.UserPK(r.user), err)
	}
	compiled := rule.Series(row, r.zone)
	r.series[id] = &recurring{
		typ: instance, id: id, row: row, version: version, rule: compiled.Rule(), series: compiled, reach: compiled.Reach(),
		uncertain: row.Bool(product.AttrHasExceptions), tagged: r.keepsTags(tagsOf(row)),
	}
	return nil
}

func (r *reading) fileReminder(t *entity.Type, row item.Item) error {
	id, version := row.Str(t.IDAttr), row.Int(entity.AttrVersion)
	if held, ok := r.reminders[id]; ok && held.version >= version {
		return nil
	}
	seen, ok := t.VisibleAt(row, r.asOf)
	if !ok || len(t.Dues(seen)) == 0 {
		return nil
	}
	rule, err := r.reminderRules.compiled(seen, product.CompileReminder)
	if err != nil {
		return fmt.Errorf("agenda of %s: reminder %s: %w", entity.UserPK(r.user), seen.Key(), err)
	}
	trigger, _ := seen.Time(product.AttrTriggerUtc)
	if zone, err := wallclock.LoadLocation(seen.Str(product.AttrTzid)); err == nil {
		trigger = item.Wall(trigger, zone)
	}
	r.reminders[id] = &recurring{
		typ: t, id: id, row: seen, version: version, rule: rule.In(r.zone), trigger: item.CompactDate(trigger),
		uncertain: seen.Str(entity.AttrStatus) == product.StatusSnoozed, tagged: true,
	}
	return nil
}

// expand expands recurring items, from the earliest occurrence that can appear, in steps of time until the page is
// full or the window ends. A year's window of many series has far more occurrences than a page shows.
func (r *reading) expand() {
	if r.horizon.IsZero() {
		r.horizon = r.beginning()
	}
	scanned := r.scanned()
	for step := firstStep; r.horizon.Before(r.to); step *= 2 {
		if r.isFull() || !scanned.covers(place{start: r.horizon}) {
			return
		}
		to := r.horizon.Add(step)
		if to.After(r.to) {
			to = r.to
		}
		if !r.expandTo(to, step > firstStep) {
			step = firstStep / 2
			continue
		}
		r.horizon = to
	}
}

// beginning returns the earliest start of an occurrence that can appear, in whole seconds, as in a cursor.
func (r *reading) beginning() time.Time {
	reach := time.Duration(0)
	for _, rec := range r.series {
		reach = max(reach, rec.reach)
	}
	first := r.from.Add(-reach)
	if r.after.start.After(first) {
		first = r.after.start
	}
	return first.Truncate(time.Second)
}

// isFull reports whether the entries read so far fill the page, or are too many to expand more.
func (r *reading) isFull() bool {
	if len(r.singles)+len(r.occurrences) <= r.limit {
		return false
	}
	certain, met := r.met()
	return certain > r.limit || met > firstRows(r.limit)
}

// met counts the certain entries read so far: those that will be in the answer, and all together.
func (r *reading) met() (certain, all int) {
	r.each(r.known(), func(e *Entry) {
		all++
		if e.of == nil || !e.of.uncertain {
			certain++
		}
	})
	return certain, all
}

// expandTo finds the occurrences that start between the horizon and the instant. If there are too many, it gives up a
// bounded step and leaves nothing of it.
func (r *reading) expandTo(to time.Time, bounded bool) bool {
	had := len(r.occurrences)
	if r.occurrences == nil {
		r.occurrences = make([]Entry, 0, 2*r.limit)
	}
	for _, all := range []map[string]*recurring{r.series, r.reminders} {
		for _, rec := range all {
			from := r.from.Add(-rec.reach)
			if from.Before(r.horizon) {
				from = r.horizon
			}
			if !from.Before(to) {
				continue
			}
			r.buffer = rec.rule.Between(r.buffer[:0], from, to)
			for _, original := range r.buffer {
				r.meet(rec, original)
			}
			if bounded && len(r.occurrences)-had > maxStep {
				r.occurrences = r.occurrences[:had]
				return false
			}
		}
	}
	return true
}

// meet adds an occurrence of the rule.
func (r *reading) meet(rec *recurring, original recurrence.Occurrence) {
	end := original.Start
	if rec.series != nil {
		end = rec.series.End(original)
	}
	if !r.shows(original.Start, end) {
		return
	}
	date := item.CompactDate(original.Wall)
	e := Entry{
		Type: rec.typ, OccurrenceStart: original.Start, OccurrenceEnd: end, Date: date, Virtual: true,
		id: rec.id, of: rec, wall: original.Wall,
	}
	if rec.series == nil {
		e.item, e.Virtual = rec.row, date != rec.trigger
	} else {
		e.id = entity.InstanceID(rec.id, date)
	}
	r.occurrences = append(r.occurrences, e)
}
