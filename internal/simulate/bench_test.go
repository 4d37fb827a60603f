package simulate_test

import (
	"testing"

	"nexus/internal/simulate"
)

// BenchmarkHistory measures histories on one core: operations are calls of the store and the scheduler, and records
// delivered (docs/correctness.md).
func BenchmarkHistory(b *testing.B) {
	var operations int64
	for i := range b.N {
		tally := simulate.Play(b.Context(), simulate.Plan{
			From: uint64(i), Histories: 1, Steps: simulate.DefaultSteps, Workers: 1,
		})
		operations += tally.Operations
	}
	b.ReportMetric(float64(operations)/b.Elapsed().Seconds(), "operations/s")
}
