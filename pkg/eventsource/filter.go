package eventsource

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"nexus/pkg/change"
	"nexus/pkg/item"
)

// maxPatternBytes is the length that Lambda allows a filter pattern.
const maxPatternBytes = 4096

// Filter passes a record that one of its patterns passes; an empty filter passes all, as in Lambda. It saves
// invocations and guarantees nothing, so a handler checks again.
type Filter []Pattern

// Pattern passes a record that meets everything it states. One pattern holds several prefixes because a mapping may
// have only five patterns.
type Pattern struct {
	// SKPrefixes are the beginnings of the sort key that pass; none passes any key.
	SKPrefixes []string
	// Events are the event names that pass; none passes all three.
	Events []change.EventName
	// Without names an attribute that excludes a record if the new image has it; the zero Attribute excludes none.
	Without Attribute
}

// Attribute is a top-level attribute of an image, with DynamoDB's name of its type, such as S, N or BOOL. A filter of
// Lambda can test values only, not the object that holds them.
type Attribute struct{ Name, Type string }

// Match reports whether the record passes.
func (f Filter) Match(r change.Record) bool {
	return len(f) == 0 || slices.ContainsFunc(f, func(p Pattern) bool { return p.Match(r) })
}

// JSON returns the patterns as Lambda's FilterCriteria takes them.
func (f Filter) JSON() []string {
	out := make([]string, len(f))
	for i, p := range f {
		out[i] = p.JSON()
	}
	return out
}

// Match reports whether the record passes this pattern.
func (p Pattern) Match(r change.Record) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(r.Key.SK, prefix) }
	return (len(p.SKPrefixes) == 0 || slices.ContainsFunc(p.SKPrefixes, begins)) &&
		(len(p.Events) == 0 || slices.Contains(p.Events, r.Name)) &&
		(p.Without.Name == "" || !r.New.Has(p.Without.Name))
}

// JSON returns the pattern in the filter rule syntax of Lambda. Prefix matching works on DynamoDB strings. The pattern
// tests the key, because every kind of record has it.
func (p Pattern) JSON() string {
	rule := filterRule{EventName: p.Events}
	if len(p.SKPrefixes) > 0 || p.Without.Name != "" {
		rule.DynamoDB = &imageRule{}
	}
	if len(p.SKPrefixes) > 0 {
		var prefixes []prefixRule
		for _, prefix := range p.SKPrefixes {
			prefixes = append(prefixes, prefixRule{prefix})
		}
		rule.DynamoDB.Keys = map[string]stringRule{item.AttrSK: {prefixes}}
	}
	if p.Without.Name != "" {
		rule.DynamoDB.NewImage = map[string]map[string][]existsRule{p.Without.Name: {p.Without.Type: {{Exists: false}}}}
	}
	text, err := json.Marshal(rule)
	if err != nil {
		// Only text that is no UTF-8 gets here, and validate refuses it.
		panic(fmt.Sprintf("eventsource: filter pattern %+v: %v", p, err))
	}
	return string(text)
}

func (p Pattern) validate() error {
	if (p.Without.Name == "") != (p.Without.Type == "") {
		return fmt.Errorf("the attribute %+v lacks its name or its type", p.Without)
	}
	if len(p.SKPrefixes) == 0 && len(p.Events) == 0 && p.Without.Name == "" {
		return fmt.Errorf("it is empty and would pass everything: leave the filter empty instead")
	}
	for _, prefix := range p.SKPrefixes {
		if prefix == "" || strings.ToValidUTF8(prefix, "") != prefix {
			return fmt.Errorf("prefix %q is empty or no UTF-8", prefix)
		}
	}
	for _, name := range p.Events {
		if name != change.Insert && name != change.Modify && name != change.Remove {
			return fmt.Errorf("unknown event name %q", name)
		}
	}
	if n := len(p.JSON()); n > maxPatternBytes {
		return fmt.Errorf("it has %d bytes, at most %d are allowed", n, maxPatternBytes)
	}
	return nil
}

type (
	filterRule struct {
		EventName []change.EventName `json:"eventName,omitempty"`
		DynamoDB  *imageRule         `json:"dynamodb,omitempty"`
	}
	imageRule struct {
		Keys     map[string]stringRule              `json:",omitempty"`
		NewImage map[string]map[string][]existsRule `json:",omitempty"`
	}
	stringRule struct {
		S []prefixRule
	}
	existsRule struct {
		Exists bool `json:"exists"`
	}
	prefixRule struct {
		Prefix string `json:"prefix"`
	}
)
