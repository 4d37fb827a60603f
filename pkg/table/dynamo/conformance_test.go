package dynamo_test

import (
	"testing"

	"nexus/pkg/table"
	"nexus/pkg/table/tabletest"
)

func TestStore_keepsThePortsPromises(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.guard.Judge() // what the service documents as refused is what the port calls invalid
	tabletest.Run(t, func(*testing.T) table.Store { return b.store })
}
