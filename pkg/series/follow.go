package series

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/recurrence"
)

// Follow returns the rule and the end (rruleUntil) that a series is to have when its start is moved: what becomes of the
// shape before, where after has the new start. A field that the change sends itself is named in sent and taken from after.
// The end is zero for a series without one. docs/series.md, "Rule and end follow the start", is the promise.
func Follow(before, after entity.Item, sent ...string) (rule string, end time.Time) {
	rule = after.Str(entity.AttrRRule)
	if !slices.Contains(sent, entity.AttrRRule) {
		rule = FollowStart(before, after)
	}
	if slices.Contains(sent, entity.AttrRRuleUntil) {
		end, _ = after.Time(entity.AttrRRuleUntil)
		return rule, end
	}
	end, _ = FollowEnd(before, after)
	return rule, end
}

// FollowStart returns the rule that a series is to have when its start is moved and nobody says what becomes of the rule.
//
// Each day of the week or month, and of a yearly rule each month, that the rule names because the old start lies there
// becomes that of the new start: what is given on Mondays is given on Tuesdays then; the second Monday of the month
// becomes the third Tuesday. UNTIL follows as [FollowEnd] says.
//
// A rule that the new start fits keeps its days: the start only moves along the series. So does one whose days are not
// named one by one (BYSETPOS, BYWEEKNO, BYYEARDAY): the new start is an occurrence besides those of the rule then.
func FollowStart(before, after entity.Item) string {
	text := before.Str(entity.AttrRRule)
	rule, err := recurrence.Parse(text)
	m, ok := moveOf(before, after)
	if err != nil || !ok {
		return text
	}
	parts := strings.Split(rule.String(), ";")
	if moved := follow(parts, m.from, m.to); !fits(strings.Join(parts, ";"), m.to) && fits(moved, m.to) {
		parts = strings.Split(moved, ";")
	}
	for i, part := range parts {
		if until, ok := strings.CutPrefix(part, "UNTIL="); ok {
			parts[i] = "UNTIL=" + m.until(until)
		}
	}
	if moved := strings.Join(parts, ";"); moved != rule.String() {
		return moved
	}
	return text // as its user wrote it
}

// FollowEnd returns the end (rruleUntil) that a series is to have when its start is moved and nobody says what becomes of
// the end: it moves as far as the start, so that the series keeps as many occurrences; or, where the start only moves along
// the series, as far as its time of day, so that it keeps the dates that are left. False for a series without an end.
func FollowEnd(before, after entity.Item) (time.Time, bool) {
	end, ends := before.Time(entity.AttrRRuleUntil)
	if m, ok := moveOf(before, after); ends && ok {
		return m.end(end), true
	}
	return end, ends
}

// fits reports whether a rule, its end aside, gives an occurrence at the reading by itself.
func fits(rule string, at time.Time) bool {
	s, err := recurrence.Compile(recurrence.Spec{Rule: withoutEnd(rule), Start: at, Level: recurrence.Calendar})
	if err != nil {
		return false
	}
	_, ok := s.On(at)
	return ok
}

// follow rewrites the parts of a rule in normal form.
func follow(parts []string, from, to time.Time) string {
	yearly := slices.Contains(parts, "FREQ=YEARLY")
	byMonth := slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, "BYMONTH=") })
	moved := slices.Clone(parts)
	for i, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		var rewrite func(value string) string
		switch {
		case name == "BYDAY":
			inYear := yearly && !byMonth
			rewrite = func(v string) string { return followWeekday(v, from, to, inYear) }
		case name == "BYMONTHDAY":
			a, b := placeInMonth(from), placeInMonth(to)
			rewrite = func(v string) string { return followNumber(v, a, b) }
		case name == "BYMONTH" && yearly:
			rewrite = func(v string) string { return followNumber(v, place{int(from.Month()), 0}, place{int(to.Month()), 0}) }
		default:
			continue
		}
		values := strings.Split(value, ",")
		for j, v := range values {
			values[j] = rewrite(v)
		}
		moved[i] = name + "=" + strings.Join(values, ",")
	}
	return strings.Join(moved, ";")
}

// place is where something stands in its month or year: counted from its beginning, and from its end as a negative number.
type place struct{ ahead, back int }

func placeInMonth(t time.Time) place {
	last := time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return place{t.Day(), t.Day() - last - 1}
}

func placeInYear(t time.Time) place {
	last := time.Date(t.Year(), time.December, 31, 0, 0, 0, 0, time.UTC).YearDay()
	return place{t.YearDay(), t.YearDay() - last - 1}
}

// weekdayPlace is which of its weekday a day is.
func (p place) weekday() place { return place{(p.ahead-1)/7 + 1, (p.back+1)/7 - 1} }

// followNumber replaces a number that names from, counted from whichever end it is.
func followNumber(value string, from, to place) string {
	switch n, err := strconv.Atoi(value); {
	case err != nil || n == 0:
	case n == from.ahead:
		return strconv.Itoa(to.ahead)
	case n == from.back:
		return strconv.Itoa(to.back)
	}
	return value
}

// rareWeek is the number of a weekday that not each month has; the last one is meant then, and each has that. In a year it
// is the 53rd.
func rareWeek(inYear bool) int {
	if inYear {
		return 53
	}
	return 5
}

// followWeekday replaces a member of BYDAY that names the weekday of from.
func followWeekday(value string, from, to time.Time, inYear bool) string {
	number, day := value[:len(value)-2], value[len(value)-2:]
	if day != weekdayName(from) {
		return value
	}
	if number == "" {
		return weekdayName(to)
	}
	a, b := placeInMonth(from).weekday(), placeInMonth(to).weekday()
	if inYear {
		a, b = placeInYear(from).weekday(), placeInYear(to).weekday()
	}
	if b.ahead == rareWeek(inYear) {
		b.ahead = b.back
	}
	return followNumber(number, a, b) + weekdayName(to)
}

func weekdayName(t time.Time) string { return strings.ToUpper(fmt.Sprint(t.Weekday())[:2]) }
