package transfer_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/command"
	"nexus/pkg/product"
	"nexus/pkg/table/memory"
)

// peak samples the heap until the end, and returns the most that it grew to, in bytes.
func peak(during func()) uint64 {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse
	}
	runtime.GC()
	before, most := heap(), atomic.Uint64{}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				most.Store(max(most.Load(), heap()))
			}
		}
	}()
	during()
	close(stop)
	<-ended
	return most.Load() - min(before, most.Load())
}

// An account of 20,000 items of 1 KB takes less than a minute and 256 MB. Without NEXUS_LARGE_ACCOUNT a tenth is
// played.
func TestService_takesALargeAccountAlongInBoundedTimeAndMemory(t *testing.T) {
	items := 2_000
	if os.Getenv("NEXUS_LARGE_ACCOUNT") != "" {
		items = 20_000
	}
	here, there := newPlainFixture(t, memory.Options{}), newPlainFixture(t, memory.Options{})
	for i := range items {
		here.do("ann", -1, command.Create{Type: product.Task(), Fields: fields{
			"title": fmt.Sprint("Task ", i), "description": strings.Repeat("text ", 200),
		}})
	}
	var file []byte
	began := time.Now()
	ofExport := peak(func() { file = here.export("ann") })
	took := time.Since(began)
	began = time.Now()
	ofImport := peak(func() {
		report, err := there.take("zoe", file)
		require.NoError(t, err)
		require.Equal(t, items, report.Items)
	})
	t.Logf("export of %d items: %v, %d MB; import: %v, %d MB with the rows themselves", items, took, ofExport>>20,
		time.Since(began), ofImport>>20)
	require.Less(t, ofExport, uint64(256<<20))
	require.Less(t, ofImport, uint64(256<<20))
	require.Less(t, took+time.Since(began), time.Minute)
}
