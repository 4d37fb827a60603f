package ical

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/text"
)

// readEvent reads a VEVENT as an EVENT, a MASTER or an INSTANCE.
func (m *mapper) readEvent(c *Component, d *Draft) error {
	if err := m.eventSpan(c, d); err != nil {
		return err
	}
	d.setSpan()
	d.Kind = product.TypeEvent
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

// eventSpan reads DTSTART and DTEND or DURATION. Without either, an all-day event lasts a day and any other event has
// no length (RFC 5545 §3.6.1).
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
		m.alignEnd(d)
		if d.start.IsInstant() != d.end.IsInstant() || (d.start.Form == Day) != (d.end.Form == Day) {
			return errors.New(
				"DTSTART and DTEND are not of one kind: both dates, both with a zone, or both without (RFC 5545 §3.8.2.2)")
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

// alignEnd converts an end of the other kind than the start: a date becomes its beginning if the start is a time; a
// time becomes its day if the start is a date.
func (m *mapper) alignEnd(d *Draft) {
	switch {
	case d.end.Form == Day && d.start.Form != Day:
		m.leaveOut(d, "DTEND is a date where DTSTART is a time: it is read as the beginning of that day")
		end := d.start
		end.Reading = d.end.Reading
		d.end = end
		if end.At().Before(d.start.At()) {
			d.end, d.hasEnd = d.start, false
		}
	case d.start.Form == Day && d.end.Form != Day:
		m.leaveOut(d, "DTEND is a time where DTSTART is a date: it is read as its day")
		day := d.end.Reading.Truncate(24 * time.Hour)
		if day.Before(d.end.Reading) {
			day = day.AddDate(0, 0, 1)
		}
		d.end = Moment{Form: Day, Reading: day}
	}
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
		d.Fields[product.AttrIsAllDay] = item.Bool(true)
		d.Fields[product.AttrStartDate] = item.String(item.FormatDate(d.start.Reading))
		d.Fields[product.AttrEndDate] = item.String(item.FormatDate(d.end.Reading))
		return
	}
	d.Fields[product.AttrIsAllDay] = item.Bool(false)
	d.Fields[product.AttrStartUtc] = clientInstant(d.start)
	if d.hasEnd {
		d.Fields[product.AttrEndUtc] = clientInstant(d.end)
	}
	if d.start.IsInstant() {
		d.Fields[product.AttrStartTzid] = item.String(d.start.ZoneName())
		if zone := d.end.ZoneName(); zone != d.start.ZoneName() {
			d.Fields[product.AttrEndTzid] = item.String(zone)
		}
	}
}

// clientInstant returns a time as a client sends it: a floating one without Z.
func clientInstant(m Moment) item.String {
	text := item.FormatInstant(m.At())
	if !m.IsInstant() {
		text = strings.TrimSuffix(text, "Z")
	}
	return item.String(text)
}

// Attributes that only this package and the entity types use.
const (
	attrDescription = "description"
	attrLocation    = "location"
	attrColor       = "color"
	attrNotes       = "notes"
)

// untitled replaces an empty SUMMARY: the product has no entity without a title, and such events are common in
// calendars.
const untitled = "(no title)"

// describe reads the properties that events and to-dos have in common.
func (m *mapper) describe(c *Component, d *Draft) {
	title := strings.Join(strings.Fields(m.line(d, "SUMMARY", c.Text("SUMMARY"))), " ")
	title = m.cut(d, "SUMMARY", title, longestTitle, 1)
	if title == "" {
		title = untitled
		m.leaveOut(d, "it has no SUMMARY and is called %q", untitled)
	}
	d.Fields[entity.AttrTitle] = item.String(title)
	if text := strings.TrimSpace(c.Text("DESCRIPTION")); text != "" {
		d.Fields[attrDescription] = item.String(m.cut(d, "DESCRIPTION", text, longestDescription, utf8.UTFMax))
	}
	if color, ok := readColor(c); ok {
		d.Fields[attrColor] = item.String(color)
	}
	m.tags(c, d)
}

// Bounds of docs/data-model.md: characters, of a description bytes.
const (
	mostTags           = 50
	longestTag         = 64
	longestTitle       = 500
	longestLocation    = 500
	longestDescription = 10 << 10
)

// line replaces each character that no text of one line may hold by a space.
func (m *mapper) line(d *Draft, name, s string) string {
	fit := text.OneLine(s)
	if fit != s {
		m.leaveOut(d, "%s holds characters that no text of one line may hold: each is read as a space", name)
	}
	return fit
}

// cut shortens a text to its bound: in bytes if a character may have several, else in characters. The whole text is
// preserved beside the item.
func (m *mapper) cut(d *Draft, name, text string, longest, width int) string {
	short := text
	if width > 1 {
		for end := longest; len(text) > longest; end-- {
			if utf8.RuneStart(text[end]) {
				short = text[:end]
				break
			}
		}
	} else if utf8.RuneCountInString(text) > longest {
		short = string([]rune(text)[:longest])
	}
	short = strings.TrimSpace(short)
	if short != text {
		m.leaveOut(d, "%s is longer than may be shown here: it is cut, and kept whole", name)
	}
	return short
}

func (m *mapper) tags(c *Component, d *Draft) {
	var tags []string
	for _, p := range c.All("CATEGORIES") {
		for _, tag := range SplitText(p.Value) {
			switch tag = strings.TrimSpace(m.line(d, "CATEGORIES", tag)); {
			case len(tags) == maxCategories:
			case tag == "":
			case utf8.RuneCountInString(tag) > longestTag:
				m.leaveOut(d, "the category %q has more than %d characters", clip(tag), longestTag)
			default:
				tags = append(tags, tag)
			}
		}
	}
	set := item.Strings(tags...)
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
	location, url := strings.TrimSpace(m.line(d, "LOCATION", c.Text("LOCATION"))), c.Value("URL")
	if location == "" {
		location = url
	}
	if location != "" {
		d.Fields[attrLocation] = item.String(m.cut(d, "LOCATION", location, longestLocation, 1))
	}
}
