package product

import (
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// Instance is the type of an exception: one occurrence of a series that was changed, moved or cancelled. It holds its
// own times and the fields named in modifiedFields; everything else comes from the series. An exception without
// modifiedFields was undone: only its key matters. It is in no index, and readers ignore it.
func Instance() *entity.Type {
	fields := eventFields()
	for i := range fields {
		fields[i].Required, fields[i].Default = fields[i].Name == AttrIsAllDay, nil // an absent field takes the series' value
	}
	return &entity.Type{
		Name: entity.TypeInstance, IDAttr: AttrEventID, IDPrefix: entity.InstanceIDPrefix, Plural: "instances",
		OwnCommands: true,
		Fields: entity.Common(AttrEventID, slices.Concat(
			[]entity.Field{
				{Name: AttrMasterID, Kind: entity.Text, Origin: entity.FromServer, Required: true, Doc: "The series."},
				{
					Name: AttrRecurrenceID, Kind: entity.Instant, Origin: entity.FromServer, Required: true,
					Doc: "The start that the series gives this occurrence (RFC 5545 §3.8.4.4); of a series that floats or of whole " +
						"days, the reading, with a Z all the same.",
				},
			},
			fields,
			[]entity.Field{
				{
					Name: AttrModifiedFields, Kind: entity.Names, Origin: entity.FromServer, Max: int64(len(fields)) + 1,
					Doc: "The fields in which the occurrence differs from the series on purpose; kept stands for what another " +
						"calendar says of it that has no field here.",
				},
				sequenceField, dueSetAtField, keptField, stampField,
			})...),
		Check:  checkOccurrence,
		Derive: func(w entity.Write) { deriveEndDate(w.After); deriveSequence(w) },
		Index:  indexInstance,
		Dues:   instanceDues,
		Spans:  instanceSpans,
	}
}

// SpanFields returns the names of the fields that place an event in time. An exception has all of them or none.
func SpanFields() []string {
	var names []string
	for _, f := range spanFields() {
		names = append(names, f.Name)
	}
	return names
}

// isUndone reports whether the exception was undone, so that readers ignore it.
func isUndone(it item.Item) bool { return !it.Has(AttrModifiedFields) }

// Undone returns the remainder of an undone exception, one version later: its key, so that its id continues to count
// its versions, its times, and the name of its KEPT row, which is deleted with it.
func Undone(user string, row item.Item, now time.Time) item.Item {
	bare := item.Item{}
	for _, name := range append(SpanFields(),
		item.AttrPK, item.AttrSK, entity.AttrType, AttrEventID, AttrMasterID, AttrRecurrenceID, entity.AttrCreatedAt,
		AttrDueSetAt, AttrKept) {
		if v, ok := row[name]; ok {
			bare[name] = v
		}
	}
	return Instance().NextVersion(entity.ByUser, user, row, bare, now, nil)
}

func indexInstance(user string, it item.Item) entity.IndexKeys {
	if isUndone(it) {
		return entity.IndexKeys{}
	}
	keys := indexEvent(user, it)
	masterID, date, _ := entity.ParseInstanceID(it.Str(AttrEventID))
	keys.RecurrencePK, keys.RecurrenceSK = entity.RecurrencePK(masterID), entity.RecurrenceSK(date)
	return keys
}

// instanceDues returns the exception's own reminders; those of the series come from the series.
func instanceDues(it item.Item) []entity.Due {
	if !slices.Contains(it.Strings(AttrModifiedFields), AttrReminderMinutes) {
		return nil
	}
	return eventDues(it)
}

func instanceSpans(it item.Item) []entity.Span {
	if isUndone(it) || it.Str(entity.AttrStatus) == StatusCancelled {
		return nil
	}
	return eventSpans(it)
}
