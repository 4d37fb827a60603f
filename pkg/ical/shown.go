package ical

import (
	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// readShown reads what a component shows besides its times: the fields of its groups.
func (m *mapper) readShown(c *Component, d *Draft) {
	m.describe(c, d)
	switch d.family() {
	case entity.TypeEvent:
		m.place(c, d)
		m.eventStatus(c, d)
		m.visibility(c, d)
	case entity.TypeTask:
		m.progress(c, d)
		d.Fields[entity.AttrPriority] = item.Int(readPriority(c))
	case entity.TypeReminder:
		m.reminderStatus(c, d)
		delete(d.Fields, attrColor)
		if text := d.Fields[attrDescription]; text != nil {
			delete(d.Fields, attrDescription)
			d.Fields[attrNotes] = text
		}
	}
}

func (m *mapper) eventStatus(c *Component, d *Draft) {
	status := upper(c.Value("STATUS"))
	switch status {
	case entity.StatusConfirmed, entity.StatusTentative, entity.StatusCancelled:
	case "":
		status = entity.StatusConfirmed
	default:
		m.leaveOut(d, "STATUS %q is none of an event", clip(status))
		status = entity.StatusConfirmed
	}
	if m.cancelled {
		status = entity.StatusCancelled
	}
	d.Fields[entity.AttrStatus] = item.String(status)
}

// visibility reads CLASS and TRANSP. What a program does not know of CLASS means PRIVATE (RFC 5545 §3.8.1.3).
func (m *mapper) visibility(c *Component, d *Draft) {
	switch class := upper(c.Value("CLASS")); class {
	case "":
	case entity.VisibilityPublic, entity.VisibilityPrivate, entity.VisibilityConfidential:
		d.Fields[entity.AttrVisibility] = item.String(class)
	default:
		d.Fields[entity.AttrVisibility] = item.String(entity.VisibilityPrivate)
	}
	switch transparency := upper(c.Value("TRANSP")); transparency {
	case "":
	case entity.TransparencyOpaque, entity.TransparencyTransparent:
		d.Fields[entity.AttrTransparency] = item.String(transparency)
	default:
		m.leaveOut(d, "TRANSP %q is none of an event", clip(transparency))
	}
}

func (m *mapper) reminderStatus(c *Component, d *Draft) {
	switch status := upper(c.Value("STATUS")); {
	case status == "CANCELLED" || m.cancelled:
		d.Fields[entity.AttrStatus] = item.String(entity.StatusDismissed)
	case status == "COMPLETED":
		d.Fields[entity.AttrStatus] = item.String(entity.StatusCompleted)
	default:
		d.Fields[entity.AttrStatus] = item.String(entity.StatusPending)
	}
}
