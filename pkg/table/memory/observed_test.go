package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/table"
	"nexus/pkg/table/memory"
)

func TestObserved_separatesTheStoresOnOneTable(t *testing.T) {
	t.Parallel()
	seen := map[string][]string{}
	told := func(who string) table.Observer {
		return func(u table.Consumption) { seen[who] = append(seen[who], u.Op) }
	}
	whole := memory.New(start, memory.Options{Observer: told("whole")})
	row := entity.MetaKey("ann").Item()
	require.NoError(t, whole.Observed(told("ann")).Put(t.Context(), table.Put{Item: row}))
	found, err := whole.Observed(told("bob")).Get(t.Context(), row.Key())
	require.NoError(t, err)
	require.Equal(t, row, found)
	_, err = whole.Observed(nil).Get(t.Context(), row.Key())
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"ann": {"Put"}, "bob": {"Get"}}, seen)
}
