package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// encode returns the JSON form of an answer's part. It escapes no character for HTML, which would take six bytes: no
// answer is part of a page.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// appendText appends s as a JSON string.
func appendText(out []byte, s string) []byte {
	b, err := encode(s)
	if err != nil {
		panic(fmt.Sprintf("api: %q: %v", s, err)) // a string always has a JSON form
	}
	return append(out, b...)
}

// pointerTo appends a reference token to a JSON Pointer (RFC 6901 §3), for a name from the client.
func pointerTo(parent, token string) string {
	return parent + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(shorten(token))
}

// sortedNames returns the members' names in a stable order.
func sortedNames(doc map[string]any) []string { return slices.Sorted(maps.Keys(doc)) }

// member is one member of an object.
type member struct {
	name  string
	value any
}

// object is a JSON object whose members are ordered.
type object []member

// change replaces the value of the member, which must exist.
func (o object) change(name string, to func(any) any) {
	for i, m := range o {
		if m.name == name {
			o[i].value = to(m.value)
		}
	}
}

// at returns the member's value; nil if it is absent.
func (o object) at(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		out = append(appendText(appendComma(out, i), m.name), ':')
		b, err := encode(m.value)
		if err != nil {
			return nil, fmt.Errorf("member %s: %w", m.name, err)
		}
		out = append(out, b...)
	}
	return append(out, '}'), nil
}
