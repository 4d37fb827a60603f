package wiretest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"unicode/utf8"
)

// Kind is the kind of a member's value.
type Kind int

// The kinds of the services' models. The zero Kind is a structure.
const (
	Structure Kind = iota
	Text
	Integer
	Boolean
	Timestamp // seconds since the epoch, also with a fraction
	List
	Map
	Blob      // the body of a request
	Attribute // a value of DynamoDB: see checkAttribute
)

// Shape is the constraint of one value.
type Shape struct {
	Kind Kind
	// Min and Max bound the characters of a text, the elements of a list or map, or an integer itself. Without a Max there
	// is no upper bound.
	Min, Max int
	// Pattern matches the whole text; nil matches any.
	Pattern *regexp.Regexp
	// Enum holds the allowed texts, if only some are.
	Enum []string
	// Members are the only members of a structure; the required ones must be present.
	Members  map[string]Shape
	Required []string
	// One says that exactly one of a structure's members must be there.
	One bool
	// Element is the shape of a list's elements or a map's values; Key is the shape of a map's names.
	Element, Key *Shape
}

// check returns the faults of the value at the path, decoded from JSON with numbers as [json.Number].
func (s Shape) check(path string, value any) []string {
	switch value := value.(type) {
	case nil:
		return []string{path + " is null"}
	case string:
		return s.expect(path, Text, "a text", func() []string { return s.checkText(path, value) })
	case json.Number:
		return s.checkNumber(path, value)
	case bool:
		return s.expect(path, Boolean, "a boolean", nil)
	case []any:
		return s.expect(path, List, "a list", func() []string { return s.checkList(path, value) })
	case []byte:
		return s.expect(path, Blob, "a body", nil)
	case map[string]any:
		switch s.Kind {
		case Attribute:
			return checkAttribute(path, value, 0)
		case Map:
			return s.checkMap(path, value)
		}
		return s.expect(path, Structure, "a structure", func() []string { return s.checkStructure(path, value) })
	}
	return []string{fmt.Sprintf("%s is of the unknown type %T", path, value)}
}

// expect returns the fault of a value of a kind that is not the shape's, and otherwise those that the check finds.
func (s Shape) expect(path string, kind Kind, what string, check func() []string) []string {
	switch {
	case s.Kind != kind:
		return []string{path + " must not be " + what}
	case check == nil:
		return nil
	}
	return check()
}

func (s Shape) checkText(path, value string) []string {
	var found []string
	if !utf8.ValidString(value) {
		found = append(found, path+" is not UTF-8")
	}
	found = append(found, s.checkSize(path, utf8.RuneCountInString(value), "characters")...)
	if s.Pattern != nil && !s.Pattern.MatchString(value) {
		found = append(found, fmt.Sprintf("%s %q does not match %s", path, value, s.Pattern))
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, value) {
		found = append(found, fmt.Sprintf("%s %q is none of %q", path, value, s.Enum))
	}
	return found
}

func (s Shape) checkSize(path string, size int, what string) []string {
	if size < s.Min || s.Max > 0 && size > s.Max {
		return []string{fmt.Sprintf("%s has %d %s, want %d to %d", path, size, what, s.Min, s.Max)}
	}
	return nil
}

func (s Shape) checkNumber(path string, value json.Number) []string {
	number, err := value.Float64()
	switch {
	case err != nil:
		return []string{fmt.Sprintf("%s is no number: %v", path, err)}
	case s.Kind == Timestamp:
		return nil
	case s.Kind != Integer || number != math.Trunc(number):
		return []string{fmt.Sprintf("%s must not be the number %s", path, value)}
	case number < float64(s.Min) || s.Max > 0 && number > float64(s.Max):
		return []string{fmt.Sprintf("%s is %s, want %d to %d", path, value, s.Min, s.Max)}
	}
	return nil
}

func (s Shape) checkList(path string, value []any) []string {
	found := s.checkSize(path, len(value), "elements")
	for i, element := range value {
		found = append(found, s.Element.check(fmt.Sprintf("%s[%d]", path, i), element)...)
	}
	return found
}

func (s Shape) checkMap(path string, value map[string]any) []string {
	found := s.checkSize(path, len(value), "elements")
	for _, name := range slices.Sorted(maps.Keys(value)) {
		if s.Key != nil {
			found = append(found, s.Key.check(path+": the name", name)...)
		}
		found = append(found, s.Element.check(path+"."+name, value[name])...)
	}
	return found
}

func (s Shape) checkStructure(path string, value map[string]any) []string {
	var found []string
	for _, name := range s.Required {
		if _, there := value[name]; !there {
			found = append(found, path+"."+name+" is missing")
		}
	}
	if s.One && len(value) != 1 {
		found = append(found, fmt.Sprintf("%s has %d members, want exactly one", path, len(value)))
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		member, known := s.Members[name]
		if !known {
			found = append(found, path+"."+name+" is unknown")
			continue
		}
		found = append(found, member.check(path+"."+name, value[name])...)
	}
	return found
}
