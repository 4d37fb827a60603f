package projection_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/projection"
)

func sumSpec() projection.SumSpec {
	return projection.SumSpec{
		Name: "notes", Revision: "n1", Amounts: byTitle, SumAttr: "sum", VersionAttr: "sumVersion", LeaseAttr: "sumHold",
		RepairsAttr: "sumRepairs", PendingAttr: "sumLast", FormAttr: entity.AttrForm,
		Target:    func(user string) item.Key { return entity.SumKey(user, "notes") },
		NewTarget: func(user string, _ time.Time) item.Item { return entity.SumKey(user, "notes").Item() },
		Empty:     func() item.Map { return item.Map{} },
	}
}

func rowsSpec() projection.RowsSpec {
	return projection.RowsSpec{
		Name: "edges", Revision: "e1",
		Edges:  func(*entity.Type, item.Item) []string { return nil },
		Row:    func(string, entity.Ref, string) item.Item { return nil },
		Prefix: entity.LinksPrefix,
	}
}

func TestNewSum_refusesAnIncompleteSpec(t *testing.T) {
	t.Parallel()
	require.NotPanics(t, func() { projection.NewSum(sumSpec()); projection.NewRows(rowsSpec()) })
	for field, spoil := range map[string]func(*projection.SumSpec){
		"Name":                    func(s *projection.SumSpec) { s.Name = "a#b" },
		"Revision":                func(s *projection.SumSpec) { s.Revision = "n 1" },
		"Amounts":                 func(s *projection.SumSpec) { s.Amounts = nil },
		"Target":                  func(s *projection.SumSpec) { s.Target = nil },
		"NewTarget":               func(s *projection.SumSpec) { s.NewTarget = nil },
		"Empty":                   func(s *projection.SumSpec) { s.Empty = nil },
		"SumAttr":                 func(s *projection.SumSpec) { s.SumAttr = "" },
		"VersionAttr":             func(s *projection.SumSpec) { s.VersionAttr = "" },
		"LeaseAttr":               func(s *projection.SumSpec) { s.LeaseAttr = "" },
		"RepairsAttr":             func(s *projection.SumSpec) { s.RepairsAttr = "" },
		"PendingAttr":             func(s *projection.SumSpec) { s.PendingAttr = "" },
		"FormAttr":                func(s *projection.SumSpec) { s.FormAttr = "" },
		"PendingAttr and SumAttr": func(s *projection.SumSpec) { s.PendingAttr = s.SumAttr },
		"WrittenAttr and SumAttr": func(s *projection.SumSpec) { s.WrittenAttr = s.SumAttr },
	} {
		spec := sumSpec()
		spoil(&spec)
		require.PanicsWithError(t, "projection "+spec.Name+": SumSpec."+field+" is missing or not usable", func() {
			projection.NewSum(spec)
		})
	}
	for field, spoil := range map[string]func(*projection.RowsSpec){
		"Name":     func(s *projection.RowsSpec) { s.Name = "" },
		"Revision": func(s *projection.RowsSpec) { s.Revision = "" },
		"Edges":    func(s *projection.RowsSpec) { s.Edges = nil },
		"Row":      func(s *projection.RowsSpec) { s.Row = nil },
		"Prefix":   func(s *projection.RowsSpec) { s.Prefix = nil },
	} {
		spec := rowsSpec()
		spoil(&spec)
		require.PanicsWithError(t, "projection "+spec.Name+": RowsSpec."+field+" is missing or not usable", func() {
			projection.NewRows(spec)
		})
	}
}
