package local_test

import (
	"slices"
	"strconv"
	"time"
)

// split parts a series at a date: this and all following.
func (m *seriesModel) split(i int) {
	old := m.series[i]
	date := m.pickDate(old)
	o, ok := old.on(date)
	changes := object{}
	rest := old.clone()
	rest.exceptions, rest.left = map[string]*plainException{}, map[string]int{}
	rest.version, rest.sequence, rest.hasException = 1, 0, false
	if ok {
		rest.span = old.spanAt(o.original)
	}
	for range m.IntN(2) {
		name, v := m.detail(m.notes)
		if changes[name] = v; v == nil {
			delete(rest.fields, name)
		} else {
			rest.fields[name] = v
		}
	}
	plain := rest.span
	if m.one(2) {
		var more object
		more, rest.span = m.anotherSpan(plain, date, false)
		for n, v := range more {
			changes[n] = v
		}
	}
	rest.rule = old.restOfRule(date)
	rest.exdate = keepDates(old.exdate, func(d string) bool { return d >= date })
	rest.rdate = keepDates(old.rdate, func(d string) bool { return d >= date })
	unmoved := rest.clone()
	unmoved.span = plain
	isRuleSent := m.one(5)
	if isRuleSent {
		rest.rule = m.rule(rest.span)
		changes["rrule"] = rest.rule.String()
	}
	rest.follow(unmoved, isRuleSent, false)
	start := rest.span.reading().Format(shortDate)
	rest.exdate = keepDates(rest.exdate, func(d string) bool { return d != start })
	rest.known = nil
	body, path, tag := object{"date": date, "changes": changes}, "/v1/series/"+old.id+"/split", quoted(old.version)
	if !ok || !old.splitsAt(o, changes) || len(rest.readings()) == 0 {
		m.ask(422, "POST", path, body, "If-Match", tag)
		return
	}
	out := m.ask(201, "POST", path, body, "If-Match", tag)
	rest.id = out["following"].(object)["masterId"].(string)
	m.same(out["following"].(object)["icalUid"], rest.id+"@nexus.app", "its own UID")
	m.series[i] = old.endedAt(o)
	rest.take(old, date, changes)
	m.series = append(m.series, rest)
}

func keepDates(dates []string, keep func(string) bool) []string {
	var kept []string
	for _, d := range dates {
		if keep(d) {
			kept = append(kept, d)
		}
	}
	return kept
}

// restOfRule is the rule with what is left of its COUNT from a date on.
func (s *plainSeries) restOfRule(date string) plainRule {
	if s.rule["COUNT"] == "" {
		return s.rule
	}
	left := s.rule.number("COUNT", 0)
	for _, reading := range s.ruleReadings() {
		if reading.Format(shortDate) < date {
			left--
		}
	}
	return s.rule.with("COUNT", strconv.Itoa(max(left, 1)))
}

// splitsAt says whether a series can be split at the occurrence: not at its first, not at an additional date, and not
// where the clocks skip its time of day, unless another is sent.
func (s *plainSeries) splitsAt(o plainOccurrence, changes object) bool {
	ofRule := slices.ContainsFunc(s.ruleReadings(), o.original.Equal)
	skipped := s.span.zone != "" && changes["startUtc"] == nil &&
		!shown(s.resolve(o.original, ""), s.span.zone).Equal(o.original)
	return !s.readings()[0].Equal(o.original) && ofRule && !skipped
}

// endedAt is the series up to an occurrence.
func (s *plainSeries) endedAt(o plainOccurrence) *plainSeries {
	ended := s.clone()
	ended.until = o.original.Add(-time.Second)
	if s.span.zone != "" {
		ended.until = s.resolve(o.original, "").Add(-time.Second)
	}
	ended.exdate = keepDates(s.exdate, func(d string) bool { return d < o.date })
	ended.rdate = keepDates(s.rdate, func(d string) bool { return d < o.date })
	ended.version, ended.sequence = s.version+1, s.sequence+1
	ended.drop()
	return ended
}

// take gives a following series the exceptions on dates that it has. At the split itself the changes win.
func (s *plainSeries) take(old *plainSeries, date string, changes object) {
	for d, e := range old.exceptions {
		if _, ok := s.on(d); d < date || !ok {
			continue
		}
		taken := &plainException{own: object{}, span: e.span, version: s.version + 1}
		for n, v := range e.own {
			if _, said := changes[n]; d != date || !said {
				taken.own[n] = v
			}
		}
		if d == date && touchesTimes(changes) {
			taken.span = nil
		}
		if len(taken.own) > 0 || taken.span != nil {
			s.exceptions[d], s.hasException = taken, true
		}
	}
}
