package local_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

var modelZones = []string{
	"America/New_York", "Europe/London", "Australia/Lord_Howe", "UTC", "Pacific/Chatham", "Africa/Casablanca",
}

// chance makes choices from a seed.
type chance struct{ *rand.Rand }

func pick[T any](c chance, of ...T) T { return of[c.IntN(len(of))] }

func (c chance) one(in int) bool { return c.IntN(in) == 0 }

// day is near a change of the clocks as often as not.
func (c chance) day() time.Time {
	near := pick(c, "2026-03-07", "2026-03-28", "2026-04-04", "2026-10-03", "2026-10-24", "2026-10-31", "2026-01-29",
		"2026-05-11", "2026-08-31", "2026-02-28", "2024-02-29", "2026-02-14", "2026-03-21")
	day, _ := time.Parse(dateForm, near)
	return day.AddDate(0, 0, c.IntN(4))
}

func (c chance) clock() time.Duration {
	return pick(c, 0, 30*time.Minute, 90*time.Minute, 150*time.Minute, 9*time.Hour, 17*time.Hour+15*time.Minute,
		23*time.Hour+30*time.Minute)
}

func (c chance) span() plainSpan {
	day := c.day()
	switch {
	case c.one(5):
		return plainSpan{allDay: true, start: day, end: day.AddDate(0, 0, 1+c.IntN(3)), hasEnd: true}
	case c.one(4):
		return c.ending(plainSpan{start: day.Add(c.clock())})
	}
	zone := pick(c, modelZones...)
	return c.ending(plainSpan{zone: zone, start: shownFirst(day.Add(c.clock()), zone)})
}

func (c chance) ending(p plainSpan) plainSpan {
	p.hasEnd, p.end = !c.one(5), p.start
	if p.hasEnd {
		p.end = p.start.Add(pick(c, 0, 15*time.Minute, time.Hour, 26*time.Hour, 50*time.Hour))
	}
	return p
}

// rule is one that the start mostly fits.
func (c chance) rule(p plainSpan) plainRule {
	at := p.reading()
	nth := fmt.Sprint((at.Day()-1)/7+1, weekdayName(at))
	if at.Day() > 28 || c.one(3) {
		nth = "-1" + weekdayName(at)
	}
	r := plainRule{"FREQ": pick(c, "DAILY", "WEEKLY", "WEEKLY", "WEEKLY", "MONTHLY", "MONTHLY", "YEARLY")}
	if c.one(3) && r["FREQ"] != "YEARLY" {
		r["INTERVAL"] = fmt.Sprint(2 + c.IntN(2))
	}
	monthDay := fmt.Sprint(pick(c, at.Day(), at.Day(), at.Day()-lastOfMonth(at)-1, 15))
	switch shape := c.IntN(4); {
	case r["FREQ"] == "WEEKLY" && shape > 0:
		r["BYDAY"] = strings.Join([]string{weekdayName(at), pick(c, "MO", "WE", "SU")}[:pick(c, 1, 1, 2)], ",")
		if c.one(3) {
			r["WKST"] = "SU"
		}
	case r["FREQ"] == "MONTHLY" && shape == 0:
		r["BYMONTHDAY"] = monthDay
	case r["FREQ"] == "MONTHLY" && shape == 1:
		r["BYDAY"] = nth
	case r["FREQ"] == "MONTHLY" && shape == 2:
		r["BYDAY"], r["BYSETPOS"] = "MO,TU,WE,TH,FR", pick(c, "-1", "1")
	case r["FREQ"] == "YEARLY" && shape == 0:
		r["BYMONTH"], r["BYMONTHDAY"] = fmt.Sprint(int(at.Month())), monthDay
	case r["FREQ"] == "YEARLY" && shape == 1:
		r["BYMONTH"], r["BYDAY"] = fmt.Sprint(int(at.Month())), nth
	}
	switch c.IntN(4) {
	case 0:
		r["COUNT"] = fmt.Sprint(1 + c.IntN(map[string]int{"DAILY": 30, "WEEKLY": 20, "MONTHLY": 9, "YEARLY": 3}[r["FREQ"]]))
	case 1:
		end := dayOf(at).AddDate(0, 0, 3+c.IntN(300))
		switch {
		case p.allDay || c.one(3):
			r["UNTIL"] = end.Format(shortDate)
		case p.zone == "":
			r["UNTIL"] = end.Add(at.Sub(dayOf(at))).Format("20060102T150405")
		default:
			r["UNTIL"] = shownFirst(end.Add(at.Sub(dayOf(at))), p.zone).Format("20060102T150405Z")
		}
	}
	return parsePlainRule(r.String())
}

// dates are some dates near a series.
func (c chance) dates(s *plainSeries, n int) []string {
	var dates []string
	readings := s.readings()
	for range n {
		day := s.span.reading().AddDate(0, 0, c.IntN(60)-3)
		if len(readings) > 0 && !c.one(3) {
			day = readings[c.IntN(min(len(readings), 12))]
		}
		dates = append(dates, day.Format(shortDate))
	}
	slices.Sort(dates)
	return slices.Compact(dates)
}

// detail is a field with a value that an occurrence or a series may have.
func (c chance) detail(notes []string) (string, any) {
	switch c.IntN(7) {
	case 0:
		return "title", fmt.Sprintf("title %d", c.IntN(1000))
	case 1:
		return "location", pick[any](c, nil, "room 1", "room 2")
	case 2:
		return "tags", pick[any](c, nil, []any{"a"}, []any{"a", "b"})
	case 3:
		return "reminderMinutes", pick[any](c, nil, []any{10.0}, []any{0.0, 60.0})
	case 4:
		return "status", pick[any](c, "CONFIRMED", "TENTATIVE", "CANCELLED")
	case 5:
		return "links", pick[any](c, nil, []any{object{"targetType": "NOTE", "targetId": pick(c, notes...)}})
	}
	return "description", pick[any](c, nil, "text")
}

// shift moves a span by days and to another time of day, perhaps.
func (c chance) shift(p plainSpan) plainSpan {
	days := pick(c, 0, 0, 1, -1, 2, 7, 14, 45, -30)
	if p.allDay {
		return p.moved(p.start.AddDate(0, 0, days))
	}
	at := p.reading()
	at = dayOf(at).AddDate(0, 0, days).Add(pick(c, at.Sub(dayOf(at)), c.clock()))
	if p.zone != "" {
		at = shownFirst(at, p.zone)
	}
	return p.moved(at)
}

// anotherSpan is a change of times: what to send, and what becomes of them. Whole says that nothing is left to the
// server: neither an end that moves along nor fields of the other kind that go.
func (c chance) anotherSpan(p plainSpan, date string, whole bool) (object, plainSpan) {
	day, _ := time.Parse(shortDate, date)
	var next plainSpan
	switch kind := c.IntN(9); {
	case kind < 4:
		next = c.shift(p)
		patch := next.fields()
		delete(patch, "isAllDay")
		delete(patch, "startTzid")
		if !whole && c.one(2) {
			delete(patch, "endUtc")
			delete(patch, "endDate")
		}
		return patch, next
	case kind == 4:
		next = p
		if p.allDay {
			next.end = next.start.AddDate(0, 0, 1+c.IntN(4))
			return object{"endDate": next.end.Format(dateForm)}, next
		}
		if next = c.ending(p); !next.hasEnd {
			return object{"endUtc": nil}, next
		}
		return object{"endUtc": next.end.Format(next.form())}, next
	case kind == 5 && p.zone != "":
		next = p
		next.zone = pick(c, modelZones...)
		return object{"startTzid": next.zone}, next
	case kind == 6 && !p.allDay:
		next = plainSpan{allDay: true, start: day, end: day.AddDate(0, 0, 1), hasEnd: true}
		if !whole {
			return object{"isAllDay": true}, next
		}
		return object{"isAllDay": true, "startDate": day.Format(dateForm), "startUtc": nil, "endUtc": nil, "startTzid": nil},
			next
	default:
		for next.start.IsZero() || next.allDay {
			next = c.span()
		}
		at := day.Add(c.clock())
		if next.zone != "" {
			at = shownFirst(at, next.zone)
		}
		next = next.moved(at)
		patch := next.fields()
		if next.zone == "" {
			patch["startTzid"] = nil
		}
		if !next.hasEnd {
			patch["endUtc"] = nil
		}
		if whole {
			patch["startDate"], patch["endDate"] = nil, nil
		}
		return patch, next
	}
}

// touchesTimes says that a patch speaks of times.
func touchesTimes(patch object) bool {
	for name := range patch {
		if isOfSpan(name) {
			return true
		}
	}
	return false
}

func isOfSpan(name string) bool {
	return slices.Contains([]string{"isAllDay", "startDate", "endDate", "startUtc", "endUtc", "startTzid", "endTzid"},
		name)
}
