//go:build !unix

package load_test

import (
	"errors"
	"time"
)

// processorTime cannot be told here.
func processorTime() (time.Duration, error) {
	return 0, errors.New("this system does not tell a process its processor time")
}
