package wiretest

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
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

// described holds the service of each file, without rules. A mistake in a file, which is part of the program, causes a
// panic.
var described = sync.OnceValue(func() map[string]Service {
	out := map[string]Service{}
	for _, file := range []string{"appsync", "dynamodb", "events", "lambda", "s3", "scheduler", "sqs", "ssm", "streams"} {
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
		s := Service{Name: d.Name, Target: d.Target, ContentType: d.ContentType}
		for _, o := range d.Operations {
			s.Operations = append(s.Operations, Operation{
				Name: o.Name, Source: d.Reference + ", " + o.Name, Method: o.Method, Path: o.Path, Query: o.Query,
				Header: o.Header, HasBody: o.HasBody, Input: d.structure(o.Members),
				Refusals: append(refusals(d.Errors), refusals(o.Errors)...),
			})
		}
		out[file] = s
	}
	return out
})

// describe returns the service of a file. Rules are those of its operations that bind several members.
func describe(file string, rules map[string][]Rule, refuse func(http.ResponseWriter, Refusal)) Service {
	s := described()[file]
	s.refuse, s.Operations = refuse, slices.Clone(s.Operations)
	for i, o := range s.Operations {
		s.Operations[i].Rules = rules[o.Name]
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
	switch kind {
	case "word":
		return Shape{Kind: Text, Enum: strings.Fields(rest)}
	case "structure", "one":
		out := d.structure(rest)
		out.One = kind == "one"
		return out
	}
	known, ok := kinds[kind]
	if !ok {
		panic(fmt.Sprintf("wiretest: %s has no shape %s", d.Reference, name))
	}
	bounds, parts, _ := strings.Cut(rest, " ")
	low, high, _ := strings.Cut(bounds, "..")
	out := Shape{Kind: known, Min: integerOf(low), Max: integerOf(high)}
	switch {
	case known == List:
		out.Element = new(d.shape(parts))
	case known == Map:
		key, element, _ := strings.Cut(parts, " ")
		out.Key, out.Element = new(d.shape(key)), new(d.shape(element))
	case parts != "":
		out.Pattern = regexp.MustCompile(`^(?:` + parts + `)$`)
	}
	return out
}

// kinds are the kinds of shapes that are no structure and no choice of words.
var kinds = map[string]Kind{
	"text": Text, "integer": Integer, "boolean": Boolean, "timestamp": Timestamp, "list": List, "map": Map, "blob": Blob,
	"attribute": Attribute,
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
