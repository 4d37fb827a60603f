package ical

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nexus/pkg/wallclock"
)

const (
	// yearsAhead is how many years of a zone's changes are examined for those that continue for ever: long enough for
	// each date on which a rule such as "the second Sunday" can fall.
	yearsAhead = 28
	// lastListedYear ends the years for which the zone database lists single changes of some zone (Morocco's are listed
	// to 2087). After it each zone has one offset or its last rule. A series without end covers all of them.
	lastListedYear = 2090
)

// onset is one change of the clocks.
type onset struct {
	reading  time.Time // with the offset before it
	from, to time.Duration
	name     string
	daylight bool
}

// timeZone writes a VTIMEZONE that is right from the first year of use on: single changes as RDATEs, changes that
// continue unchanged as a rule. A first onset beside RDATEs is also an RDATE: RFC 5545 §3.8.5.3 counts DTSTART itself,
// but widely used readers ignore it if there is an RDATE.
func timeZone(tzid string, used yearSpan) (*Component, error) {
	location, err := wallclock.LoadLocation(tzid)
	if err != nil {
		return nil, err
	}
	years := yearSpan{used.first - 1, max(used.last, lastListedYear) + yearsAhead}
	list := onsets(location, tzid, years)
	c := &Component{Name: "VTIMEZONE"}
	c.Add("TZID", tzid)
	c.Add("X-LIC-LOCATION", tzid)
	first := list[0]
	c.Children = append(c.Children, first.component())
	for _, group := range groups(list[1:]) {
		head, rule := regularTail(group, years.last)
		if len(head) > 0 {
			o := head[0].component()
			for _, each := range head {
				Moment{Form: Floating, Reading: each.reading}.addTo(o, "RDATE")
			}
			c.Children = append(c.Children, o)
		}
		if rule != "" {
			o := group[len(head)].component()
			o.Add("RRULE", rule)
			c.Children = append(c.Children, o)
		}
	}
	return c, nil
}

// onsets returns the changes of those years; the first is an onset that changes nothing and holds the initial offset.
func onsets(location *time.Location, tzid string, years yearSpan) []onset {
	var list []onset
	for i, span := range zoneSpans(tzid, years) {
		there := span.start.In(location)
		name, _ := there.Zone()
		before := span.offset
		if i > 0 {
			before = list[i-1].to
		}
		list = append(list, onset{span.start.Add(before), before, span.offset, name, there.IsDST()})
	}
	return list
}

func (o onset) component() *Component {
	c := &Component{Name: "STANDARD"}
	if o.daylight {
		c.Name = "DAYLIGHT"
	}
	Moment{Form: Floating, Reading: o.reading}.addTo(c, "DTSTART")
	c.Add("TZOFFSETFROM", formatOffset(o.from))
	c.Add("TZOFFSETTO", formatOffset(o.to))
	c.AddText("TZNAME", o.name)
	return c
}

// groups groups the changes between the same two offsets.
func groups(list []onset) [][]onset {
	var result [][]onset
	for _, o := range list {
		i := slices.IndexFunc(result, func(g []onset) bool {
			return g[0].from == o.from && g[0].to == o.to && g[0].daylight == o.daylight
		})
		if i < 0 {
			result = append(result, []onset{o})
			continue
		}
		result[i] = append(result[i], o)
	}
	return result
}

// regularTail cuts a group where its regular end begins: one change a year up to the last year, on the same weekday of
// the same month, within the same seven days. Without such an end the whole group is head.
func regularTail(group []onset, lastYear int) (head []onset, rule string) {
	last := group[len(group)-1].reading
	if last.Year() != lastYear {
		return group, ""
	}
	low, high, from := last.Day(), last.Day(), len(group)-1
	for i := len(group) - 2; i >= 0; i-- {
		at, next := group[i].reading, group[i+1].reading
		lower, higher := min(low, at.Day()), max(high, at.Day())
		if at.Year() != next.Year()-1 || at.Month() != last.Month() || at.Weekday() != last.Weekday() ||
			at.Sub(at.Truncate(24*time.Hour)) != last.Sub(last.Truncate(24*time.Hour)) || higher-lower > 6 {
			break
		}
		low, high, from = lower, higher, i
	}
	if high-low != 6 {
		return group, ""
	}
	day := strings.ToUpper(last.Weekday().String()[:2])
	// February: a last weekday moves with leap years
	daysOfMonth := time.Date(2001, last.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	rule = fmt.Sprintf("FREQ=YEARLY;BYMONTH=%d;BYDAY=", last.Month())
	switch {
	case high == daysOfMonth && last.Month() != time.February:
		return group[:from], rule + "-1" + day
	case low%7 == 1:
		return group[:from], rule + fmt.Sprint((low+6)/7) + day
	}
	days := make([]string, 7)
	for i := range days {
		days[i] = fmt.Sprint(low + i)
	}
	return group[:from], rule + day + ";BYMONTHDAY=" + strings.Join(days, ",")
}
