package repository

import (
	"fmt"
	"strings"
	"time"

	"nexus/pkg/entity"
)

// IDs within repositories. A node may have its type's prefix or the general one.
const (
	RevisionPrefix  = "rev"
	DriverPrefix    = "drv"
	MilestonePrefix = "mil"
	ActionPrefix    = "act"
	NodePrefix      = "node"
	BlockPrefix     = "blk"
)

// revisionTime is the time in a revision's id: UTC in whole seconds.
const revisionTime = "20060102T150405Z"

// NewRevisionID returns the id of a revision committed at the instant: rev_<YYYYMMDDTHHMMSSZ>_<the UUID without its
// dashes>. With the time in the id, the key of a revision's log entry follows from the id alone.
func NewRevisionID(at time.Time, uuid string) string {
	return RevisionPrefix + "_" + at.UTC().Format(revisionTime) + "_" + strings.ReplaceAll(uuid, "-", "")
}

// RemovalID returns the id that stands for the removal of a head in the order of revision ids: after the revision that
// the head named, and before each one of a later second. No revision has it, for a UUIDv4 does not consist of ones.
func RemovalID(headRevID string) string {
	at, err := RevisionTime(headRevID)
	if err != nil {
		panic("repository: " + err.Error())
	}
	return NewRevisionID(at, strings.Repeat("f", uuidDigits))
}

// uuidDigits is the number of hexadecimal digits of a UUID.
const uuidDigits = 32

// RevisionTime returns when the revision was committed.
func RevisionTime(revID string) (time.Time, error) {
	refused := fmt.Errorf("%w: want %s_, a time in the form %s, _ and 32 hexadecimal digits", entity.ErrID,
		RevisionPrefix, revisionTime)
	suffix, ok := strings.CutPrefix(revID, RevisionPrefix+"_")
	stamp, digits, cut := strings.Cut(suffix, "_")
	if !ok || !cut || len(digits) != uuidDigits || strings.Trim(digits, "0123456789abcdef") != "" {
		return time.Time{}, refused
	}
	at, err := time.Parse(revisionTime, stamp)
	if err != nil || at.Format(revisionTime) != stamp {
		return time.Time{}, refused
	}
	return at, nil
}

// CheckRevisionID refuses a text that is no revision's id.
func CheckRevisionID(revID string) error {
	_, err := RevisionTime(revID)
	return err
}
