package api

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"nexus/pkg/entity"
)

// reading reads the members of an object within a body that has no form, and records all faults of their types. Null
// counts as absent. The write side checks the values.
type reading struct {
	doc   map[string]any
	at    string // the object's place, a JSON Pointer
	wrong *findings
	known []string
	found int
}

// take returns a member's value, nil if it is absent.
func (r *reading) take(name string) any {
	r.known = append(r.known, name)
	value, there := r.doc[name]
	if there {
		r.found++
	}
	return value
}

// mistaken records that a member has the wrong type.
func (r *reading) mistaken(name, what string) { r.wrong.add(r.at+"/"+name, "must be %s", what) }

func (r *reading) text(name string) string {
	if s := r.mayText(name); s != nil {
		return *s
	}
	return ""
}

// mayText distinguishes an empty text from an absent one.
func (r *reading) mayText(name string) *string {
	switch value := r.take(name).(type) {
	case nil:
	case string:
		return &value
	default:
		r.mistaken(name, "a text")
	}
	return nil
}

func (r *reading) whole(name string) int {
	switch value := r.take(name).(type) {
	case nil:
	case json.Number:
		if n, err := strconv.ParseInt(string(value), 10, 32); err == nil {
			return int(n)
		}
		r.mistaken(name, "a whole number")
	default:
		r.mistaken(name, "a whole number")
	}
	return 0
}

func (r *reading) flag(name string) bool {
	switch value := r.take(name).(type) {
	case nil:
	case bool:
		return value
	default:
		r.mistaken(name, "true or false")
	}
	return false
}

// instant returns a member's instant in UTC, the zero one if it is absent.
func (r *reading) instant(name string) time.Time {
	switch value := r.take(name).(type) {
	case nil:
	case string:
		t, err := time.Parse(time.RFC3339, value)
		if err == nil {
			return t.UTC()
		}
		r.wrong.add(r.at+"/"+name, "%s", entity.ExplainTime(value))
	default:
		r.mistaken(name, "a text")
	}
	return time.Time{}
}

// list returns a member's elements, and whether it is present.
func (r *reading) list(name string) (elements []any, there bool) {
	switch value := r.take(name).(type) {
	case nil:
	case []any:
		return value, true
	default:
		r.mistaken(name, "a list")
		return nil, true
	}
	return nil, false
}

func (r *reading) texts(name string) []string {
	elements, _ := r.list(name)
	var out []string
	for i, e := range elements {
		s, ok := e.(string)
		if !ok {
			r.mistaken(name+"/"+strconv.Itoa(i), "a text")
		}
		out = append(out, s)
	}
	return out
}

// finish records the members that were not read.
func (r *reading) finish() {
	if r.found == len(r.doc) {
		return
	}
	for _, name := range sortedNames(r.doc) {
		if !slices.Contains(r.known, name) {
			r.wrong.addUnknown(r.at, name, r.known)
		}
	}
}

// maxElements bounds the elements of a list that are read; the write side checks the allowed length, which is less.
const maxElements = 10_000

// readList reads a member that is a list of objects.
func readList[T any](r *reading, name string, one func(*reading) T) (out []T, there bool) {
	elements, there := r.list(name)
	if !there {
		return nil, false
	}
	if len(elements) > maxElements {
		r.wrong.add(r.at+"/"+name, "must have at most %d members, has %d", maxElements, len(elements))
		return nil, true
	}
	out = make([]T, 0, len(elements))
	for i, e := range elements {
		at := r.at + "/" + name + "/" + strconv.Itoa(i)
		doc, ok := e.(map[string]any)
		if !ok {
			r.wrong.add(at, "must be an object")
			continue
		}
		inner := reading{doc: doc, at: at, wrong: r.wrong}
		out = append(out, one(&inner))
		inner.finish()
	}
	return out, true
}
