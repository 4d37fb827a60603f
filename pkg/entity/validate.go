package entity

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"nexus/pkg/item"
	"nexus/pkg/wallclock"
)

// maxFindings bounds the findings reported for one document, which may consist of unknown fields. It exceeds the
// number of an entity's fields and links, so an honest client gets all findings at once.
const maxFindings = 256

// Faults collects what is wrong with a document, up to 256 findings.
type Faults []FieldError

// Add records a fault of a field, which attr names.
func (e *Faults) Add(attr, format string, args ...any) {
	e.At(pointerTo("", attr), format, args...)
}

// At records a fault at a JSON Pointer (RFC 6901).
func (e *Faults) At(pointer, format string, args ...any) {
	if len(*e) == maxFindings {
		return
	}
	*e = append(*e, FieldError{pointer, fmt.Sprintf(format, args...)})
}

// Require records a fault unless the item has the field.
func (e *Faults) Require(it item.Item, attr, reason string) {
	if !it.Has(attr) {
		e.Add(attr, "is required: %s", reason)
	}
}

// Refuse records a fault for each of the fields that the item has.
func (e *Faults) Refuse(it item.Item, reason string, attrs ...string) {
	for _, attr := range attrs {
		if it.Says(attr) {
			e.Add(attr, "is not allowed: %s", reason)
		}
	}
}

// pointerTo appends a reference token to a JSON Pointer (RFC 6901 §3).
func pointerTo(parent, token string) string {
	if !strings.ContainsAny(token, "~/") {
		return parent + "/" + token // nearly every name; validation asks for one for each field
	}
	return parent + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

// Validate returns every broken rule of a whole item.
func (t *Type) Validate(it item.Item) []FieldError {
	var errs Faults
	checkFields(&errs, "", t.Fields, it)
	checked := it
	if len(errs) > 0 {
		checked = t.withoutWrongTimes(it)
	}
	if t.HasCollection() {
		if err := CheckID(t.IDPrefix, it.Str(t.IDAttr)); err != nil {
			errs.Add(t.IDAttr, "%v", err)
		}
	}
	checkSelfLink(&errs, t.Ref(it), it)
	if t.Check != nil {
		errs = append(errs, t.Check(checked)...)
	}
	return errs
}

// withoutWrongTimes returns a copy of the item in which each invalid time counts as refused: no rule compares it with
// another.
func (t *Type) withoutWrongTimes(it item.Item) item.Item {
	checked := maps.Clone(it)
	for i := range t.Fields {
		f := &t.Fields[i]
		if !it.Says(f.Name) || f.Kind != Instant && f.Kind != Date && f.Kind != Zone {
			continue
		}
		var wrong Faults
		if f.check(&wrong, "", it[f.Name]); len(wrong) > 0 {
			checked[f.Name] = item.Refused{}
		}
	}
	return checked
}

func checkFields(errs *Faults, parent string, fields []Field, it item.Item) {
	for i := range fields {
		f := &fields[i]
		pointer := pointerTo(parent, f.Name)
		v, ok := it[f.Name]
		if !ok {
			if f.Required {
				f.checkAbsent(errs, pointer)
			}
			continue
		}
		if v == (item.Refused{}) {
			continue // it was reported
		}
		f.check(errs, pointer, v)
	}
}

// check tests one value against the field's kind and bounds.
func (f *Field) check(errs *Faults, pointer string, v item.Value) {
	switch f.Kind {
	case Text:
		f.checkLength(errs, pointer, v, "characters", utf8.RuneCountInString)
	case Markdown:
		f.checkLength(errs, pointer, v, "bytes", func(s string) int { return len(s) })
	case Enum:
		if s, ok := v.(item.String); !ok || !slices.Contains(f.Enum, string(s)) {
			errs.At(pointer, "must be one of %s", strings.Join(f.Enum, ", "))
		}
	case Flag:
		if _, ok := v.(item.Bool); !ok {
			errs.At(pointer, "must be true or false")
		}
	case Integer:
		f.checkInteger(errs, pointer, v)
	case Instant:
		s, _ := v.(item.String)
		t, err := item.ParseInstant(string(s))
		checkDay(errs, pointer, "an instant", t, err)
	case Date:
		s, _ := v.(item.String)
		t, err := item.ParseDate(string(s))
		if err != nil && len(s) == len(item.DateLayout) && hasShape(string(s), "0000-00-00") {
			errs.At(pointer, "%s", noSuchDate(string(s)))
			return
		}
		checkDay(errs, pointer, "a date YYYY-MM-DD", t, err)
	case Zone:
		s, _ := v.(item.String)
		if _, err := wallclock.LoadLocation(string(s)); err != nil {
			errs.At(pointer, "%v", err)
		}
	case Color:
		if s, _ := v.(item.String); !isHexColor(string(s)) {
			errs.At(pointer, "must be a palette name or #rrggbb")
		}
	case Tags:
		set, ok := v.(item.StringSet)
		f.checkMembers(errs, pointer, len(set), ok, "a list of texts")
		for _, tag := range set {
			if f.checkTag(errs, pointer, tag) {
				break
			}
		}
	case Minutes:
		set, ok := v.(item.NumberSet)
		f.checkMembers(errs, pointer, len(set), ok, "a list of numbers")
		f.checkNumbers(errs, pointer, set)
	case Integers:
		list, ok := v.(item.List)
		f.checkMembers(errs, pointer, len(list), ok, "a list of numbers")
		numbers := make([]string, len(list))
		for i, e := range list {
			n, _ := e.(item.Number)
			numbers[i] = string(n)
		}
		f.checkNumbers(errs, pointer, numbers)
	case Dates:
		f.checkDates(errs, pointer, v)
	case Names:
		list, ok := v.(item.List)
		f.checkMembers(errs, pointer, len(list), ok, "a list of names")
	case Links:
		f.checkLinks(errs, pointer, v)
	case Object:
		m, ok := v.(item.Map)
		if !ok {
			errs.At(pointer, "must be an object")
			return
		}
		checkFields(errs, pointer, f.Fields, item.Item(m))
	}
}

// checkAbsent records that a required field is absent, which an empty list or object is likewise. Of an object, each
// required member is absent.
func (f *Field) checkAbsent(errs *Faults, pointer string) {
	before := len(*errs)
	if f.Kind == Object {
		checkFields(errs, pointer, f.Fields, item.Item{})
	}
	switch {
	case len(*errs) > before:
	case f.Kind == Tags:
		errs.At(pointer, "is required, with one member at least")
	default:
		errs.At(pointer, "is required")
	}
}

// checkTag reports whether a member of a list of texts has a fault, which it records.
func (f *Field) checkTag(errs *Faults, pointer, tag string) bool {
	n := int64(utf8.RuneCountInString(tag))
	rule := fmt.Sprintf("each must have %d to %d characters", f.MemberMin, f.MemberMax)
	if len(f.Enum) > 0 {
		rule = "each must be one of " + strings.Join(f.Enum, ", ")
	}
	switch {
	case n == 0 && f.MemberMin > 0:
		errs.At(pointer, "has an empty member; %s", rule)
	case n < f.MemberMin || n > f.MemberMax:
		errs.At(pointer, "has a member of %d characters; %s", n, rule)
	case len(f.Enum) > 0 && !slices.Contains(f.Enum, tag):
		errs.At(pointer, "has %q; %s", tag, rule)
	default:
		return false
	}
	return true
}

func (f *Field) checkLength(errs *Faults, pointer string, v item.Value, unit string, length func(string) int) {
	s, ok := v.(item.String)
	if !ok {
		errs.At(pointer, "must be a text")
		return
	}
	if !utf8.ValidString(string(s)) {
		errs.At(pointer, "must be valid UTF-8")
		return
	}
	n := int64(length(string(s)))
	switch {
	case n == 0 && f.Min > 0:
		errs.At(pointer, "must not be empty")
	case n < f.Min:
		errs.At(pointer, "must have at least %d %s", f.Min, unit)
	}
	if f.Max > 0 && n > f.Max {
		errs.At(pointer, "must have at most %d %s, has %d", f.Max, unit, n)
	}
}

func (f *Field) checkInteger(errs *Faults, pointer string, v item.Value) {
	s, _ := v.(item.Number)
	n, err := strconv.ParseInt(string(s), 10, 64)
	switch {
	case err != nil:
		errs.At(pointer, "must be a whole number")
	case len(f.Allowed) > 0 && !slices.Contains(f.Allowed, n):
		errs.At(pointer, "must be one of %s", strings.Trim(strings.ReplaceAll(fmt.Sprint(f.Allowed), " ", ", "), "[]"))
	case n < f.Min || f.Max > 0 && n > f.Max:
		errs.At(pointer, "must be %d to %d", f.Min, f.Max)
	}
}

func checkDay(errs *Faults, pointer, what string, t time.Time, err error) {
	switch {
	case err != nil:
		errs.At(pointer, "must be %s", what)
	case t.Year() < MinYear || t.Year() > MaxYear:
		errs.At(pointer, "must lie in the years %d to %d", MinYear, MaxYear)
	}
}

func (f *Field) checkMembers(errs *Faults, pointer string, n int, ok bool, what string) {
	if !ok {
		errs.At(pointer, "must be %s", what)
		return
	}
	if int64(n) > f.Max {
		errs.At(pointer, "must have at most %d members, has %d", f.Max, n)
	}
}

func (f *Field) checkNumbers(errs *Faults, pointer string, numbers []string) {
	for _, s := range numbers {
		if n, err := strconv.ParseInt(s, 10, 64); err != nil || n < f.MemberMin || n > f.MemberMax {
			errs.At(pointer, "each must be a whole number from %d to %d", f.MemberMin, f.MemberMax)
			return
		}
	}
}

func (f *Field) checkDates(errs *Faults, pointer string, v item.Value) {
	list, ok := v.(item.List)
	f.checkMembers(errs, pointer, len(list), ok, "a list of dates YYYYMMDD")
	for _, e := range list {
		s, _ := e.(item.String)
		day, err := time.Parse(item.CompactLayout, string(s))
		if len(s) != len(item.CompactLayout) || err != nil || day.Year() < MinYear || day.Year() > MaxYear {
			errs.At(pointer, "each must be a date YYYYMMDD in the years %d to %d", MinYear, MaxYear)
			return
		}
	}
}

func (f *Field) checkLinks(errs *Faults, pointer string, v item.Value) {
	list, ok := v.(item.List)
	f.checkMembers(errs, pointer, len(list), ok, "a list of links")
	seen := map[Ref]bool{}
	for i, e := range list {
		at := pointerTo(pointer, strconv.Itoa(i))
		if e == (item.Refused{}) {
			continue // it was reported
		}
		m, ok := e.(item.Map)
		if !ok {
			errs.At(at, "must be an object")
			continue
		}
		link := item.Item(m)
		target := Ref{link.Str(LinkTargetType), link.Str(LinkTargetID)}
		if seen[target] && link.Says(LinkTargetType) && link.Says(LinkTargetID) {
			errs.At(at, "is the second link to %s", target.ID)
		}
		seen[target] = true
		if utf8.RuneCountInString(link.Str(LinkRelation)) > maxRelation {
			errs.At(pointerTo(at, LinkRelation), "must have at most %d characters", maxRelation)
		}
	}
}

func checkSelfLink(errs *Faults, self Ref, it item.Item) {
	for i, link := range LinksOf(it) {
		if link.Target == self {
			errs.At(pointerTo(pointerTo("", AttrLinks), strconv.Itoa(i)), "an entity cannot link to itself")
		}
	}
}

// CheckLinks returns what is wrong with the targets: each must name a type of the registry that has ids, and an id of
// that type.
func (r *Registry) CheckLinks(it item.Item) []FieldError {
	var errs Faults
	list, _ := it[AttrLinks].(item.List)
	for i, e := range list {
		if m, ok := e.(item.Map); ok {
			r.checkTarget(&errs, pointerTo(pointerTo("", AttrLinks), strconv.Itoa(i)), item.Item(m))
		}
	}
	return errs
}

// checkTarget checks the target of one link. It skips what [Type.Parse] already reported.
func (r *Registry) checkTarget(errs *Faults, at string, link item.Item) {
	if link[LinkTargetType] == (item.Refused{}) {
		return
	}
	t := r.ByName(link.Str(LinkTargetType))
	if t == nil || !t.HasCollection() {
		errs.At(pointerTo(at, LinkTargetType), "must be one of %s", strings.Join(r.Collections(), ", "))
		return
	}
	if link[LinkTargetID] == (item.Refused{}) {
		return
	}
	if err := CheckID(t.IDPrefix, link.Str(LinkTargetID)); err != nil {
		errs.At(pointerTo(at, LinkTargetID), "%v", err)
	}
}
