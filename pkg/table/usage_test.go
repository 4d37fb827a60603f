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
	m.Observe(table.Usage{Op: "Query", Rows: 3, ReadUnits: 1.5})
	m.Observe(table.Usage{
		Op: "Transact", Rows: 2, WriteUnits: 5,
		IndexWriteUnits: map[table.Index]float64{table.YearView: 1, table.StateView: 2},
	})
	m.Observe(table.Usage{Op: "Query", ReadUnits: 0.5})
	m.Observe(table.Usage{Op: "Put"}) // refused
	want := table.Uses{
		"Query": {Calls: 2, Rows: 3, ReadUnits: 2}, "Transact": {Calls: 1, Rows: 2, WriteUnits: 5, IndexWriteUnits: 3},
		"Put": {Calls: 1},
	}
	require.Equal(t, want, m.Read())
	require.Equal(t, table.Use{Calls: 4, Rows: 5, ReadUnits: 2, WriteUnits: 5, IndexWriteUnits: 3}, m.Read().Sum())
	require.Equal(t, want, m.Take())
	require.Empty(t, m.Take())
}
