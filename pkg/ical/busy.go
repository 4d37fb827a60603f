package ical

import (
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// busyTitle replaces the title of a private event.
const busyTitle = "Busy"

// Busy returns the drafts in a form that reveals only busy times of PRIVATE or CONFIDENTIAL items. Of such an event
// that blocks its time, it leaves the times and that they are blocked. It drops such an event that does not block its
// time, and such a to-do. The drafts are one item, or a series with its exceptions.
func Busy(drafts []Draft) []Draft {
	var shown []Draft
	takesTime := false
	for _, d := range drafts {
		if d.family() != product.TypeEvent {
			if class := upper(d.keptValue("CLASS")); class == "" || class == product.VisibilityPublic {
				shown = append(shown, d)
			}
			continue
		}
		if !d.isPrivate() {
			shown, takesTime = append(shown, d), true
			continue
		}
		if d.Fields.Str(product.AttrTransparency) != product.TransparencyTransparent &&
			d.Fields.Str(entity.AttrStatus) != product.StatusCancelled {
			takesTime = true
		}
		shown = append(shown, d.busy())
	}
	if len(shown) > 0 && shown[0].family() == product.TypeEvent && !takesTime {
		return nil
	}
	return shown
}

func (d *Draft) isPrivate() bool {
	switch d.Fields.Str(product.AttrVisibility) {
	case product.VisibilityPrivate, product.VisibilityConfidential:
		return true
	}
	return false
}

func (d *Draft) keptValue(name string) string {
	if d.Kept == nil {
		return ""
	}
	return d.Kept.Value(name)
}

// busy returns the draft with only its times and whether they are blocked.
func (d Draft) busy() Draft {
	fields := item.Item{entity.AttrTitle: item.String(busyTitle)}
	for _, name := range append(product.SpanFields(), entity.AttrStatus, product.AttrVisibility,
		product.AttrTransparency) {
		fields.Set(name, d.Fields[name])
	}
	d.Fields, d.Kept = fields, nil
	return d
}
