package wallclock

import "time"

// Resolve returns the instant at which a clock in the zone shows the reading, which is labelled UTC. Fractions of a
// second are kept.
func Resolve(wall time.Time, location *time.Location) time.Time {
	seconds, fraction := wall.Unix(), int64(wall.Nanosecond())
	return time.Unix(Of(location).Instant(seconds), fraction).UTC()
}

// Wall returns what a clock in the zone shows at the instant, labelled UTC: the inverse of [Resolve] wherever the
// reading is neither skipped nor repeated.
func Wall(instant time.Time, location *time.Location) time.Time {
	seconds, fraction := instant.Unix(), int64(instant.Nanosecond())
	return time.Unix(Of(location).Wall(seconds), fraction).UTC()
}

// Latest returns the last reading that a clock in the zone has shown by the instant: while a fall-back repeats
// readings, the last of those that are repeated.
func Latest(instant time.Time, location *time.Location) time.Time {
	zone, seconds := Of(location), instant.Unix()
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
