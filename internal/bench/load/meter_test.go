package load_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/table"
)

// meter counts what calls to a store took.
type meter struct{ calls, rows, scans atomic.Int64 }

// reading is one reading of a meter.
type reading struct{ calls, rows, scans int64 }

func (m *meter) observe(u table.Consumption) {
	m.calls.Add(1)
	m.rows.Add(int64(u.Rows))
	if u.Op == "Walk" {
		m.scans.Add(1)
	}
}

func (m *meter) read() reading { return reading{m.calls.Load(), m.rows.Load(), m.scans.Load()} }

func (r reading) since(before reading) reading {
	return reading{r.calls - before.calls, r.rows - before.rows, r.scans - before.scans}
}

// spent is the time and memory of this process that some work took.
type spent struct {
	processor time.Duration
	bytes     uint64 // allocated, whether freed since or not
}

// spending runs the work and returns what it took. Rubbish of whatever was before is cleared away first.
func spending(tb testing.TB, work func()) spent {
	tb.Helper()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	used := cpu(tb)
	work()
	now := cpu(tb)
	runtime.ReadMemStats(&after)
	return spent{now - used, after.TotalAlloc - before.TotalAlloc}
}

// cpu is the processor time of this process so far.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	used, err := processorTime()
	require.NoError(tb, err)
	return used
}
