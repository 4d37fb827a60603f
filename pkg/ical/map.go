package ical

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// Map turns a document's components into drafts of the registry's types. If several components, in one calendar of the
// document or in several, are revisions of one thing, the latest counts (RFC 5546 §2.1.5).
func Map(registry *entity.Registry, document *Document) Result {
	m := &mapper{types: registry}
	m.result.remarkFaults("", document.Faults)
	for _, calendar := range document.Calendars {
		m.zones = newZoneMap(calendar)
		m.cancelled = upper(calendar.Value("METHOD")) == "CANCEL"
		m.problem = calendarProblem(calendar)
		m.result.remarkFaults(calendar.Name, calendar.Faults)
		m.result.remarkFaults(calendar.Name, calendar.Replaced)
		m.result.remarkHead(calendar)
		for _, c := range calendar.Children {
			if c.Name != "VTIMEZONE" {
				m.take(c)
			}
		}
		for _, note := range m.zones.notes {
			m.result.LeftOut = append(m.result.LeftOut, Remark{Component: calendar.Name, Line: calendar.Line, Reason: note})
		}
	}
	m.resolve()
	return m.result
}

func (r *Result) remarkFaults(component string, faults []Fault) {
	for _, f := range faults {
		r.LeftOut = append(r.LeftOut, Remark{Component: component, Line: f.Line, Reason: f.Reason})
	}
}

// mapper maps the calendars of a document, one after the other.
type mapper struct {
	types *entity.Registry
	// State of the current calendar: its zones, whether it cancels the items it names (RFC 5546 §3.2.5), and why none of
	// it can be imported.
	zones     *zoneMap
	cancelled bool
	problem   error

	drafts  []Draft
	derived int // instances that follow from RDATEs
	result  Result
}

// calendarProblem says why a whole calendar is refused.
func calendarProblem(calendar *Component) error {
	if version := calendar.Value("VERSION"); version == "1.0" {
		return errors.New("the calendar is a vCalendar 1.0, another format than iCalendar")
	}
	if scale := upper(calendar.Value("CALSCALE")); scale != "" && scale != "GREGORIAN" {
		return fmt.Errorf("the calendar counts by %q, not by GREGORIAN", clip(scale))
	}
	switch method := upper(calendar.Value("METHOD")); method {
	case "REPLY", "REFRESH", "COUNTER", "DECLINECOUNTER":
		return fmt.Errorf("the calendar is a message %s about somebody's event, not the event (RFC 5546)", method)
	}
	return nil
}

// decisive are the properties whose absence changes the meaning of a component; a fault in one of them refuses the
// component.
var decisive = map[string]bool{
	"END": true, "DTSTART": true, "DTEND": true, "DURATION": true, "DUE": true, "RRULE": true, "RDATE": true,
	"EXDATE": true, "EXRULE": true, "RECURRENCE-ID": true, "UID": true, "STATUS": true, "CLASS": true,
}

// take reads one component and records its draft or its refusal.
func (m *mapper) take(c *Component) {
	d := Draft{Component: c.Name, Line: c.Line, UID: c.Text("UID"), Fields: item.Item{}}
	err := m.problem
	if err == nil {
		c = m.normalise(c, &d)
		err = m.read(c, &d)
	}
	if err != nil {
		m.refuse(&d, err)
		return
	}
	m.keep(c, &d)
	for _, instance := range d.derived {
		instance.Kept = d.Kept
		if err := m.check(&instance); err != nil {
			m.leaveOut(&d, "the RDATE on %s: %v", instance.Date, err)
			continue
		}
		m.drafts = append(m.drafts, instance)
	}
	d.derived = nil
	m.drafts = append(m.drafts, d)
}

func (m *mapper) read(c *Component, d *Draft) error {
	for _, f := range c.Faults {
		if decisive[f.Name] {
			return fmt.Errorf("line %d, %s: %s", f.Line, f.Name, f.Reason)
		}
		m.leaveOut(d, "line %d: %s", f.Line, f.Reason)
	}
	for _, f := range c.lesserFaults() {
		m.leaveOut(d, "line %d: %s %s", f.Line, clip(f.Name), f.Reason)
	}
	d.UID = strings.TrimSpace(d.UID)
	if len(d.UID) > maxUID {
		uid := d.UID
		d.UID = clip(uid)
		return fmt.Errorf("its UID has %d bytes, more than %d", len(uid), maxUID)
	}
	if d.UID == "" {
		d.UID = contentUID(c)
	}
	d.Sequence, d.stamp = readRevision(c)
	if d.Stamp = d.stamp.stamped; d.Stamp.IsZero() {
		d.Stamp = d.stamp.modified
	}
	d.CreatedAt, d.ModifiedAt = instantOf(c, "CREATED"), d.stamp.modified
	var err error
	switch c.Name {
	case "VEVENT":
		err = m.readEvent(c, d)
	case "VTODO":
		err = m.readTodo(c, d)
	default:
		return fmt.Errorf("a %s is neither an event nor a to-do", clip(c.Name))
	}
	if err != nil {
		return err
	}
	return m.check(d)
}

// lesserFaults returns the faults that do not refuse the component: its lines with characters replaced, and all faults
// within it.
func (c *Component) lesserFaults() []Fault {
	faults := slices.Clone(c.Replaced)
	for _, child := range c.Children {
		faults = append(append(faults, child.Faults...), child.lesserFaults()...)
	}
	return faults
}

func (m *mapper) refuse(d *Draft, err error) {
	m.result.Refused = append(m.result.Refused, Remark{d.Component, clip(d.UID), d.Line, err.Error()})
}

// leaveOut lists a part that is not imported; beyond a number of them, only that there are more.
func (m *mapper) leaveOut(d *Draft, format string, args ...any) {
	if d.leftOut++; d.leftOut > maxRemarks+1 {
		return
	}
	reason := fmt.Sprintf(format, args...)
	if d.leftOut > maxRemarks {
		reason = "more than is listed here"
	}
	m.result.LeftOut = append(m.result.LeftOut, Remark{d.Component, clip(d.UID), d.Line, reason})
}
