package projection

import (
	"fmt"
	"regexp"
)

var (
	// noun is what a name may be: part of a ledger row's key, of a consumer's name and of a metric's.
	noun = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)
	// revision is what stands before a contribution, up to the first space.
	revision = regexp.MustCompile(`^[^\s]{1,40}$`)
)

// require panics unless everything that a spec needs is there: a spec is code, and its mistakes are to show when a
// program starts, not in the records that it parks.
func require(projection, spec string, fields ...field) {
	for _, f := range fields {
		if !f.isUsable {
			panic(fmt.Errorf("projection %s: %s.%s is missing or not usable", projection, spec, f.name))
		}
	}
}

// field is one of a spec, and whether it is there and can be used.
type field struct {
	name     string
	isUsable bool
}

func (s SumSpec) check() {
	require(s.Name, "SumSpec",
		field{"Name", noun.MatchString(s.Name)}, field{"Revision", revision.MatchString(s.Revision)},
		field{"Amounts", s.Amounts != nil}, field{"Target", s.Target != nil},
		field{"NewTarget", s.NewTarget != nil}, field{"Empty", s.Empty != nil})
	attributes := []struct{ field, name string }{
		{"SumAttr", s.SumAttr}, {"VersionAttr", s.VersionAttr}, {"LeaseAttr", s.LeaseAttr},
		{"RepairsAttr", s.RepairsAttr}, {"PendingAttr", s.PendingAttr}, {"FormAttr", s.FormAttr},
	}
	if s.WrittenAttr != "" {
		attributes = append(attributes, struct{ field, name string }{"WrittenAttr", s.WrittenAttr})
	}
	of := map[string]string{}
	for _, a := range attributes {
		require(s.Name, "SumSpec", field{a.field, a.name != ""})
		other, isTaken := of[a.name]
		require(s.Name, "SumSpec", field{a.field + " and " + other, !isTaken})
		of[a.name] = a.field
	}
}

func (s RowsSpec) check() {
	require(s.Name, "RowsSpec",
		field{"Name", noun.MatchString(s.Name)}, field{"Revision", revision.MatchString(s.Revision)},
		field{"Edges", s.Edges != nil}, field{"Row", s.Row != nil}, field{"Prefix", s.Prefix != nil})
}
