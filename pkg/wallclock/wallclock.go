package wallclock

import "time"

// Resolve returns the instant at which a clock in the zone shows the reading, which is labelled UTC. It preserves
// fractions of a second.
func Resolve(wall time.Time, location *time.Location) time.Time {
	seconds, fraction := wall.Unix(), int64(wall.Nanosecond())
	return time.Unix(ZoneOf(location).Instant(seconds), fraction).UTC()
}

// Wall returns the reading of a clock in the zone at the instant, labelled UTC. It is the inverse of [Resolve] for
// readings that are neither skipped nor repeated.
func Wall(instant time.Time, location *time.Location) time.Time {
	seconds, fraction := instant.Unix(), int64(instant.Nanosecond())
	return time.Unix(ZoneOf(location).Wall(seconds), fraction).UTC()
}

// Latest returns the last reading that a clock in the zone has shown by the instant. While a fall-back repeats
// readings, that is the last of the repeated ones.
func Latest(instant time.Time, location *time.Location) time.Time {
	zone, seconds := ZoneOf(location), instant.Unix()
	span := zone.At(seconds)
	reading := time.Unix(seconds+span.Offset, int64(instant.Nanosecond())).UTC()
	if span.Start == Never {
		return reading
	}
	if last := time.Unix(span.Start-1+zone.At(span.Start-1).Offset, 0).UTC(); last.After(reading) {
		return last
	}
	return reading
}
