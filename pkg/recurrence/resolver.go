package recurrence

import "nexus/pkg/wallclock"

// resolver finds the instants of ordered readings, as [wallclock.Zone.Instant] does. It moves with them from span to
// span, so that readings near a change of the clocks cost no more than others.
type resolver struct {
	zone   *wallclock.Zone
	span   wallclock.Span
	before int64 // the offset before the span
}

func newResolver(zone *wallclock.Zone) resolver {
	return resolver{zone: zone, span: wallclock.Span{Start: wallclock.Never, End: wallclock.Never}}
}

// instant returns when the clock shows the reading, and whether a gap skips it.
func (r *resolver) instant(reading int64) (at int64, skipped bool) {
	if reading-wallclock.Reach >= r.span.End {
		r.span = r.zone.At(reading - wallclock.Reach)
		r.before = r.span.Offset
	}
	for reading-r.span.Offset >= r.span.End {
		r.before, r.span = r.span.Offset, r.zone.At(r.span.End)
	}
	if at = reading - r.span.Offset; at < r.span.Start {
		return reading - r.before, true
	}
	return at, false
}
