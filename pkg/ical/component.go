package ical

import "strings"

// Document is a decoded text: usually one VCALENDAR, but a stream may hold several (RFC 5545 §3.4).
type Document struct {
	Calendars []*Component
	// Faults are the skipped lines outside any component.
	Faults []Fault
}

// Component is one BEGIN to END with its content, in order; properties before children.
type Component struct {
	Name       string // upper case
	Properties []Property
	Children   []*Component
	// Line is the number of the BEGIN line, from 1; 0 for a component that was not read.
	Line int
	// Faults are the skipped lines in this component.
	Faults []Fault
	// Replaced are the lines that were accepted after a replacement of characters that no line may hold.
	Replaced []Fault
}

// Property is one content line (RFC 5545 §3.1).
type Property struct {
	Name   string // upper case
	Params []Param
	// Value is the text of the line. [Unescape] reads the value of a TEXT property.
	Value string
	Line  int
}

// Param is a property parameter (RFC 5545 §3.2) with its values, without quotes and without the escapes of RFC 6868.
type Param struct {
	Name   string // upper case
	Values []string
}

// Fault is a skipped line.
type Fault struct {
	Line int
	// Name is the property's name, if the line could be read that far; END if a component has none.
	Name   string
	Reason string
}

// Get returns the first property of that name, or nil.
func (c *Component) Get(name string) *Property {
	for i := range c.Properties {
		if c.Properties[i].Name == name {
			return &c.Properties[i]
		}
	}
	return nil
}

// All returns every property of that name, in order.
func (c *Component) All(name string) []*Property {
	var found []*Property
	for i := range c.Properties {
		if c.Properties[i].Name == name {
			found = append(found, &c.Properties[i])
		}
	}
	return found
}

// Value returns the value of the first property of that name without white space around it, or "".
func (c *Component) Value(name string) string {
	if p := c.Get(name); p != nil {
		return strings.TrimSpace(p.Value)
	}
	return ""
}

// Text returns the unescaped value of the first property of that name, or "".
func (c *Component) Text(name string) string {
	if p := c.Get(name); p != nil {
		return Unescape(p.Value)
	}
	return ""
}

// Add appends a property with a value in the form of the line. Params are pairs of name and value; a pair without
// value is left out.
func (c *Component) Add(name, value string, params ...string) {
	p := Property{Name: name, Value: value}
	for i := 0; i+1 < len(params); i += 2 {
		if params[i+1] != "" {
			p.Params = append(p.Params, Param{Name: params[i], Values: []string{params[i+1]}})
		}
	}
	c.Properties = append(c.Properties, p)
}

// AddText appends a property with a TEXT value, or nothing if the text is empty.
func (c *Component) AddText(name, text string) {
	if text != "" {
		c.Add(name, Escape(text))
	}
}

// Param returns the first value of a parameter, or "".
func (p *Property) Param(name string) string {
	for _, param := range p.Params {
		if param.Name == name && len(param.Values) > 0 {
			return param.Values[0]
		}
	}
	return ""
}
