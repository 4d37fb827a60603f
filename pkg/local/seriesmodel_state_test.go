package local_test

import (
	"slices"
	"strings"
	"time"
)

// The years in which the histories of the model lie.
var (
	modelNow     = time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	modelHorizon = time.Date(2032, 6, 1, 0, 0, 0, 0, time.UTC)
)

const (
	zuluForm  = "2006-01-02T15:04:05Z"
	wallForm  = "2006-01-02T15:04:05"
	dateForm  = "2006-01-02"
	shortDate = "20060102"
)

// plainSpan is when something is: instants if it has a zone, else readings labelled UTC.
type plainSpan struct {
	allDay     bool
	zone       string
	start, end time.Time
	hasEnd     bool
}

func (p plainSpan) form() string {
	if p.zone == "" {
		return wallForm
	}
	return zuluForm
}

// fields are the span as a client reads it.
func (p plainSpan) fields() object {
	if p.allDay {
		return object{"isAllDay": true, "startDate": p.start.Format(dateForm), "endDate": p.end.Format(dateForm)}
	}
	f := object{"isAllDay": false, "startUtc": p.start.Format(p.form())}
	if p.hasEnd {
		f["endUtc"] = p.end.Format(p.form())
	}
	if p.zone != "" {
		f["startTzid"] = p.zone
	}
	return f
}

func (p plainSpan) length() time.Duration { return p.end.Sub(p.start) }

// moved is the span elsewhere, as long as it was.
func (p plainSpan) moved(start time.Time) plainSpan {
	p.start, p.end = start, start.Add(p.length())
	return p
}

// reading is the start as the clocks at its place show it.
func (p plainSpan) reading() time.Time {
	if p.zone == "" {
		return p.start
	}
	return shown(p.start, p.zone)
}

func mustZone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return zone
}

// shown is what the clocks of a zone show at an instant, labelled UTC.
func shown(at time.Time, zone string) time.Time {
	_, offset := at.In(mustZone(zone)).Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second)
}

// shownFirst is the first instant at which the clocks of a zone show a reading; the one that lies as far behind the last
// instant before a gap as the reading does if they skip it.
func shownFirst(reading time.Time, zone string) time.Time {
	l := mustZone(zone)
	_, before := reading.Add(-26 * time.Hour).In(l).Zone()
	_, after := reading.Add(26 * time.Hour).In(l).Zone()
	for _, offset := range []int{max(before, after), min(before, after)} {
		if at := reading.Add(-time.Duration(offset) * time.Second); shown(at, zone).Equal(reading) {
			return at
		}
	}
	return reading.Add(-time.Duration(before) * time.Second)
}

// plainException is what an occurrence has of its own. A nil value is deliberately empty.
type plainException struct {
	own     object
	span    *plainSpan // nil if it follows the series
	version int
}

func (e *plainException) cancelled() bool { return e != nil && e.own["status"] == "CANCELLED" }

// plainSeries is a series as the documents say it is.
type plainSeries struct {
	id           string
	fields       object // what a client sets, apart from times and recurrence
	span         plainSpan
	rule         plainRule
	until        time.Time // rruleUntil; zero for none
	exdate       []string
	rdate        []string
	version      int
	sequence     int
	hasException bool
	exceptions   map[string]*plainException
	known        []time.Time // its readings, once somebody asked
}

func (s *plainSeries) clone() *plainSeries {
	c := *s
	c.known = nil
	c.fields, c.exceptions = object{}, map[string]*plainException{}
	for n, v := range s.fields {
		c.fields[n] = v
	}
	for date, e := range s.exceptions {
		c.exceptions[date] = e
	}
	return &c
}

func (s *plainSeries) instance(date string) string {
	return "inst_" + date + "_" + strings.TrimPrefix(s.id, "mst_")
}

// resolve is the instant of a reading of the series.
func (s *plainSeries) resolve(reading time.Time, viewer string) time.Time {
	if s.span.zone != "" {
		viewer = s.span.zone
	}
	return shownFirst(reading, viewer)
}

// isBeyond says that an occurrence at the reading starts after the end that a text of digits gives.
func (s *plainSeries) isBeyond(reading time.Time, until string) bool {
	form := shortDate
	switch {
	case strings.HasSuffix(until, "Z"):
		form = "20060102T150405Z"
	case strings.Contains(until, "T"):
		form = "20060102T150405"
	}
	end, err := time.Parse(form, until)
	if err != nil {
		panic(err)
	}
	switch {
	case form == shortDate:
		return dayOf(reading).After(end)
	case s.span.zone != "" && strings.HasSuffix(until, "Z"):
		return s.resolve(reading, "").After(end)
	}
	return reading.After(end)
}

// ofRule are the readings that the rule alone gives, the start first, until COUNT and UNTIL.
func (s *plainSeries) ofRule() []time.Time {
	start := s.span.reading()
	clock := start.Sub(dayOf(start))
	var readings []time.Time
	for _, day := range s.rule.days(start, modelHorizon, false) {
		reading := day.Add(clock)
		if until := s.rule["UNTIL"]; until != "" && s.isBeyond(reading, until) || len(readings) == s.rule.number("COUNT", 1<<30) {
			break
		}
		readings = append(readings, reading)
	}
	return readings
}

// readings are the originals of all occurrences, in order.
func (s *plainSeries) readings() []time.Time {
	if s.known == nil {
		s.known = s.expand()
	}
	return s.known
}

func (s *plainSeries) expand() []time.Time {
	all := s.ofRule()
	start := s.span.reading()
	for _, date := range s.rdate {
		day, _ := time.Parse(shortDate, date)
		all = append(all, day.Add(start.Sub(dayOf(start))))
	}
	slices.SortFunc(all, time.Time.Compare)
	all = slices.CompactFunc(all, time.Time.Equal)
	return slices.DeleteFunc(all, func(reading time.Time) bool {
		over := !s.until.IsZero() && reading.After(s.until)
		if s.span.zone != "" {
			over = !s.until.IsZero() && s.resolve(reading, "").After(s.until)
		}
		return over || slices.Contains(s.exdate, reading.Format(shortDate))
	})
}

// shift is how far an end goes with the start, by the clock: as far as the start, or, where it moves along the series, as
// far as its time of day. No shift is false.
func (s *plainSeries) shift(before *plainSeries) (by, days time.Duration, moves bool) {
	from, to := before.span.reading(), s.span.reading()
	clock := to.Sub(dayOf(to)) - from.Sub(dayOf(from))
	if by = to.Sub(from); slices.ContainsFunc(before.readings(), func(r time.Time) bool { return dayOf(r).Equal(dayOf(to)) }) {
		by = clock
	}
	return by, by - clock, !from.Equal(to) || before.span.zone != s.span.zone
}

// movedEnd is an instant, or a reading of a series without a zone, that goes along. One whose kind changes stays.
func (s *plainSeries) movedEnd(before *plainSeries, end time.Time, by time.Duration) time.Time {
	switch {
	case (before.span.zone == "") != (s.span.zone == ""):
		return end
	case s.span.zone == "":
		return end.Add(by)
	}
	return shownFirst(shown(end, before.span.zone).Add(by), s.span.zone)
}

func (s *plainSeries) followEnd(before *plainSeries) {
	if by, _, moves := s.shift(before); moves && !s.until.IsZero() {
		s.until = s.movedEnd(before, s.until, by)
	}
}

// followRule lets the days that the rule names, and its UNTIL, follow a start that was moved.
func (s *plainSeries) followRule(before *plainSeries) {
	by, days, moves := s.shift(before)
	if !moves {
		return
	}
	s.rule = s.rule.follow(before.span.reading(), s.span.reading())
	for form, end := range map[string]func(time.Time) time.Time{
		shortDate:          func(at time.Time) time.Time { return at.Add(days) },
		"20060102T150405":  func(at time.Time) time.Time { return at.Add(by) },
		"20060102T150405Z": func(at time.Time) time.Time { return s.movedEnd(before, at, by) },
	} {
		if at, err := time.Parse(form, s.rule["UNTIL"]); err == nil {
			s.rule = s.rule.with("UNTIL", end(at).Format(form))
			return
		}
	}
}

func (s *plainSeries) isEndless() bool {
	return s.rule["COUNT"] == "" && s.rule["UNTIL"] == "" && s.until.IsZero()
}

// plainOccurrence is one occurrence as somebody in a zone sees it.
type plainOccurrence struct {
	date       string
	original   time.Time // the reading
	exception  *plainException
	start, end time.Time // instants
}

// at makes the occurrence of a reading.
func (s *plainSeries) at(reading time.Time, viewer string) plainOccurrence {
	o := plainOccurrence{date: reading.Format(shortDate), original: reading}
	o.exception = s.exceptions[o.date]
	p := s.spanAt(reading)
	if o.exception != nil && o.exception.span != nil {
		p = *o.exception.span
	}
	o.start, o.end = p.start, p.end
	if p.zone == "" {
		o.start, o.end = shownFirst(p.start, viewer), shownFirst(p.end, viewer)
	}
	return o
}

// spanAt is the span that the series gives an occurrence.
func (s *plainSeries) spanAt(reading time.Time) plainSpan {
	if s.span.zone == "" {
		return s.span.moved(reading)
	}
	return s.span.moved(s.resolve(reading, ""))
}

// on finds the occurrence of a date.
func (s *plainSeries) on(date string) (plainOccurrence, bool) {
	for _, reading := range s.readings() {
		if reading.Format(shortDate) == date {
			return s.at(reading, "UTC"), true
		}
	}
	return plainOccurrence{}, false
}

// drop forgets the exceptions whose dates the series has lost.
func (s *plainSeries) drop() {
	for date := range s.exceptions {
		if _, ok := s.on(date); !ok {
			delete(s.exceptions, date)
		}
	}
}

// shows is an occurrence as a client reads it, without what is not the client's.
func (s *plainSeries) shows(o plainOccurrence) object {
	f := object{}
	for n, v := range s.fields {
		f[n] = v
	}
	p := s.spanAt(o.original)
	if e := o.exception; e != nil {
		if e.span != nil {
			p = *e.span
		}
		for n, v := range e.own {
			if f[n] = v; v == nil {
				delete(f, n)
			}
		}
	}
	for n, v := range p.fields() {
		f[n] = v
	}
	return f
}
