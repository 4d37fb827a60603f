package recurrence

// untilKind says how UNTIL is compared (RFC 5545 §3.3.10).
type untilKind uint8

const (
	untilNone untilKind = iota
	// untilDate includes the whole day, in wall-clock time.
	untilDate
	// untilLocal is compared with wall-clock readings.
	untilLocal
	// untilUTC is compared with instants; with readings if the series has no zone.
	untilUTC
)

type until struct {
	kind untilKind
	at   int64 // seconds of a clock that shows UTC; for a date, its midnight
}

// lastReading returns the last reading that the date or local time includes; a series without a zone reads UTC as
// local. A series of dates compares the date alone.
func (u until) lastReading(allDay bool) int64 {
	if u.kind == untilDate || allDay {
		return alignDown(u.at, 0, daySeconds) + daySeconds - 1
	}
	return u.at
}

// stamp is a date or date-time in the forms of RFC 5545 §3.3.4 and §3.3.5.
type stamp = until

// parseStamp reads 20060102, 20060102T150405 and 20060102T150405Z.
func parseStamp(s string) (stamp, bool) {
	if len(s) != 8 && len(s) != 15 && len(s) != 16 {
		return stamp{}, false
	}
	year, ok1 := digits(s[0:4])
	month, ok2 := digits(s[4:6])
	day, ok3 := digits(s[6:8])
	if !ok1 || !ok2 || !ok3 || year < 1 || month < 1 || month > 12 || day < 1 || day > monthLength(year, month) {
		return stamp{}, false
	}
	at := int64(dayOf(year, month, day)) * daySeconds
	if len(s) == 8 {
		return stamp{untilDate, at}, true
	}
	hour, ok1 := digits(s[9:11])
	minute, ok2 := digits(s[11:13])
	second, ok3 := digits(s[13:15])
	if !ok1 || !ok2 || !ok3 || s[8] != 'T' || hour > 23 || minute > 59 || second > 60 {
		return stamp{}, false
	}
	// RFC 5545 §3.3.12: a system without leap seconds reads 60 as 59.
	at += int64(hour)*3600 + int64(minute)*60 + int64(min(second, 59))
	if len(s) == 15 {
		return stamp{untilLocal, at}, true
	}
	return stamp{untilUTC, at}, s[15] == 'Z'
}

// digits reads a number of nothing but digits.
func digits(s string) (int, bool) {
	n := 0
	for i := range len(s) {
		d := s[i] - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + int(d)
	}
	return n, true
}

// appendStamp writes the form that [parseStamp] reads.
func appendStamp(text []byte, at int64, kind untilKind) []byte {
	year, month, day := civil(dayOfReading(at))
	text = appendPadded(text, year, 4)
	text = appendPadded(text, month, 2)
	text = appendPadded(text, day, 2)
	if kind == untilDate {
		return text
	}
	ofDay := int(timeOfReading(at))
	text = append(text, 'T')
	text = appendPadded(text, ofDay/3600, 2)
	text = appendPadded(text, ofDay/60%60, 2)
	text = appendPadded(text, ofDay%60, 2)
	if kind == untilUTC {
		text = append(text, 'Z')
	}
	return text
}

func appendPadded(text []byte, n, width int) []byte {
	for unit := [...]int{1, 10, 100, 1000}[width-1]; unit > 0; unit /= 10 {
		text = append(text, byte('0'+n/unit%10))
	}
	return text
}
