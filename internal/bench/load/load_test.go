package main

import (
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/local"
)

func TestLoad_runsEachBenchmarkOnSmallTables(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every benchmark once")
	}
	require.NoError(t, flag.Set("test.benchtime", "1x"))
	for name, f := range map[string]func(*testing.B){
		"agenda":      func(b *testing.B) { benchmarkAgenda(b, 300, 12) },
		"decode":      BenchmarkDecode,
		"projections": func(b *testing.B) { benchmarkProjections(b, 20) },
		"scale":       func(b *testing.B) { benchmarkTable(b, 2, 500, 0) },
	} {
		require.Positive(t, testing.Benchmark(f).N, name)
	}
}

func TestHttpTable_measuresReadsOverHTTP(t *testing.T) {
	t.Parallel()
	o, err := parseOptions([]string{
		"-stores", "memory", "-users", "2", "-items", "60", "-series", "6", "-clients", "2", "-for", "200ms", "-each", "50ms",
	})
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, httpTable(t.Context(), &out, o))
	for _, asked := range []string{"week views", "the board", "one item"} {
		require.Contains(t, out.String(), asked)
	}
}

func TestParseOptions_boundsEachFlag(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-stores", "disk"}, {"-users", "0"}, {"-items", "20001"}, {"-series", "0"}, {"-clients", "257"}, {"-for", "61m"},
		{"-each", "0s"},
	} {
		_, err := parseOptions(args)
		require.ErrorIs(t, err, errFlag, "%v", args)
	}
	o, err := parseOptions(nil)
	require.NoError(t, err)
	require.Equal(t, []local.Store{local.Memory, local.DynamoDB}, o.stores)
}
