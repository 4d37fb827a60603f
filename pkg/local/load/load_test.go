package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/local"
	"nexus/pkg/table/memory"
)

func TestTheAgendaIsMeasuredOnBothStores(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, agendaTable(t.Context(), &out, agendaRun{items: 300, series: 12, measure: 50 * time.Millisecond, delay: 20 * time.Millisecond, engine: true}))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2+2*3, out.String())
	for _, store := range []string{"memory", "engine"} {
		require.Contains(t, out.String(), store+"  one bare query of the index")
	}
}

func TestReadsAreMeasuredOverHTTP(t *testing.T) {
	t.Parallel()
	o, err := parseOptions([]string{"-stores", "memory", "-users", "2", "-items", "60", "-series", "6", "-clients", "2", "-for", "200ms", "-each", "50ms"})
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, httpTable(t.Context(), &out, o))
	for _, asked := range []string{"week views", "the board", "one item"} {
		require.Contains(t, out.String(), asked)
	}
}

func TestFlagsAreBounded(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-stores", "disk"}, {"-users", "0"}, {"-items", "20001"}, {"-series", "0"}, {"-clients", "257"}, {"-for", "61m"}, {"-each", "0s"},
	} {
		_, err := parseOptions(args)
		require.ErrorIs(t, err, errFlag, "%v", args)
	}
	o, err := parseOptions(nil)
	require.NoError(t, err)
	require.Equal(t, []local.Store{local.Memory, local.DynamoDB}, o.stores)
	for _, args := range [][]string{nil, {"dance"}} {
		require.ErrorIs(t, run(t.Context(), args, nil), errUsage)
	}
}

// BenchmarkAgenda is a week of a user with 10,000 items and 60 series, JSON included, on the memory store.
func BenchmarkAgenda(b *testing.B) {
	registry, now := entity.Product(), func() time.Time { return base }
	rows, err := populate(base, fullAgenda.items, fullAgenda.series).rows(user, registry, base)
	require.NoError(b, err)
	store := memory.New(now, memory.Options{})
	require.NoError(b, store.Load(b.Context(), rows))
	h, err := surface(store, registry, now)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		bytes, err := ask(b.Context(), h, user, weekView(base, 100))
		require.NoError(b, err)
		require.Greater(b, bytes, 30_000)
	}
}
