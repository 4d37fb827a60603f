package ical

import (
	"slices"
	"strconv"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/product"
)

// addKept adds the preserved content to the component that the draft writes.
func (d *Draft) addKept(c *Component) {
	if d.Kept == nil {
		return
	}
	taken := map[string]bool{}
	for _, g := range d.groups(d.Kept.Value("URL") == d.Fields.Str(attrLocation)) {
		for _, name := range g.names {
			taken[name] = true
		}
		if lines := g.linesOf(d.Kept); len(lines) > 0 && d.says(g, lines) {
			replaceGroup(c, g, lines)
		}
	}
	for _, p := range d.Kept.Properties {
		if !taken[p.Name] {
			c.Properties = append(c.Properties, p)
		}
	}
}

// replaceGroup replaces the lines that the draft would write for the field.
func replaceGroup(c *Component, g group, lines []Property) {
	names := g.names
	if g.field == attrColor {
		names = append(slices.Clone(names), colorProperty)
	}
	at := slices.IndexFunc(c.Properties, func(p Property) bool { return slices.Contains(names, p.Name) })
	if at < 0 {
		at = len(c.Properties)
	}
	c.Properties = slices.Insert(c.Properties, at, lines...)
	i := -1
	c.Properties = slices.DeleteFunc(c.Properties, func(p Property) bool {
		i++
		return (i < at || i >= at+len(lines)) && slices.Contains(names, p.Name)
	})
}

// says reports whether the field holds exactly the meaning of the lines.
func (d *Draft) says(g group, lines []Property) bool {
	probe := Draft{Kind: d.Kind, Fields: item.Item{}, CompletedAt: d.CompletedAt}
	(&mapper{}).readShown(&Component{Properties: lines}, &probe)
	return item.Equal(probe.Fields[g.field], d.Fields[g.field])
}

// keptAlarms adds the preserved alarms and other components. It leaves out alarms at a time at which the item no
// longer reminds. It returns the offsets that already have an alarm.
func (d *Draft) keptAlarms(c *Component) (written map[string]bool) {
	written = map[string]bool{}
	if d.Kept == nil {
		return written
	}
	wanted := d.Fields.Ints(product.AttrReminderMinutes)
	for _, child := range d.Kept.Children {
		if child.Name == "VALARM" {
			at := d.ringsAt(c, child)
			minutes, err := strconv.ParseInt(at, 10, 64)
			if err == nil && d.Kind != product.TypeReminder && !slices.Contains(wanted, minutes) {
				continue
			}
			written[at] = true
		}
		c.Children = append(c.Children, child)
	}
	return written
}

// ringsAt returns how many minutes before its time an alarm of the written component rings, as a number; "" for one
// that the product cannot represent.
func (d *Draft) ringsAt(c, alarm *Component) string {
	if upper(alarm.Value("ACTION")) == "NONE" {
		return ""
	}
	anchor, end, ok := d.anchors(c)
	if !ok {
		return ""
	}
	m := &mapper{zones: newZoneMap(&Component{})}
	before, reason := m.alarmOffset(c, alarm, anchor, end)
	if reason != "" {
		return ""
	}
	return strconv.FormatInt(wholeMinutes(before), 10)
}

// anchors returns the times that the alarms of a written component count from, as a reader of it determines them.
func (d *Draft) anchors(c *Component) (anchor, end Moment, ok bool) {
	m := &mapper{zones: newZoneMap(&Component{})}
	probe := Draft{Kind: d.Kind, Fields: item.Item{}}
	if c.Name == "VEVENT" {
		err := m.eventSpan(c, &probe)
		return probe.start, probe.end, err == nil
	}
	if d.Kind == product.TypeReminder {
		for _, name := range []string{"DTSTART", "DUE"} {
			if at, ok, err := m.optional(c, name); ok && err == nil {
				return at, at, true
			}
		}
		return anchor, end, false
	}
	at, end, err := m.todoSpan(c, &probe)
	if err != nil || at == nil {
		return anchor, end, false
	}
	return *at, end, true
}

// wholeMinutes rounds up: a reminder is never later than requested.
func wholeMinutes(before time.Duration) int64 { return int64((before + time.Minute - 1) / time.Minute) }
