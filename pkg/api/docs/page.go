package docs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// page holds the data of the template.
type page struct {
	Title, Description, Version string
	Groups                      []*group
	Schemas                     []schema
	Problems                    []problem
}

type group struct {
	Name       string
	Operations []operation
}

type operation struct {
	ID, Method, Path, Summary, Description string
	Open                                   bool
	Parameters                             []parameter
	Media                                  string
	BodyRef                                string
	Body                                   []property
	Example                                string
	Answers                                []answer
	Samples                                []sample
}

type parameter struct {
	Name, In, Type, Description, Pattern, Value string
	Required                                    bool
	Values                                      []string // that there are; none for any
}

type property struct {
	Name, Type, Ref, Description string
	Required                     bool
	Depth                        int
}

type answer struct {
	Status, Description, Media, Ref, Type string
	Refused                               bool
	Members                               []property // of an object that has no name
}

type schema struct {
	Name, Description string
	Properties        []property
	Variants          []string
}

type problem struct{ Slug, Type, Description string }

// reader turns the document into the page.
type reader struct{ doc *node }

func (r reader) page() page {
	info := r.doc.get("info")
	p := page{Title: info.str("title"), Description: info.str("description"), Version: info.str("version")}
	groups := map[string]*group{}
	for _, tag := range r.doc.get("tags").all() {
		g := &group{Name: tag.str("name")}
		groups[g.Name] = g
		p.Groups = append(p.Groups, g)
	}
	for _, path := range r.doc.get("paths").each() {
		for _, method := range path.value.each() {
			o := r.operation(path.name, method.name, method.value)
			for _, tag := range method.value.get("tags").elements() {
				if g := groups[tag]; g != nil {
					g.Operations = append(g.Operations, o)
				}
			}
		}
	}
	for _, s := range r.doc.get("components", "schemas").each() {
		p.Schemas = append(p.Schemas, schema{
			Name: s.name, Description: s.value.str("description"), Properties: r.properties(s.value, 0),
			Variants: refsIn(s.value.get("oneOf")),
		})
	}
	for _, k := range r.doc.get("components", "schemas", "Problem", "properties", "type", "x-enumDescriptions").each() {
		p.Problems = append(p.Problems, problem{
			Slug: k.name[strings.LastIndex(k.name, "/")+1:], Type: k.name, Description: k.value.text,
		})
	}
	return p
}

func (r reader) operation(path, method string, n *node) operation {
	o := operation{
		ID: n.str("operationId"), Method: strings.ToUpper(method), Path: path, Summary: n.str("summary"),
		Description: n.str("description"),
		Open:        n.get("security") != nil && len(n.get("security").all()) == 0,
	}
	for _, p := range n.get("parameters").all() {
		p = r.resolve(p)
		s := p.get("schema")
		o.Parameters = append(o.Parameters, parameter{
			Name: p.str("name"), In: p.str("in"), Type: typeOf(s), Pattern: s.str("pattern"),
			Description: cmp.Or(p.str("description"), s.str("description")),
			Required:    p.str("required") == "true", Value: valueOf(p), Values: valuesOf(s),
		})
	}
	for i, media := range n.get("requestBody", "content").each() {
		if i > 0 {
			o.Media += ", " + media.name
			continue
		}
		o.Media, o.Example = media.name, indent(media.value.get("example"))
		if o.BodyRef = refName(media.value.get("schema")); o.BodyRef == "" {
			o.Body = r.properties(media.value.get("schema"), 0)
		}
	}
	for _, a := range n.get("responses").each() {
		o.Answers = append(o.Answers, r.answer(a.name, a.value))
	}
	slices.SortStableFunc(o.Answers, func(a, b answer) int { return strings.Compare(a.Status, b.Status) })
	o.Samples = o.samples()
	return o
}

func (r reader) answer(status string, n *node) answer {
	n = r.resolve(n)
	a := answer{Status: status, Description: n.str("description"), Refused: status >= "400"}
	if content := n.get("content").each(); len(content) > 0 {
		a.Media = content[0].name
		s := content[0].value.get("schema")
		if a.Ref = refName(s); a.Ref == "" {
			if item := s.get("properties", "items", "items"); item != nil {
				a.Type, a.Ref = "page of", refName(item)
			} else {
				a.Type = typeOf(s)
			}
			a.Members = r.properties(s, 0)
		}
	}
	return a
}

// valuesOf returns all values of a schema that has few; none for any other.
func valuesOf(s *node) []string {
	if s.str("type") == "boolean" {
		return []string{"true", "false"}
	}
	return s.get("enum").elements()
}

// resolve follows a reference within the document.
func (r reader) resolve(n *node) *node {
	ref := n.str("$ref")
	if ref == "" {
		return n
	}
	if found := r.doc.get(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...); found != nil {
		return found
	}
	return n
}

// properties returns an object's members. The members of an object within it follow it, one step deeper.
func (r reader) properties(s *node, depth int) []property {
	var out []property
	required := s.get("required").elements()
	for _, m := range s.get("properties").each() {
		out = append(out, property{
			Name: m.name, Type: typeOf(m.value), Ref: linked(m.value), Description: m.value.str("description"),
			Required: slices.Contains(required, m.name), Depth: depth,
		})
		inner := m.value
		if items := m.value.get("items"); items != nil {
			inner = items
		}
		out = append(out, r.properties(inner, depth+1)...)
	}
	return out
}

// linked returns the schema to which a property refers.
func linked(n *node) string {
	if name := refName(n); name != "" {
		return name
	}
	if options := n.get("oneOf").all(); len(options) > 0 {
		return refName(options[0])
	}
	return refName(n.get("items"))
}

func refName(n *node) string {
	ref := n.str("$ref")
	return ref[strings.LastIndex(ref, "/")+1:]
}

func refsIn(list *node) []string {
	var out []string
	for _, e := range list.all() {
		out = append(out, refName(e))
	}
	return out
}

// typeOf describes in words the values of a schema.
func typeOf(s *node) string {
	if s == nil {
		return ""
	}
	if options := s.get("oneOf").all(); len(options) == 2 && typeOf(options[1]) == "null" {
		if refName(options[0]) != "" {
			return "object or null"
		}
		return typeOf(options[0]) + " or null"
	}
	kind := s.str("type")
	if types := s.get("type").elements(); len(types) > 0 {
		kind = strings.Join(types, " or ")
	}
	if kind == "array" || strings.HasPrefix(kind, "array ") {
		kind = strings.Replace(kind, "array",
			"list of "+strings.TrimSpace(typeOf(s.get("items"))+" "+refName(s.get("items"))), 1)
	}
	var notes []string
	if values := s.get("enum"); values != nil {
		notes = append(notes, strings.Join(values.elements(), " | "))
	}
	for _, bound := range []struct{ key, word string }{
		{"const", ""}, {"format", ""}, {"minimum", "≥ "}, {"maximum", "≤ "}, {"minLength", "length ≥ "},
		{"maxLength", "length ≤ "}, {"maxItems", "at most "},
	} {
		if v := s.get(bound.key); v != nil && v.kind != '{' {
			text := v.text
			if v.kind == '[' {
				text = v.raw
			}
			notes = append(notes, bound.word+text)
		}
	}
	if len(notes) > 0 {
		kind += " (" + strings.Join(notes, ", ") + ")"
	}
	return kind
}

// indent returns a JSON value for readers, and a string as it is.
func indent(n *node) string {
	if n == nil {
		return ""
	}
	if n.kind == '"' {
		return n.text
	}
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(n.raw), "", "  "); err != nil {
		return n.raw
	}
	return out.String()
}
