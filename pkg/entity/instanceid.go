package entity

import (
	"fmt"
	"strings"

	"nexus/pkg/item"
)

const (
	MasterIDPrefix   = "mst"
	InstanceIDPrefix = "inst"
)

// InstanceID returns the id of the exception of a series on a date YYYYMMDD: inst_<date>_<suffix of the master's id>.
// Because it is derived, the key follows from the series and the date.
func InstanceID(masterID, date string) string {
	return InstanceIDPrefix + "_" + date + "_" + strings.TrimPrefix(masterID, MasterIDPrefix+"_")
}

// ParseInstanceID is the inverse of [InstanceID].
func ParseInstanceID(id string) (masterID, date string, err error) {
	if err := checkInstanceID(id); err != nil {
		return "", "", err
	}
	date, suffix := splitInstanceID(id)
	return MasterIDPrefix + "_" + suffix, date, nil
}

func checkInstanceID(id string) error {
	date, suffix := splitInstanceID(id)
	if !strings.HasPrefix(id, InstanceIDPrefix+"_") || !IsCompactDate(date) || !isWord(suffix, maxSuffixLength) {
		return fmt.Errorf("%w: want %s_, a date YYYYMMDD, _ and the suffix of a series' id", ErrID, InstanceIDPrefix)
	}
	return nil
}

// splitInstanceID takes an id apart without checking it; a malformed one gives parts that no key can have.
func splitInstanceID(id string) (date, suffix string) {
	date, suffix, _ = strings.Cut(strings.TrimPrefix(id, InstanceIDPrefix+"_"), "_")
	return date, suffix
}

// IsCompactDate reports whether s is a date YYYYMMDD of the calendar.
func IsCompactDate(s string) bool {
	_, ok := item.ReadDate(s, true)
	return ok
}
