package ical

import (
	"errors"
	"fmt"
)

// Limits bound the input of [Decode]. Every part has to be set.
type Limits struct {
	// Bytes is the length of the text.
	Bytes int
	// Components is the number of components directly below a VCALENDAR, without time zones.
	Components int
	// Lines is the number of content lines, without blank ones and continuations.
	Lines int
}

// RequestLimits returns the limits of one import over HTTP (docs/contracts.md).
func RequestLimits() Limits { return Limits{Bytes: 5 << 20, Components: 1000, Lines: 200_000} }

// FileLimits returns the limits of a file that [Split] will cut into requests.
func FileLimits() Limits { return Limits{Bytes: 256 << 20, Components: 250_000, Lines: 8_000_000} }

// Bounds that do not depend on the Limits.
const (
	maxDepth       = 8         // levels of components; the standard uses three
	maxNested      = 40        // components of any kind for each one that counts
	maxLine        = 256 << 10 // bytes of one unfolded line
	maxParams      = 64        // parameters of a property
	maxParamValues = 1000      // values of a parameter
	maxFaults      = 1000      // lines that are no content lines
	maxZones       = 100       // VTIMEZONE components of a calendar that are looked at
	maxZoneNames   = 1000      // different TZIDs of a calendar
	maxZoneParts   = 6         // beginnings of a TZID that are treated as a prefix
	maxRules       = 10        // different RRULEs of a component that are merged into one
	maxSplits      = 50        // overrides of one series that change all that follow
	maxAlarms      = 50        // VALARM components of one component that are looked at
	maxReplaced    = 20        // lines of one component with characters replaced that are listed
	maxRemarks     = 20        // parts left out of one component that are listed
	maxDerived     = 1000      // exceptions of a calendar that follow from RDATEs
	maxCategories  = 1000      // of a component that are looked at
	maxUID         = 1000      // bytes
	maxDates       = 500       // EXDATE, and RDATE, values of a series (docs/data-model.md)
)

// ErrNotCalendar is wrapped by the errors of [Decode] for a text that is no iCalendar at all.
var ErrNotCalendar = errors.New("not an iCalendar text")

// LimitError names the bound that a text exceeds.
type LimitError struct {
	What  string // such as "components"
	Limit int
}

func (e *LimitError) Error() string { return fmt.Sprintf("more than %d %s", e.Limit, e.What) }
