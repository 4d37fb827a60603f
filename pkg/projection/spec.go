package projection

import (
	"fmt"
	"regexp"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// RowsSpec describes a projection that maintains a set of rows: it puts new ones and deletes removed ones. An item may
// have at most 49 edges, so that a change of all of them fits into one transaction.
type RowsSpec struct {
	Name     string
	Revision string // of Edges; a change of the function needs another one, and a rebuild
	// Edges returns the item's edges, each a text without line breaks.
	Edges func(t *entity.Type, it item.Item) []string
	// Row returns the row of an edge.
	Row func(user string, source entity.Ref, edge string) item.Item
	// Prefix begins the sort keys of all rows whose source is of a type; the source's id and more follow it.
	Prefix func(typeName string) string
}

// NewRows returns the projection. It panics if the spec lacks something.
func NewRows(spec RowsSpec) *Projection {
	spec.check()
	return &Projection{spec.Name, &spec}
}

// IndexSpec describes a projection whose ledger rows are its facts. Each stands at a place in the state view, where
// queries read it. The projection keeps what expires: an item of which only the cold copy is left contributes as
// before. One that its user deleted contributes nothing.
type IndexSpec struct {
	Name     string
	Revision string // of Place; a change of the function needs another one, and a rebuild
	// Place returns the state-view sort key of the item's ledger row and a text for its readers, neither with spaces. An
	// empty key is nothing. For an item that has left, the image has only [entity.Type.Outlives].
	Place func(t *entity.Type, it item.Item) (sortKey, text string)
}

// NewIndex returns the projection. It panics if the spec lacks something.
func NewIndex(spec IndexSpec) *Projection {
	require(spec.Name, "IndexSpec",
		field{"Name", noun.MatchString(spec.Name)}, field{"Revision", revision.MatchString(spec.Revision)},
		field{"Place", spec.Place != nil})
	return &Projection{spec.Name, &spec}
}

// SumSpec describes a projection that adds up numbers in one row per user.
type SumSpec struct {
	Name     string
	Revision string // of Amounts; a change of the function needs another one, and a rebuild
	// Amounts returns what the item adds.
	Amounts func(t *entity.Type, it item.Item) Amounts
	// Target returns the key of the row that holds the sum, in the map attribute SumAttr under the optimistic lock
	// VersionAttr. The lock belongs to the projection: it does not disturb other writers of the row.
	Target               func(user string) item.Key
	SumAttr, VersionAttr string
	// NewTarget returns the initial row; Empty the initial sum. Numbers in Empty stay when they become zero; all others
	// then leave the sum.
	NewTarget func(user string, now time.Time) item.Item
	Empty     func() item.Map
	// LeaseAttr names the map attribute {owner, until} with a repair's lease.
	LeaseAttr string
	// WrittenAttr, if set, names a flag that every write of the sum sets, and that every other writer of the row removes:
	// so a filter can identify the writer of a record.
	WrittenAttr string
	// RepairsAttr names the number of complete repairs that staged ledger rows.
	RepairsAttr string
	// PendingAttr names the map attribute {item, v, c} with the ledger's pending entry, see [pendingEntry].
	PendingAttr string
	// FormAttr names the attribute with the form of all these, as [entity.AttrForm] is that of a row.
	FormAttr string
}

// Amounts is the contribution of one image to a sum. The zero Amounts is nothing.
type Amounts struct {
	// Add is added to the numbers of the sum, and subtracted again.
	Add map[string]int64 `json:"add,omitempty"`
	// Max are texts of which the sum holds the greatest ever; it is never lowered.
	Max map[string]string `json:"max,omitempty"`
	// Open is the state-view sort key of the item's ledger row, for counts at read time: at most 1,024 bytes, as each
	// text of Max.
	Open string `json:"open,omitempty"`
}

// NewSum returns the projection. It panics if the spec lacks something: only WrittenAttr may be empty.
func NewSum(spec SumSpec) *Projection {
	spec.check()
	return &Projection{spec.Name, &spec}
}

// NewOwnSum returns a summing projection with a separate row, for products that count other things.
func NewOwnSum(name, revision string, amounts func(*entity.Type, item.Item) Amounts) *Projection {
	return NewSum(SumSpec{
		Name: name, Revision: revision, Amounts: amounts,
		Target:  func(user string) item.Key { return entity.SumKey(user, name) },
		SumAttr: "sum", VersionAttr: "sumVersion",
		NewTarget: func(user string, _ time.Time) item.Item { return entity.SumKey(user, name).Item() },
		Empty:     func() item.Map { return item.Map{} },
		LeaseAttr: "sumHold", RepairsAttr: "sumRepairs", PendingAttr: "sumLast", FormAttr: entity.AttrForm,
	})
}

var (
	// noun is the form of a name: part of a ledger row's key, of a consumer's name and of a metric's.
	noun = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)
	// revision is the form of the revision before a contribution, up to the first space.
	revision = regexp.MustCompile(`^[^\s]{1,40}$`)
)

// require panics unless a spec is complete: a spec is code, and its mistakes must show when a program starts, not in
// the records that it parks.
func require(projection, spec string, fields ...field) {
	for _, f := range fields {
		if !f.isUsable {
			panic(fmt.Errorf("projection %s: %s.%s is missing or not usable", projection, spec, f.name))
		}
	}
}

// field is a field of a spec, with whether it is set and usable.
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
