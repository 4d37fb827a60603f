package product

import (
	"slices"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// States of an EVENT.
const (
	StatusConfirmed = "CONFIRMED"
	StatusTentative = "TENTATIVE"
	StatusCancelled = "CANCELLED"
)

// Values of an event's visibility and of whether it blocks its time. Without them an event is PUBLIC and OPAQUE.
const (
	VisibilityPublic       = "PUBLIC"
	VisibilityPrivate      = "PRIVATE"
	VisibilityConfidential = "CONFIDENTIAL"

	TransparencyOpaque      = "OPAQUE"
	TransparencyTransparent = "TRANSPARENT"
)

// icalDomain follows the id in a UID that this product makes (RFC 7986 §5.3 asks for global uniqueness, which the UUID
// gives).
const icalDomain = "nexus.app"

// cancelledRetention is how long a cancelled event stays in the table; after that only its cold copy remains.
const cancelledRetention = 2 * 365 * 24 * time.Hour

// longEvent is the length beyond which queries find an event through the state view instead of by looking back in
// time.
const longEvent = 24 * time.Hour

// Event is the type of a single calendar event.
func Event() *entity.Type {
	return &entity.Type{
		Name: TypeEvent, IDAttr: AttrEventID, IDPrefix: "evt", Plural: "events",
		Fields: entity.Common(AttrEventID, slices.Concat(eventFields(), revisionFields(),
			[]entity.Field{restoredAtField, dueSetAtField, keptField, stampField})...),
		Check:     checkEventTimes,
		Derive:    deriveEvent,
		Index:     indexEvent,
		Dues:      eventDues,
		Spans:     eventSpans,
		Retention: map[string]time.Duration{StatusCancelled: cancelledRetention},
	}
}

// eventFields returns the client's fields of an event: single, series, or one occurrence of a series.
func eventFields() []entity.Field {
	return slices.Concat(
		[]entity.Field{titleField, descriptionField}, spanFields(),
		[]entity.Field{
			{Name: "location", Kind: entity.Text, Max: maxLocation, Doc: "Venue, address or URL."},
			colorField,
			enumField(entity.AttrStatus, StatusConfirmed, StatusConfirmed, StatusTentative, StatusCancelled),
			{Name: AttrVisibility, Kind: entity.Enum,
				Enum: []string{VisibilityPublic, VisibilityPrivate, VisibilityConfidential},
				Doc: "Who may see what it is about, where the calendar is shown to others (RFC 5545 §3.8.1.3); absent means " +
					"PUBLIC."},
			{Name: AttrTransparency, Kind: entity.Enum, Enum: []string{TransparencyOpaque, TransparencyTransparent},
				Doc: "Whether its time is taken (RFC 5545 §3.8.2.7); absent means OPAQUE: it is."},
			tagsField, minutesField, linksField,
		})
}

// spanFields returns the fields that place an event in time.
func spanFields() []entity.Field {
	return []entity.Field{
		{Name: AttrIsAllDay, Kind: entity.Flag, Required: true, Default: item.Bool(false),
			Doc: "Dates instead of times; floating."},
		{Name: AttrStartDate, Kind: entity.Date, Doc: "First day of an all-day event."},
		{Name: AttrEndDate, Kind: entity.Date,
			Doc: "Day after the last of an all-day event (RFC 5545 §3.6.1); the next day if absent."},
		{Name: AttrStartUtc, Kind: entity.Instant, Zone: AttrStartTzid,
			Doc: "Start of a timed event; without offset when it floats."},
		{Name: AttrEndUtc, Kind: entity.Instant, Zone: AttrStartTzid, Doc: "End of a timed event; absent means no length."},
		{Name: AttrStartTzid, Kind: entity.Zone, Doc: "Zone of the start; absent means floating."},
		{Name: AttrEndTzid, Kind: entity.Zone, Doc: "Zone in which the end is shown, when it is another."},
	}
}

// Fields that tasks, reminders and exceptions have only if another calendar provided them.
var (
	uidField = entity.Field{
		Name: AttrICalUID, Kind: entity.Text, Origin: entity.FromServer,
		Doc: "The UID in iCalendar (RFC 5545 §3.8.4.7), where another calendar gave it.",
	}
	sequenceField = entity.Field{
		Name: AttrSequence, Kind: entity.Integer, Origin: entity.FromServer,
		Doc: "The revision in iCalendar (RFC 5545 §3.8.7.4), where another calendar gave it.",
	}
)

// Revision returns the revision number of an entity in iCalendar. An entity without its own count uses the version of
// its last change by a user.
func Revision(it item.Item) int64 {
	if it.Has(AttrSequence) {
		return it.Int(AttrSequence)
	}
	return entity.EditVersion(it) - 1
}

// deriveSequence counts the revisions of a task, reminder or exception that came from another calendar.
func deriveSequence(w entity.Write) {
	if w.Before == nil || !w.Before.Has(AttrSequence) || !item.Equal(w.Before[AttrSequence], w.After[AttrSequence]) {
		return
	}
	if isByClient(w) || w.Before.Has(AttrCompletedAt) != w.After.Has(AttrCompletedAt) {
		w.After[AttrSequence] = item.Int(w.Before.Int(AttrSequence) + 1)
		delete(w.After, AttrStamp)
	}
}

// IsOlder reports whether another calendar's text of that instant is older than the stored item of the same revision.
// Of two with one SEQUENCE the later DTSTAMP counts (RFC 5546 §2.1.5). The zero instant means unknown: then the text
// is older than an item that a client has changed here.
func IsOlder(stamp time.Time, stored item.Item) bool {
	if known, ok := stored.Time(AttrStamp); ok {
		return !stamp.IsZero() && stamp.Before(known)
	}
	written, _ := stored.Time(entity.AttrUpdatedAt)
	return stamp.Before(written)
}

// SetStamp records in the item when another calendar wrote the imported text; zero for unknown.
func SetStamp(it item.Item, stamp time.Time) {
	if stamp.IsZero() || stamp.Year() < entity.MinYear || stamp.Year() > entity.MaxYear {
		stamp = time.Unix(0, 0)
	}
	it.SetTime(AttrStamp, stamp)
}

// revisionFields returns the fields that identify an event and its revision in iCalendar.
func revisionFields() []entity.Field {
	return []entity.Field{
		{Name: AttrICalUID, Kind: entity.Text, Origin: entity.FromServer, Required: true,
			Doc: "The UID in iCalendar (RFC 5545 §3.8.4.7)."},
		{Name: AttrSequence, Kind: entity.Integer, Origin: entity.FromServer, Required: true,
			Doc: "The revision in iCalendar (RFC 5545 §3.8.7.4)."},
	}
}

func checkEventTimes(it item.Item) []entity.FieldError {
	var errs entity.Faults
	if it[AttrIsAllDay] == (item.Refused{}) {
		return nil
	}
	if it.Bool(AttrIsAllDay) {
		errs.Require(it, AttrStartDate, "an all-day event needs it")
		errs.Refuse(it, "an all-day event has none", AttrStartUtc, AttrEndUtc, AttrStartTzid, AttrEndTzid)
		if start, end := it.Str(AttrStartDate), it.Str(AttrEndDate); start != "" && end != "" && end <= start {
			errs.Add(AttrEndDate, "must be after startDate: it is the day after the last")
		}
		return errs
	}
	errs.Require(it, AttrStartUtc, "a timed event needs it")
	errs.Refuse(it, "only an all-day event has it", AttrStartDate, AttrEndDate)
	if start, end := it.Str(AttrStartUtc), it.Str(AttrEndUtc); start != "" && end != "" && end < start {
		errs.Add(AttrEndUtc, "must not be before startUtc")
	}
	if it.Says(AttrEndTzid) && !it.Has(AttrStartTzid) {
		errs.Add(AttrEndTzid, "a floating event has none")
	}
	return errs
}

func deriveEvent(w entity.Write) {
	deriveEndDate(w.After)
	deriveRevision(w)
}

// deriveEndDate gives an all-day event without an end one day.
func deriveEndDate(it item.Item) {
	if start, err := item.ParseDate(it.Str(AttrStartDate)); err == nil && it.Bool(AttrIsAllDay) && !it.Has(AttrEndDate) {
		it[AttrEndDate] = item.String(item.FormatDate(start.AddDate(0, 0, 1)))
	}
}

// deriveRevision gives an event its UID on creation, and another revision whenever a client changes it. An imported
// event brings both.
func deriveRevision(w entity.Write) {
	it := w.After
	switch {
	case w.Before == nil:
		if !it.Has(AttrSequence) {
			it[AttrSequence] = item.Int(0)
		}
		if !it.Has(AttrICalUID) {
			it[AttrICalUID] = item.String(ICalUID(it.Str(AttrEventID)))
		}
	case isByClient(w) && item.Equal(w.Before[AttrSequence], it[AttrSequence]):
		it[AttrSequence] = item.Int(w.Before.Int(AttrSequence) + 1)
		delete(it, AttrStamp)
	}
}

// ICalUID returns the iCalendar UID of an entity that was created here.
func ICalUID(id string) string { return id + "@" + icalDomain }

// IDOfICalUID returns the id of the entity for which [ICalUID] made the UID; false if it was made elsewhere.
func IDOfICalUID(uid string) (id string, ok bool) { return strings.CutSuffix(uid, "@"+icalDomain) }

// isByClient reports whether a user changes a field that clients set. A delivery that moves a trigger, and a timer that
// archives a task, do not.
func isByClient(w entity.Write) bool {
	if w.By == entity.BySystem {
		return false
	}
	for i := range w.Type.Fields {
		f := &w.Type.Fields[i]
		if f.Origin == entity.FromClient && !item.Equal(w.Before[f.Name], w.After[f.Name]) {
			return true
		}
	}
	return false
}

// eventSpan returns start and end as index keys compare them: dates as their midnight, labelled UTC.
func eventSpan(it item.Item) (start, end time.Time) {
	if it.Bool(AttrIsAllDay) {
		start, _ = item.ParseDate(it.Str(AttrStartDate))
		end, _ = item.ParseDate(it.Str(AttrEndDate))
		return start, end
	}
	start, _ = it.Time(AttrStartUtc)
	end, ok := it.Time(AttrEndUtc)
	if !ok {
		end = start
	}
	return start, end
}

func indexEvent(user string, it item.Item) entity.IndexKeys {
	start, end := eventSpan(it)
	keys := yearKeys(user, start)
	if end.Sub(start) > longEvent {
		keys.StatePK, keys.StateSK = entity.UserPK(user), LongPrefix()+item.FormatInstant(end)
	}
	return keys
}

func eventDues(it item.Item) []entity.Due {
	if it.Str(entity.AttrStatus) == StatusCancelled {
		return nil
	}
	start, _ := eventSpan(it)
	return offsetDues(it, start, !it.Has(AttrStartTzid))
}

// offsetDues gives one due for each of the item's reminderMinutes.
func offsetDues(it item.Item, at time.Time, floating bool) []entity.Due {
	var dues []entity.Due
	for _, minutes := range it.Ints(AttrReminderMinutes) {
		dues = append(dues, entity.Due{OffsetMinutes: minutes, Occurrence: at, At: at, Floating: floating})
	}
	return dues
}

// yearKeys puts an item into the agenda of the year in which at lies.
func yearKeys(user string, at time.Time) entity.IndexKeys {
	return entity.IndexKeys{YearPK: entity.AgendaPK(user, at.Year()), YearSK: item.FormatInstant(at)}
}
