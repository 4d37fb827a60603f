package api

import (
	"slices"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/product"
)

// entitySchemas are the three schemas of a type: as it is shown, created and patched. The last two are left out for
// what clients cannot send.
func entitySchemas(r *entity.Registry, t *entity.Type) object {
	name := entityNoun(t)
	schemas := withNamedParts(name, shownSchema(r, t))
	if t.HasCollection() && t.Name != entity.TypeInstance { // which is made of its series, by its date
		create := objectSchema(t.Fields, created)
		own := member{t.IDAttr, clientIDSchema(t.IDPrefix)}
		create.change("properties", func(v any) any { return append(object{own}, v.(object)...) })
		schemas = append(schemas, withNamedParts(name+"Create", create)...)
	}
	return append(schemas, withNamedParts(name+"Patch", objectSchema(t.Fields, patched))...)
}

// withNamedParts is the schema under its name, and each object within it under a name of its own: a generator makes a
// type of it that programs can name.
func withNamedParts(name string, s object) object {
	var parts object
	s.change("properties", func(v any) any {
		out := slices.Clone(v.(object))
		for i, p := range out {
			inner := p.value.(object)
			if inner.at("properties") == nil {
				continue
			}
			part := name + strings.ToUpper(p.name[:1]) + p.name[1:]
			var here object
			for _, m := range inner {
				if m.name == "description" {
					here = append(here, m)
				}
			}
			ref := schemaRef(part)
			if _, mayBeNull := inner.at("type").([]string); mayBeNull {
				inner = slices.Clone(inner)
				inner.change("type", func(any) any { return "object" })
				ref = object{{"oneOf", []any{ref, object{{"type", "null"}}}}}
			}
			parts = append(parts, member{part, inner})
			out[i].value = append(ref, here...)
		}
		return out
	})
	return append(object{{name, s}}, parts...)
}

// shownSchema is a type as answers have it. Whatever else is read from entityType, it is this type's name.
func shownSchema(r *entity.Registry, t *entity.Type) object {
	s := objectSchema(t.Fields, shown)
	s.change("properties", func(v any) any {
		out := slices.Clone(v.(object))
		for i, p := range out {
			switch pattern := idPattern(r, t, p.name); {
			case p.name == entity.AttrType:
				out[i].value = append(object{{"const", t.Name}}, p.value.(object)...)
			case pattern != "":
				out[i].value = append(object{{"pattern", pattern}}, p.value.(object)...)
			}
		}
		return out
	})
	if t.Name == entity.TypeInstance {
		// What an exception lacks is the series': an answer has everything of an event that a client gives.
		s.change("required", func(v any) any {
			have := v.([]string)
			for _, f := range product.Event().Fields {
				if f.Required && f.Origin == entity.FromClient {
					have = append(have, f.Name)
				}
			}
			slices.Sort(have)
			have = slices.Compact(have)
			return have
		})
	}
	return s
}

// idPattern is the form of the id that the type has under the name; "" for what is no id.
func idPattern(r *entity.Registry, t *entity.Type, name string) string {
	if name == t.IDAttr && t.HasCollection() || t.Name == entity.TypeMaster && name == product.AttrEventID {
		return patternOfType(t)
	}
	for _, other := range collections(r) {
		if other.IDAttr == name {
			return patternOfType(other)
		}
	}
	return ""
}

func patternOfType(t *entity.Type) string {
	if t.Name == entity.TypeInstance {
		return "^" + t.IDPrefix + "_[0-9]{8}" + suffixPattern
	}
	return patternOfPrefixes(t.IDPrefix)
}

// patternOfPrefixes is the form of an id with one of the prefixes.
func patternOfPrefixes(prefixes ...string) string {
	if len(prefixes) == 1 {
		return "^" + prefixes[0] + suffixPattern
	}
	alternatives := ""
	for i, p := range prefixes {
		if i > 0 {
			alternatives += "|"
		}
		alternatives += p
	}
	return "^(" + alternatives + ")" + suffixPattern
}

// clientIDSchema is an id that a client chooses.
func clientIDSchema(prefix string) object {
	return object{
		{"type", "string"}, {"pattern", "^" + prefix + "_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
		{"description", "The client's own choice."},
	}
}

// entityVariants are the types as a union tells them apart. The schema of a type has its noun behind the prefix.
func entityVariants(prefix string, types ...*entity.Type) []variant {
	var out []variant
	for _, t := range types {
		out = append(out, variant{t.Name, prefix + entityNoun(t)})
	}
	return out
}
