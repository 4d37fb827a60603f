package query

import (
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
	"nexus/pkg/wallclock"
)

// exceptionKeys returns the keys of the exceptions that can be in the place of an occurrence on this page. Exceptions
// that moved here from other dates are found by their own start. They fill the batch that others began, or another one
// if that is half full; the page ends where they do.
func (r *reading) exceptionKeys(others int) []item.Key {
	var places []place
	for i := range r.occurrences {
		e := &r.occurrences[i]
		if e.of.series != nil && e.of.uncertain && e.place().compare(r.after) > 0 && r.fetched.covers(e.place()) {
			places = append(places, e.place())
		}
	}
	room := maxFetched - others%maxFetched
	if room < maxFetched/2 {
		room += maxFetched
	}
	if len(places) > room {
		slices.SortFunc(places, place.compare)
		places = places[:room]
		r.fetched.limit(places[room-1])
	}
	keys := make([]item.Key, len(places))
	for i, p := range places {
		keys[i] = entity.ItemKey(r.user, entity.Ref{Type: entity.TypeInstance, ID: p.id})
	}
	return keys
}

// seriesKeys returns the keys of the series that are not yet read and have an exception that moved into the reach of
// this page.
func (r *reading) seriesKeys() []item.Key {
	type absent struct {
		place  place
		master string
	}
	var all []absent
	for id, row := range r.instances {
		master := row.Str(product.AttrMasterID)
		if r.series[master] != nil || !series.HasOwnTimes(row) {
			continue
		}
		span := product.EventSpan(row)
		if span.Floating {
			span.Start, span.End = item.Resolve(span.Start, r.zone), item.Resolve(span.End, r.zone)
		}
		p := place{span.Start, id}
		if r.shows(span.Start, span.End) && p.compare(r.after) > 0 && r.fetched.covers(p) {
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

// placeExceptions replaces occurrences by their exceptions, and moves snoozed occurrences to the end of their
// snooze.
func (r *reading) placeExceptions() {
	bySeries := map[*recurring][]item.Item{}
	for _, row := range r.instances {
		if rec := r.series[row.Str(product.AttrMasterID)]; rec != nil { // else its series is gone
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

// isReplaced reports whether an occurrence of the rule is not shown.
func (r *reading) isReplaced(e *Entry) bool {
	switch {
	case !e.of.tagged: // it was included only for a possible exception
		return true
	case !e.of.uncertain:
		return false
	case e.of.series == nil:
		return e.Date == r.snoozedDate(e.of)
	}
	return e.of.series.IsException(e.Date)
}

// showException adds the exception's entries in the window: none if it was undone or cancelled, or if the series has
// lost its date.
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
		Type: rec.typ, OccurrenceStart: o.Start, OccurrenceEnd: o.End, Date: date, id: id, of: rec,
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

// snoozedDate returns the date of the snoozed occurrence. The instant of a floating reminder was determined in the
// user's own zone, not in the zone of this query.
func (r *reading) snoozedDate(rec *recurring) string {
	at, _ := rec.row.Map(product.AttrSnoozeState).Time(product.SnoozeOccurrenceUtc)
	zone, err := wallclock.LoadLocation(rec.row.Str(product.AttrTzid))
	if err != nil {
		zone = r.home
	}
	return item.CompactDate(item.Wall(at, zone))
}

// showSnoozed adds the snoozed occurrence at the end of its snooze.
func (r *reading) showSnoozed(rec *recurring) {
	until, ok := rec.row.Map(product.AttrSnoozeState).Time(product.SnoozeUntilUtc)
	if !ok || !rec.uncertain || !r.shows(until, until) {
		return
	}
	r.occurrences = append(r.occurrences, Entry{
		Type: rec.typ, item: rec.row, OccurrenceStart: until, OccurrenceEnd: until, Date: r.snoozedDate(rec),
		id: rec.id, of: rec,
	})
}
