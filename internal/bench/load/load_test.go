package load_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/long"
	"nexus/pkg/local"
)

func TestLoad_runsEachBenchmarkOnSmallTables(t *testing.T) {
	long.Only(t, "runs every benchmark once")
	require.NoError(t, flag.Set("test.benchtime", "1x"))
	for name, f := range map[string]func(*testing.B){
		"http":        func(b *testing.B) { benchmarkHTTP(b, local.Memory, 2, 60, 6, 2) },
		"agenda":      func(b *testing.B) { benchmarkAgenda(b, 300, 12) },
		"first-sync":  func(b *testing.B) { benchmarkFirstSync(b, 300, 12) },
		"decode":      BenchmarkDecode,
		"projections": func(b *testing.B) { benchmarkProjections(b, 20) },
		"scale":       func(b *testing.B) { benchmarkTable(b, 2, 500, 0) },
	} {
		require.Positive(t, testing.Benchmark(f).N, name)
	}
}
