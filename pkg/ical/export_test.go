package ical

import (
	"slices"

	"nexus/pkg/wallclock"
)

// WindowsZoneNames lets the tests walk the table.
func WindowsZoneNames() []string {
	var names []string
	for name := range wallclock.WindowsZones() {
		names = append(names, name)
	}
	return slices.Sorted(slices.Values(names))
}
