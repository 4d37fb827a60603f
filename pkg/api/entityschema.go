package api

import (
	"slices"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/product"
)

// entitySchemas returns the three schemas of a type: shown, created and patched. It omits the last two if clients
// cannot send them.
func entitySchemas(r *entity.Registry, t *entity.Type) object {
	name := entityNoun(t)
	schemas := withNamedParts(name, shownSchema(r, t))
	if t.HasCollection() && t.Name != entity.TypeInstance { // an INSTANCE is created through its series, by its date
		create := objectSchema(t.Fields, created)
		own := member{t.IDAttr, clientIDSchema(t.IDPrefix)}
		create.change("properties", func(v any) any { return append(object{own}, v.(object)...) })
		schemas = append(schemas, withNamedParts(name+"Create", create)...)
	}
	return append(schemas, withNamedParts(name+"Patch", objectSchema(t.Fields, patched))...)
}

// withNamedParts returns the schema under its name, and each object within it under a separate name: generators turn
// it into a type that programs can name.
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

// storedSchema returns the schema of a type in answers, as it is stored. entityType always holds this type's name.
func storedSchema(r *entity.Registry, t *entity.Type) object {
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
	return s
}

// shownSchema returns the schema of a type in answers, with the fields that it takes from another entity.
func shownSchema(r *entity.Registry, t *entity.Type) object {
	s := storedSchema(r, t)
	if t.Name == entity.TypeInstance {
		// An exception takes absent fields from its series: an answer has every field of an event that a client provides.
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
	switch t.Name {
	case entity.TypeUserMeta:
		s.change("properties", func(v any) any {
			return append(slices.Clone(v.(object)), nearLimitsSchema(), leavingSchema())
		})
	case outbox.TypeWebhook:
		s.change("properties", func(v any) any { return append(slices.Clone(v.(object)), secretsSchema()...) })
	}
	return s
}

// idPattern returns the form of the id that the type has under the name; "" for a name of no id.
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

// patternOfPrefixes returns the form of an id with one of the prefixes.
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

// clientIDSchema returns the schema of an id that a client chooses.
func clientIDSchema(prefix string) object {
	return object{
		{"type", "string"}, {"pattern", "^" + prefix + "_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
		{"description", "The client's own choice."},
	}
}

// entityVariants returns the types as variants of a union. The name of a type's schema is the prefix and its noun.
func entityVariants(prefix string, types ...*entity.Type) []variant {
	var out []variant
	for _, t := range types {
		out = append(out, variant{t.Name, prefix + entityNoun(t)})
	}
	return out
}
