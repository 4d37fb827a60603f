package ical

import (
	"fmt"
	"slices"
	"time"

	"nexus/pkg/wallclock"
)

// mostYears bounds how many years of two zones are compared.
const mostYears = 12

// match returns the zone whose offsets equal those of the VTIMEZONE in the years of its use. Programs also write
// today's rules for old times, so a zone also matches in the last of those years and the year after. Zones that the
// name hints at are tried first. If clocks never change and no hint helps, match returns the fixed-offset zone, which
// claims no place.
func (z *zoneMap) match(id string, list []observance, used yearSpan) (string, bool) {
	first := max(used.first, used.last-mostYears)
	for _, years := range []yearSpan{{first, used.last + 1}, {used.last, used.last + 1}} {
		want := spans(list, years.first, years.last)
		if name, ok := firstWith(want, years, z.hints(id)); ok {
			return name, true
		}
		if fixed, ok := fixedZone(want); ok {
			return fixed, true
		}
		if name, ok := firstWith(want, years, likeliestZones()); ok {
			return name, true
		}
	}
	return "", false
}

func firstWith(want []offsetSpan, years yearSpan, names []string) (string, bool) {
	for _, name := range names {
		if slices.EqualFunc(want, zoneSpans(name, years), func(a, b offsetSpan) bool {
			return a.offset == b.offset && a.start.Equal(b.start)
		}) {
			return name, true
		}
	}
	return "", false
}

// fixedZone names the zone of one whole number of hours; the database writes them with the opposite sign.
func fixedZone(list []offsetSpan) (string, bool) {
	offset := list[0].offset
	hours := int(offset / time.Hour)
	switch {
	case len(list) > 1 || offset%time.Hour != 0 || hours < -12 || hours > 14:
		return "", false
	case hours == 0:
		return "UTC", true
	}
	return fmt.Sprintf("Etc/GMT%+d", -hours), true
}

// zoneSpans returns the offsets of a zone as [spans] does; none for a name that is not in the database.
func zoneSpans(name string, years yearSpan) []offsetSpan {
	location, err := wallclock.LoadLocation(name)
	if err != nil {
		return nil
	}
	zone := wallclock.ZoneOf(location)
	begin := time.Date(years.first, 1, 1, 0, 0, 0, 0, time.UTC)
	end := time.Date(years.last+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	var result []offsetSpan
	for at := begin.Unix(); at < end; {
		span := zone.At(at)
		result = append(result,
			offsetSpan{time.Unix(max(span.Start, begin.Unix()), 0).UTC(), time.Duration(span.Offset) * time.Second})
		at = span.End
	}
	return mergeSpans(result)
}

// mergeSpans joins neighbours with the same offset.
func mergeSpans(list []offsetSpan) []offsetSpan {
	return slices.CompactFunc(list, func(a, b offsetSpan) bool { return a.offset == b.offset })
}
