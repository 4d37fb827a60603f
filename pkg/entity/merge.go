package entity

import (
	"maps"
	"slices"
	"strings"

	"nexus/pkg/item"
)

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Merge applies a patch from [Type.Parse] as JSON Merge Patch does (RFC 7396): null removes, objects merge, everything
// else replaces. A required field with a default falls back to it. Before is nil on create. The errors cover only the
// patch's times against the zones; the caller validates the result, a new item, as a whole.
func (t *Type) Merge(before, patch item.Item) (after item.Item, errs []FieldError) {
	after = before.Clone()
	if after == nil {
		after = item.Item{}
	}
	mergeObject(after, patch)
	FillDefaults(t.Fields, after)
	var broken Faults
	fillInstants(&broken, t.Fields, before, patch, after)
	if t.Settle != nil {
		t.Settle(before, patch, after)
	}
	for name, v := range after {
		if item.IsEmpty(v) {
			delete(after, name)
		}
	}
	return after, broken
}

func mergeObject(target, patch item.Item) {
	for name, v := range patch {
		switch v := v.(type) {
		case item.Null:
			delete(target, name)
		case item.Map:
			inner := target.Map(name)
			if inner == nil {
				inner = item.Item{}
			}
			mergeObject(inner, item.Item(v))
			target[name] = item.Map(inner)
		default:
			target[name] = item.CloneValue(v)
		}
	}
}

// FillDefaults gives the item, and the objects within it, the default of each required field that it lacks.
func FillDefaults(fields []Field, it item.Item) {
	for _, f := range fields {
		if !it.Has(f.Name) && f.Required && f.Default != nil {
			it[f.Name] = item.CloneValue(f.Default)
		}
		if inner := it.Map(f.Name); inner != nil {
			FillDefaults(f.Fields, inner)
		}
	}
}

// fillInstants gives every instant of the patch its stored form. A floating one came without an offset, any other
// with one. An instant that the patch does not set cannot stay when its zone is set or removed: the same digits would
// mean another time. Instants that no client can send are derived again.
func fillInstants(errs *Faults, fields []Field, before, patch, after item.Item) {
	for _, f := range fields {
		if f.Kind != Instant {
			continue
		}
		floating := f.Zone != "" && !after.Has(f.Zone)
		text, patched := patch[f.Name].(item.String)
		if !patched {
			if f.Zone != "" && !f.Follows && f.Origin == FromClient && before.Has(f.Name) && after.Has(f.Name) &&
				before.Has(f.Zone) == floating {
				errs.Add(f.Name, "must be sent again when %s comes or goes", f.Zone)
			}
			continue
		}
		hasOffset := strings.HasSuffix(string(text), "Z")
		switch {
		case floating && hasOffset:
			errs.Add(f.Name, "without %s it floats and is written without offset; or send %s as well", f.Zone, f.Zone)
		case !floating && !hasOffset:
			errs.Add(f.Name, "needs an offset or Z")
		case floating:
			after[f.Name] = text + "Z"
		}
	}
}
