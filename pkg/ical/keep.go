package ical

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/text"
)

// maxKept bounds the text preserved of one component, in bytes (docs/data-model.md).
const maxKept = 32 << 10

// keptName is the component that holds it.
const keptName = "X-KEPT"

// keep preserves the content of the component that the draft does not hold, so that it is stored with the item and
// exported unchanged: properties, alarms, other components. It lists the content that it drops.
func (m *mapper) keep(c *Component, d *Draft) {
	k := keeper{mapper: m, d: d, room: maxKept, kept: &Component{Name: keptName}}
	plain, err := d.Export(time.Time{})
	if err != nil {
		plain = &Component{} // a later step refuses a draft that cannot be written
	}
	if d.family() != product.TypeEvent { // which has a field for it
		for _, p := range c.All("CLASS") {
			k.property(*p) // before all that could leave no room: without it the to-do would be public
		}
	}
	inGroup := map[string]bool{"CLASS": true}
	for _, g := range d.groups(strings.TrimSpace(c.Text("LOCATION")) == "") {
		for _, name := range g.names {
			inGroup[name] = true
		}
		k.group(g, c, plain)
	}
	seen := map[string]bool{}
	for i := range c.Properties {
		p := &c.Properties[i]
		switch {
		case inGroup[p.Name]:
		case slices.Contains(carried[d.family()], p.Name):
			k.carried(p, seen[p.Name])
			seen[p.Name] = true
		case p.Name == markProperty:
		default:
			k.property(*p)
		}
	}
	k.children(c, plain)
	slices.SortStableFunc(k.kept.Properties, func(a, b Property) int { return cmp.Compare(a.Name, b.Name) })
	if len(k.kept.Properties)+len(k.kept.Children) > 0 {
		d.Kept = k.kept
	}
}

// keeper collects the content to preserve of one component.
type keeper struct {
	*mapper
	d    *Draft
	kept *Component
	room int
}

// group preserves the lines of a group if the draft would write others and the field holds their meaning.
func (k *keeper) group(g group, c, plain *Component) {
	lines := g.linesOf(c)
	if g.field == entity.AttrTitle && k.d.Fields.Str(g.field) == untitled {
		return // an empty SUMMARY has nothing to preserve
	}
	if g.isOneLine() &&
		slices.ContainsFunc(lines, func(p Property) bool { return text.OneLine(Unescape(p.Value)) != Unescape(p.Value) }) {
		return // the replacement of its characters is listed
	}
	if len(lines) == 0 || sameLines(lines, g.linesOf(plain)) {
		return
	}
	if k.d.says(g, lines) {
		for _, p := range lines {
			k.property(p)
		}
		return
	}
	for i := range lines {
		k.leaveOut(k.d, "%s in line %d says something else than is taken over", lines[i].Name, lines[i].Line)
	}
}

// carried lists the parts of a property that the draft does not hold: a second occurrence, or parameters without a
// meaning here.
func (k *keeper) carried(p *Property, again bool) {
	if again && !slices.Contains(many, p.Name) {
		k.leaveOut(k.d, "the second %s, in line %d, is not kept", p.Name, p.Line)
		return
	}
	for _, param := range p.Params {
		switch param.Name {
		case "TZID", "VALUE", "RANGE":
		default:
			k.leaveOut(k.d, "the parameter %s of %s in line %d is not kept", clip(param.Name), p.Name, p.Line)
		}
	}
}

func (k *keeper) property(p Property) {
	p, ok := k.settled(p)
	if !ok {
		k.leaveOut(k.d, "%s in line %d is not kept: its zone cannot be told", clip(p.Name), p.Line)
		return
	}
	if size := len(encodeProperty(p)); size > k.room {
		k.leaveOut(k.d, "%s in line %d is not kept: with it more than %d bytes would be", clip(p.Name), p.Line, maxKept)
	} else {
		k.room -= size
		p.Line = 0
		k.kept.Properties = append(k.kept.Properties, p)
	}
}

// settled gives a property the zone's name in the written calendar, because the VTIMEZONE is not preserved.
func (k *keeper) settled(p Property) (Property, bool) {
	for i, param := range p.Params {
		if param.Name != "TZID" || len(param.Values) == 0 {
			continue
		}
		name, err := k.zones.name(param.Values[0])
		if err != nil {
			return p, false
		}
		p.Params = slices.Clone(p.Params)
		p.Params[i].Values = []string{name}
	}
	return p, true
}

// children preserves components within the component: alarms that the draft would write differently, and all others.
func (k *keeper) children(c, plain *Component) {
	written := map[string]bool{}
	for _, alarm := range plain.Children {
		written[string(Encode(bareAlarm(alarm, k.d)))] = true
	}
	isPlain := func(child *Component) bool {
		return child.Name == "VALARM" && written[string(Encode(bareAlarm(child, k.d)))]
	}
	looked := map[string]bool{} // of two equal alarms, which ring at one time, both are preserved
	for _, child := range c.Children {
		if child.Name == "VALARM" && !isPlain(child) {
			looked[k.d.ringsAt(plain, child)] = true
		}
	}
	delete(looked, "")
	for _, child := range c.Children {
		if isPlain(child) && !looked[k.d.ringsAt(plain, child)] {
			continue
		}
		child, ok := k.settledTree(child)
		size := len(Encode(child))
		switch {
		case !ok:
			k.leaveOut(k.d, "the %s in line %d is not kept: a zone in it cannot be told", clip(child.Name), child.Line)
		case size > k.room:
			k.leaveOut(k.d, "the %s in line %d is not kept: with it more than %d bytes would be", clip(child.Name),
				child.Line, maxKept)
		default:
			k.room -= size
			k.kept.Children = append(k.kept.Children, child)
		}
	}
}

func (k *keeper) settledTree(c *Component) (*Component, bool) {
	settled := &Component{Name: c.Name}
	for _, p := range c.Properties {
		p, ok := k.settled(p)
		if !ok {
			return c, false
		}
		p.Line = 0
		settled.Properties = append(settled.Properties, p)
	}
	for _, child := range c.Children {
		child, ok := k.settledTree(child)
		if !ok {
			return c, false
		}
		settled.Children = append(settled.Children, child)
	}
	return settled, true
}

// bareAlarm returns an alarm in the order and with the description that the draft would write.
func bareAlarm(alarm *Component, d *Draft) *Component {
	bare := &Component{Name: alarm.Name, Properties: slices.Clone(alarm.Properties), Children: alarm.Children}
	if alarm.Get("DESCRIPTION") == nil {
		bare.AddText("DESCRIPTION", d.Fields.Str(entity.AttrTitle))
	}
	for i := range bare.Properties {
		p := &bare.Properties[i]
		p.Line = 0
		p.Params = slices.DeleteFunc(slices.Clone(p.Params), func(param Param) bool {
			return param.Name == "VALUE" && len(param.Values) == 1 && param.Values[0] == "DURATION"
		})
		if p.Name == "TRIGGER" && len(p.Params) == 0 {
			if length, err := ParseDuration(p.Value); err == nil && length.Days == 0 {
				p.Value = length.String()
			}
		}
	}
	slices.SortStableFunc(bare.Properties, func(a, b Property) int { return cmp.Compare(a.Name, b.Name) })
	return bare
}

func sameLines(a, b []Property) bool {
	return slices.EqualFunc(a, b, func(a, b Property) bool { return bytes.Equal(encodeProperty(a), encodeProperty(b)) })
}

func encodeProperty(p Property) []byte {
	e := &encoder{}
	e.property(&p)
	return e.out
}

// KeptText returns the text stored beside the draft's fields; "" for nothing.
func (d *Draft) KeptText() string {
	if d.Kept == nil {
		return ""
	}
	return string(Encode(d.Kept))
}

// IsKeptText reports whether a text is one that [Draft.KeptText] writes.
func IsKeptText(text string) bool {
	kept := readKept(text)
	return kept != nil && kept.Name == keptName && len(text) <= maxKept+len("BEGIN:X-KEPT\r\nEND:X-KEPT\r\n") &&
		string(Encode(kept)) == text
}

// readKept is the inverse of [Draft.KeptText]. It ignores a text that cannot be read.
func readKept(text string) *Component {
	if text == "" {
		return nil
	}
	document, err := Decode([]byte("BEGIN:VCALENDAR\r\n"+text+"END:VCALENDAR\r\n"), FileLimits())
	if err != nil || len(document.Calendars[0].Children) == 0 {
		return nil
	}
	return document.Calendars[0].Children[0]
}
