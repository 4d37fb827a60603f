package projection

import (
	"slices"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// RowsSpec describes a projection that keeps a set of rows: put what is new, delete what is gone. An item may have at
// most 49 edges, so that a change of all of them fits into one transaction.
type RowsSpec struct {
	Name     string
	Revision string // of Edges; a change of the function needs another one, and a rebuild
	// Edges returns the item's edges, each a text without line breaks.
	Edges func(t *entity.Type, it item.Item) []string
	// Row returns the row that stands for an edge.
	Row func(user string, source entity.Ref, edge string) item.Item
	// Prefix begins the sort keys of all rows whose source is of a type; behind it stand the source's id and more.
	Prefix func(typeName string) string
}

// NewRows returns the projection. It panics if the spec lacks something.
func NewRows(spec RowsSpec) *Projection {
	spec.check()
	return &Projection{spec.Name, rows{spec}}
}

type rows struct{ spec RowsSpec }

func (r rows) contribution(t *entity.Type, it item.Item) string {
	edges := slices.Clone(r.spec.Edges(t, it))
	slices.Sort(edges)
	return withRevision(r.spec.Revision, strings.Join(slices.Compact(edges), "\n"))
}

func (rows) facts(string) facts        { return nil }
func (rows) ledgerIndex(string) string { return "" }
func (rows) target() *SumSpec          { return nil }

func (r rows) actions(m *move) []action {
	before, after := edgesOf(m.from), edgesOf(m.to)
	var actions []action
	for _, edge := range after {
		if !slices.Contains(before, edge) {
			actions = append(actions, table.Put{Item: r.spec.Row(m.user, m.ref, edge)})
		}
	}
	for _, edge := range before {
		if !slices.Contains(after, edge) {
			if key, ok := r.keyOf(m.user, m.ref, edge); ok {
				actions = append(actions, table.Delete{Key: key})
			}
		}
	}
	return actions
}

// keyOf is the key of the row that stands for an edge of a ledger row. One that was damaged may say anything: not ok
// for what no row can stand for.
func (r rows) keyOf(user string, source entity.Ref, edge string) (key item.Key, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	row := r.spec.Row(user, source, edge)
	return row.Key(), table.CheckKeys(table.ProductSchema(), row) == nil
}

func edgesOf(c string) []string {
	if c == "" {
		return nil
	}
	return strings.Split(withoutRevision(c), "\n")
}
