package recurrence

// Days are numbered from 1970-01-01, which is day 0. Weekdays are numbered from Monday, which is 0, as WKST does by
// default. The calendar is the proleptic Gregorian one, years 1 to 9999: the four digits of RFC 5545 §3.3.4. The
// arithmetic holds from 0000-03-01 on.

const (
	daySeconds = 24 * 60 * 60
	lastYear   = 9999
	// The days of 400 years; after them the calendar repeats itself, weekdays included.
	cycleDays = 146097
	// Days from 0000-03-01, where the arithmetic begins, to day 0.
	epochDays = 719468
)

var (
	firstDay  = dayOf(1, 1, 1)
	finalDay  = dayOf(lastYear, 12, 31)
	firstWall = int64(firstDay) * daySeconds
	finalWall = int64(finalDay)*daySeconds + daySeconds - 1
	// days before the month, by its number
	monthStart = [13]uint16{0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334}
)

// dayOf returns the number of a day. Years begin in March here, so that the leap day is the last.
func dayOf(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	era := uint(year) / 400
	ofEra := uint(year) % 400
	ofYear := (153*uint(month-3)+2)/5 + uint(day) - 1
	return int(era*cycleDays+ofEra*365+ofEra/4-ofEra/100+ofYear) - epochDays
}

// civil returns the date of a day number. Every window calls it, so it divides as little as it can. It uses the method
// of Neri and Schneider ("Euclidean affine functions and their application to calendar algorithms", 2022): the year of
// the century and the day of that year are the two halves of one product. So are the month and the day of the month.
func civil(day int) (year, month, dayOfMonth int) {
	quarters := 4*uint32(day+epochDays) + 3
	century, ofCentury := quarters/cycleDays, quarters%cycleDays|3
	product := 2939745 * uint64(ofCentury)
	yearOfCentury, ofYear := uint32(product>>32), uint32(product)/2939745/4
	halves := 2141*ofYear + 197913
	year, month, dayOfMonth = int(100*century+yearOfCentury), int(halves>>16), int(halves&0xffff/2141)+1
	if ofYear >= 306 { // January and February: the year began in March
		year, month = year+1, month-12
	}
	return year, month, dayOfMonth
}

func isLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func yearLength(year int) int {
	if isLeap(year) {
		return 366
	}
	return 365
}

func monthLength(year, month int) int {
	if month == 2 {
		if isLeap(year) {
			return 29
		}
		return 28
	}
	return 30 + (month+month>>3)&1
}

// weekdayOf returns the weekday of a day, Monday being 0.
func weekdayOf(day int) int {
	// 150,000 weeks keep the number positive for every day of the calendar above without a branch.
	return int(uint(day+3+7*150000) % 7)
}

// readingBias makes every possible reading a positive number, so that the divisions below are by a constant and
// unsigned, which is many times faster.
const readingBias = 1_000_000

// dayOfReading returns the day of a reading in seconds since the epoch.
func dayOfReading(reading int64) int {
	return int(uint64(reading+readingBias*daySeconds)/daySeconds) - readingBias
}

// timeOfReading returns the second of the day.
func timeOfReading(reading int64) int64 {
	return int64(uint64(reading+readingBias*daySeconds) % daySeconds)
}

// weekStart returns the first day of the week in which the day lies, in weeks that begin on the weekday given.
func weekStart(day, begins int) int { return day - (weekdayOf(day)-begins+7)%7 }

func floorMod[T int | int64](a, b T) T {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}

// alignUp returns the smallest of origin, origin±step, … that is not below at.
func alignUp[T int | int64](at, origin, step T) T {
	if step == 1 { // most rules have it, and a division is half of the cost of a window
		return at
	}
	return at + floorMod(origin-at, step)
}

// alignDown returns the largest of origin, origin±step, … that is not above at.
func alignDown[T int | int64](at, origin, step T) T {
	if step == 1 {
		return at
	}
	return at - floorMod(at-origin, step)
}
