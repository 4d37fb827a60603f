package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"nexus/pkg/ical"
	"nexus/pkg/probe"
	"nexus/pkg/product"
)

const calendarType = "text/calendar"

// otherPrograms shows the exchange of the calendar with other programs.
func (s *story) otherPrograms() {
	s.chapter("Other calendar programs")
	nobody := http.Header{"Authorization": nil}
	path := s.send(http.StatusOK, http.MethodPut, "/v1/me/feed", nil, -1).Str("path")
	s.say("The calendar has a secret address now, for programs that cannot send a token.")
	feed := s.fetch(http.StatusOK, http.MethodGet, path, "", nobody)
	s.expect("type", strings.Split(feed.Header.Get("Content-Type"), ";")[0], calendarType)
	s.expectCalendar(feed.Text)
	export := s.fetch(http.StatusOK, http.MethodGet, "/v1/calendar.ics", "", nil)
	s.expect("the user's own export is the same text", export.Text == feed.Text, true)
	again := s.fetch(http.StatusNotModified, http.MethodGet, path, "", http.Header{
		"Authorization": nil, "If-None-Match": {feed.Header.Get("ETag")},
	})
	s.expect("asked again with its tag: bytes of the answer", len(again.Text), 0)
	s.imported()
	s.send(http.StatusNoContent, http.MethodDelete, "/v1/me/feed", nil, -1)
	s.fetch(http.StatusNotFound, http.MethodGet, path, "", nobody)
	s.say("The address was revoked, and leads nowhere.")
}

// expectCalendar checks the series in the calendar's text.
func (s *story) expectCalendar(text string) {
	document, err := ical.Decode([]byte(text), ical.FileLimits())
	if err != nil || len(document.Calendars) != 1 {
		s.expect("calendars in the text", fmt.Sprint(err), "1")
		return
	}
	zones, events, todos := 0, []string(nil), 0
	for _, c := range document.Calendars[0].Children {
		switch c.Name {
		case "VTIMEZONE":
			zones++
		case "VTODO":
			todos++
		case "VEVENT":
			if c.Get("RRULE") != nil || c.Get("RECURRENCE-ID") != nil {
				events = append(events,
					fmt.Sprintf("%s from %s in %s", c.Text("SUMMARY"), c.Value("DTSTART"), c.Get("DTSTART").Param("TZID")))
			}
		}
	}
	slices.Sort(events)
	local := func(days, hour, minute int) string { return s.at(days, hour, minute).Format("20060102T150405") }
	s.expect("time zones described", zones, 2)
	s.expect("of series", events, []string{
		fmt.Sprintf("%s from %s in %s", standupTitle, local(-13, 9, 0), planZone),
		fmt.Sprintf("%s from %s in %s", midweekTitle, local(24, 10, 0), planZone),
		fmt.Sprintf("%s from %s in %s", movedTitle, local(-3, 15, 0), planZone),
	})
	s.expect("tasks and reminders", todos > 0, true)
}

// imported imports another program's calendar, twice.
func (s *story) imported() {
	local := func(days, hour int) string { return s.at(days, hour, 0).Format("20060102T150405") }
	lines := []string{
		"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Another program//EN",
		"BEGIN:VEVENT", "UID:concert@calendar.example", "DTSTAMP:" + s.now().UTC().Format("20060102T150405Z"),
		"DTSTART;TZID=Europe/London:" + local(40, 19), "DTEND;TZID=Europe/London:" + local(40, 21), "SUMMARY:Concert",
		"END:VEVENT", "BEGIN:VEVENT", "UID:choir@calendar.example", "DTSTAMP:" + s.now().UTC().Format("20060102T150405Z"),
		"DTSTART;TZID=Europe/London:" + local(36, 18), "DURATION:PT2H", "RRULE:FREQ=WEEKLY;COUNT=3",
		"EXDATE;TZID=Europe/London:" + local(43, 18), "SUMMARY:Choir", "END:VEVENT",
		"BEGIN:VEVENT", "UID:when@calendar.example", "SUMMARY:Nobody knows when", "END:VEVENT",
		"END:VCALENDAR", "",
	}
	text := strings.Join(lines, "\r\n")
	s.say("A file of another program has a concert, a choir, and something without a time.")
	for i, want := range []string{
		"2 created, 0 updated, 0 unchanged, 1 refused", "0 created, 0 updated, 2 unchanged, 1 refused",
	} {
		answered := s.fetch(http.StatusOK, http.MethodPost, "/v1/calendar/import", text, http.Header{
			"Content-Type": {calendarType},
		})
		report, err := probe.Decoded(answered.Text)
		if s.err == nil {
			s.err = err
		}
		s.expect(fmt.Sprintf("import %d", i+1), fmt.Sprintf("%d created, %d updated, %d unchanged, %d refused",
			report.Int("created"), report.Int("updated"), report.Int("unchanged"), len(report.List("refused"))), want)
	}
	s.waitUntilIdle()
	s.say("In the agenda:")
	var got []string
	for _, it := range s.agenda(s.at(36, 0, 0), s.at(60, 0, 0), product.TypeEvent) {
		if title := it.Str("title"); title == "Concert" || title == "Choir" {
			got = append(got, title+" "+it.Time("occurrenceStart").Format("2006-01-02"))
		}
	}
	date := func(days int) string { return s.change.AddDate(0, 0, days).Format("2006-01-02") }
	s.expect("what was imported", got, []string{"Choir " + date(36), "Concert " + date(40), "Choir " + date(50)})
}
