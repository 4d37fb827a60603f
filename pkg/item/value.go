package item

import (
	"maps"
	"slices"
	"strconv"
)

// Value is one attribute value in the neutral form that both store adapters translate. It is a closed set: [String],
// [Number], [Bool], [Null], [StringSet], [NumberSet], [List], [Map], [Binary] and [BinarySet]. No entity has the last
// two: they exist so that code can carry any row of the table and report a foreign one.
type Value interface{ value() }

type (
	// String is DynamoDB's S.
	String string
	// Number is DynamoDB's N: decimal text, so that nothing is rounded.
	Number string
	// Bool is DynamoDB's BOOL.
	Bool bool
	// Null is DynamoDB's NULL.
	Null struct{}
	// StringSet is DynamoDB's SS: not empty, without duplicates. Order carries no meaning.
	StringSet []string
	// NumberSet is DynamoDB's NS: not empty, without duplicates. Order carries no meaning.
	NumberSet []string
	// List is DynamoDB's L.
	List []Value
	// Map is DynamoDB's M.
	Map map[string]Value
	// Binary is DynamoDB's B.
	Binary []byte
	// BinarySet is DynamoDB's BS.
	BinarySet [][]byte
)

func (String) value()    {}
func (Number) value()    {}
func (Bool) value()      {}
func (Null) value()      {}
func (StringSet) value() {}
func (NumberSet) value() {}
func (List) value()      {}
func (Map) value()       {}
func (Binary) value()    {}
func (BinarySet) value() {}

// Refused marks a field of a patch whose value the request parser refused: the client sent it, but the value is
// unusable. Rules therefore do not report the field as missing, and only the refusal is reported. Such a patch never
// becomes a stored item, because its errors refuse the request.
type Refused struct{}

func (Refused) value() {}

// Int is the Number of a whole number.
func Int(n int64) Number { return Number(strconv.FormatInt(n, 10)) }

// Strings is the StringSet of members, sorted and without duplicates; nil when there are none, because an empty set is
// stored as an absent attribute.
func Strings(members ...string) StringSet {
	set := slices.Clone(members)
	slices.Sort(set)
	return StringSet(slices.Compact(set))
}

// Ints is the NumberSet of members in ascending order without duplicates.
func Ints(members ...int64) NumberSet {
	sorted := slices.Clone(members)
	slices.Sort(sorted)
	set := NumberSet{}
	for _, n := range slices.Compact(sorted) {
		set = append(set, strconv.FormatInt(n, 10))
	}
	return set
}

// Equal reports whether a and b are the same value: sets without regard to order, a nil value equal only to nil.
func Equal(a, b Value) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case StringSet:
		b, ok := b.(StringSet)
		return ok && equalSets(a, b)
	case NumberSet:
		b, ok := b.(NumberSet)
		return ok && equalSets(a, b)
	case List:
		b, ok := b.(List)
		return ok && slices.EqualFunc(a, b, Equal)
	case Map:
		b, ok := b.(Map)
		return ok && maps.EqualFunc(a, b, Equal)
	case Binary:
		b, ok := b.(Binary)
		return ok && slices.Equal(a, b)
	case BinarySet:
		b, ok := b.(BinarySet)
		return ok && slices.EqualFunc(a, b, slices.Equal)
	default:
		return a == b
	}
}

func equalSets(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	if slices.Equal(a, b) {
		return true
	}
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// CloneValue returns a copy of v that shares no memory with it.
func CloneValue(v Value) Value {
	switch v := v.(type) {
	case StringSet:
		return slices.Clone(v)
	case NumberSet:
		return slices.Clone(v)
	case List:
		out := make(List, len(v))
		for i, e := range v {
			out[i] = CloneValue(e)
		}
		return out
	case Map:
		return Map(Item(v).Clone())
	case Binary:
		return slices.Clone(v)
	case BinarySet:
		out := make(BinarySet, len(v))
		for i, e := range v {
			out[i] = slices.Clone(e)
		}
		return out
	default:
		return v
	}
}
