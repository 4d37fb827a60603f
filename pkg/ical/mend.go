package ical

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/item"
	"nexus/pkg/recurrence"
)

// normalise returns the component with unusual but unambiguous content rewritten in its standard form. It lists each
// such change.
func (m *mapper) normalise(c *Component, d *Draft) *Component {
	mended := *c
	mended.Properties = slices.Clone(c.Properties)
	m.dropEmpty(&mended, d)
	p := mended.Get("DTSTART")
	if p == nil {
		p = mended.Get("DUE") // of a to-do that repeats
	}
	if p == nil || mended.Get("RRULE") == nil {
		return &mended
	}
	start, err := m.zones.moment(p)
	if err != nil {
		return &mended // a later step refuses it
	}
	for i := range mended.Properties {
		if rule := &mended.Properties[i]; rule.Name == "RRULE" {
			rule.Value = m.normaliseRule(rule.Value, start, d, rule.Line)
		}
	}
	m.mergeRules(&mended, d, start)
	m.startWithinYears(&mended, d, start)
	return &mended
}

// dropEmpty removes properties without content.
func (m *mapper) dropEmpty(c *Component, d *Draft) {
	c.Properties = slices.DeleteFunc(c.Properties, func(p Property) bool {
		switch p.Name {
		case "RRULE", "RDATE", "EXDATE", "EXRULE", "DTEND", "DURATION":
			if strings.TrimSpace(p.Value) == "" {
				m.leaveOut(d, "%s in line %d is empty and counts for nothing", p.Name, p.Line)
				return true
			}
		}
		return false
	})
}

// normaliseRule removes redundant parts from a rule: a repeated part, RSCALE=GREGORIAN, and the start's own time of
// day.
func (m *mapper) normaliseRule(text string, start Moment, d *Draft, line int) string {
	seen := map[string]string{}
	var parts []string
	for part := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(upper(strings.TrimSpace(part)), "=")
		if name == "" {
			continue
		}
		known, again := seen[name]
		seen[name] = value
		if again && known == value || saysNothing(name, value, start) {
			m.leaveOut(d, "%s in the RRULE of line %d says nothing new", clip(strings.TrimSpace(part)), line)
			continue
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ";")
}

// saysNothing reports whether a part of a rule is redundant. Times of day are ignored if the start is a date (RFC 5545
// §3.3.10).
func saysNothing(name, value string, start Moment) bool {
	own := map[string]int{
		"BYHOUR": start.Reading.Hour(), "BYMINUTE": start.Reading.Minute(), "BYSECOND": start.Reading.Second(),
	}
	switch name {
	case "RSCALE":
		return value == "GREGORIAN"
	case "SKIP":
		return value == "OMIT"
	case "BYHOUR", "BYMINUTE", "BYSECOND":
		n, err := strconv.Atoi(value)
		return start.Form == Day || err == nil && n == own[name]
	}
	return false
}

// mergeRules reduces several rules to one rule and the dates of the others: the occurrences are those of all. A rule
// without an end has no list of dates, so a later step refuses two of them.
func (m *mapper) mergeRules(c *Component, d *Draft, start Moment) {
	var rules []string
	for _, p := range c.All("RRULE") {
		if text := strings.TrimSpace(p.Value); !slices.ContainsFunc(rules,
			func(known string) bool { return upper(known) == upper(text) }) {
			rules = append(rules, text)
		}
		if len(rules) > maxRules {
			return // a later step refuses it
		}
	}
	if len(rules) < 2 {
		return
	}
	kept := rules[0]
	var dates []string
	for i, rule := range rules {
		series, err := compileAt(rule, start)
		switch {
		case err != nil:
			return // a later step refuses it
		case series.Endless() && i > 0 && kept == rules[0] && !isEndless(kept, start):
			kept = rule
		}
	}
	for _, rule := range rules {
		if rule == kept {
			continue
		}
		series, err := compileAt(rule, start)
		if err != nil || series.Endless() || series.Count(endOfTime, maxDates+1) > maxDates {
			return
		}
		for _, o := range series.Between(nil, start.At().Add(-24*time.Hour), endOfTime) {
			dates = append(dates, o.Wall.Format(compactDate))
		}
	}
	if whole, err := compileAt(kept, start); err == nil {
		dates = slices.DeleteFunc(dates, func(date string) bool {
			day, err := item.ParseCompactDate(date)
			if err != nil {
				return true
			}
			_, given := whole.On(day)
			return given
		})
	}
	c.Properties = slices.DeleteFunc(c.Properties, func(p Property) bool {
		return p.Name == "RRULE" && strings.TrimSpace(p.Value) != kept
	})
	if len(dates) > 0 {
		c.Add("RDATE", strings.Join(sortedDates(dates), ","), "VALUE", "DATE")
	}
	m.leaveOut(d, "it has %d rules: %s stays, and the dates of the others are RDATEs", len(rules), clip(kept))
}

var endOfTime = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

func isEndless(rule string, start Moment) bool {
	series, err := compileAt(rule, start)
	return err == nil && series.Endless()
}

func compileAt(rule string, start Moment) (*recurrence.Series, error) {
	spec, err := specAt(rule, start)
	if err != nil {
		return nil, err
	}
	return recurrence.Compile(spec)
}

// firstYear is the first year that an entity may have (docs/data-model.md).
const firstYear = 1900

// startWithinYears lets a series that begins before the first year, such as a birthday without its year, begin with its
// first occurrence within the range.
func (m *mapper) startWithinYears(c *Component, d *Draft, start Moment) {
	rules := c.All("RRULE")
	if start.Reading.Year() >= firstYear || len(rules) != 1 {
		return
	}
	rule, err := recurrence.Parse(strings.TrimSpace(rules[0].Value))
	if err != nil {
		return // a later step refuses it
	}
	series, err := compileAt(rules[0].Value, start)
	if err != nil {
		return
	}
	first, ok := series.Next(time.Date(firstYear-1, 12, 31, 23, 59, 59, 0, time.UTC))
	if !ok || first.Wall.Year() < firstYear {
		return
	}
	if rule.Count() > 0 {
		rules[0].Value = rule.WithCount(max(rule.Count()-series.Counted(first.Wall), 1)).String()
	}
	// in days: a Duration cannot exceed 292 years
	later := int((first.Wall.Unix() - start.Reading.Unix()) / (24 * 60 * 60))
	for i := range c.Properties {
		p := &c.Properties[i]
		if p.Name != "DTSTART" && p.Name != "DTEND" && p.Name != "DUE" {
			continue
		}
		at, err := m.zones.moment(p)
		if err != nil {
			return
		}
		at.Reading = at.Reading.AddDate(0, 0, later)
		p.Value, _ = at.text()
	}
	m.leaveOut(d, "it begins in %d: what is before %d is left out", start.Reading.Year(), firstYear)
}
