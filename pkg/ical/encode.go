package ical

import (
	"strings"
	"unicode/utf8"
)

// foldWidth is the longest line in octets, without its line end (RFC 5545 §3.1).
const foldWidth = 75

// Encode writes calendars one after the other: CRLF line ends, lines folded at 75 octets and never inside a character,
// parameters quoted where necessary. It replaces control characters, which no line may hold, by spaces.
func Encode(calendars ...*Component) []byte {
	e := &encoder{}
	for _, c := range calendars {
		e.component(c)
	}
	return e.out
}

type encoder struct {
	out  []byte
	line []byte
}

func (e *encoder) component(c *Component) {
	e.write("BEGIN:" + plain(c.Name))
	for i := range c.Properties {
		e.property(&c.Properties[i])
	}
	for _, child := range c.Children {
		e.component(child)
	}
	e.write("END:" + plain(c.Name))
}

func (e *encoder) property(p *Property) {
	line := append(e.line[:0], p.Name...)
	for _, param := range p.Params {
		line = append(append(append(line, ';'), param.Name...), '=')
		for i, value := range param.Values {
			if i > 0 {
				line = append(line, ',')
			}
			line = appendParamValue(line, value)
		}
	}
	line = append(append(line, ':'), plain(p.Value)...)
	e.line = line
	e.write(string(line))
}

func appendParamValue(line []byte, value string) []byte {
	value = plain(caretEncoder.Replace(value))
	if !strings.ContainsAny(value, ":;,") {
		return append(line, value...)
	}
	return append(append(append(line, '"'), value...), '"')
}

// plain replaces characters that no content line may hold.
func plain(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, isControl) < 0 {
		return s
	}
	return strings.Map(spaceForControl, strings.ToValidUTF8(s, "\uFFFD"))
}

// write appends one content line, folded.
func (e *encoder) write(line string) {
	room := foldWidth
	for len(line) > room {
		cut := room
		for cut > 0 && !utf8.RuneStart(line[cut]) {
			cut--
		}
		e.out = append(append(e.out, line[:cut]...), "\r\n "...)
		line, room = line[cut:], foldWidth-1
	}
	e.out = append(append(e.out, line...), "\r\n"...)
}
