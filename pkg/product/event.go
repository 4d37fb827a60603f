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

// Who may see what an event is about, and whether it takes its time. An event that does not say is PUBLIC and OPAQUE.
const (
	VisibilityPublic       = "PUBLIC"
	VisibilityPrivate      = "PRIVATE"
	VisibilityConfidential = "CONFIDENTIAL"

	TransparencyOpaque      = "OPAQUE"
	TransparencyTransparent = "TRANSPARENT"
)

// icalDomain follows the id in a UID that is made here (RFC 7986 §5.3 asks for global uniqueness, which the UUID
// gives).
const icalDomain = "nexus.app"

// cancelledRetention is how long a cancelled event stays before only its cold copy is kept.
const cancelledRetention = 2 * 365 * 24 * time.Hour

// longEvent is the length beyond which an event is found through the state view rather than by looking back.
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

// eventFields are what a client says about an event, whether it is single, a series, or one occurrence of a series.
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

// spanFields say when an event is.
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

// What tasks, reminders and exceptions have of this only if another calendar gave it to them.
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

// Revision is which revision of an entity iCalendar sees. One that has no count of its own counts its versions.
func Revision(it item.Item) int64 {
	if it.Has(AttrSequence) {
		return it.Int(AttrSequence)
	}
	return it.Int(entity.AttrVersion) - 1
}

// deriveSequence counts the revisions of a task, reminder or exception that another calendar knows.
func deriveSequence(w entity.Write) {
	if w.Before == nil || !w.Before.Has(AttrSequence) || !item.Equal(w.Before[AttrSequence], w.After[AttrSequence]) {
		return
	}
	if isByClient(w) || w.Before.Has(AttrCompletedAt) != w.After.Has(AttrCompletedAt) {
		w.After[AttrSequence] = item.Int(w.Before.Int(AttrSequence) + 1)
		delete(w.After, AttrStamp)
	}
}

// IsOlder reports whether what another calendar wrote at the instant is older than what is stored in the same revision:
// of two with one SEQUENCE the later DTSTAMP counts (RFC 5546 §2.1.5). Zero is unknown, and then it is older than what
// a client has written here.
func IsOlder(stamp time.Time, stored item.Item) bool {
	if known, ok := stored.Time(AttrStamp); ok {
		return !stamp.IsZero() && stamp.Before(known)
	}
	written, _ := stored.Time(entity.AttrUpdatedAt)
	return stamp.Before(written)
}

// SetStamp says in the item when another calendar wrote what it says; zero for unknown.
func SetStamp(it item.Item, stamp time.Time) {
	if stamp.IsZero() || stamp.Year() < entity.MinYear || stamp.Year() > entity.MaxYear {
		stamp = time.Unix(0, 0)
	}
	it.SetTime(AttrStamp, stamp)
}

// revisionFields are how iCalendar knows an event.
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

// deriveEndDate gives an all-day event its end: it lasts a day if nobody says more.
func deriveEndDate(it item.Item) {
	if start, err := item.ParseDate(it.Str(AttrStartDate)); err == nil && it.Bool(AttrIsAllDay) && !it.Has(AttrEndDate) {
		it[AttrEndDate] = item.String(item.FormatDate(start.AddDate(0, 0, 1)))
	}
}

// deriveRevision gives an event its UID when it is created, and another revision whenever a client changes it. An event
// that comes from another calendar brings both.
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

// ICalUID is the UID in iCalendar of an entity that came into being here.
func ICalUID(id string) string { return id + "@" + icalDomain }

// IDOfICalUID returns the id of the entity for which [ICalUID] made the UID; false if it was made elsewhere.
func IDOfICalUID(uid string) (id string, ok bool) { return strings.CutSuffix(uid, "@"+icalDomain) }

// isByClient reports whether a field that clients set changes.
func isByClient(w entity.Write) bool {
	for i := range w.Type.Fields {
		f := &w.Type.Fields[i]
		if f.Origin == entity.FromClient && !item.Equal(w.Before[f.Name], w.After[f.Name]) {
			return true
		}
	}
	return false
}

// eventSpan returns start and end as they are compared in index keys: dates as their midnight, labelled UTC.
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
