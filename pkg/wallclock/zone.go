package wallclock

import (
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// Span is a time during which a zone's offset does not change, in seconds since the epoch: [Start, End).
type Span struct {
	Start, End int64
	// Offset is the difference from UTC in seconds, positive east of it.
	Offset int64
}

// The bounds of a span without a beginning or an end.
const (
	Never = -1 << 62 // before every instant
	Ever  = 1 << 62  // after every instant
)

// Reach exceeds every offset from UTC and every shift of one, in seconds: a reading and its instant are never further
// apart.
const Reach = 26 * 60 * 60

// Zone answers for one zone what [time.Location] answers, many times faster for the years in which calendars are used.
// It is immutable.
type Zone struct {
	location *time.Location
	// spans cover [from, to) without a hole; buckets[i] is the span in which from + i<<bucketBits lies.
	from, to int64
	spans    []Span
	buckets  []uint16
}

// The tabulated years. Outside them the zone asks the location each time.
var (
	tableFrom = time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	tableTo   = time.Date(2110, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
)

// bucketBits: a bucket of 2^24 s is half a year, in which few zones change their offset more than once.
const bucketBits = 24

// zones memoises the tables: like the zone database, they never change while a program runs. The cache is emptied when
// it is full, so a caller that makes locations without end cannot exhaust memory.
var (
	zones     sync.Map // *time.Location -> *Zone
	zoneCount atomic.Int32
)

const maxZones = 1024 // the zone database has about 600 names

// ZoneOf returns the zone of a location.
func ZoneOf(location *time.Location) *Zone {
	if zone, ok := zones.Load(location); ok {
		return zone.(*Zone)
	}
	if zoneCount.Load() >= maxZones {
		zones.Clear()
		zoneCount.Store(0)
	}
	kept, loaded := zones.LoadOrStore(location, tabulate(location))
	if !loaded {
		zoneCount.Add(1)
	}
	return kept.(*Zone)
}

func tabulate(location *time.Location) *Zone {
	z := &Zone{location: location, from: tableFrom, to: tableTo}
	for at := z.from; at < z.to; {
		span := z.readSpan(at)
		at = span.End
		if last := len(z.spans) - 1; last >= 0 && z.spans[last].Offset == span.Offset {
			z.spans[last].End = span.End // the location cuts at New Year
			continue
		}
		z.spans = append(z.spans, span)
	}
	for at, i := z.from, 0; at < z.to; at += 1 << bucketBits {
		for z.spans[i].End <= at {
			i++
		}
		z.buckets = append(z.buckets, uint16(i))
	}
	return z
}

// readSpan reads the span from the location.
func (z *Zone) readSpan(instant int64) Span {
	at := time.Unix(instant, 0).In(z.location)
	_, offset := at.Zone()
	span := Span{Never, Ever, int64(offset)}
	start, end := at.ZoneBounds()
	if !start.IsZero() {
		span.Start = min(start.Unix(), instant)
	}
	if !end.IsZero() {
		span.End = end.Unix()
	}
	if span.End <= instant {
		span.End = z.endOfYear(instant, span.Offset)
	}
	return span
}

// endOfYear corrects a result of [time.Time.ZoneBounds]. On the last day of a leap year, where a zone's rule and not
// its table decides, it counts 365 days. The end then lies before the instant, and a walk from end to end would never
// finish.
func (z *Zone) endOfYear(instant, offset int64) int64 {
	year := time.Unix(instant, 0).UTC().Year()
	end := time.Date(year+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	changed := sort.Search(int(end-instant), func(i int) bool {
		_, there := time.Unix(instant+int64(i), 0).In(z.location).Zone()
		return int64(there) != offset
	})
	return instant + int64(changed)
}

// At returns the span in which the instant lies.
func (z *Zone) At(instant int64) Span {
	if instant < z.from || instant >= z.to {
		return z.readSpan(instant)
	}
	i := int(z.buckets[(instant-z.from)>>bucketBits])
	for z.spans[i].End <= instant {
		i++
	}
	return z.spans[i]
}

// Location returns the location that the zone was made from.
func (z *Zone) Location() *time.Location { return z.location }

// Wall returns what a clock shows at the instant, as seconds of a clock that shows UTC.
func (z *Zone) Wall(instant int64) int64 { return instant + z.At(instant).Offset }

// Instant returns the instant at which a clock shows the reading.
func (z *Zone) Instant(wall int64) int64 {
	// Walk the spans in time order, from one that surely begins before the answer. The first span whose end is after the
	// reading holds the earliest answer. If it begins after the reading, the reading lies in the gap.
	span := z.At(wall - Reach)
	before := span.Offset
	for {
		instant := wall - span.Offset
		if instant < span.End {
			if instant < span.Start {
				return wall - before
			}
			return instant
		}
		before, span = span.Offset, z.At(span.End)
	}
}
