package local_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// seriesModel plays one user's history against the platform and keeps what the documents say of it.
type seriesModel struct {
	*system
	chance
	log    []string
	notes  []string
	series []*plainSeries
	events int // that were created as such
}

// ask sends a request, remembers it, and holds its status against what is due. Some writes are sent again under their
// idempotency key, and are to be answered as before.
func (m *seriesModel) ask(want int, method, path string, body any, header ...string) object {
	m.t.Helper()
	again := method != "GET" && m.one(4)
	if again {
		header = append(header, "Idempotency-Key", fmt.Sprint("key ", len(m.log)))
		defer func() {
			status, out := m.call(method, path, body, header...)
			m.same(want, status, "sent again: %v", out)
		}()
	}
	m.log = append(m.log, fmt.Sprintf("%s %s %v %v", method, path, body, header))
	status, out := m.call(method, path, body, header...)
	m.same(want, status, "%v", out)
	return out
}

func (m *seriesModel) same(want, got any, format string, args ...any) {
	m.t.Helper()
	require.Equal(m.t, want, got, "%s\nthe history:\n%s", fmt.Sprintf(format, args...), strings.Join(m.log, "\n"))
}

func quoted(version int) string { return fmt.Sprintf(`"%d"`, version) }

// until is a body's instant.
func (s *plainSeries) untilText() any {
	if s.until.IsZero() {
		return nil
	}
	return s.until.Format(s.span.form())
}

func anyList(texts []string) []any {
	var list []any
	for _, t := range texts {
		list = append(list, t)
	}
	return list
}

func (m *seriesModel) create() {
	s := &plainSeries{
		fields: object{"title": "new", "status": "CONFIRMED"}, span: m.span(), version: 1,
		exceptions: map[string]*plainException{}, left: map[string]int{},
	}
	s.rule = m.rule(s.span)
	for range m.IntN(3) {
		if name, v := m.detail(m.notes); v != nil && v != "CANCELLED" {
			s.fields[name] = v
		}
	}
	if m.one(4) {
		s.rdate = m.dates(s, 2)
	}
	if m.one(3) {
		s.exdate = m.dates(s, 2)
	}
	body := object{}
	for _, part := range []object{
		s.fields, s.span.fields(), {"rrule": s.rule.String(), "rdate": anyList(s.rdate), "exdate": anyList(s.exdate)},
	} {
		for n, v := range part {
			body[n] = v
		}
	}
	s.known = nil
	if m.one(4) {
		m.promote(s, body)
		return
	}
	if len(s.readings()) == 0 {
		m.ask(422, "POST", "/v1/series", body)
		return
	}
	s.id = m.ask(201, "POST", "/v1/series", body)["masterId"].(string)
	m.series = append(m.series, s)
}

// promote makes the series of an event that has its times and some of its fields.
func (m *seriesModel) promote(s *plainSeries, body object) {
	event := s.span.fields()
	event["title"] = "was an event"
	id := m.ask(201, "POST", "/v1/events", event)["eventId"].(string)
	m.events++
	for name := range s.span.fields() {
		delete(body, name)
	}
	body["fromEventId"] = id
	if len(s.readings()) == 0 {
		m.ask(422, "POST", "/v1/series", body, "If-Match", `"1"`)
		m.ask(200, "GET", "/v1/events/"+id, nil)
		return
	}
	out := m.ask(201, "POST", "/v1/series", body, "If-Match", `"1"`)
	s.id, s.sequence = out["masterId"].(string), 1
	m.same(id+"@nexus.app", out["icalUid"], "the UID stays")
	m.ask(410, "GET", "/v1/events/"+id, nil)
	m.events--
	m.series = append(m.series, s)
}

// patch changes a series as a whole.
func (m *seriesModel) patch(i int) {
	before := m.series[i]
	s, body := before.clone(), object{}
	switch kind := m.IntN(10); {
	case kind < 3:
		for range 1 + m.IntN(2) {
			name, v := m.detail(m.notes)
			if body[name] = v; v == nil {
				delete(s.fields, name)
			} else {
				s.fields[name] = v
			}
		}
	case kind < 6:
		body, s.span = m.anotherSpan(s.span, s.span.reading().Format(shortDate), true)
		isRuleSent := m.one(3)
		if isRuleSent {
			s.rule = m.rule(s.span)
			body["rrule"] = s.rule.String()
		}
		s.follow(before, isRuleSent, false)
	case kind == 6:
		if s.rule = m.rule(s.span); s.rule.String() != before.rule.String() { // the same in another order is another text
			body["rrule"] = s.rule.String()
		}
	case kind == 7:
		s.exdate = m.dates(before, m.IntN(4))
		body["exdate"] = anyList(s.exdate)
	case kind == 8:
		s.rdate = m.dates(before, m.IntN(3))
		body["rdate"] = anyList(s.rdate)
	default:
		if s.until = (time.Time{}); !m.one(3) {
			s.until = s.span.start.AddDate(0, 0, m.IntN(200))
		}
		body["rruleUntil"] = s.untilText()
	}
	path := "/v1/series/" + s.id
	was := m.call200(path)
	s.known = nil
	if len(s.readings()) == 0 {
		m.ask(422, "PATCH", path, body, "If-Match", quoted(s.version))
		return
	}
	out := m.ask(200, "PATCH", path, body, "If-Match", quoted(s.version))
	if !touchesTimes(body) && body["rrule"] == nil && body["status"] == nil && body["reminderMinutes"] == nil &&
		len(body) == 1 && body["title"] != nil {
		m.same(was["master"].(object)["dueSetAt"], out["dueSetAt"], "a title is no due instant")
	}
	if !sameJSON(before.clientFields(), s.clientFields()) {
		s.version, s.sequence = s.version+1, s.sequence+1
	}
	s.drop()
	m.series[i] = s
}

func (m *seriesModel) call200(path string) object { m.t.Helper(); return m.ask(200, "GET", path, nil) }

// pickDate is a date of the series, or one that is none.
func (m *seriesModel) pickDate(s *plainSeries) string {
	var dates []string
	for date := range s.exceptions {
		dates = append(dates, date)
	}
	slices.Sort(dates)
	if len(dates) > 0 && m.one(3) {
		return pick(m.chance, dates...)
	}
	readings := s.readings()
	if m.one(12) {
		return readings[0].AddDate(0, 0, m.IntN(20)).Format(shortDate)
	}
	near := 1 // nothing begins again where the horizon is near
	for near < min(len(readings), 15) && readings[near].Year() < 2029 {
		near++
	}
	return readings[m.IntN(near)].Format(shortDate)
}

func (s *plainSeries) versionOf(date string) int {
	if e := s.exceptions[date]; e != nil {
		return e.version
	}
	return s.version + s.left[date]
}

// put says all that an occurrence has of its own.
func (m *seriesModel) put(s *plainSeries, date string) {
	path, tag := "/v1/series/"+s.id+"/instances/"+date, quoted(s.versionOf(date))
	o, ok := s.on(date)
	if !ok {
		m.ask(404, "PUT", path, object{"title": "x"}, "If-Match", tag)
		return
	}
	body, e := object{}, &plainException{own: object{}}
	if m.one(2) {
		var span plainSpan
		body, span = m.anotherSpan(s.spanAt(o.original), date, false)
		e.span = &span
	}
	if e.span == nil || m.one(3) {
		for range m.IntN(3) {
			name, v := m.detail(m.notes)
			body[name], e.own[name] = v, v
		}
	}
	before := s.shows(o)
	out := m.ask(200, "PUT", path, body, "If-Match", tag)
	if len(body) == 0 {
		s.undo(date)
		m.same(nil, out["modifiedFields"], "undone")
		return
	}
	m.holds(s, date, e, before, o.exception, out, body)
}

// holds takes over an exception as the answer has it, if it has it as it should.
func (m *seriesModel) holds(
	s *plainSeries, date string, e *plainException, before object, was *plainException, out, body object,
) {
	version := int(out["version"].(float64))
	if was == nil {
		m.same(s.versionOf(date)+1, version, "the version after that of the occurrence without an exception")
	} else {
		m.same(true, version == was.version+1 || version == was.version && sameJSON(before, s.shows(plainOccurrence{
			original: mustOn(s, date).original, exception: e,
		})),
			"version %d, was %d", version, was.version)
	}
	named, _ := out["modifiedFields"].([]any)
	for name := range body {
		m.same(true, slices.Contains(named, any(name)), "%s is its own: %v", name, named)
	}
	for _, name := range named {
		_, own := e.own[name.(string)]
		m.same(true, own || e.span != nil && isOfSpan(name.(string)), "%s is not its own", name)
	}
	e.version = version
	s.exceptions[date], s.hasException = e, true
}

func mustOn(s *plainSeries, date string) plainOccurrence {
	o, _ := s.on(date)
	return o
}

// cancel cancels an occurrence; what else it has of its own stays.
func (m *seriesModel) cancel(s *plainSeries, date string) {
	path, tag := "/v1/series/"+s.id+"/instances/"+date, quoted(s.versionOf(date))
	o, ok := s.on(date)
	if !ok {
		m.ask(404, "DELETE", path, nil, "If-Match", tag)
		return
	}
	e := &plainException{own: object{}}
	if o.exception != nil {
		e.span = o.exception.span
		for n, v := range o.exception.own {
			e.own[n] = v
		}
	}
	e.own["status"] = "CANCELLED"
	out := m.ask(200, "DELETE", path, nil, "If-Match", tag)
	m.holds(s, date, e, s.shows(o), o.exception, out, object{"status": nil})
}

func (m *seriesModel) end(i int) {
	s := m.series[i].clone()
	readings := s.readings()
	at := readings[m.IntN(min(len(readings), 30))]
	if s.span.zone != "" {
		at = s.resolve(at, "")
	}
	at = at.Add(pick(m.chance, -time.Second, 0, time.Second))
	if s.until.IsZero() || at.Before(s.until) {
		s.until = at
	}
	s.known = nil
	body, path := object{"untilUtc": at.Format(s.span.form())}, "/v1/series/"+s.id+"/end"
	if len(s.readings()) == 0 {
		m.ask(422, "POST", path, body, "If-Match", quoted(s.version))
		return
	}
	m.ask(200, "POST", path, body, "If-Match", quoted(s.version))
	if !sameJSON(m.series[i].clientFields(), s.clientFields()) {
		s.version, s.sequence = s.version+1, s.sequence+1
	}
	s.drop()
	m.series[i] = s
}

func (m *seriesModel) remove(i int) {
	s := m.series[i]
	m.ask(412, "DELETE", "/v1/series/"+s.id, nil, "If-Match", quoted(s.version+1))
	m.ask(204, "DELETE", "/v1/series/"+s.id, nil, "If-Match", quoted(s.version))
	m.ask(410, "GET", "/v1/series/"+s.id, nil)
	m.ask(410, "GET", "/v1/events/"+s.instance(s.readings()[0].Format(shortDate)), nil)
	m.series = slices.Delete(m.series, i, i+1)
}
