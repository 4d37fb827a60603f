package simulate

import (
	"fmt"
	"strings"
	"time"
)

// calendarText returns a calendar of another program: a few items, imported before or not, some of them with a later
// revision.
func (a author) calendarText() string {
	lines := []string{"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//simulation//EN"}
	for _, uid := range []string{"one", "two", "three"} {
		if !a.luck.one(2) {
			lines = append(lines, a.component(uid)...)
		}
	}
	return strings.Join(append(lines, "END:VCALENDAR", ""), "\r\n")
}

func (a author) component(uid string) []string {
	kind, start := "VEVENT", "DTSTART"
	if a.luck.one(4) {
		kind, start = "VTODO", "DUE"
	}
	at := a.soon()
	lines := []string{
		"BEGIN:" + kind, "UID:" + uid + "@" + a.userState.user + ".example", "DTSTAMP:" + at.Format("20060102T150405Z"),
		fmt.Sprintf("SUMMARY:i%d-%s", a.step, uid), fmt.Sprintf("SEQUENCE:%d", a.luck.IntN(4)), start + a.calendarTime(at),
	}
	if kind == "VEVENT" && !a.luck.one(3) {
		lines = append(lines, "RRULE:"+strings.Trim(a.rule(), `"`))
	}
	if a.luck.one(2) {
		lines = append(lines, "BEGIN:VALARM", "ACTION:DISPLAY", "DESCRIPTION:x",
			pick(a.luck, "TRIGGER:-PT30M", "TRIGGER:PT0S"), "END:VALARM")
	}
	return append(lines, "END:"+kind)
}

func (a author) calendarTime(at time.Time) string {
	switch a.luck.IntN(4) {
	case 0:
		return ":" + at.Format("20060102T150405")
	case 1:
		return ";VALUE=DATE:" + at.Format("20060102")
	case 2:
		return ":" + at.Format("20060102T150405Z")
	}
	return ";TZID=" + pick(a.luck, zoneNames...) + ":" + at.Format("20060102T150405")
}
