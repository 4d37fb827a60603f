package ical

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Calendar holds the properties of a VCALENDAR itself.
type Calendar struct {
	// Name is shown by calendar programs; optional.
	Name string
	// Refresh is the interval at which a program may ask again; optional.
	Refresh time.Duration
	// Description is shown by some programs; optional.
	Description string
	// Stamp becomes the DTSTAMP of every component, in UTC. Zero gives each the time at which its item was last changed
	// (RFC 5545 §3.8.7.2), so that the same items give the same text.
	Stamp time.Time
}

const prodID = "-//Nexus//Nexus Calendar//EN"

// Build makes the VCALENDAR of the drafts, with a VTIMEZONE for every zone that they name.
func (k Calendar) Build(drafts []Draft) (*Component, error) {
	components, err := k.components(drafts)
	if err != nil {
		return nil, err
	}
	uses := &zoneMap{used: map[string]yearSpan{}}
	for _, component := range components {
		uses.note(component)
	}
	c, err := k.head(uses.used)
	if err != nil {
		return nil, err
	}
	c.Children = append(c.Children, components...)
	return c, nil
}

func (k Calendar) components(drafts []Draft) ([]*Component, error) {
	var components []*Component
	for _, d := range drafts {
		component, err := d.Export(k.Stamp)
		if err != nil {
			return nil, err
		}
		components = append(components, component)
	}
	return components, nil
}

// head returns the calendar without its components.
func (k Calendar) head(used map[string]yearSpan) (*Component, error) {
	c := &Component{Name: "VCALENDAR"}
	c.Add("VERSION", "2.0")
	c.Add("PRODID", prodID)
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
	for _, name := range slices.Sorted(maps.Keys(used)) {
		zone, err := timeZone(name, used[name])
		if err != nil {
			return nil, fmt.Errorf("describe zone %s: %w", name, err)
		}
		c.Children = append(c.Children, zone)
	}
	return c, nil
}

// Piece is some drafts as text, a part of a calendar to be joined later.
type Piece struct {
	text []byte
	used map[string]yearSpan
}

// Piece writes the drafts.
func (k Calendar) Piece(drafts ...Draft) (Piece, error) {
	components, err := k.components(drafts)
	if err != nil {
		return Piece{}, err
	}
	uses := &zoneMap{used: map[string]yearSpan{}}
	for _, component := range components {
		uses.note(component)
	}
	return Piece{Encode(components...), uses.used}, nil
}

// Text returns the text of the piece.
func (p Piece) Text() []byte { return p.text }

// Renamed returns the piece with another UID in place of the one given.
func (p Piece) Renamed(from, to string) Piece {
	line := func(uid string) []byte {
		var c Component
		c.AddText("UID", uid)
		e := encoder{out: []byte("\n")} // of the line before
		e.property(&c.Properties[0])
		return e.out
	}
	return Piece{bytes.ReplaceAll(p.text, line(from), line(to)), p.used}
}

// Join combines pieces to the text of one calendar, in their order.
func (k Calendar) Join(pieces []Piece) ([]byte, error) {
	used := map[string]yearSpan{}
	size := 0
	for _, p := range pieces {
		size += len(p.text)
		for name, span := range p.used {
			if known, ok := used[name]; ok {
				span = yearSpan{min(span.first, known.first), max(span.last, known.last)}
			}
			used[name] = span
		}
	}
	c, err := k.head(used)
	if err != nil {
		return nil, err
	}
	head := Encode(c)
	end := Encode(&Component{Name: c.Name})
	end = end[bytes.IndexByte(end, '\n')+1:] // its END line
	text := append(make([]byte, 0, len(head)+size), head[:len(head)-len(end)]...)
	for _, p := range pieces {
		text = append(text, p.text...)
	}
	return append(text, end...), nil
}
