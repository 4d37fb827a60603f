package ical

import (
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// readShown reads the shown properties of a component except its times: the fields of its groups.
func (m *mapper) readShown(c *Component, d *Draft) {
	m.describe(c, d)
	switch d.family() {
	case product.TypeEvent:
		m.place(c, d)
		m.eventStatus(c, d)
		m.visibility(c, d)
	case product.TypeTask:
		m.progress(c, d)
		d.Fields[product.AttrPriority] = item.Int(readPriority(c))
	case product.TypeReminder:
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
	case product.StatusConfirmed, product.StatusTentative, product.StatusCancelled:
	case "":
		status = product.StatusConfirmed
	default:
		m.leaveOut(d, "STATUS %q is none of an event", clip(status))
		status = product.StatusConfirmed
	}
	if m.cancelled {
		status = product.StatusCancelled
	}
	d.Fields[entity.AttrStatus] = item.String(status)
}

// visibility reads CLASS and TRANSP. An unknown CLASS means PRIVATE (RFC 5545 §3.8.1.3).
func (m *mapper) visibility(c *Component, d *Draft) {
	switch class := upper(c.Value("CLASS")); class {
	case "":
	case product.VisibilityPublic, product.VisibilityPrivate, product.VisibilityConfidential:
		d.Fields[product.AttrVisibility] = item.String(class)
	default:
		d.Fields[product.AttrVisibility] = item.String(product.VisibilityPrivate)
	}
	switch transparency := upper(c.Value("TRANSP")); transparency {
	case "":
	case product.TransparencyOpaque, product.TransparencyTransparent:
		d.Fields[product.AttrTransparency] = item.String(transparency)
	default:
		m.leaveOut(d, "TRANSP %q is none of an event", clip(transparency))
	}
}

func (m *mapper) reminderStatus(c *Component, d *Draft) {
	switch status := upper(c.Value("STATUS")); {
	case status == "CANCELLED" || m.cancelled:
		d.Fields[entity.AttrStatus] = item.String(product.StatusDismissed)
	case status == "COMPLETED":
		d.Fields[entity.AttrStatus] = item.String(product.StatusCompleted)
	default:
		d.Fields[entity.AttrStatus] = item.String(product.StatusPending)
	}
}
