package docs

import (
	"bytes"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// node is one JSON value that preserves the order of its members: the document's order is made for readers.
type node struct {
	kind    jsontext.Kind
	text    string // of a string, number or literal
	raw     string // the JSON text of the whole value
	members []named
	list    []*node
}

type named struct {
	name  string
	value *node
}

// parse reads one JSON value.
func parse(text []byte) (*node, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	v, err := d.ReadValue()
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	return parseValue(v)
}

func parseValue(v jsontext.Value) (*node, error) {
	n := &node{kind: v.Kind(), raw: string(v)}
	d := jsontext.NewDecoder(bytes.NewReader(v))
	first, err := d.ReadToken()
	if err != nil {
		return nil, fmt.Errorf("read a value: %w", err)
	}
	if n.kind != '{' && n.kind != '[' {
		n.text = first.String()
		return n, nil
	}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		if err := n.readMember(d); err != nil {
			return nil, err
		}
	}
	if _, err := d.ReadToken(); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read a value's end: %w", err)
	}
	return n, nil
}

func (n *node) readMember(d *jsontext.Decoder) error {
	name := ""
	if n.kind == '{' {
		t, err := d.ReadToken()
		if err != nil {
			return fmt.Errorf("read a name: %w", err)
		}
		name = t.String()
	}
	v, err := d.ReadValue()
	if err != nil {
		return fmt.Errorf("read %q: %w", name, err)
	}
	child, err := parseValue(v)
	if err != nil {
		return err
	}
	if n.kind == '{' {
		n.members = append(n.members, named{name, child})
	} else {
		n.list = append(n.list, child)
	}
	return nil
}

// get returns a member, or nil, also for a nil node.
func (n *node) get(path ...string) *node {
	for _, name := range path {
		if n == nil {
			return nil
		}
		var found *node
		for _, m := range n.members {
			if m.name == name {
				found = m.value
			}
		}
		n = found
	}
	return n
}

// str returns a member's text, or "".
func (n *node) str(path ...string) string {
	if m := n.get(path...); m != nil {
		return m.text
	}
	return ""
}

// each returns the members of an object; none of nil.
func (n *node) each() []named {
	if n == nil {
		return nil
	}
	return n.members
}

// all returns the elements of a list; none of nil.
func (n *node) all() []*node {
	if n == nil {
		return nil
	}
	return n.list
}

// elements returns the texts of a list.
func (n *node) elements() []string {
	var out []string
	for _, e := range n.all() {
		out = append(out, e.text)
	}
	return out
}
