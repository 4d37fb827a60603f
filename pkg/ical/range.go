package ical

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/recurrence"
	"nexus/pkg/series"
)

// thisAndFuture is the RANGE of an override that changes its occurrence and all after it (RFC 5545 §3.2.13).
const thisAndFuture = "THISANDFUTURE"

var errRangeAlone = errors.New(
	"RECURRENCE-ID with a RANGE is taken together with its series only: send both in one calendar")

// addSeries adds a series with its instances to the result. If an instance also changes all later ones, the series
// ends before it and another continues, as after a split (docs/series.md). A series that cannot be split so is refused
// whole: all later times would be wrong.
func (m *mapper) addSeries(d Draft, instances []Draft) {
	parts, err := m.split(d, instances)
	if err != nil {
		m.refuse(&d, err)
		for i := range instances {
			if !instances[i].isDerived {
				m.refuse(&instances[i], err)
			}
		}
		return
	}
	for i := range parts {
		p := &parts[i]
		admitted := m.admit(&p.series, p.instances)
		m.result.Drafts = append(append(m.result.Drafts, p.series), admitted...)
	}
}

// seriesPart is a series between two splits.
type seriesPart struct {
	series    Draft
	instances []Draft
}

func (m *mapper) split(d Draft, instances []Draft) ([]seriesPart, error) {
	parts := []seriesPart{{series: d, instances: instances}}
	ranges := slices.DeleteFunc(slices.Clone(instances), func(x Draft) bool { return x.following == "" })
	if len(ranges) > maxSplits {
		return nil, fmt.Errorf("it has %d overrides with a RANGE, more than %d", len(ranges), maxSplits)
	}
	slices.SortFunc(ranges, func(a, b Draft) int { return cmp.Compare(a.Date, b.Date) })
	for _, x := range ranges {
		if x.following != thisAndFuture {
			return nil, fmt.Errorf("its RANGE=%s in line %d is not known here", clip(x.following), x.Line)
		}
		last := &parts[len(parts)-1]
		next, goesOn, err := m.splitAt(last, x)
		if err != nil {
			return nil, fmt.Errorf("its RANGE=%s in line %d cannot be carried out: %w", thisAndFuture, x.Line, err)
		}
		if goesOn {
			parts = append(parts, next)
		}
	}
	return parts, nil
}

// splitAt ends the part before the occurrence of x, and returns the part that continues with the values of x; false if
// x cancels all later ones.
func (m *mapper) splitAt(p *seriesPart, x Draft) (next seriesPart, goesOn bool, err error) {
	i := slices.IndexFunc(p.instances, func(other Draft) bool { return other.Line == x.Line && other.following != "" })
	if i < 0 {
		return next, false, errors.New("it names no occurrence of what an earlier one has left")
	}
	x = p.instances[i] // with the date that it has in this part
	d := &p.series
	rule, err := d.compileRule(d.start)
	if err != nil {
		return next, false, err
	}
	day, err := item.ParseCompactDate(x.Date)
	if err != nil {
		return next, false, err
	}
	at, given := rule.On(day)
	first, _ := rule.First()
	switch {
	case !given:
		return next, false, errors.New("the rule has no occurrence there")
	case at.Wall.Equal(first.Wall):
		return next, false, errors.New("it names the first occurrence, which is the series itself")
	}
	cancelled := x.Fields.Str(entity.AttrStatus) == product.StatusCancelled
	if !cancelled {
		if next, err = p.goOn(x, rule, at); err != nil {
			return next, false, err
		}
		m.leaveOut(&x, "RANGE=%s: the series is split there, and what follows is one of its own", thisAndFuture)
		if err := m.check(&next.series); err != nil {
			return next, false, err
		}
	}
	if err := p.end(x, at); err != nil {
		return next, false, err
	}
	if cancelled {
		m.leaveOut(&x, "RANGE=%s, CANCELLED: the series ends before it", thisAndFuture)
	}
	return next, !cancelled, nil
}

// end ends the part before the occurrence.
func (p *seriesPart) end(x Draft, at recurrence.Occurrence) error {
	d := &p.series
	rule, err := recurrence.Parse(d.RRule)
	if err != nil {
		return err
	}
	spec, err := specAt(d.RRule, d.start)
	if err != nil {
		return err
	}
	d.RRule = rule.WithUntil(at.Wall.Add(-time.Second), spec.AllDay, spec.Zone).String()
	isBefore := func(date string) bool { return date < x.Date }
	d.ExDates, d.RDates = keepDates(d.ExDates, isBefore), keepDates(d.RDates, isBefore)
	p.instances = slices.DeleteFunc(slices.Clone(p.instances), func(other Draft) bool { return other.Date >= x.Date })
	return nil
}

// goOn returns the series from the occurrence on, with the values of x and the rest of its rule, its dates and its
// instances.
func (p *seriesPart) goOn(x Draft, rule *recurrence.Series, at recurrence.Occurrence) (next seriesPart, err error) {
	d := &p.series
	n := x
	n.Kind, n.Date, n.following, n.Original = entity.TypeMaster, "", "", Moment{}
	n.UID = x.Alone().UID
	if n.RRule, err = d.ruleFrom(x, rule, at); err != nil {
		return next, err
	}
	days := int(n.start.Reading.Truncate(24*time.Hour).Sub(at.Wall.Truncate(24*time.Hour)) / (24 * time.Hour))
	isLater := func(date string) bool { return date > x.Date }
	n.ExDates, n.RDates = shiftDates(keepDates(d.ExDates, isLater), days), shiftDates(keepDates(d.RDates, isLater), days)
	next.series = n
	for _, other := range p.instances {
		if other.Date <= x.Date {
			continue
		}
		other.UID, other.Date = n.UID, shiftDates([]string{other.Date}, days)[0]
		other.Original = n.occurrence(other.Date)
		next.instances = append(next.instances, other)
	}
	return next, nil
}

// ruleFrom returns the rest of the series' rule from the occurrence on, adjusted to the start of x.
func (d *Draft) ruleFrom(x Draft, rule *recurrence.Series, at recurrence.Occurrence) (string, error) {
	parsed, err := recurrence.Parse(d.RRule)
	if err != nil {
		return "", err
	}
	if parsed.Count() > 0 {
		parsed = parsed.WithCount(max(parsed.Count()-rule.Counted(at.Wall), 1))
	}
	plain := *d
	plain.Fields = item.Item{product.AttrRRule: item.String(parsed.String())}
	length := d.end.At().Sub(d.start.At())
	plain.start.Reading = at.Wall
	plain.end = plain.start.add(Duration{Exact: length})
	if d.start.Form == Day {
		plain.end = plain.start.add(Duration{Days: int(length / (24 * time.Hour))})
	}
	plain.setSpan()
	moved := Draft{Fields: plain.Fields.Clone(), start: x.start, end: x.end, hasEnd: x.hasEnd}
	for _, name := range product.SpanFields() {
		delete(moved.Fields, name)
	}
	moved.setSpan()
	before, _ := product.Master().Merge(nil, plain.Fields)
	after, _ := product.Master().Merge(nil, moved.Fields)
	text, _ := series.Follow(before, after)
	return text, nil
}

func keepDates(dates []string, keep func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(dates), func(date string) bool { return !keep(date) })
}

func shiftDates(dates []string, days int) []string {
	for i, date := range dates {
		if day, err := item.ParseCompactDate(date); err == nil {
			dates[i] = item.CompactDate(day.AddDate(0, 0, days))
		}
	}
	return dates
}
