package ical

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"nexus/pkg/recurrence"
)

// exclusions are the EXDATEs of a series. EXDATE names an occurrence by its time; the product names it by its date.
type exclusions struct {
	days  map[string]bool // whole days, named by a date
	times map[string]bool // days whose occurrence of the rule is named by its time
	// others are EXDATEs at another time, by their second: they can only exclude an RDATE.
	others map[int64]*otherTime // by their second
}

type otherTime struct {
	line int
	met  bool // there was such an RDATE
}

func (m *mapper) exclusions(c *Component, d *Draft) (*exclusions, error) {
	found := &exclusions{map[string]bool{}, map[string]bool{}, map[int64]*otherTime{}}
	for _, p := range c.All("EXDATE") {
		list, err := m.zones.periods(p)
		if err != nil {
			return nil, err
		}
		for _, ex := range list {
			at := d.adopt(ex.Start)
			switch {
			case at.Form == Day || d.start.Form == Day:
				found.days[d.localDate(at)] = true
			case d.isTimeOf(at):
				found.times[d.localDate(at)] = true
			default:
				found.others[at.At().Unix()] = &otherTime{line: p.Line}
			}
		}
	}
	return found, nil
}

func (e *exclusions) sorted() []string {
	return sortedDates(slices.Concat(slices.Collect(maps.Keys(e.days)), slices.Collect(maps.Keys(e.times))))
}

// additions reads the RDATEs of a series.
func (m *mapper) additions(c *Component, d *Draft, rule *recurrence.Series, excluded *exclusions) error {
	seen := map[string]bool{}
	for _, p := range c.All("RDATE") {
		list, err := m.zones.periods(p)
		if err != nil {
			return err
		}
		for _, r := range list {
			if r.Start.Form != Day && d.start.Form == Day {
				return errors.New("RDATE has a time where DTSTART is a date")
			}
			r.Start, r.End = d.adopt(r.Start), d.adopt(r.End)
			if ex := excluded.others[r.Start.At().Unix()]; ex != nil && r.Start.Form != Day {
				ex.met = true
				continue
			}
			if err := m.addition(d, r, p.Line, rule, excluded, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// addition reads one RDATE. It may have another time than the rule's occurrence of its day. If that occurrence is
// excluded, the RDATE replaces it: programs move an occurrence so. If not, the day would have two.
func (m *mapper) addition(
	d *Draft, r rdateValue, line int, rule *recurrence.Series, excluded *exclusions, seen map[string]bool,
) error {
	date := d.localDate(r.Start)
	instance, differs := d.instanceOf(r, date)
	moved := differs && !d.isTimeOf(r.Start)
	if seen[date] || moved && !excluded.times[date] && occursOn(rule, d.occurrence(date)) {
		m.leaveOut(d, "the RDATE in line %d is the second occurrence on %s: a series has at most one a day", line, date)
		return nil
	}
	if differs && excluded.days[date] {
		return nil
	}
	seen[date] = true
	d.RDates = append(d.RDates, date)
	if !differs {
		return nil
	}
	if moved {
		delete(excluded.times, date)
	}
	if m.derived++; m.derived > maxDerived {
		return fmt.Errorf("RDATE: the calendar has more than %d at another time or of another length than their series",
			maxDerived)
	}
	d.derived = append(d.derived, instance)
	return nil
}

// occursOn reports whether the rule has the occurrence at its time.
func occursOn(rule *recurrence.Series, at Moment) bool {
	return len(rule.Between(nil, at.At(), at.At().Add(time.Second))) > 0
}
