package wallclock

import "time"

// Resolve returns the instant at which a clock in the zone shows the reading, which is labelled UTC. Fractions of a second
// are kept.
func Resolve(wall time.Time, location *time.Location) time.Time {
	seconds, fraction := wall.Unix(), int64(wall.Nanosecond())
	return time.Unix(Of(location).Instant(seconds), fraction).UTC()
}

// Wall returns what a clock in the zone shows at the instant, labelled UTC: the inverse of [Resolve] wherever the reading
// is neither skipped nor repeated.
func Wall(instant time.Time, location *time.Location) time.Time {
	seconds, fraction := instant.Unix(), int64(instant.Nanosecond())
	return time.Unix(Of(location).Wall(seconds), fraction).UTC()
}
