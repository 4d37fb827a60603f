package ical

import (
	"time"

	"nexus/pkg/item"
	"nexus/pkg/product"
)

// Draft is an entity on its way in or out: what a client would send to create it, and what iCalendar knows besides.
type Draft struct {
	// Kind is the entity's type: EVENT, MASTER, INSTANCE, TASK or REMINDER.
	Kind string
	// ID is that of the entity; "" of a draft that was read.
	ID string
	// UID names what the draft is about, the same in every file (RFC 5545 §3.8.4.7). A component without one gets the hash
	// of its content.
	UID string
	// Sequence is the revision (RFC 5545 §3.8.7.4).
	Sequence int64
	// Stamp is its DTSTAMP, when this revision was written; LAST-MODIFIED where it has none. Zero for neither.
	Stamp time.Time
	// Fields are the entity's attributes as a client sends them, in the form of [entity.Type.Parse]: floating times
	// without their Z.
	Fields item.Item

	// RRule is the rule of a MASTER or a recurring REMINDER, as it stands.
	RRule string
	// ExDates and RDates are local dates of a MASTER, YYYYMMDD, sorted. A REMINDER has of RDates its first trigger, on its
	// way out, where its rule does not give it.
	ExDates, RDates []string
	// Date is the local date of the occurrence that an INSTANCE replaces, YYYYMMDD.
	Date string
	// Original is the RECURRENCE-ID of an INSTANCE (RFC 5545 §3.8.4.4).
	Original Moment
	// Orphan says of an INSTANCE that its series is not in the calendar. It may be there already from an earlier one, and
	// Date is then what [Moment.DateIn] answers for its zone; if not, [Draft.Alone] makes an EVENT of it.
	Orphan bool
	// Kept is what the component says and no field holds: it is written again as it stands. Nil for nothing.
	Kept *Component
	// CompletedAt is when a TASK was completed, CreatedAt and ModifiedAt when the calendar says that anything was; zero
	// where it does not.
	CompletedAt, CreatedAt, ModifiedAt time.Time

	// Component and Line say where the draft was read: VEVENT, 17.
	Component string
	Line      int

	start, end Moment // of VEVENTs, for their alarms and their series; the start of a reminder is its trigger
	hasEnd     bool
	stamp      revision
	derived    []Draft // instances that the RDATEs of a MASTER are
	isDerived  bool
	// following is the RANGE of an INSTANCE, in capitals: what it says of the occurrences after its own.
	following string
	dropped   bool
	leftOut   int // how many of its parts are
}

// Alone returns an INSTANCE as an EVENT of its own.
func (d Draft) Alone() Draft {
	d.Kind, d.Date, d.Orphan = product.TypeEvent, "", false
	d.UID += "#" + d.Original.At().Format("20060102T150405")
	return d
}

// Remark is what was not taken: a whole component, or a part of one.
type Remark struct {
	Component string
	UID       string // "" if it has none
	Line      int
	Reason    string
}

// Result is what [Map] made of a document.
type Result struct {
	// Drafts stand in the file's order, each MASTER followed by its instances.
	Drafts []Draft
	// Refused are the components that gave no draft. Every component is a draft or one of these.
	Refused []Remark
	// LeftOut are parts of accepted components that the product has no room for.
	LeftOut []Remark
}
