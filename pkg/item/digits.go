package item

import "time"

// The stored forms of instants are parsed digit by digit, several times as fast as by a layout, because every item
// shown has its instants read and written.

// ReadDigits returns the number formed by the n decimal digits at the beginning of s, or -1 if they are no digits.
func ReadDigits(s string, n int) int {
	value := 0
	for i := range n {
		c := s[i] - '0'
		if c > 9 {
			return -1
		}
		value = value*10 + int(c)
	}
	return value
}

// midnight returns the day as midnight UTC, and false if the calendar has no such day.
func midnight(year, month, day int) (time.Time, bool) {
	if year < 0 || month < 1 || month > 12 || day < 1 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	return t, t.Day() == day
}

// ReadDate reads YYYY-MM-DD, or YYYYMMDD where compact.
func ReadDate(s string, compact bool) (time.Time, bool) {
	if compact {
		if len(s) != len(CompactLayout) {
			return time.Time{}, false
		}
		return midnight(ReadDigits(s, 4), ReadDigits(s[4:], 2), ReadDigits(s[6:], 2))
	}
	if len(s) != len(DateLayout) || s[4] != '-' || s[7] != '-' {
		return time.Time{}, false
	}
	return midnight(ReadDigits(s, 4), ReadDigits(s[5:], 2), ReadDigits(s[8:], 2))
}

// readInstant reads the stored form of an instant.
func readInstant(s string) (time.Time, bool) {
	if len(s) != len(instantLayout) || s[10] != 'T' || s[13] != ':' || s[16] != ':' || s[19] != 'Z' {
		return time.Time{}, false
	}
	day, ok := ReadDate(s[:10], false)
	hour, minute, second := ReadDigits(s[11:], 2), ReadDigits(s[14:], 2), ReadDigits(s[17:], 2)
	if !ok || uint(hour) > 23 || uint(minute) > 59 || uint(second) > 59 {
		return time.Time{}, false
	}
	return day.Add(time.Duration(hour*3600+minute*60+second) * time.Second), true
}

// AppendDigits appends value as n decimal digits.
func AppendDigits(dst []byte, value, n int) []byte {
	for divisor := [...]int{1, 10, 100, 1000}[n-1]; divisor > 0; divisor /= 10 {
		dst = append(dst, byte('0'+value/divisor%10))
	}
	return dst
}

// hasFourDigits reports whether the stored forms hold the year.
func hasFourDigits(year int) bool { return year >= 0 && year <= 9999 }

// appendDate appends the date of t, in t's own location, with the separator between its parts.
func appendDate(dst []byte, t time.Time, between string) []byte {
	year, month, day := t.Date()
	dst = append(AppendDigits(dst, year, 4), between...)
	dst = append(AppendDigits(dst, int(month), 2), between...)
	return AppendDigits(dst, day, 2)
}
