package ical

import (
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/product"
)

// carried are the properties whose whole meaning a draft holds, if necessary in another form. Every other property is
// in a [group] or preserved unchanged: an unknown one is never lost.
var carried = map[string][]string{
	product.TypeEvent:    append(carriedByEvents, "X-NEXUS-COLOR"),
	product.TypeTask:     append(carriedByAll, "DUE", "DURATION", "COMPLETED", markProperty, colorProperty),
	product.TypeReminder: append(carriedByAll, "DUE", "RRULE", "RDATE", "COMPLETED", markProperty),
}

var (
	carriedByAll    = slices.Clip([]string{"UID", "DTSTAMP", "CREATED", "LAST-MODIFIED", "SEQUENCE", "DTSTART"})
	carriedByEvents = slices.Clip(append(carriedByAll, "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID"))
)

// many are those of them that a component may have more than once.
var many = []string{"RDATE", "EXDATE", "RRULE"}

// group is the properties that express or explain one field. Their lines are preserved if the draft would write
// others, and written as long as the field still has their meaning.
type group struct {
	field string
	names []string
}

// Fields of the product, and the properties that express them.
var (
	groupsOfAll = slices.Clip([]group{
		{entity.AttrTitle, []string{"SUMMARY"}},
		{entity.AttrStatus, []string{"STATUS"}},
		{entity.AttrTags, []string{"CATEGORIES"}},
	})
	descriptionGroup = group{attrDescription, []string{"DESCRIPTION", "X-ALT-DESC"}}
	colorGroup       = group{attrColor, []string{"COLOR", "X-APPLE-CALENDAR-COLOR", "X-OUTLOOK-COLOR"}}

	fieldGroups = map[string][]group{
		product.TypeEvent: append(groupsOfAll, descriptionGroup, colorGroup,
			group{attrLocation, []string{"LOCATION", "GEO", "X-APPLE-STRUCTURED-LOCATION"}},
			group{product.AttrVisibility, []string{"CLASS"}}, group{product.AttrTransparency, []string{"TRANSP"}}),
		product.TypeTask: append(groupsOfAll, descriptionGroup, colorGroup,
			group{product.AttrPriority, []string{"PRIORITY"}}),
		product.TypeReminder: append(groupsOfAll, group{attrNotes, []string{"DESCRIPTION", "X-ALT-DESC"}}),
	}
)

// family returns the type whose properties a draft has: a series and its occurrences have those of an event.
func (d *Draft) family() string {
	switch d.Kind {
	case entity.TypeMaster, entity.TypeInstance:
		return product.TypeEvent
	}
	return d.Kind
}

// groups returns the groups of the draft's properties. They include the URL if it is the place of an event.
func (d *Draft) groups(urlIsPlace bool) []group {
	list := fieldGroups[d.family()]
	if d.family() != product.TypeEvent || !urlIsPlace {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		if list[i].field == attrLocation {
			list[i].names = append(slices.Clone(list[i].names), "URL")
		}
	}
	return list
}

// isOneLine reports whether the field is a text of one line, or several of them.
func (g group) isOneLine() bool {
	switch g.field {
	case entity.AttrTitle, entity.AttrTags, attrLocation:
		return true
	}
	return false
}

// linesOf returns the properties of the component that belong to the group.
func (g group) linesOf(c *Component) []Property {
	var lines []Property
	for _, p := range c.Properties {
		if slices.Contains(g.names, p.Name) {
			lines = append(lines, p)
		}
	}
	return lines
}

// ofCalendar are the properties of a VCALENDAR that say how to read it, or how other programs name and refresh it as a
// whole. The product has one calendar, so the rest has no place here.
var ofCalendar = []string{
	"VERSION", "PRODID", "CALSCALE", "METHOD", "NAME", "X-WR-CALNAME", "X-WR-CALDESC", "X-WR-TIMEZONE", "REFRESH-INTERVAL",
	"X-PUBLISHED-TTL",
}

// remarkHead lists the properties of a calendar itself that have no place here.
func (r *Result) remarkHead(calendar *Component) {
	listed := 0
	for _, p := range calendar.Properties {
		if slices.Contains(ofCalendar, p.Name) {
			continue
		}
		if listed++; listed > maxRemarks {
			return
		}
		reason := clip(p.Name) + " of the calendar as a whole is not kept"
		if listed == maxRemarks {
			reason = "more of the calendar as a whole is not kept than is listed here"
		}
		r.LeftOut = append(r.LeftOut, Remark{Component: calendar.Name, Line: p.Line, Reason: reason})
	}
}
