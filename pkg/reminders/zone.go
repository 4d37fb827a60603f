package reminders

import (
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
)

// zoneSpread exceeds the difference of any two zones.
const zoneSpread = 26 * time.Hour

// zoneName returns the zone of an image of USER_META; a user without USER_META has the default.
func zoneName(user string, image item.Item) string {
	return product.UserMetaOf(user, image, time.Time{}).Str(product.AttrDefaultTzid)
}

// moveZone returns a walk over every item of the user with a floating time that may be in the future. It reconciles
// each with the zone that the user has then. Version is USER_META's after the change.
func (e engine) moveZone(user string, version int64) walk {
	w := walk{user: user, key: entity.ZoneKey(user, version), zoneVersion: version}
	for _, t := range e.Registry.Types() {
		if hasReminders(t) {
			w.parts = append(w.parts, part{t, entity.ItemPrefix(t.Name)})
		}
	}
	w.scopeOf = func(t *entity.Type, it item.Item) scope { return floatingScope(t, it, e.Now()) }
	return w
}

// floatingScope returns the offsets whose instants a change of zone moves; none for an item that is past in every zone
// for so long that it is not even late.
func floatingScope(t *entity.Type, it item.Item, now time.Time) scope {
	if entity.Expired(it, now) {
		return nil
	}
	isPast := func(reading time.Time) bool { return now.Sub(reading) > zoneSpread+lateLimit }
	s := scope{}
	for _, d := range t.Dues(it) {
		switch reading := d.At.Add(-time.Duration(d.OffsetMinutes) * time.Minute); {
		case t.Name == entity.TypeMaster:
			last, ends := it.Time(product.AttrLastStartUtc)
			isOver := ends && isPast(last) && !it.Bool(product.AttrHasExceptions) // a moved occurrence may be in the future
			if isOver || !floatsAtSomeTime(it) {
				continue
			}
		case t.Name == entity.TypeInstance:
			// Also one whose own times do not float: a date that the new zone skips may no longer be an occurrence of its
			// series.
			if series.HasOwnTimes(it) && isPast(reading) {
				continue // without one, the values of its row may be older than its series'
			}
		case isRecurring(t, it):
			if !d.Floating {
				continue
			}
		case !d.Floating || isPast(reading):
			continue
		}
		s[d.OffsetMinutes] = true
	}
	return s
}

// floatsAtSomeTime reports whether an occurrence of a series may float: all of them, or one that was given its own
// times.
func floatsAtSomeTime(master item.Item) bool {
	return product.EventSpan(master).Floating || master.Bool(product.AttrHasExceptions)
}

// changesOccurrences reports whether a change of a series may affect its exceptions: their times, their state, or
// whether they count. Bookkeeping does not: the exception that it belongs to has a separate record.
func changesOccurrences(before, after item.Item) bool {
	if before == nil || after == nil {
		return before.Bool(product.AttrHasExceptions) || after.Bool(product.AttrHasExceptions)
	}
	return after.Bool(product.AttrHasExceptions) && version(before) != version(after) &&
		slices.ContainsFunc(occurrenceFields,
			func(name string) bool { return !item.Equal(before[name], after[name]) })
}

// occurrenceFields are the fields of a series that affect an exception with reminders of its own.
var occurrenceFields = append(product.SpanFields(),
	entity.AttrStatus, product.AttrRRule, product.AttrRRuleUntil, product.AttrExDate, product.AttrRDate)

// moveSeries returns a walk over the exceptions of a series that have reminders of their own. Version is that of the
// series' change.
func (e engine) moveSeries(user, masterID string, version int64) walk {
	return walk{
		user: user, key: entity.SeriesKey(user, masterID, version),
		parts: []part{{e.Registry.ByName(entity.TypeInstance), entity.InstancePrefix(masterID)}},
		scopeOf: func(t *entity.Type, it item.Item) scope {
			s := scope{}
			s.add(t, it)
			return s
		},
	}
}
