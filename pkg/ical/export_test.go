package ical

import (
	"maps"
	"slices"
)

// WindowsZoneNames lets the tests walk the table.
func WindowsZoneNames() []string { return slices.Sorted(maps.Keys(windowsZones)) }
