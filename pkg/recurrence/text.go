package recurrence

import "strconv"

// String returns the rule in one normal form: upper case, the parts in a fixed order, lists sorted and without
// duplicates, INTERVAL=1 and WKST=MO left out. Parsing it gives the same rule except for those two.
func (r Rule) String() string {
	text := append(make([]byte, 0, 64), "FREQ="...)
	text = append(text, r.freq.String()...)
	if r.interval > 1 {
		text = strconv.AppendInt(append(text, ";INTERVAL="...), r.interval, 10)
	}
	if r.has(partCount) {
		text = strconv.AppendInt(append(text, ";COUNT="...), int64(r.count), 10)
	}
	if r.has(partUntil) {
		text = appendStamp(append(text, ";UNTIL="...), r.until.at, r.until.kind)
	}
	if r.weekBegins != 0 {
		text = append(append(text, ";WKST="...), weekdayName(int(r.weekBegins))...)
	}
	list := func(name string, from, to int, has func(n int) bool) {
		separator := ";" + name + "="
		for n := from; n <= to; n++ {
			if has(n) {
				text = strconv.AppendInt(append(text, separator...), int64(n), 10)
				separator = ","
			}
		}
	}
	bothWays := func(name string, limit int, has func(n int) bool, back func(n int) bool) {
		list(name, -limit, limit, func(n int) bool { return n > 0 && has(n) || n < 0 && back(-n) })
	}
	list("BYMONTH", 1, 12, func(n int) bool { return r.months>>(n-1)&1 == 1 })
	bothWays("BYWEEKNO", 53, func(n int) bool { return r.weeks>>(n-1)&1 == 1 },
		func(n int) bool { return r.weeksBack>>(n-1)&1 == 1 })
	bothWays("BYYEARDAY", 366, r.yearDays.has, r.yearDaysBack.has)
	bothWays("BYMONTHDAY", 31, func(n int) bool { return r.monthDays>>(n-1)&1 == 1 },
		func(n int) bool { return r.monthDaysBack>>(n-1)&1 == 1 })
	text = r.appendWeekdays(text)
	list("BYHOUR", 0, 23, func(n int) bool { return r.hours>>n&1 == 1 })
	list("BYMINUTE", 0, 59, func(n int) bool { return r.minutes>>n&1 == 1 })
	list("BYSECOND", 0, 59, func(n int) bool { return r.seconds>>n&1 == 1 })
	bothWays("BYSETPOS", 366, r.positions.has, r.positionsBack.has)
	return string(text)
}

func (r *Rule) appendWeekdays(text []byte) []byte {
	separator := ";BYDAY="
	add := func(n int, set uint8) {
		for day := range 7 {
			if set>>day&1 == 0 {
				continue
			}
			text = append(text, separator...)
			if n != 0 {
				text = strconv.AppendInt(text, int64(n), 10)
			}
			text = append(text, weekdayName(day)...)
			separator = ","
		}
	}
	add(0, r.weekdays)
	for i, set := range r.nth {
		add(i+1, set)
	}
	for i, set := range r.nthBack {
		add(-i-1, set)
	}
	return text
}

func weekdayName(day int) string { return weekdayNames[2*day : 2*day+2] }

func (f Frequency) String() string {
	names := [...]string{
		Secondly: "SECONDLY", Minutely: "MINUTELY", Hourly: "HOURLY", Daily: "DAILY", Weekly: "WEEKLY", Monthly: "MONTHLY",
		Yearly: "YEARLY",
	}
	if int(f) < len(names) {
		return names[f]
	}
	return "Frequency(" + strconv.Itoa(int(f)) + ")"
}
