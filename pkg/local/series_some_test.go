package local_test

import (
	"fmt"
	"time"
)

// What a history picks at random.

func oneOf[T any](h *history, list ...T) T { return list[h.rng.IntN(len(list))] }

// times are the times of an event that begins at a reading.
func (h *history) times(zone string, reading time.Time, length time.Duration) object {
	switch zone {
	case "whole days":
		return object{
			"isAllDay": true, "startDate": reading.Format("2006-01-02"),
			"endDate": reading.AddDate(0, 0, 1).Format("2006-01-02"),
		}
	case "":
		return object{"startUtc": reading.Format(readingForm), "endUtc": reading.Add(length).Format(readingForm)}
	}
	at := firstShown(reading, location(h.t, zone))
	return object{
		"startTzid": zone, "startUtc": at.UTC().Format(time.RFC3339), "endUtc": at.Add(length).UTC().Format(time.RFC3339),
	}
}

func (h *history) someZone() string {
	return oneOf(h, "America/New_York", "Europe/London", "Australia/Lord_Howe", "Asia/Kolkata", "", "whole days")
}

// someReading is a time of day, often one that clocks skip or repeat, within some days of the present.
func (h *history) someReading(days int) time.Time {
	now := h.now()
	hour, minute := oneOf(h, 0, 1, 2, 2, 3, 9, 23), oneOf(h, 0, 15, 30, 45)
	return time.Date(now.Year(), now.Month(), now.Day()+h.rng.IntN(2*days)-days/2, hour, minute, 0, 0, time.UTC)
}

func (h *history) someMinutes() []int {
	var out []int
	for _, minutes := range []int{0, 10, 45, 1440, 2880} {
		if h.rng.IntN(3) == 0 {
			out = append(out, minutes)
		}
	}
	return out
}

func (h *history) someRule(start time.Time) string {
	day, other := weekdayOf(start), weekdayOf(start.AddDate(0, 0, 1+h.rng.IntN(6)))
	rule := oneOf(h,
		"FREQ=DAILY", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY", "FREQ=WEEKLY;BYDAY="+day+","+other, "FREQ=WEEKLY;BYDAY="+other,
		"FREQ=WEEKLY;INTERVAL=2;BYDAY="+day+","+other, "FREQ=MONTHLY;BYMONTHDAY=-1", "FREQ=MONTHLY;BYDAY=2"+day,
		fmt.Sprintf("FREQ=MONTHLY;BYMONTHDAY=%d", start.Day()),
	)
	if h.rng.IntN(3) == 0 {
		rule += fmt.Sprintf(";COUNT=%d", 1+h.rng.IntN(15))
	}
	return rule
}
