package ical

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/wallclock"
)

// Beside finds the text that is stored beside an item, by the item's key; see [Draft.KeptText]. Nil finds none.
type Beside func(it item.Key) string

func (b Beside) find(it item.Item) *Component {
	if b == nil || !it.Has(product.AttrKept) {
		return nil
	}
	return readKept(b(it.Key()))
}

// FromItem turns a stored EVENT, TASK or REMINDER into a draft to export. [FromSeries] does it for a series.
func FromItem(it item.Item, beside Beside) (d Draft, err error) {
	switch name := it.Str(entity.AttrType); name {
	case product.TypeEvent:
		d = newDraft(product.Event(), it)
	case product.TypeTask:
		d = newDraft(product.Task(), it)
	case product.TypeReminder:
		d, err = fromReminder(it)
	case entity.TypeMaster, entity.TypeInstance:
		return Draft{}, errNoSeries
	default:
		return Draft{}, fmt.Errorf("draft an item of type %q: it has no component of its own", name)
	}
	d.Kept = beside.find(it)
	return d, err
}

func newDraft(t *entity.Type, it item.Item) Draft {
	d := Draft{
		Kind: t.Name, ID: it.Str(t.IDAttr), Fields: clientFields(t, it), Sequence: product.Revision(it),
		UID: it.Str(product.AttrICalUID),
	}
	if d.UID == "" {
		d.UID = product.ICalUID(d.ID)
	}
	for _, name := range []string{product.AttrRRule, product.AttrRRuleUntil, product.AttrExDate, product.AttrRDate} {
		delete(d.Fields, name) // the draft has them beside its fields
	}
	d.CreatedAt, _ = it.Time(entity.AttrCreatedAt)
	d.ModifiedAt, _ = it.Time(entity.AttrUpdatedAt)
	d.CompletedAt, _ = it.Time(product.AttrCompletedAt)
	return d
}

// fromReminder drafts a reminder. A recurring one counts from its first trigger, not from its next.
func fromReminder(it item.Item) (Draft, error) {
	d := newDraft(product.Reminder(), it)
	d.Fields[entity.AttrStatus] = it[entity.AttrStatus] // set by the server, so it is no field that a client sends
	if !it.Has(product.AttrRRule) {
		return d, nil
	}
	first, ok := it.Time(product.AttrFirstTriggerUtc)
	if !ok {
		return Draft{}, fmt.Errorf("draft %s: it recurs and has no first trigger", it.Key())
	}
	d.Fields[product.AttrTriggerUtc] = item.String(item.FormatInstant(first))
	if !it.Has(product.AttrTzid) {
		d.Fields[product.AttrTriggerUtc] = clientInstant(Moment{Form: Floating, Reading: first})
	}
	var err error
	if d.RRule, err = foldEnd(it, product.AttrTzid, product.CompileReminder); err != nil {
		return Draft{}, fmt.Errorf("draft %s: %w", it.Key(), err)
	}
	if err := d.readTrigger(); err != nil {
		return Draft{}, fmt.Errorf("draft %s: %w", it.Key(), err)
	}
	return d, d.synchronize(it)
}

// clientFields returns the attributes that a client would send to create the item.
func clientFields(t *entity.Type, it item.Item) item.Item {
	fields := item.Item{}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Origin != entity.FromClient || !it.Has(f.Name) {
			continue
		}
		fields[f.Name] = item.CloneValue(it[f.Name])
		if at, ok := it.Time(f.Name); ok && f.Kind == entity.Instant && f.Zone != "" && !it.Has(f.Zone) {
			fields[f.Name] = clientInstant(Moment{Form: Floating, Reading: at})
		}
	}
	return fields
}

// Export turns the draft into its component, without the time zones that it names: [Calendar] adds those. Stamp becomes
// its DTSTAMP; zero means the draft's own ModifiedAt.
func (d Draft) Export(stamp time.Time) (*Component, error) {
	var c *Component
	var err error
	switch d.Kind {
	case product.TypeEvent, entity.TypeMaster, entity.TypeInstance:
		c, err = d.exportEvent(stamp)
	case product.TypeTask:
		c, err = d.exportTask(stamp)
	case product.TypeReminder:
		c, err = d.exportReminder(stamp)
	default:
		err = errors.New("it has no component")
	}
	if err != nil {
		return nil, fmt.Errorf("export %s %s: %w", d.Kind, clip(d.UID), err)
	}
	return c, nil
}

// begin makes the component with the properties that all components begin with.
func (d *Draft) begin(name string, stamp time.Time) *Component {
	c := &Component{Name: name}
	c.AddText("UID", d.UID)
	if stamp.IsZero() {
		stamp = d.ModifiedAt
	}
	addInstant(c, "DTSTAMP", stamp)
	addInstant(c, "CREATED", d.CreatedAt)
	addInstant(c, "LAST-MODIFIED", d.ModifiedAt)
	c.Add("SEQUENCE", strconv.FormatInt(d.Sequence, 10))
	return c
}

func addInstant(c *Component, name string, at time.Time) {
	if !at.IsZero() {
		Moment{Form: UTC, Reading: at.UTC()}.addTo(c, name)
	}
}

// describeIn adds the properties that events and to-dos have in common.
func (d *Draft) describeIn(c *Component, description string) {
	c.AddText("SUMMARY", d.Fields.Str(entity.AttrTitle))
	c.AddText("DESCRIPTION", d.Fields.Str(description))
	if tags := d.Fields.Strings(entity.AttrTags); len(tags) > 0 {
		list := ""
		for i, tag := range tags {
			if i > 0 {
				list += ","
			}
			list += Escape(tag)
		}
		c.Add("CATEGORIES", list)
	}
	if color := d.Fields.Str(attrColor); color != "" {
		c.Add("COLOR", nearestColor(color))
		c.Add(colorProperty, color)
	}
}

// alarmsIn adds a VALARM for each of the draft's reminder offsets.
func (d *Draft) alarmsIn(c *Component, related string) {
	written := d.keptAlarms(c)
	for _, minutes := range d.Fields.Ints(product.AttrReminderMinutes) {
		if written[strconv.FormatInt(minutes, 10)] {
			continue
		}
		alarm := &Component{Name: "VALARM"}
		alarm.Add("ACTION", "DISPLAY")
		alarm.AddText("DESCRIPTION", d.Fields.Str(entity.AttrTitle))
		alarm.Add("TRIGGER", Duration{Exact: -time.Duration(minutes) * time.Minute}.String(), "RELATED", related)
		c.Children = append(c.Children, alarm)
	}
}

// momentOf reads a time of the fields. The second of two equal readings at the end of summer time can only be written
// in UTC.
func (d *Draft) momentOf(name, zone string) (Moment, bool, error) {
	text := d.Fields.Str(name)
	if text == "" {
		return Moment{}, false, nil
	}
	tzid := d.Fields.Str(zone)
	if tzid == "" && len(text) == len("2006-01-02T15:04:05") {
		text += "Z"
	}
	at, err := item.ParseInstant(text)
	switch {
	case err != nil:
		return Moment{}, false, fmt.Errorf("%s: %w", name, err)
	case tzid == "":
		return Moment{Form: Floating, Reading: at}, true, nil
	}
	m, err := inZone(at, tzid)
	return m, true, err
}

// inZone writes an instant as a reading in the zone.
func inZone(at time.Time, tzid string) (Moment, error) {
	if tzid == "UTC" {
		return Moment{Form: UTC, Reading: at}, nil
	}
	location, err := wallclock.LoadLocation(tzid)
	if err != nil {
		return Moment{}, err
	}
	zoned := Moment{Form: Zoned, Reading: item.Wall(at, location), Zone: tzid}
	if !zoned.At().Equal(at) {
		return Moment{Form: UTC, Reading: at}, nil
	}
	return zoned, nil
}

// dayOf reads a date of the fields.
func (d *Draft) dayOf(name string) (Moment, bool, error) {
	text := d.Fields.Str(name)
	if text == "" {
		return Moment{}, false, nil
	}
	day, err := item.ParseDate(text)
	if err != nil {
		return Moment{}, false, fmt.Errorf("%s: %w", name, err)
	}
	return Moment{Form: Day, Reading: day}, true, nil
}
