package reminders_test

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
	"nexus/pkg/reminders"
)

// instant is one due of an item, worked out by the rules' text rather than by the code under test.
type instant struct {
	offset          int64
	occurrence, due time.Time // occurrence as the delivery names it
	asked           time.Time
	snooze          bool
}

// horizon is how far beyond now the oracle looks for what comes next: further than any date named in these tests.
const horizon = 400 * 24 * time.Hour

// view holds the state that decides about floating times.
type view struct {
	zone  *time.Location
	moved time.Time
}

func (w *fixture) view() view {
	meta, _ := w.store.Get(w.Context(), entity.MetaKey(user))
	zone, err := time.LoadLocation(meta.Str(product.AttrDefaultTzid)) // UTC for ""
	require.NoError(w, err)
	moved, _ := meta.Time(product.AttrZoneSetAt)
	return view{zone, moved}
}

// real turns a reading into an instant if it floats, and says since when it is asked for.
func (v view) real(reading, asked time.Time, floating bool) (time.Time, time.Time) {
	if !floating {
		return reading, asked
	}
	if v.moved.After(asked) {
		asked = v.moved
	}
	return item.Resolve(reading, v.zone), asked
}

// instants are all dues of an item, those of years ago too.
func (w *fixture) instants(typ *entity.Type, it item.Item) []instant {
	w.Helper()
	switch {
	case typ.Name == entity.TypeMaster:
		return w.seriesInstants(it, it.Str(typ.IDAttr))
	case typ.Name == entity.TypeInstance:
		master, err := w.store.Get(w.Context(), w.key(it.Str(product.AttrMasterID)))
		if err != nil {
			return nil
		}
		return w.seriesInstants(master, it.Str(typ.IDAttr))
	case it.Has(product.AttrRRule):
		return w.triggerInstants(typ, it)
	}
	v := w.view()
	var out []instant
	for _, d := range typ.Dues(it) {
		if !d.Snooze && it.Has("doneTriggerUtc") {
			continue
		}
		asked, _ := it.Time(product.AttrDueSetAt)
		due, since := v.real(d.At, asked, d.Floating)
		occurrence, _ := v.real(d.Occurrence, asked, d.Floating)
		out = append(out,
			instant{d.OffsetMinutes, occurrence, due.Add(-time.Duration(d.OffsetMinutes) * time.Minute), since, d.Snooze})
	}
	return out
}

// seriesInstants goes through all occurrences of a series, one by one, and returns the dues of those that belong to the
// id: the series' own or that of an exception with reminders of its own.
func (w *fixture) seriesInstants(master item.Item, id string) []instant {
	if master.Str("status") == "CANCELLED" {
		return nil
	}
	v := w.view()
	rows := map[string]item.Item{}
	for _, row := range w.rows(entity.InstancePrefix(master.Str("masterId"))) {
		rows[row.Key().SK[len(row.Key().SK)-8:]] = row
	}
	rule, err := product.CompileMaster(master)
	require.NoError(w, err)
	isFloating := !master.Has("startTzid")
	var out []instant
	for o := range rule.In(v.zone).Each(time.Time{}, w.now.Add(horizon)) {
		row := rows[o.Wall.Format("20060102")]
		owns := func(names ...string) bool {
			return slices.ContainsFunc(names, func(name string) bool {
				return slices.Contains(row.Strings("modifiedFields"), name)
			})
		}
		if owns("status") && row.Str("status") == "CANCELLED" {
			continue
		}
		asked, _ := master.Time("dueSetAt")
		if own, ok := row.Time("dueSetAt"); ok && own.After(asked) {
			asked = own
		}
		start, floats := o.Start, isFloating
		if owns("isAllDay", "startDate", "endDate", "startUtc", "endUtc", "startTzid", "endTzid") {
			reading, _ := row.Time("startUtc")
			if row.Bool("isAllDay") {
				reading, err = time.Parse(time.DateOnly, row.Str("startDate"))
				require.NoError(w, err)
			}
			floats = !row.Has("startTzid")
			start, _ = v.real(reading, asked, floats)
		}
		_, asked = v.real(start, asked, floats)
		name := o.Start
		if isFloating {
			name = o.Wall
		}
		whose, minutes := master.Str("masterId"), master.Ints("reminderMinutes")
		if owns("reminderMinutes") {
			whose, minutes = row.Str("eventId"), row.Ints("reminderMinutes")
		}
		if whose != id {
			continue
		}
		for _, m := range minutes {
			out = append(out, instant{m, name, start.Add(-time.Duration(m) * time.Minute), asked, false})
		}
	}
	return out
}

// triggerInstants are the snooze of a recurring reminder and its occurrences from the trigger on.
func (w *fixture) triggerInstants(typ *entity.Type, it item.Item) []instant {
	if s := it.Str("status"); s != "PENDING" && s != "SNOOZED" {
		return nil
	}
	v := w.view()
	asked, _ := it.Time("dueSetAt")
	var out []instant
	if s := it.Map("snoozeState"); s != nil {
		until, _ := s.Time("untilUtc")
		occurrence, _ := s.Time("occurrenceUtc")
		out = append(out, instant{0, occurrence, until, asked, true})
	}
	rule, err := product.CompileReminder(it)
	require.NoError(w, err)
	trigger, _ := it.Time("triggerUtc")
	floats := !it.Has("tzid")
	for o := range rule.In(v.zone).Each(time.Time{}, w.now.Add(horizon)) {
		if stored := storedForm(o, floats); stored.Before(trigger) || stored.Equal(trigger) && product.TriggerDone(it) {
			continue
		}
		_, since := v.real(o.Start, asked, floats)
		out = append(out, instant{0, o.Start, o.Start, since, false})
	}
	return out
}

func storedForm(o recurrence.Occurrence, floats bool) time.Time {
	if floats {
		return o.Wall
	}
	return o.Start
}

// nextOf returns the schedules that the item is to have, by name: for each offset the earliest instant to come.
func (w *fixture) nextOf(typ *entity.Type, it item.Item) map[string]instant {
	next := map[string]instant{}
	last, _ := it.Time(product.AttrLastFiredUtc)
	for _, in := range w.instants(typ, it) {
		if !in.due.After(w.now) || !in.snooze && !in.due.After(last) {
			continue
		}
		name := reminders.ScheduleName(user, it.Str(typ.IDAttr), in.offset)
		if before, ok := next[name]; !ok || in.due.Before(before.due) {
			next[name] = in
		}
	}
	return next
}
