package memory_test

import (
	"testing"
	"time"

	"nexus/pkg/table"
	"nexus/pkg/table/memory"
	"nexus/pkg/table/tabletest"
)

// start is where the virtual clock of every test begins.
func start() time.Time { return time.Date(2030, time.March, 1, 12, 0, 0, 0, time.UTC) }

func TestStore_keepsThePortsPromises(t *testing.T) {
	t.Parallel()
	tabletest.Run(t, func(*testing.T) table.Store { return memory.New(start, memory.Options{}) })
}

func TestObserved_keepsThePortsPromises(t *testing.T) {
	t.Parallel()
	shared := memory.New(start, memory.Options{Shards: 4})
	tabletest.Run(t, func(*testing.T) table.Store { return shared })
}
