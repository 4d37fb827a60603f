package product

// Names of the attributes that several packages use. All others appear only in the entity types' field lists.
const (
	AttrReminderMinutes = "reminderMinutes"
	// AttrDueSetAt is the time of the last command that changed a due instant or revived the item.
	AttrDueSetAt = "dueSetAt"

	AttrEventID   = "eventId"
	AttrIsAllDay  = "isAllDay"
	AttrStartDate = "startDate"
	AttrEndDate   = "endDate"
	AttrStartUtc  = "startUtc"
	AttrEndUtc    = "endUtc"
	AttrStartTzid = "startTzid"
	AttrEndTzid   = "endTzid"
	AttrSequence  = "sequence"
	AttrICalUID   = "icalUid"
	// AttrVisibility and AttrTransparency of an event or series correspond to CLASS and TRANSP in iCalendar.
	AttrVisibility   = "visibility"
	AttrTransparency = "transparency"
	// AttrKept names the content of the item's KEPT row: see [entity.KeptKey].
	AttrKept = "kept"
	// AttrStamp is the DTSTAMP of the last import. It is absent once a client has changed the item.
	AttrStamp = "icalStamp"

	AttrMasterID     = "masterId"
	AttrRRule        = "rrule"
	AttrRRuleUntil   = "rruleUntil"
	AttrExDate       = "exdate"
	AttrRDate        = "rdate"
	AttrLastStartUtc = "lastStartUtc"
	// AttrHasExceptions and AttrExceptionsVersion are bookkeeping of a series. Each write of one of its instances also
	// writes them, without a new version of the series.
	AttrHasExceptions     = "hasExceptions"
	AttrExceptionsVersion = "exceptionsVersion"
	AttrRecurrenceID      = "recurrenceId"
	AttrModifiedFields    = "modifiedFields"

	AttrPriority    = "priority"
	AttrDueUtc      = "dueUtc"
	AttrDueTzid     = "dueTzid"
	AttrDueDate     = "dueDate"
	AttrCompletedAt = "completedAt"
	AttrArchiveAt   = "archiveAt"
	AttrArchivedAt  = "archivedAt"
	// AttrCompletedOn is the day of a completion on its user's clock. It counts only with the completion at
	// AttrCompletedOnAt: a release that knows neither leaves both as they are.
	AttrCompletedOn   = "completedOn"
	AttrCompletedOnAt = "completedOnAt"

	AttrTriggerUtc = "triggerUtc"
	// AttrFirstTriggerUtc is the trigger that a recurring reminder's rule counts from.
	AttrFirstTriggerUtc = "firstTriggerUtc"
	// AttrDoneTriggerUtc is a trigger that was delivered, or of a recurring reminder postponed, although it is the last:
	// see [TriggerDone].
	AttrDoneTriggerUtc = "doneTriggerUtc"
	AttrTzid           = "tzid"
	AttrSnoozeState    = "snoozeState"
	AttrLastFiredUtc   = "lastFiredUtc"
	// AttrFiredOccurrenceUtc is the occurrence of a reminder that was delivered last: snooze, complete and dismiss act on
	// it until the next is due.
	AttrFiredOccurrenceUtc = "firedOccurrenceUtc"

	// AttrDeletedAt, in a GONE row, is the time of the item's deletion; AttrExpiresAt, in a COLD row, that of its expiry.
	AttrDeletedAt = "deletedAt"
	AttrExpiresAt = "expiresAt"
	// AttrBecameID, in the GONE row of an event, is the id of the series that it became.
	AttrBecameID = "becameId"

	AttrBody     = "body"
	AttrIsPinned = "isPinned"

	AttrUserID       = "userId"
	AttrDefaultTzid  = "defaultTzid"
	AttrPreferences  = "preferences"
	AttrStats        = "stats"
	AttrStatsVersion = "statsVersion"
	AttrStatsHold    = "statsHold"
	AttrStatsRepairs = "statsRepairs"
	AttrStatsLast    = "statsLast"
	AttrStatsForm    = "statsForm"
	AttrStatsWritten = "statsWritten"
	// AttrZoneSetAt is the time of the last change of defaultTzid, which moved floating times.
	AttrZoneSetAt = "zoneSetAt"
	// AttrZoneVersion is the version of that change.
	AttrZoneVersion = "zoneVersion"
)

// Names of the product's entity types, beside those of package entity.
const (
	TypeEvent    = "EVENT"
	TypeTask     = "TASK"
	TypeReminder = "REMINDER"
	TypeNote     = "NOTE"
)
