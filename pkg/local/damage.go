package local

import (
	"errors"
	"fmt"

	buslocal "nexus/pkg/bus/local"
	"nexus/pkg/local/engine"
	queuelocal "nexus/pkg/queue/local"
	schedulelocal "nexus/pkg/schedule/local"
)

const (
	removeEvent   = "Remove the line and start again; GET /dev/events then lacks that event, and no consumer needs it"
	putPepperBack = "Put a copy of the file back. If there is none, remove the file: the start then makes another " +
		"pepper, and logs name each user by another pseudonym"
	remakeWalk = "Remove the file and start again; nexus verify --dev URL --repair then carries out the walk"
	remakeCall = "Remove the file and start again; nexus verify --dev URL --repair then makes the schedule again"
)

// adviseOnEvents adds advice to an error about a damaged log of the bus.
func adviseOnEvents(err error) error {
	var damaged *buslocal.DamagedError
	if !errors.As(err, &damaged) {
		return err
	}
	return engine.Damaged(damaged.File, fmt.Errorf("line %d: %w", damaged.Line, damaged.Err), removeEvent)
}

// adviseOnSchedules adds advice to an error about a damaged schedule.
func adviseOnSchedules(err error) error {
	var damaged *schedulelocal.DamagedError
	if !errors.As(err, &damaged) {
		return err
	}
	return engine.Damaged(damaged.File, damaged.Err, remakeCall)
}

// adviseOnWalks adds advice to an error about a damaged message of a walk.
func adviseOnWalks(err error) error {
	var damaged *queuelocal.DamagedError
	if !errors.As(err, &damaged) {
		return err
	}
	return engine.Damaged(damaged.File, damaged.Err, remakeWalk)
}
