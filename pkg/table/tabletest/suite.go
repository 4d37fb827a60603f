// Package tabletest is the conformance suite of the store port: tests of the promises of pkg/table that run on every
// adapter.
//
// Each test holds on the real service. Promises of an in-process store alone (faults, virtual time, the stream) have
// separate tests. The suite must never be loosened for one adapter.
package tabletest

import (
	"slices"
	"testing"

	"nexus/pkg/table"
)

// Run runs the suite. Each test calls open once. It must return a store of a table with [table.ProductSchema], and
// register with the test what has to be closed. The store may be empty or shared: each test works in separate
// partitions, of users and link targets with random ids, and leaves its rows there. Tests run in parallel with each
// other. A read of an index is repeated for some seconds until it answers as expected, because an index may lag.
func Run(t *testing.T, open func(t *testing.T) table.Store) {
	t.Helper()
	for _, c := range slices.Concat(
		writeCases(), updateCases(), conditionCases(), valueCases(), boundCases(), transactionCases(),
		batchCases(), rangeCases(), pagingCases(), filterCases(), indexCases(), concurrencyCases(),
	) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(newFixture(t, open(t)))
		})
	}
}

// testCase is one statement about the port and its proof.
type testCase struct {
	name string
	run  func(f *fixture)
}
