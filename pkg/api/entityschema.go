package api

import (
	"slices"

	"nexus/pkg/entity"
)

// entitySchemas are the three schemas of a type: as it is shown, created and patched. The last two are left out for what
// clients cannot send.
func entitySchemas(r *entity.Registry, t *entity.Type) object {
	name := entityNoun(t)
	schemas := object{{name, shownSchema(r, t)}}
	if t.HasCollection() && t.Name != entity.TypeInstance { // which is made of its series, by its date
		create := objectSchema(t.Fields, created)
		own := member{t.IDAttr, clientIDSchema(t.IDPrefix)}
		create.change("properties", func(v any) any { return append(object{own}, v.(object)...) })
		schemas = append(schemas, member{name + "Create", create})
	}
	return append(schemas, member{name + "Patch", objectSchema(t.Fields, patched)})
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
	return s
}

// idPattern is the form of the id that the type has under the name; "" for what is no id.
func idPattern(r *entity.Registry, t *entity.Type, name string) string {
	if name == t.IDAttr && t.HasCollection() || t.Name == entity.TypeMaster && name == entity.AttrEventID {
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
