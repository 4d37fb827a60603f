package ical

import (
	"errors"
	"strconv"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// markProperty names the entity of a component that alone would be ambiguous.
const markProperty = "X-NEXUS-ENTITY"

// readTodo reads a VTODO as a TASK, or as a REMINDER if it repeats or was written for one: a task cannot repeat.
func (m *mapper) readTodo(c *Component, d *Draft) error {
	if c.Get("RECURRENCE-ID") != nil {
		return errors.New("an exception of a to-do that repeats is not known here")
	}
	if c.Get("RRULE") != nil || upper(c.Value(markProperty)) == product.TypeReminder {
		return m.readReminder(c, d)
	}
	if c.Get("RDATE") != nil || c.Get("EXRULE") != nil {
		return errors.New("a to-do repeats by an RRULE alone")
	}
	d.Kind = product.TypeTask
	anchor, end, err := m.todoSpan(c, d)
	if err != nil {
		return err
	}
	m.readShown(c, d)
	if anchor != nil {
		d.setMinutes(m.alarms(c, d, *anchor, end))
	}
	return nil
}

// todoSpan reads DTSTART, DUE and DURATION. Reminders count from the anchor: the due time, else the start; nil if
// there is neither.
func (m *mapper) todoSpan(c *Component, d *Draft) (anchor *Moment, due Moment, err error) {
	start, hasStart, err := m.optional(c, "DTSTART")
	if err != nil {
		return nil, due, err
	}
	due, hasDue, err := m.optional(c, "DUE")
	if err != nil {
		return nil, due, err
	}
	if p := c.Get("DURATION"); p != nil && hasStart && !hasDue {
		if due, err = addDuration(start, p.Value); err != nil {
			return nil, due, err
		}
		hasDue = true
	}
	d.Fields[product.AttrIsAllDay] = item.Bool(hasDue && due.Form == Day)
	switch {
	case hasDue && due.Form == Day:
		d.Fields[product.AttrDueDate] = item.String(item.FormatDate(due.Reading))
		if hasStart && start.Form != Day {
			m.leaveOut(d, "DTSTART: a task that is due on a day has no start")
		}
		return &due, due, nil
	case hasDue && hasStart && start.Form == Day:
		m.leaveOut(d, "DTSTART: it is a date where DUE is a time")
		hasStart = false
	case hasStart && start.Form == Day:
		start.Form = Floating // a task starts at a time: the beginning of the day
	}
	if hasDue && hasStart {
		if due.IsInstant() != start.IsInstant() {
			return nil, due, errors.New("DTSTART and DUE must both have a zone, or neither")
		}
		if due.At().Before(start.At()) {
			return nil, due, errors.New("DUE is before DTSTART")
		}
	}
	if hasStart {
		d.Fields[product.AttrStartUtc] = clientInstant(start)
		anchor = &start
	}
	if hasDue {
		d.Fields[product.AttrDueUtc] = clientInstant(due)
		anchor = &due
	}
	if anchor != nil && anchor.IsInstant() {
		d.Fields[product.AttrDueTzid] = item.String(anchor.ZoneName())
	}
	if !hasDue {
		due = start
	}
	return anchor, due, nil
}

func (m *mapper) optional(c *Component, name string) (at Moment, ok bool, err error) {
	p := c.Get(name)
	if p == nil {
		return at, false, nil
	}
	at, err = m.zones.moment(p)
	return at, true, err
}

// progress reads STATUS. If it is missing, progress derives it from COMPLETED and PERCENT-COMPLETE (RFC 5545
// §3.8.1.11). Cancelled to-dos are archived.
func (m *mapper) progress(c *Component, d *Draft) {
	d.CompletedAt = instantOf(c, "COMPLETED")
	percent, _ := strconv.Atoi(c.Value("PERCENT-COMPLETE"))
	status := product.StatusBacklog
	switch given := upper(c.Value("STATUS")); {
	case given == "CANCELLED" || m.cancelled:
		status = product.StatusArchived
	case given == "COMPLETED":
		status = product.StatusCompleted
	case given == "IN-PROCESS":
		status = product.StatusInProgress
	case given == "NEEDS-ACTION":
	default:
		if given != "" {
			m.leaveOut(d, "STATUS %q is none of a to-do", clip(given))
		}
		switch {
		case !d.CompletedAt.IsZero() || percent >= 100:
			status = product.StatusCompleted
		case percent > 0:
			status = product.StatusInProgress
		}
	}
	if status != product.StatusCompleted && status != product.StatusArchived {
		d.CompletedAt = time.Time{}
	}
	d.Fields[entity.AttrStatus] = item.String(status)
}

// readPriority reads PRIORITY 1 to 9 as 1 to 5; 0 and none is the middle (RFC 5545 §3.8.1.9).
func readPriority(c *Component) int64 {
	switch n, _ := strconv.Atoi(c.Value("PRIORITY")); {
	case n == 1:
		return 1
	case n >= 2 && n <= 4:
		return 2
	case n >= 6 && n <= 8:
		return 4
	case n == 9:
		return 5
	}
	return 3
}

// writePriority is the inverse of [readPriority].
func writePriority(n int64) string { return strconv.FormatInt(2*n-1, 10) }

// readReminder reads a VTODO as a REMINDER. It is due at DTSTART, from which a rule counts, or else at DUE.
func (m *mapper) readReminder(c *Component, d *Draft) error {
	d.Kind = product.TypeReminder
	if c.Get("EXDATE") != nil || c.Get("EXRULE") != nil || c.Get("RDATE") != nil && c.Get("RRULE") == nil {
		return errToDoDates
	}
	m.readShown(c, d)
	if d.Fields.Str(entity.AttrStatus) != product.StatusPending {
		d.CompletedAt = instantOf(c, "COMPLETED")
	}
	trigger, ok, err := m.optional(c, "DTSTART")
	if err != nil {
		return err
	}
	if !ok {
		if trigger, ok, err = m.optional(c, "DUE"); err != nil {
			return err
		}
	} else if due, hasDue, _ := m.optional(c, "DUE"); hasDue && !due.At().Equal(trigger.At()) {
		m.leaveOut(d, "DUE: the to-do repeats, and becomes a reminder at its start")
	}
	switch {
	case !ok:
		return errors.New("a to-do that repeats becomes a reminder, and that needs DTSTART or DUE")
	case trigger.Form == Day:
		return errors.New("a to-do that repeats becomes a reminder, and that needs a time, not a date")
	}
	if c.Get("RRULE") != nil {
		if d.RRule, err = onlyRule(c); err != nil {
			return err
		}
		d.start = trigger
		if err := m.readOutside(c, d); err != nil {
			return err
		}
		trigger = d.start
		if _, err := d.compileRule(trigger); err != nil {
			return err
		}
	}
	d.Fields[product.AttrTriggerUtc] = clientInstant(trigger)
	if trigger.IsInstant() {
		d.Fields[product.AttrTzid] = item.String(trigger.ZoneName())
	}
	return nil
}
