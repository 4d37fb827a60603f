package dynamo_test

import (
	"testing"

	"nexus/pkg/table"
	"nexus/pkg/table/tabletest"
)

func TestTheAdapterKeepsThePortsPromises(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tabletest.Run(t, func(*testing.T) table.Store { return b.store })
}
