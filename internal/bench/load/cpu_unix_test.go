//go:build unix

package load_test

import (
	"fmt"
	"syscall"
	"time"
)

// processorTime returns the processor time of this process so far, including the garbage collector's work, without
// its children.
func processorTime() (time.Duration, error) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0, fmt.Errorf("processor time: %w", err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), nil
}
