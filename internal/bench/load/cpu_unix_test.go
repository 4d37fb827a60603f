//go:build unix

package load_test

import (
	"fmt"
	"syscall"
	"time"
)

// processorTime is what this process has used so far, the garbage collector's work included, without its children.
func processorTime() (time.Duration, error) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0, fmt.Errorf("processor time: %w", err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), nil
}
