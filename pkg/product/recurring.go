package product

import (
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/recurrence"
	"nexus/pkg/wallclock"
)

// CompileMaster returns the occurrences of a MASTER without its exceptions. The start counts as one whether it fits
// the rule or not (RFC 5545 §3.8.5.3). A floating or all-day series gives readings labelled UTC: see
// [recurrence.Series.In]. The error is a [*recurrence.Refusal], or names a zone that does not exist.
func CompileMaster(it item.Item) (*recurrence.Series, error) {
	start, _ := eventSpan(it)
	spec := recurrence.Spec{
		Rule: it.Str(AttrRRule), Start: start, AllDay: it.Bool(AttrIsAllDay),
		EXDates: it.Strings(AttrExDate), RDates: it.Strings(AttrRDate),
	}
	return compile(it, spec, AttrStartTzid)
}

// CompileReminder returns the triggers of a recurring REMINDER, as [CompileMaster] does.
func CompileReminder(it item.Item) (*recurrence.Series, error) {
	first, _ := it.Time(AttrFirstTriggerUtc)
	return compile(it, recurrence.Spec{Rule: it.Str(AttrRRule), Start: first}, AttrTzid)
}

// compile adds what series and reminders have in common. The start has its stored form.
func compile(it item.Item, spec recurrence.Spec, zoneAttr string) (*recurrence.Series, error) {
	if name := it.Str(zoneAttr); name != "" {
		zone, err := wallclock.LoadLocation(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", zoneAttr, err)
		}
		spec.Zone, spec.Start = zone, item.Wall(spec.Start, zone)
	}
	spec.Until, _ = it.Time(AttrRRuleUntil)
	spec.WithStart, spec.Level = true, recurrence.Calendar
	return recurrence.Compile(spec)
}

// normaliseRule normalises a rule that was sent: the text of package recurrence, with an UNTIL of the start's kind. So
// two items with equal rules have equal texts. An invalid or overlong rule stays as sent.
func normaliseRule(patch, after item.Item, zoneAttr string) {
	if text := after.Str(AttrRRule); !patch.Has(AttrRRule) || text == "" || len(text) > maxRule {
		return
	}
	if zone, ok := zoneOf(after, zoneAttr); ok {
		rewriteRule(after, func(r recurrence.Rule) recurrence.Rule { return r.WithKind(after.Bool(AttrIsAllDay), zone) })
	}
}

// followZone converts the UNTIL of a rule when the zone is set or removed: its wall-clock reading stays.
func followZone(before, patch, after item.Item, zoneAttr string) {
	if patch.Has(AttrRRule) || !before.Has(AttrRRule) || before.Has(zoneAttr) == after.Has(zoneAttr) {
		return
	}
	from, known := zoneOf(before, zoneAttr)
	to, valid := zoneOf(after, zoneAttr)
	if !known || !valid {
		return
	}
	rewriteRule(after, func(r recurrence.Rule) recurrence.Rule {
		if last, ends := r.UntilReading(from); ends {
			return r.WithUntil(last, false, to)
		}
		return r
	})
}

func rewriteRule(it item.Item, rewrite func(recurrence.Rule) recurrence.Rule) {
	if rule, err := recurrence.Parse(it.Str(AttrRRule)); err == nil {
		it[AttrRRule] = item.String(rewrite(rule).String())
	}
}

// zoneOf returns the zone that an attribute names: nil if the attribute is absent, false if it names no zone.
func zoneOf(it item.Item, zoneAttr string) (*time.Location, bool) {
	name := it.Str(zoneAttr)
	if name == "" {
		return nil, true
	}
	zone, err := wallclock.LoadLocation(name)
	return zone, err == nil
}

// hasKnownZone reports whether the rule can be placed on a clock: the item has no zone, or a known one.
func hasKnownZone(it item.Item, zoneAttr string) bool {
	_, known := zoneOf(it, zoneAttr)
	return known && it[zoneAttr] != (item.Refused{})
}

// checkRule checks the rule alone when its start is invalid.
func checkRule(it item.Item) (errs entity.Faults) {
	if text := it.Str(AttrRRule); text != "" {
		if err := recurrence.Calendar.Check(text); err != nil {
			errs.Add(AttrRRule, "%s", err.Error())
		}
	}
	return errs
}
