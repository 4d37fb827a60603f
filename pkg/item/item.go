package item

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Item is one row of the table: its attributes by name, keys included.
type Item map[string]Value

// Key names one row of the table.
type Key struct{ PK, SK string }

func (k Key) String() string { return k.PK + "/" + k.SK }

// Compare orders keys by PK, then by SK.
func (k Key) Compare(other Key) int {
	if c := strings.Compare(k.PK, other.PK); c != 0 {
		return c
	}
	return strings.Compare(k.SK, other.SK)
}

// Item returns the key as the two attributes of a row.
func (k Key) Item() Item { return Item{AttrPK: String(k.PK), AttrSK: String(k.SK)} }

// Key returns the row's own key; empty parts where the item has none.
func (it Item) Key() Key { return Key{it.Str(AttrPK), it.Str(AttrSK)} }

// Has reports whether the attribute is there, of any type.
func (it Item) Has(name string) bool { return it[name] != nil }

// Says reports whether the attribute is there and its value is not [Refused].
func (it Item) Says(name string) bool { return it.Has(name) && it[name] != (Refused{}) }

// Str returns a string attribute, or "" if it is absent or of another type.
func (it Item) Str(name string) string {
	s, _ := it[name].(String)
	return string(s)
}

// Int returns a whole-number attribute, or 0 if it is absent or no whole number.
func (it Item) Int(name string) int64 {
	n, _ := it[name].(Number)
	i, _ := strconv.ParseInt(string(n), 10, 64)
	return i
}

// Bool returns a boolean attribute, or false if it is absent or of another type.
func (it Item) Bool(name string) bool {
	b, _ := it[name].(Bool)
	return bool(b)
}

// Map returns a map attribute as an item, or nil. The result shares memory with the attribute.
func (it Item) Map(name string) Item {
	m, _ := it[name].(Map)
	return Item(m)
}

// Time returns an instant attribute (see [ParseInstant]); ok is false if it is absent or malformed. For a floating
// time it is the wall-clock reading labelled UTC.
func (it Item) Time(name string) (t time.Time, ok bool) {
	s := it.Str(name)
	if s == "" {
		return time.Time{}, false // the common case, without the cost of an error
	}
	t, err := ParseInstant(s)
	return t, err == nil
}

// Strings returns the members of a string set, sorted, or the strings of a list in its order; nil if absent.
func (it Item) Strings(name string) []string {
	switch v := it[name].(type) {
	case StringSet:
		return slices.Sorted(slices.Values(v))
	case List:
		var out []string
		for _, e := range v {
			if s, ok := e.(String); ok {
				out = append(out, string(s))
			}
		}
		return out
	}
	return nil
}

// Ints returns the members of a number set in ascending order; nil if absent.
func (it Item) Ints(name string) []int64 {
	set, _ := it[name].(NumberSet)
	var out []int64
	for _, s := range set {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// Set stores the value, or removes the attribute if the value is nil or empty: empty sets and lists are absent, never
// stored empty.
func (it Item) Set(name string, v Value) {
	if IsEmpty(v) {
		delete(it, name)
		return
	}
	it[name] = v
}

// SetTime stores an instant in whole seconds, or removes the attribute if t is zero.
func (it Item) SetTime(name string, t time.Time) {
	if t.IsZero() {
		delete(it, name)
		return
	}
	it[name] = String(FormatInstant(t))
}

// IsEmpty reports whether the value is nil, or a text, list, set or map without content.
func IsEmpty(v Value) bool {
	switch v := v.(type) {
	case nil:
		return true
	case StringSet:
		return len(v) == 0
	case NumberSet:
		return len(v) == 0
	case List:
		return len(v) == 0
	case Map:
		return len(v) == 0
	}
	return false
}

// Clone returns a copy that shares no memory with the item; nil stays nil.
func (it Item) Clone() Item {
	if it == nil {
		return nil
	}
	out := make(Item, len(it))
	for name, v := range it {
		out[name] = CloneValue(v)
	}
	return out
}

// Equal reports whether both items have the same attributes with equal values.
func (it Item) Equal(other Item) bool { return maps.EqualFunc(it, other, Equal) }
