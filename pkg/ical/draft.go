package ical

import (
	"time"

	"nexus/pkg/item"
	"nexus/pkg/product"
)

// Draft is an entity to import or export: the fields that a client would send to create it, and its iCalendar
// properties.
type Draft struct {
	// Kind is the entity's type: EVENT, MASTER, INSTANCE, TASK or REMINDER.
	Kind string
	// ID is the entity's id; "" for a draft that was read.
	ID string
	// UID identifies the draft's subject, the same in every file (RFC 5545 §3.8.4.7). A component without one gets the
	// hash of its content.
	UID string
	// Sequence is the revision (RFC 5545 §3.8.7.4).
	Sequence int64
	// Stamp is its DTSTAMP, when this revision was written; LAST-MODIFIED where it has none. Zero for neither.
	Stamp time.Time
	// Fields are the entity's attributes as a client sends them, in the form of [entity.Type.Parse]: floating times
	// without their Z.
	Fields item.Item

	// RRule is the rule of a MASTER or a recurring REMINDER, as written.
	RRule string
	// ExDates and RDates are local dates of a MASTER, YYYYMMDD, sorted. For an exported REMINDER, RDates holds its first
	// trigger if its rule does not give it.
	ExDates, RDates []string
	// Date is the local date of the occurrence that an INSTANCE replaces, YYYYMMDD.
	Date string
	// Original is the RECURRENCE-ID of an INSTANCE (RFC 5545 §3.8.4.4).
	Original Moment
	// Excluded says that an EXDATE of its series makes an INSTANCE.
	Excluded bool
	// Orphan says that an INSTANCE has no series in the calendar. If the series was imported earlier, Date is the result
	// of [Moment.DateIn] for its zone; if not, [Draft.Alone] makes an EVENT of the instance.
	Orphan bool
	// Kept is the part of the component that no field holds. Export writes it again unchanged. Nil for nothing.
	Kept *Component
	// CompletedAt is the completion time of a TASK; CreatedAt and ModifiedAt are the times in the calendar; zero if
	// absent.
	CompletedAt, CreatedAt, ModifiedAt time.Time

	// Component and Line say where the draft was read: VEVENT, 17.
	Component string
	Line      int

	start, end Moment // of VEVENTs, for their alarms and their series; the start of a reminder is its trigger
	hasEnd     bool
	stamp      revision
	derived    []Draft // instances that the RDATEs of a MASTER create
	isDerived  bool
	// following is the RANGE of an INSTANCE, in capitals: the later occurrences that it also changes.
	following string
	dropped   bool
	leftOut   int // the number of its parts left out
}

// Alone returns an INSTANCE as a separate EVENT.
func (d Draft) Alone() Draft {
	d.Kind, d.Date, d.Orphan = product.TypeEvent, "", false
	d.UID += "#" + d.Original.At().Format("20060102T150405")
	return d
}

// Remark names something that was not imported: a whole component, or a part of one.
type Remark struct {
	Component string
	UID       string // "" if it has none
	Line      int
	Reason    string
}

// Result is the outcome of [Map] for a document.
type Result struct {
	// Drafts are in the file's order, each MASTER followed by its instances.
	Drafts []Draft
	// Refused are the components without a draft. Every component is a draft or one of these.
	Refused []Remark
	// LeftOut are parts of accepted components that the product cannot represent.
	LeftOut []Remark
}
