package ical

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Calendar is what a VCALENDAR says about itself.
type Calendar struct {
	// Name is shown by calendar programs; optional.
	Name string
	// Refresh is how often a program may ask again; optional.
	Refresh time.Duration
	// Description is shown by some programs; optional.
	Description string
	// Stamp becomes the DTSTAMP of every component, in UTC. Zero gives each the time at which its item was last changed
	// (RFC 5545 §3.8.7.2), so that the same items give the same text.
	Stamp time.Time
}

const product = "-//Nexus//Nexus Calendar//EN"

// Build makes the VCALENDAR of the drafts, with a VTIMEZONE for every zone that they name.
func (k Calendar) Build(drafts []Draft) (*Component, error) {
	c := &Component{Name: "VCALENDAR"}
	c.Add("VERSION", "2.0")
	c.Add("PRODID", product)
	c.Add("CALSCALE", "GREGORIAN")
	c.Add("METHOD", "PUBLISH")
	c.AddText("NAME", k.Name)
	c.AddText("X-WR-CALNAME", k.Name)
	c.AddText("X-WR-CALDESC", k.Description)
	if k.Refresh > 0 {
		every := Duration{Exact: k.Refresh}.String()
		c.Add("REFRESH-INTERVAL", every, "VALUE", "DURATION")
		c.Add("X-PUBLISHED-TTL", every)
	}
	var components []*Component
	for _, d := range drafts {
		component, err := d.Export(k.Stamp)
		if err != nil {
			return nil, err
		}
		components = append(components, component)
	}
	uses := &zoneMap{used: map[string]yearSpan{}}
	for _, component := range components {
		uses.note(component)
	}
	for _, name := range slices.Sorted(maps.Keys(uses.used)) {
		zone, err := timeZone(name, uses.used[name])
		if err != nil {
			return nil, fmt.Errorf("describe zone %s: %w", name, err)
		}
		c.Children = append(c.Children, zone)
	}
	c.Children = append(c.Children, components...)
	return c, nil
}
