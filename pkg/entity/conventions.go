package entity

import (
	"errors"
	"fmt"

	"nexus/pkg/register"
)

// checkType checks a type against the conventions that a registry can check. The conventions test checks the items
// that the type makes against the rest.
func checkType(t *Type) error {
	var errs []error
	if !isConstant(t.Name) {
		errs = append(errs, errors.New("the name must be UPPERCASE"))
	}
	if _, taken := register.Components(t.Name); taken {
		errs = append(errs, errors.New("the name is the prefix of another kind of row"))
	}
	if !isCamelCase(t.IDAttr) {
		errs = append(errs, fmt.Errorf("id attribute %q must be camelCase", t.IDAttr))
	}
	if t.HasCollection() && (!isLower(t.IDPrefix) || t.Plural == "") {
		errs = append(errs, fmt.Errorf("id prefix %q must be lower-case letters, and a path segment given", t.IDPrefix))
	}
	errs = append(errs, checkFieldNames(t.Fields)...)
	for _, name := range []string{AttrType, t.IDAttr, AttrVersion, AttrCreatedAt, AttrUpdatedAt} {
		if f, ok := t.Field(name); !ok || !f.Required {
			errs = append(errs, fmt.Errorf("mandatory attribute %s is missing or not required", name))
		}
	}
	return errors.Join(errs...)
}

func checkFieldNames(fields []Field) []error {
	var errs []error
	seen := make(map[string]bool, len(fields))
	for _, f := range fields {
		if !isCamelCase(f.Name) {
			errs = append(errs, fmt.Errorf("attribute %q must be camelCase", f.Name))
		}
		if seen[f.Name] {
			errs = append(errs, fmt.Errorf("attribute %q stands there twice", f.Name))
		}
		seen[f.Name] = true
		if f.Kind == Enum && f.Name == AttrStatus {
			for _, value := range f.Enum {
				if !isConstant(value) {
					errs = append(errs, fmt.Errorf("status value %q must be UPPERCASE", value))
				}
			}
		}
		errs = append(errs, checkFieldNames(f.Fields)...)
	}
	return errs
}

// Field returns the description of a top-level attribute.
func (t *Type) Field(name string) (Field, bool) {
	for _, f := range t.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

func isConstant(s string) bool {
	return consistsOf(s, func(c rune) bool { return 'A' <= c && c <= 'Z' || c == '_' })
}

func isLower(s string) bool { return consistsOf(s, func(c rune) bool { return 'a' <= c && c <= 'z' }) }

func isCamelCase(s string) bool {
	return s != "" && 'a' <= s[0] && s[0] <= 'z' &&
		consistsOf(s, func(c rune) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' })
}

func consistsOf(s string, ok func(rune) bool) bool {
	if s == "" {
		return false
	}
	for _, c := range s {
		if !ok(c) {
			return false
		}
	}
	return true
}
