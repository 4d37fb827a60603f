package local_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	"nexus/pkg/series/seriestest"
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
	return p.readingOf(p.start)
}

func mustZone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return zone
}

// shown returns the reading of a zone's clocks at an instant, labelled UTC.
func shown(at time.Time, zone string) time.Time {
	_, offset := at.In(mustZone(zone)).Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second)
}

// shownFirst is the first instant at which the clocks of a zone show a reading; if they skip it,
// the one that lies as far after the last instant before the gap as the reading does.
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

// plainException holds the fields that an occurrence has of its own. A nil value is deliberately empty.
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
	left         map[string]int // by date: the version of what an exception left that is no more
	known        []time.Time    // its readings, once they were asked for
}

func (s *plainSeries) clone() *plainSeries {
	c := *s
	c.known = nil
	c.fields, c.exceptions, c.left = object{}, map[string]*plainException{}, maps.Clone(s.left)
	for n, v := range s.fields {
		c.fields[n] = v
	}
	for date, e := range s.exceptions {
		c.exceptions[date] = e
	}
	return &c
}

// undo takes an exception back, which is a change of its own row.
func (s *plainSeries) undo(date string) {
	if e := s.exceptions[date]; e != nil {
		s.left[date] = e.version + 1
		delete(s.exceptions, date)
	}
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

// ruleReadings are the readings that the rule alone gives, the start first, until COUNT and UNTIL.
func (s *plainSeries) ruleReadings() []time.Time {
	start := s.span.reading()
	clock := start.Sub(dayOf(start))
	var readings []time.Time
	for _, day := range s.rule.days(start, modelHorizon) {
		reading := day.Add(clock)
		if until := s.rule["UNTIL"]; until != "" && s.isBeyond(reading, until) ||
			len(readings) == s.rule.number("COUNT", 1<<30) {
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
	all := s.ruleReadings()
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

// follow gives the series the rule and the ends that it has after its start moved, those apart that the change sent.
func (s *plainSeries) follow(before *plainSeries, isRuleSent, isEndSent bool) {
	if s.span.reading().Equal(before.span.reading()) && s.span.zone == before.span.zone &&
		s.span.allDay == before.span.allDay {
		return
	}
	old := seriestest.Series{
		Start: before.span.reading(), Rule: seriestest.ReadRule(before.rule.String()), Ends: map[string]time.Time{},
	}
	if at, ok := before.ruleEnd(); ok {
		if before.span.allDay {
			at = dayOf(at)
		}
		old.Ends[seriestest.Until] = at
	}
	if !before.until.IsZero() {
		old.Ends[seriestest.End] = before.span.readingOf(before.until)
	}
	var sent *seriestest.Rule
	if isRuleSent {
		rule := seriestest.ReadRule(s.rule.String())
		sent = &rule
	}
	now := old.Move(s.span.reading(), sent)
	if !isRuleSent {
		s.rule = parsePlainRule(now.Rule.String())
		if at, ok := now.Ends[seriestest.Until]; ok {
			s.rule = s.rule.with("UNTIL", s.span.until(at))
		}
	}
	if at, ok := now.Ends[seriestest.End]; ok && !isEndSent {
		s.until = s.span.instantOf(at)
	}
}

// ruleEnd is UNTIL as a reading.
func (s *plainSeries) ruleEnd() (end time.Time, ok bool) {
	text := s.rule["UNTIL"]
	for _, form := range []string{shortDate, "20060102T150405", "20060102T150405Z"} {
		at, err := time.Parse(form, text)
		switch {
		case err != nil:
		case form == shortDate:
			return at.AddDate(0, 0, 1).Add(-time.Second), true
		case strings.HasSuffix(text, "Z"):
			return s.span.readingOf(at), true
		default:
			return at, true
		}
	}
	return time.Time{}, false
}

// readingOf returns the reading of the clocks at the span's place at an instant.
func (p plainSpan) readingOf(at time.Time) time.Time {
	if p.zone == "" {
		return at
	}
	return shown(at, p.zone)
}

// instantOf is the instant of a reading, or the reading where there is no zone.
func (p plainSpan) instantOf(reading time.Time) time.Time {
	if p.zone == "" {
		return reading
	}
	return shownFirst(reading, p.zone)
}

// until writes a reading as UNTIL of a rule.
func (p plainSpan) until(reading time.Time) string {
	switch {
	case p.allDay:
		return reading.Format(shortDate)
	case p.zone == "":
		return reading.Format("20060102T150405")
	}
	return shownFirst(reading, p.zone).Format("20060102T150405Z")
}

func (s *plainSeries) isEndless() bool {
	return s.rule["COUNT"] == "" && s.rule["UNTIL"] == "" && s.until.IsZero()
}

// plainOccurrence is one occurrence as a user in a zone sees it.
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
			s.undo(date)
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
