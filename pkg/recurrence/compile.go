package recurrence

import (
	"slices"
	"time"

	"nexus/pkg/wallclock"
)

// MaxDates bounds the EXDATEs of a series, and its RDATEs.
const MaxDates = 10_000

// Level selects the part of RFC 5545 that is accepted.
type Level uint8

const (
	// Calendar accepts rules with at most one occurrence a local day, so that a date names one: FREQ from DAILY to
	// YEARLY, the time of day that of the start, EXDATE and RDATE dates.
	Calendar Level = iota
	// General accepts all seven frequencies, times of day, and EXDATE and RDATE as full local times.
	General
)

// Spec is a series in its written form.
type Spec struct {
	// Rule is the text of the RRULE.
	Rule string
	// Start is DTSTART: a wall-clock reading labelled UTC, in whole seconds; midnight of the date if AllDay.
	Start  time.Time
	AllDay bool
	// Zone is the zone of the start. Without one the series floats: its readings apply in each reader's zone. An all-day
	// series has none.
	Zone *time.Location
	// RDates and EXDates are dates (20251225) or, at level General, also local times (20251225T090000) and instants
	// (20251225T140000Z). An RDATE that is a date takes the start's time of day; an EXDATE that is one takes the whole
	// day.
	RDates, EXDates []string
	// Until ends the whole series, RDATEs included, independent of the rule: no occurrence starts after it. It is an
	// instant, or a reading labelled UTC if the series has no zone. Zero if there is none.
	Until time.Time
	// WithStart makes the start an occurrence even if it does not fit the rule, as for an event (RFC 5545 §3.8.5.3:
	// DTSTART defines the first instance). COUNT then counts it as the first.
	WithStart bool
	Level     Level
}

// core is a series without a reader's zone.
type core struct {
	clock   clock
	allDay  bool
	endless bool
	unfit   int // 1 if the start is an occurrence that the rule does not give
	// The bounds of the rule's readings and instants. The end of the whole series is part of both.
	lastReading, lastInstant int64
	// readings in addition to the rule's, in order: RDATEs, and the start if it does not fit
	extra   []int64
	exDays  []int32 // in order
	exTimes []int64
}

// moment is one occurrence.
type moment struct{ reading, instant int64 }

// Series is a compiled series. It is immutable and may be used by several goroutines at once.
type Series struct {
	*core
	zone  *wallclock.Zone // nil: the instants of occurrences are their readings
	own   bool            // the zone is the series' own
	extra []moment        // core's, in the order of their instants
	// elapsed says that the rule has periods of less than a day and continues through a change of the clocks. It starts
	// at an instant.
	elapsed bool
	instant int64
}

// Compile reads a series and prepares it for queries. A [*Refusal] names the mistake. A rule that ends before it
// begins is no mistake: the series is then empty.
func Compile(spec Spec) (*Series, error) {
	rule, err := spec.Level.parse(spec.Rule)
	if err != nil {
		return nil, err
	}
	s, problem := begin(spec, &rule)
	if problem != nil {
		return nil, problem
	}
	if problem := s.readDates(spec); problem != nil {
		return nil, problem
	}
	if problem := s.findEnd(spec, &rule); problem != nil {
		return nil, problem
	}
	s.trimExtra(spec.Until)
	return s, nil
}

func begin(spec Spec, rule *Rule) (*Series, *Refusal) {
	at := spec.Start.Unix()
	switch {
	case at < firstWall || at > finalWall:
		return nil, refuse("DTSTART", "is not in the years 1 to 9999")
	case spec.AllDay && (spec.Zone != nil || timeOfReading(at) != 0):
		return nil, refuse("DTSTART", "of an all-day series is a date, in no zone")
	}
	s := &Series{core: &core{
		allDay: spec.AllDay, endless: !rule.Finite() && spec.Until.IsZero(),
		lastReading: finalWall, lastInstant: wallclock.Ever,
	}}
	if spec.Zone != nil {
		s.zone, s.own = wallclock.ZoneOf(spec.Zone), true
		s.instant = s.zone.Instant(at)
		// Periods of less than a day continue through a change of the clocks; if BYHOUR names hours, they are those that the
		// clock shows.
		s.elapsed = rule.freq < Daily && !rule.has(partHour)
	}
	complete := rule.complete(at, spec.AllDay)
	if unit := rule.freq.unitSeconds(); spec.AllDay && unit < daySeconds {
		if rule.interval*unit%daySeconds != 0 {
			return nil, refuse("FREQ", "has periods of less than a day, of which an all-day series knows nothing")
		}
		complete.freq, complete.interval = Daily, rule.interval*unit/daySeconds
		complete = complete.completeTime(at)
	}
	s.clock = newClock(complete, at)
	return s, nil
}

// readDates reads EXDATE and RDATE.
func (s *Series) readDates(spec Spec) *Refusal {
	for _, text := range spec.EXDates {
		at, problem := s.readDate("EXDATE", text, len(spec.EXDates), spec.Level)
		switch {
		case problem != nil:
			return problem
		case at.kind == untilDate:
			if s.exDays == nil {
				s.exDays = make([]int32, 0, len(spec.EXDates))
			}
			s.exDays = append(s.exDays, int32(dayOfReading(at.at)))
		default:
			s.exTimes = append(s.exTimes, at.at)
		}
	}
	slices.Sort(s.exDays)
	slices.Sort(s.exTimes)
	for _, text := range spec.RDates {
		at, problem := s.readDate("RDATE", text, len(spec.RDates), spec.Level)
		if problem != nil {
			return problem
		}
		if at.kind == untilDate {
			at.at += timeOfReading(s.clock.start)
		}
		s.core.extra = append(s.core.extra, at.at)
	}
	return nil
}

func (s *Series) readDate(name, text string, among int, level Level) (stamp, *Refusal) {
	at, ok := parseStamp(text)
	switch {
	case among > MaxDates:
		return at, refuse(name, "has more than %d values", MaxDates)
	case !ok:
		return at, refuse(name, "%q is not a date (20251225) or a local time (20251225T090000)", clip(text))
	case at.kind != untilDate && level == Calendar:
		return at, refuse(name, "%q is not a date (20251225)", clip(text))
	case at.kind != untilDate && s.allDay:
		at = stamp{untilDate, alignDown(at.at, 0, daySeconds)}
	case at.kind == untilUTC && s.zone != nil:
		at.at = s.zone.Wall(at.at)
	}
	return at, nil
}

// findEnd finds where the rule ends, and refuses a rule that has no occurrence.
func (s *Series) findEnd(spec Spec, rule *Rule) *Refusal {
	first, end := s.nth(1)
	if end != found {
		return refuse("RRULE", "never occurs, or too rarely to be found")
	}
	s.endBy(rule.until)
	if !spec.Until.IsZero() {
		s.endBy(until{untilUTC, spec.Until.Unix()}) // a fraction of a second admits no further occurrence
	}
	count := rule.count
	if spec.WithStart && first != s.origin() {
		if s.clock.start <= s.lastReading && s.instantOf(s.clock.start) <= s.lastInstant {
			s.core.extra, s.unfit = append(s.core.extra, s.clock.start), 1
		}
		count--
	}
	switch {
	case rule.count == 0:
	case count == 0: // the start alone
		s.lastReading = min(s.lastReading, s.clock.start-1)
	default:
		last, end := s.nth(count)
		switch {
		case end == found && s.elapsed:
			s.lastInstant = min(s.lastInstant, last)
		case end == found:
			s.lastReading = min(s.lastReading, last)
		case end == givenUp:
			return refuse("COUNT", "is too large to be counted for a rule that occurs so rarely")
		}
	}
	return nil
}

// outcome says how a search ended.
type outcome uint8

const (
	found outcome = iota
	none          // to the end of the calendar
	givenUp
)

// endBy ends the rule by an UNTIL.
func (s *Series) endBy(end until) {
	switch {
	case end.kind == untilNone:
	case end.kind == untilUTC && s.own:
		s.lastInstant = min(s.lastInstant, end.at)
	default:
		s.lastReading = min(s.lastReading, end.lastReading(s.allDay))
	}
}

// origin returns where the rule begins: a reading, or an instant if it runs in elapsed time.
func (s *Series) origin() int64 {
	if s.elapsed {
		return s.instant
	}
	return s.clock.start
}

func (s *Series) instantOf(reading int64) int64 {
	if s.zone == nil {
		return reading
	}
	return s.zone.Instant(reading)
}
