package wiretest

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// services are excerpts of the services' references: for each operation that Nexus calls its members and errors, and
// the shapes of the members.
//
// A shape is a kind and what bounds it: "text 3..255 [a-z]+" with a pattern of the whole text, "word ON OFF", "integer
// 1..100", "list 1..10 Element", "map 1.. Name Element", "structure Member! Other:Shape", and "one Member Other" for a
// structure with exactly one member. A bound that is left out is none. A member has the shape of its name, or that
// after the colon; one with an exclamation mark is required. An error is a status, a code, and "repeated" if the SDK
// tries again by itself.
//
//go:embed services/*.json
var services embed.FS

// description is one file of services.
type description struct {
	Name, Target, ContentType string
	Reference, Note           string // the document, and notes on the excerpt
	Errors                    []string
	Shapes                    map[string]string
	Operations                []struct {
		Name, Method, Path string
		Query, Header      map[string]string
		HasBody            bool
		Members            string
		Errors             []string
	}
}

// describe reads the service of a file. Rules are those of its operations that bind several members. A mistake in the
// file, which is part of the program, causes a panic.
func describe(file string, rules map[string][]Rule, refuse func(http.ResponseWriter, Refusal)) Service {
	text, err := services.ReadFile("services/" + file + ".json")
	var d description
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(&d)
	}
	if err != nil {
		panic(fmt.Sprintf("wiretest: %s: %v", file, err))
	}
	s := Service{Name: d.Name, Target: d.Target, ContentType: d.ContentType, refuse: refuse}
	for _, o := range d.Operations {
		s.Operations = append(s.Operations, Operation{
			Name: o.Name, Source: d.Reference + ", " + o.Name, Method: o.Method, Path: o.Path, Query: o.Query,
			Header: o.Header, HasBody: o.HasBody, Input: d.structure(o.Members), Rules: rules[o.Name],
			Refusals: append(refusals(d.Errors), refusals(o.Errors)...),
		})
	}
	return s
}

func refusals(errors []string) []Refusal {
	out := make([]Refusal, len(errors))
	for i, text := range errors {
		words := append(strings.Fields(text), "")
		out[i] = Refusal{Status: integerOf(words[0]), Code: words[1], Repeated: words[2] == "repeated"}
	}
	return out
}

func (d description) structure(members string) Shape {
	out := Shape{Members: map[string]Shape{}}
	for _, member := range strings.Fields(members) {
		member, required := strings.CutSuffix(member, "!")
		name, shape, isNamed := strings.Cut(member, ":")
		if !isNamed {
			shape = name
		}
		if out.Members[name] = d.shape(shape); required {
			out.Required = append(out.Required, name)
		}
	}
	return out
}

// shape returns the shape of that name.
func (d description) shape(name string) Shape {
	kind, rest, _ := strings.Cut(d.Shapes[name], " ")
	bounded := func(k Kind) (Shape, string) {
		bounds, more, _ := strings.Cut(rest, " ")
		low, high, _ := strings.Cut(bounds, "..")
		return Shape{Kind: k, Min: integerOf(low), Max: integerOf(high)}, more
	}
	switch kind {
	case "text":
		out, pattern := bounded(Text)
		out.Pattern = pattern
		return out
	case "integer":
		out, _ := bounded(Integer)
		return out
	case "list":
		out, element := bounded(List)
		out.Element = new(d.shape(element))
		return out
	case "map":
		out, parts := bounded(Map)
		key, element, _ := strings.Cut(parts, " ")
		out.Key, out.Element = new(d.shape(key)), new(d.shape(element))
		return out
	case "word":
		return Shape{Kind: Text, Enum: strings.Fields(rest)}
	case "structure":
		return d.structure(rest)
	case "one":
		out := d.structure(rest)
		out.One = true
		return out
	case "boolean":
		return Shape{Kind: Boolean}
	case "timestamp":
		return Shape{Kind: Timestamp}
	case "blob":
		return Shape{Kind: Blob}
	case "attribute":
		return Shape{Kind: Attribute}
	}
	panic(fmt.Sprintf("wiretest: %s has no shape %s", d.Reference, name))
}

// integerOf returns a bound or status; 0 for an absent one.
func integerOf(text string) int {
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("wiretest: " + err.Error())
	}
	return n
}
