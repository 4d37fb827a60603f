package dynamo_test

import (
	"testing"

	"nexus/pkg/table"
	"nexus/pkg/table/tabletest"
)

func TestStore_keepsThePortsPromises(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.guard.RefuseViolations() // the port calls invalid what the service documents as refused
	tabletest.Run(t, func(*testing.T) table.Store { return b.store })
}
