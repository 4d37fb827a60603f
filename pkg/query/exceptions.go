package query

import (
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
	"nexus/pkg/table"
)

// dates is a range of dates YYYYMMDD.
type dates struct {
	first, last string
}

// exceptionReads are where the exceptions on the dates that were met can stand: the keys of series met on one date, and
// a range for each of the others. What has moved here from other dates is found by its own start.
func (r *reading) exceptionReads() (keys []item.Key, ranges []table.Range) {
	met := map[*recurring]dates{}
	for i := range r.occurrences {
		e := &r.occurrences[i]
		if e.of.series == nil || !e.of.uncertain {
			continue
		}
		d, ok := met[e.of]
		if !ok || e.Date < d.first {
			d.first = e.Date
		}
		met[e.of] = dates{d.first, max(d.last, e.Date)}
	}
	for rec, d := range met {
		if d.first == d.last {
			keys = append(keys, entity.ItemKey(r.user, entity.Ref{
				Type: entity.TypeInstance, ID: entity.InstanceID(rec.id, d.first),
			}))
			continue
		}
		prefix := entity.InstancePrefix(rec.id)
		ranges = append(ranges, table.Range{From: prefix + d.first, To: prefix + d.last})
	}
	return keys, ranges
}

// seriesKeys are the keys of the series that are not at hand and have an exception that moved to where this page
// reaches.
func (r *reading) seriesKeys() []item.Key {
	type absent struct {
		place  place
		master string
	}
	var all []absent
	for id, row := range r.instances {
		master := row.Str(product.AttrMasterID)
		span := product.EventSpan(row)
		if span.Floating {
			span.Start, span.End = item.Resolve(span.Start, r.zone), item.Resolve(span.End, r.zone)
		}
		p := place{span.Start, id}
		if r.series[master] == nil && series.HasOwnTimes(row) && r.shows(span.Start, span.End) && p.compare(r.after) > 0 &&
			r.fetched.covers(p) {
			all = append(all, absent{p, master})
		}
	}
	slices.SortFunc(all, func(a, b absent) int { return a.place.compare(b.place) })
	var keys []item.Key
	asked := map[string]bool{}
	last := place{}
	for _, a := range all {
		if asked[a.master] {
			last = a.place
			continue
		}
		if len(keys) == maxFetched {
			r.fetched.limit(last)
			break
		}
		asked[a.master], last = true, a.place
		keys = append(keys, entity.ItemKey(r.user, entity.Ref{Type: entity.TypeMaster, ID: a.master}))
	}
	return keys
}

// settle puts exceptions in the place of the occurrences they replace, and snoozed occurrences where their snooze ends.
func (r *reading) settle() {
	bySeries := map[*recurring][]item.Item{}
	for _, row := range r.instances {
		if rec := r.series[row.Str(product.AttrMasterID)]; rec != nil { // else it is left over from a series that is gone
			bySeries[rec] = append(bySeries[rec], row)
		}
	}
	for rec, rows := range bySeries {
		rec.series = rec.series.With(rows...)
	}
	r.occurrences = slices.DeleteFunc(r.occurrences, func(e Entry) bool { return r.isReplaced(&e) })
	for rec, rows := range bySeries {
		for _, row := range rows {
			r.showException(rec, row)
		}
	}
	for _, rec := range r.reminders {
		r.showSnoozed(rec)
	}
}

// isReplaced reports whether an occurrence as the rule gives it is not shown.
func (r *reading) isReplaced(e *Entry) bool {
	switch {
	case !e.of.tagged: // it was met for the exception it might have
		return true
	case !e.of.uncertain:
		return false
	case e.of.series == nil:
		return e.Date == r.snoozedDate(e.of)
	}
	if _, ok := r.instances[e.place.id]; !ok {
		return false
	}
	o, ok := e.of.series.On(e.Date)
	return !ok || !o.Virtual()
}

// showException adds what an exception shows in the window: nothing if it was undone, cancelled, or the series has lost
// its date.
func (r *reading) showException(rec *recurring, row item.Item) {
	id := row.Str(product.AttrEventID)
	_, date, err := entity.ParseInstanceID(id)
	if err != nil {
		return
	}
	o, ok := rec.series.On(date)
	if !ok || o.Virtual() || o.Cancelled() || !r.shows(o.Start, o.End) ||
		!r.keepsTags(func() []string { return rec.series.Tags(o) }) {
		return
	}
	r.occurrences = append(r.occurrences, Entry{
		Type: rec.typ, OccurrenceStart: o.Start, OccurrenceEnd: o.End, Date: date, place: place{o.Start, id}, of: rec,
	})
}

// needsHome reports whether there is a snoozed reminder whose occurrence was an instant of the user's own zone.
func (r *reading) needsHome() bool {
	for _, rec := range r.reminders {
		if rec.uncertain && !rec.row.Has(product.AttrTzid) {
			return true
		}
	}
	return false
}

// snoozedDate is the date of the occurrence that was put off. Of a floating reminder its instant was told by the user's
// own zone, wherever the reminder is looked at now.
func (r *reading) snoozedDate(rec *recurring) string {
	at, _ := rec.row.Map(product.AttrSnoozeState).Time(product.SnoozeOccurrenceUtc)
	zone, err := entity.LoadZone(rec.row.Str(product.AttrTzid))
	if err != nil {
		zone = r.home
	}
	return item.CompactDate(item.Wall(at, zone))
}

// showSnoozed adds the occurrence that was put off, where its snooze ends.
func (r *reading) showSnoozed(rec *recurring) {
	until, ok := rec.row.Map(product.AttrSnoozeState).Time(product.SnoozeUntilUtc)
	if !ok || !rec.uncertain || !r.shows(until, until) {
		return
	}
	r.occurrences = append(r.occurrences, Entry{
		Type: rec.typ, item: rec.row, OccurrenceStart: until, OccurrenceEnd: until, Date: r.snoozedDate(rec),
		place: place{until, rec.id}, of: rec,
	})
}
