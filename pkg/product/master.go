package product

import (
	"errors"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/recurrence"
)

const (
	maxRule = 2000 // characters of a rule; the longest that says something new with every one of them has fewer
	// maxSeriesDates bounds exdate and rdate each.
	maxSeriesDates = 500
	// maxOccurrence bounds the length of an occurrence, and with it how many go on at one time.
	maxOccurrence = 366 * 24 * time.Hour
)

// Master is the type of a series: a recurring event, as the rule that its occurrences follow. Exceptions are separate
// entities: see [Instance].
func Master() *entity.Type {
	return &entity.Type{
		Name: entity.TypeMaster, IDAttr: AttrMasterID, IDPrefix: entity.MasterIDPrefix, Plural: "series", OwnCommands: true,
		Fields: entity.Common(AttrMasterID, slices.Concat(
			[]entity.Field{
				{Name: AttrEventID, Kind: entity.Text, Origin: entity.FromServer, Required: true, Doc: "The same as masterId."},
			},
			eventFields(),
			[]entity.Field{
				{Name: AttrRRule, Kind: entity.Text, Required: true, Min: 1, Max: maxRule, Doc: "Recurrence rule (RFC 5545 " +
					"§3.3.10): FREQ DAILY, WEEKLY, MONTHLY or YEARLY, without BYHOUR, BYMINUTE and BYSECOND."},
				{Name: AttrRRuleUntil, Kind: entity.Instant, Zone: AttrStartTzid, Follows: true,
					Doc: "No occurrence starts after it, whatever the rule says."},
				{Name: AttrExDate, Kind: entity.Dates, Max: maxSeriesDates, Doc: "Local dates YYYYMMDD without an occurrence."},
				{Name: AttrRDate, Kind: entity.Dates, Max: maxSeriesDates,
					Doc: "Local dates YYYYMMDD with an occurrence besides those of the rule, at the time of day of the start."},
				{Name: AttrHasExceptions, Kind: entity.Flag, Origin: entity.FromServer,
					Doc: "Whether an occurrence was ever changed or cancelled."},
				{Name: AttrLastStartUtc, Kind: entity.Instant, Origin: entity.FromServer, Zone: AttrStartTzid,
					Doc: "Start of the last occurrence; absent for a series without end, or that ends after the year 2199."},
				{Name: AttrExceptionsVersion, Kind: entity.Integer, Origin: entity.Hidden,
					Doc: "Grows by one with every change of an exception."},
			},
			revisionFields(), []entity.Field{dueSetAtField, keptField, stampField})...),
		Settle: func(_, patch, after item.Item) { normaliseRule(patch, after, AttrStartTzid) },
		Check:  checkMaster,
		Derive: deriveMaster,
		Index:  indexMaster,
		Dues:   eventDues,
		// Exceptions have reminders even if the series has none.
		DueFields: append(SpanFields(), AttrRRule, AttrRRuleUntil, AttrExDate, AttrRDate),
		Spans:     eventSpans,
	}
}

func checkMaster(it item.Item) []entity.FieldError {
	errs := entity.Faults(checkOccurrence(it))
	start, _ := eventSpan(it)
	if len(errs) > 0 || start.IsZero() || !hasKnownZone(it, AttrStartTzid) || !it.Says(AttrRRule) {
		return append(errs, checkRule(it)...)
	}
	series, err := CompileMaster(it)
	var refused *recurrence.Refusal
	switch {
	case errors.As(err, &refused):
		errs.Add(attrOfPart(it, refused.Part), "%s", refused.Error())
	case err != nil:
		errs.Add(AttrStartTzid, "%v", err)
	default:
		if _, ok := series.First(); !ok {
			errs.Add(AttrRRule, "leaves no occurrence: the series ends before it begins, or each date of it is excluded")
		}
	}
	return errs
}

// checkOccurrence checks the times of an occurrence: the first of a series, or an exception's own.
func checkOccurrence(it item.Item) []entity.FieldError {
	errs := entity.Faults(checkEventTimes(it))
	if span := EventSpan(it); !span.Start.IsZero() && span.End.Sub(span.Start) > maxOccurrence {
		errs.Add(endOf(it), "must be at most 366 days after the start of an occurrence")
	}
	return errs
}

// attrOfPart names the attribute that holds what package recurrence names by its iCalendar property.
func attrOfPart(it item.Item, part string) string {
	switch part {
	case "DTSTART":
		if it.Bool(AttrIsAllDay) {
			return AttrStartDate
		}
		return AttrStartUtc
	case "EXDATE":
		return AttrExDate
	case "RDATE":
		return AttrRDate
	}
	return AttrRRule
}

func isCancelled(it item.Item) bool { return it.Str(entity.AttrStatus) == StatusCancelled }

func endOf(it item.Item) string {
	if it.Bool(AttrIsAllDay) {
		return AttrEndDate
	}
	return AttrEndUtc
}

func deriveMaster(w entity.Write) {
	it := w.After
	it[AttrEventID] = it[AttrMasterID]
	deriveEndDate(it)
	deriveRevision(w)
	if w.Before != nil && isCancelled(w.Before) != isCancelled(it) {
		it.SetTime(AttrDueSetAt, w.Now)
	}
	delete(it, AttrLastStartUtc)
	// An occurrence after the last year counts as none.
	if last, ok := lastOccurrence(it); ok && last.Start.Year() <= entity.MaxYear {
		it.SetTime(AttrLastStartUtc, last.Start)
	}
}

// lastOccurrence returns the last occurrence of a series that ends. It returns none for an endless or invalid series.
func lastOccurrence(it item.Item) (recurrence.Occurrence, bool) {
	if start, _ := eventSpan(it); start.IsZero() {
		return recurrence.Occurrence{}, false
	}
	series, err := CompileMaster(it)
	if err != nil {
		return recurrence.Occurrence{}, false
	}
	return series.Last()
}

func indexMaster(user string, it item.Item) entity.IndexKeys {
	span := EventSpan(it)
	keys := yearKeys(user, span.Start)
	keys.RecurrencePK, keys.RecurrenceSK = entity.RecurrencePK(it.Str(AttrMasterID)), entity.RecurrenceSK("")
	end := item.Forever
	if last, ok := it.Time(AttrLastStartUtc); ok {
		end = item.FormatInstant(last.Add(span.End.Sub(span.Start)))
	}
	keys.StatePK, keys.StateSK = entity.UserPK(user), ActiveMastersPrefix()+end
	return keys
}

// ActiveMastersPrefix begins the state-view sort keys of all series; the end of the last occurrence, or
// [item.Forever], follows it.
func ActiveMastersPrefix() string { return entity.StatePrefix(entity.TypeMaster, "ACTIVE") }
