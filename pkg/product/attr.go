package product

// Names of the attributes that more than one package speaks of. All others stand in the entity types' field lists only.
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
	// AttrVisibility and AttrTransparency of an event or series are what iCalendar calls CLASS and TRANSP.
	AttrVisibility   = "visibility"
	AttrTransparency = "transparency"
	// AttrKept names what lies beside the item in its KEPT row: see [entity.KeptKey].
	AttrKept = "kept"
	// AttrStamp is the DTSTAMP of what an import wrote last, as long as no client has changed the item since.
	AttrStamp = "icalStamp"

	AttrMasterID     = "masterId"
	AttrRRule        = "rrule"
	AttrRRuleUntil   = "rruleUntil"
	AttrExDate       = "exdate"
	AttrRDate        = "rdate"
	AttrLastStartUtc = "lastStartUtc"
	// AttrHasExceptions and AttrExceptionsVersion are bookkeeping of a series: whoever writes one of its instances writes
	// them with it, without a new version of the series.
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

	AttrTriggerUtc = "triggerUtc"
	// AttrFirstTriggerUtc is the trigger that a recurring reminder's rule counts from.
	AttrFirstTriggerUtc = "firstTriggerUtc"
	// AttrDoneTriggerUtc is the trigger that was delivered, or of a recurring reminder put off, although no other comes
	// after it: see [TriggerDone].
	AttrDoneTriggerUtc = "doneTriggerUtc"
	AttrTzid           = "tzid"
	AttrSnoozeState    = "snoozeState"
	AttrLastFiredUtc   = "lastFiredUtc"
	// AttrFiredOccurrenceUtc is the occurrence of a reminder that rang last: snooze, complete and dismiss act on it until
	// the next is due.
	AttrFiredOccurrenceUtc = "firedOccurrenceUtc"

	// AttrDeletedAt, in a GONE row, is when the item was deleted; AttrExpiresAt, in a COLD row, is when it leaves.
	AttrDeletedAt = "deletedAt"
	AttrExpiresAt = "expiresAt"

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
	// AttrZoneSetAt is the time of the last change of defaultTzid: floating times moved then.
	AttrZoneSetAt = "zoneSetAt"
)

// Names of the product's entity types, beside those of package entity.
const (
	TypeEvent    = "EVENT"
	TypeTask     = "TASK"
	TypeReminder = "REMINDER"
	TypeNote     = "NOTE"
)
