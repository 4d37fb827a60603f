package entity

import (
	"slices"

	"nexus/pkg/item"
)

// Field describes one attribute of an entity type, or of an object within one.
type Field struct {
	Name   string
	Kind   FieldKind
	Origin Origin
	// Required fields are on every stored item. A client may leave one out on create if it has a Default.
	Required bool
	Default  item.Value
	// Min and Max bound characters of a Text, bytes of a Markdown, the value of an Integer, the number of members of a
	// set or list. Max 0 sets no bound for this field.
	Min, Max int64
	// MemberMin and MemberMax bound each member: characters of a tag, value of a number.
	MemberMin, MemberMax int64
	// Enum lists the values of an Enum, or those that members of Tags may have; Tags without it take any.
	Enum    []string
	Allowed []int64
	// Zone names the attribute with this Instant's time zone. If that attribute is absent, the instant is floating. Empty
	// for an absolute instant.
	Zone string
	// Follows says that the command that writes the item converts this Instant when the zone is set or removed: its
	// wall-clock reading stays.
	Follows bool
	Fields  []Field // of an Object
	Doc     string
}

// FieldKind defines the values of a field and their form in the table and in JSON.
type FieldKind int

const (
	Text     FieldKind = iota // S; bounds in characters
	Markdown                  // S; bounds in bytes of UTF-8
	Enum                      // S
	Flag                      // BOOL
	Integer                   // N
	Instant                   // S in the form of FormatInstant; see Field.Zone
	Date                      // S, YYYY-MM-DD
	Zone                      // S, IANA name
	Color                     // S, a palette name or #rrggbb, stored as #rrggbb in lower case
	Tags                      // SS
	Minutes                   // NS
	Integers                  // L of N
	Dates                     // L of S, each YYYYMMDD (RFC 5545 §3.3.4), sorted
	Names                     // L of S, names of other fields
	Links                     // L of M {targetType, targetId, relation?}
	Object                    // M with Fields
)

// Origin says who sets a field.
type Origin int

const (
	FromClient Origin = iota
	FromServer        // shown to clients, refused when they send it
	Hidden            // bookkeeping that clients neither see nor send
)

// FieldError is one broken rule: where (RFC 6901 JSON Pointer) and what.
type FieldError struct {
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

// ValidationError is everything that is wrong with one item.
type ValidationError struct{ Fields []FieldError }

func (e *ValidationError) Error() string {
	text := "invalid:"
	for _, f := range e.Fields {
		if f.Pointer != "" {
			text += " " + f.Pointer
		}
		text += " " + f.Detail + ";"
	}
	return text[:len(text)-1]
}

// Invalid joins the findings of several checks into a [*ValidationError], or nil if there are none. Of several
// findings at one place it takes the first: the later ones follow from it.
func Invalid(findings ...[]FieldError) error {
	var all []FieldError
	for _, e := range slices.Concat(findings...) {
		if !slices.ContainsFunc(all, func(known FieldError) bool { return known.Pointer == e.Pointer }) {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &ValidationError{all}
}
