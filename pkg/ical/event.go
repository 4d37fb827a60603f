package ical

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"nexus/pkg/entity"
)

// readEvent reads a VEVENT as an EVENT, a MASTER or an INSTANCE.
func (m *mapper) readEvent(c *Component, d *Draft) error {
	if err := m.eventSpan(c, d); err != nil {
		return err
	}
	d.setSpan()
	d.Kind = entity.TypeEvent
	m.readShown(c, d)
	d.setMinutes(m.alarms(c, d, d.start, d.end))
	if p := c.Get("RECURRENCE-ID"); p != nil {
		return m.readInstance(p, d)
	}
	if c.Get("RRULE") != nil || c.Get("RDATE") != nil || c.Get("EXRULE") != nil {
		return m.readSeries(c, d)
	}
	return nil
}

// eventSpan reads DTSTART and DTEND or DURATION. An event without either lasts a day if it is all-day, and no time else
// (RFC 5545 §3.6.1).
func (m *mapper) eventSpan(c *Component, d *Draft) (err error) {
	p := c.Get("DTSTART")
	if p == nil {
		return errors.New("it has no DTSTART")
	}
	if d.start, err = m.zones.moment(p); err != nil {
		return err
	}
	d.end = d.start
	if p := c.Get("DTEND"); p != nil {
		if d.end, err = m.zones.moment(p); err != nil {
			return err
		}
		d.hasEnd = true
		if d.start.IsInstant() != d.end.IsInstant() || (d.start.Form == Day) != (d.end.Form == Day) {
			return errors.New("DTSTART and DTEND are not of one kind: both dates, both with a zone, or both without (RFC 5545 §3.8.2.2)")
		}
		if d.end.At().Before(d.start.At()) {
			return errors.New("DTEND is before DTSTART")
		}
	} else if p := c.Get("DURATION"); p != nil {
		if d.end, err = addDuration(d.start, p.Value); err != nil {
			return err
		}
		d.hasEnd = true
	}
	if d.start.Form == Day && !d.end.Reading.After(d.start.Reading) {
		d.end = d.start.add(Duration{Days: 1}) // an end on the day itself is common, and means that day
	}
	return nil
}

func addDuration(start Moment, text string) (Moment, error) {
	length, err := ParseDuration(text)
	if err != nil {
		return Moment{}, fmt.Errorf("DURATION: %w", err)
	}
	if start.Form == Day {
		if length.Exact%(24*time.Hour) != 0 {
			return Moment{}, errors.New("DURATION: from a date on it counts whole days (RFC 5545 §3.6.1)")
		}
		length = Duration{Days: length.Days + int(length.Exact/(24*time.Hour))}
	}
	if length.Days < 0 || length.Exact < 0 {
		return Moment{}, errors.New("DURATION: is negative")
	}
	return start.add(length), nil
}

// setSpan writes start and end into the fields of an event.
func (d *Draft) setSpan() {
	if d.start.Form == Day {
		d.Fields[entity.AttrIsAllDay] = entity.Bool(true)
		d.Fields[entity.AttrStartDate] = entity.String(entity.FormatDate(d.start.Reading))
		d.Fields[entity.AttrEndDate] = entity.String(entity.FormatDate(d.end.Reading))
		return
	}
	d.Fields[entity.AttrIsAllDay] = entity.Bool(false)
	d.Fields[entity.AttrStartUtc] = clientInstant(d.start)
	if d.hasEnd {
		d.Fields[entity.AttrEndUtc] = clientInstant(d.end)
	}
	if d.start.IsInstant() {
		d.Fields[entity.AttrStartTzid] = entity.String(d.start.ZoneName())
		if zone := d.end.ZoneName(); zone != d.start.ZoneName() {
			d.Fields[entity.AttrEndTzid] = entity.String(zone)
		}
	}
}

// clientInstant is a time as a client sends it: a floating one without Z.
func clientInstant(m Moment) entity.String {
	text := entity.FormatInstant(m.At())
	if !m.IsInstant() {
		text = strings.TrimSuffix(text, "Z")
	}
	return entity.String(text)
}

// Attributes that only this package and the entity types speak of.
const (
	attrDescription = "description"
	attrLocation    = "location"
	attrColor       = "color"
	attrNotes       = "notes"
)

// untitled stands for an empty SUMMARY: the product has no entity without a title, and calendars are full of such events.
const untitled = "(no title)"

// describe reads what events and to-dos have in common.
func (m *mapper) describe(c *Component, d *Draft) {
	title := strings.TrimSpace(strings.Join(strings.Fields(c.Text("SUMMARY")), " "))
	if title == "" {
		title = untitled
		m.leaveOut(d, "it has no SUMMARY and is called %q", untitled)
	}
	d.Fields[entity.AttrTitle] = entity.String(title)
	if text := strings.TrimSpace(c.Text("DESCRIPTION")); text != "" {
		d.Fields[attrDescription] = entity.String(text)
	}
	if color, ok := readColor(c); ok {
		d.Fields[attrColor] = entity.String(color)
	}
	m.tags(c, d)
}

const (
	mostTags   = 50
	longestTag = 64
)

func (m *mapper) tags(c *Component, d *Draft) {
	var tags []string
	for _, p := range c.All("CATEGORIES") {
		for _, tag := range SplitText(p.Value) {
			switch tag = strings.TrimSpace(tag); {
			case len(tags) == maxCategories:
			case tag == "":
			case utf8.RuneCountInString(tag) > longestTag:
				m.leaveOut(d, "the category %q has more than %d characters", clip(tag), longestTag)
			default:
				tags = append(tags, tag)
			}
		}
	}
	set := entity.Strings(tags...)
	if len(set) > mostTags {
		m.leaveOut(d, "it has %d categories, more than %d", len(set), mostTags)
		set = set[:mostTags]
	}
	if len(set) > 0 {
		d.Fields[entity.AttrTags] = set
	}
}

// place reads LOCATION; an event without one, but with a URL, takes place there.
func (m *mapper) place(c *Component, d *Draft) {
	location, url := strings.TrimSpace(c.Text("LOCATION")), c.Value("URL")
	if location == "" {
		location = url
	}
	if location != "" {
		d.Fields[attrLocation] = entity.String(location)
	}
}
