package ical

import (
	"fmt"
	"slices"
)

// Sift removes from a document what cannot be sent on. Lines that are no content lines have no place in an encoded
// text, and without its start or rule a component would mean something else. It removes and refuses such components,
// and lists the lines of others as left out, as [Map] would report them.
func Sift(document *Document) (refused, leftOut []Remark) {
	var all Result
	all.remarkFaults("", document.Faults)
	for _, calendar := range document.Calendars {
		all.remarkFaults(calendar.Name, calendar.Faults)
		all.remarkFaults(calendar.Name, calendar.Replaced)
		calendar.Children = slices.DeleteFunc(calendar.Children, func(c *Component) bool {
			if c.Name == "VTIMEZONE" {
				return false
			}
			uid := clip(c.Text("UID"))
			for _, f := range c.Faults {
				if decisive[f.Name] {
					refused = append(refused, Remark{c.Name, uid, c.Line, fmt.Sprintf("line %d, %s: %s", f.Line, f.Name, f.Reason)})
					return true
				}
			}
			for _, f := range c.Faults {
				all.LeftOut = append(all.LeftOut, Remark{c.Name, uid, c.Line, fmt.Sprintf("line %d: %s", f.Line, f.Reason)})
			}
			for _, f := range c.lesserFaults() {
				all.LeftOut = append(all.LeftOut,
					Remark{c.Name, uid, c.Line, fmt.Sprintf("line %d: %s %s", f.Line, clip(f.Name), f.Reason)})
			}
			return false
		})
	}
	return refused, all.LeftOut
}
