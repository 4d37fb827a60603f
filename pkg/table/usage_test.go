package table_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/table"
)

func TestMeter_addsUpByOperationUntilItIsRead(t *testing.T) {
	t.Parallel()
	var m table.Meter
	require.Empty(t, m.Read())
	m.Observe(table.Consumption{Op: "Query", Rows: 3, ReadUnits: 1.5})
	m.Observe(table.Consumption{
		Op: "Transact", Rows: 2, WriteUnits: 5,
		IndexWriteUnits: map[table.Index]float64{table.YearView: 1, table.StateView: 2},
	})
	m.Observe(table.Consumption{Op: "Query", ReadUnits: 0.5})
	m.Observe(table.Consumption{Op: "Put"}) // refused
	want := table.TotalsByOperation{
		"Query": {Calls: 2, Rows: 3, ReadUnits: 2}, "Transact": {Calls: 1, Rows: 2, WriteUnits: 5, IndexWriteUnits: 3},
		"Put": {Calls: 1},
	}
	require.Equal(t, want, m.Read())
	require.Equal(t, table.Totals{Calls: 4, Rows: 5, ReadUnits: 2, WriteUnits: 5, IndexWriteUnits: 3}, m.Read().Sum())
	require.Equal(t, want, m.Drain())
	require.Empty(t, m.Drain())
}
