//go:build !unix

package main

import (
	"errors"
	"time"
)

// processorTime cannot be told here.
func processorTime() (time.Duration, error) {
	return 0, errors.New("this system does not tell a process its processor time")
}
