package ical

import (
	"errors"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/product"
)

func (d *Draft) exportTask(stamp time.Time) (*Component, error) {
	c := d.begin("VTODO", stamp)
	start, hasStart, err := d.momentOf(product.AttrStartUtc, product.AttrDueTzid)
	if err != nil {
		return nil, err
	}
	due, hasDue, err := d.momentOf(product.AttrDueUtc, product.AttrDueTzid)
	if err != nil {
		return nil, err
	}
	if d.Fields.Bool(product.AttrIsAllDay) {
		if due, hasDue, err = d.dayOf(product.AttrDueDate); err != nil {
			return nil, err
		}
	}
	if hasStart {
		start.addTo(c, "DTSTART")
	}
	related := ""
	if hasDue {
		due.addTo(c, "DUE")
		related = "END"
	}
	d.describeIn(c, attrDescription)
	c.Add("PRIORITY", writePriority(d.Fields.Int(product.AttrPriority)))
	c.Add("STATUS", d.todoStatus())
	addInstant(c, "COMPLETED", d.CompletedAt)
	d.addKept(c)
	d.alarmsIn(c, related)
	return c, nil
}

// todoStatus is the inverse of reading a status, except that a completed task in the archive stays completed in other
// programs.
func (d *Draft) todoStatus() string {
	switch d.Fields.Str(entity.AttrStatus) {
	case product.StatusInProgress:
		return "IN-PROCESS"
	case product.StatusCompleted:
		return "COMPLETED"
	case product.StatusArchived:
		if !d.CompletedAt.IsZero() {
			return "COMPLETED"
		}
		return "CANCELLED"
	case product.StatusDismissed:
		return "CANCELLED"
	}
	return "NEEDS-ACTION"
}

// exportReminder writes a reminder as a to-do that is due, or repeatedly begins, when it reminds.
func (d *Draft) exportReminder(stamp time.Time) (*Component, error) {
	if err := d.readTrigger(); err != nil {
		return nil, err
	}
	c := d.begin("VTODO", stamp)
	related := ""
	if d.RRule != "" {
		d.start.addTo(c, "DTSTART") // a rule counts from it
		c.Add("RRULE", d.RRule)
		if err := d.addDates(c, "RDATE", d.RDates); err != nil {
			return nil, err
		}
	} else {
		d.start.addTo(c, "DUE")
		related = "END"
	}
	d.describeIn(c, attrNotes)
	c.Add("STATUS", d.todoStatus())
	addInstant(c, "COMPLETED", d.CompletedAt)
	c.Add(markProperty, product.TypeReminder)
	d.addKept(c)
	at := *d
	at.Fields = d.Fields.Clone()
	at.setMinutes([]int64{0})
	at.alarmsIn(c, related)
	return c, nil
}

// readTrigger reads the start of a reminder from the fields: its trigger.
func (d *Draft) readTrigger() error {
	var ok bool
	var err error
	if d.start, ok, err = d.momentOf(product.AttrTriggerUtc, product.AttrTzid); err != nil || !ok {
		return errors.Join(errors.New("a reminder without triggerUtc"), err)
	}
	if d.RRule == "" {
		return nil
	}
	return d.readSeriesStart()
}
