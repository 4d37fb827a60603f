package main

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"nexus/pkg/product"
	"nexus/pkg/wallclock"
)

// plan holds the subjects of the story's second part: a weekly series whose weeks include the day on which the clocks
// change, and a recurring reminder.
type plan struct {
	change time.Time // midnight, labelled UTC, of the Sunday on which the clocks change

	standup, midweek, stretch object
}

const (
	planZone      = travelZone
	standupTitle  = "Standup"
	movedTitle    = "Standup, on Thursday this week"
	midweekTitle  = "Standup in the middle of the week"
	standupLength = 30 * time.Minute
)

// beforeChange is how many days before the day of the change the plan begins.
const beforeChange = 14

// nextChange returns the first day, from a date on, on which the clocks of a zone change.
func nextChange(zone *time.Location, from time.Time) time.Time {
	offset := func(day time.Time) int {
		_, o := time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, zone).Zone()
		return o
	}
	day := time.Date(from.Year(), from.Month(), from.Day(), 0, 0, 0, 0, time.UTC)
	for offset(day) == offset(day.AddDate(0, 0, -1)) {
		day = day.AddDate(0, 0, 1)
	}
	return day
}

// at returns a reading in New York, so many days after the day of the change.
func (s *story) at(days, hour, minute int) time.Time {
	zone, err := wallclock.LoadLocation(planZone)
	if err != nil {
		s.err = err
		return time.Time{}
	}
	d := s.change.AddDate(0, 0, days)
	return time.Date(d.Year(), d.Month(), d.Day(), hour, minute, 0, 0, zone)
}

// date returns the name of a day in a series.
func (s *story) date(days int) string { return s.change.AddDate(0, 0, days).Format("20060102") }

func (s *story) planned() {
	s.place = "A series"
	now, zone := s.now(), s.at(0, 0, 0).Location()
	s.change = nextChange(zone, now.AddDate(0, 0, beforeChange+2))
	s.chapter("A series: every Monday at nine in New York, while the clocks change")
	s.moveTo(s.change.AddDate(0, 0, -beforeChange).Add(12 * time.Hour))
	s.standup = s.create("/v1/series", object{
		"title": standupTitle, "rrule": "FREQ=WEEKLY;BYDAY=MO", "startTzid": planZone,
		"startUtc": s.at(-13, 9, 0).Format(time.RFC3339), "endUtc": s.at(-13, 9, 0).Add(standupLength).Format(time.RFC3339),
		"reminderMinutes": []int{10, 60}, "links": []object{{"targetType": "NOTE", "targetId": s.notes.Str("noteId")}},
	})
	id := s.standup.Str("masterId")
	s.titles[id] = standupTitle
	s.say("The clocks of New York change on %s. The second week's occurrence moves to Thursday, the fourth is cancelled.",
		day(s.change))
	path := "/v1/series/" + id
	version := s.standup.Int("version")
	moved := s.send(http.StatusOK, http.MethodPut, path+"/instances/"+s.date(-6), object{
		"title": movedTitle, "startUtc": s.at(-3, 15, 0).Format(time.RFC3339), "startTzid": planZone,
	}, version)
	s.expect("moved, and as long as before", moved.Time("endUtc").Sub(moved.Time("startUtc")), standupLength)
	cancelled := s.send(http.StatusOK, http.MethodDelete, path+"/instances/"+s.date(8), nil, version)
	s.expect("cancelled", cancelled.Str("status"), "CANCELLED")
	whole := s.get(path)
	s.expect("exceptions of the series", len(whole.List("instances")), 2)
	s.expect("version of the series, which exceptions leave alone", whole.Object("master").Int("version"), version)
	s.waitUntilIdle()
	s.say("The agenda of five weeks:")
	ids := s.expectWeeks(-14, 21, []string{
		entry(standupTitle, s.date(-13), s.at(-13, 9, 0), virtual),
		entry(movedTitle, s.date(-6), s.at(-3, 15, 0), changed),
		entry(standupTitle, s.date(1), s.at(1, 9, 0), virtual),
		entry(standupTitle, s.date(15), s.at(15, 9, 0), virtual),
	})
	s.expect("an occurrence by its id", s.get("/v1/events/"+ids[s.date(1)]).Str("title"), standupTitle)
	s.say("Nine o'clock is %s UTC before the change and %s after it.", s.at(-13, 9, 0).UTC().Format("15:04"),
		s.at(1, 9, 0).UTC().Format("15:04"))
	s.say("Of each offset the next reminder is scheduled, and of the series one event counted.")
	s.expectSchedules([]string{
		scheduled(standupTitle, 10, s.at(-13, 8, 50)), scheduled(standupTitle, 60, s.at(-13, 8, 0)),
	})
	s.expect("linked to the note", s.backlinks(s.notes.Str("noteId")),
		[]string{"Planning", standupTitle, "Write the report"})
	stats := s.finalStats()
	stats["totalEvents"], stats["upcomingEvents"] = 5, 1
	s.expectStats(stats)
}

// The members of an occurrence in the agenda.
const (
	virtual = "as the series has it"
	changed = "by itself"
)

func entry(title, date string, at time.Time, how string) string {
	return fmt.Sprintf("%s %s on %s, %s", title, date, stamp(at), how)
}

// expectWeeks checks the agenda's entries of series from one day to another, and returns their ids by date.
func (s *story) expectWeeks(from, to int, want []string) map[string]string {
	var got []string
	ids := map[string]string{}
	for _, it := range s.agenda(s.at(from, 0, 0), s.at(to, 0, 0), product.TypeEvent) {
		if it.Str("masterId") == "" {
			continue
		}
		how := changed
		if it["virtual"] == true {
			how = virtual
		}
		got = append(got, entry(it.Str("title"), it.Str("occurrenceDate"), it.Time("occurrenceStart"), how))
		ids[it.Str("occurrenceDate")] = it.Str("eventId")
	}
	s.expect("occurrences", len(got), len(want))
	for i := range want {
		if i < len(got) {
			s.expect("occurrence", got[i], want[i])
		}
	}
	return ids
}

// agenda returns the entries of some types in a window of up to a year, page by page.
func (s *story) agenda(from, to time.Time, types string) []object {
	query := url.Values{"from": {stamp(from)}, "to": {stamp(to)}, "types": {types}, "limit": {"100"}}
	var out []object
	for s.err == nil {
		page := s.get("/v1/agenda?" + query.Encode())
		out = append(out, page.List("items")...)
		if page.Str("nextCursor") == "" {
			return out
		}
		query.Set("cursor", page.Str("nextCursor"))
	}
	return nil
}

func (s *story) changedClocks() {
	s.chapter("The clocks change")
	s.moveTo(s.at(9, 7, 0))
	s.say("Nine stayed nine; Thursday's was announced on Thursday, and the cancelled one not at all.")
	s.expectAnnounced(s.standup.Str("masterId"), []string{
		announced(standupTitle, s.at(-13, 9, 0), 60), announced(standupTitle, s.at(-13, 9, 0), 10),
		announced(movedTitle, s.at(-3, 15, 0), 60), announced(movedTitle, s.at(-3, 15, 0), 10),
		announced(standupTitle, s.at(1, 9, 0), 60), announced(standupTitle, s.at(1, 9, 0), 10),
	})
	s.expectSchedules([]string{
		scheduled(standupTitle, 10, s.at(15, 8, 50)), scheduled(standupTitle, 60, s.at(15, 8, 0)),
	})
}

func announced(title string, at time.Time, minutes int64) string {
	return fmt.Sprintf("%s at %s, due %s, %d minutes before", title, stamp(at),
		stamp(at.Add(-time.Duration(minutes)*time.Minute)), minutes)
}

// expectAnnounced checks all deliveries about an item, in their order.
func (s *story) expectAnnounced(id string, want []string) {
	told := s.eventsOf("ReminderDue", id)
	s.expect("ReminderDue published for it", len(told), len(want))
	published, deliveries := 0, map[string]bool{}
	for _, e := range s.get("/dev/events?limit=1000").List("items") {
		if detail := e.Object("detail"); detail.Str("itemId") == id {
			published++
			deliveries[detail.Str("deliveryId")] = true
		}
	}
	s.expect("delivery ids, one for each", fmt.Sprint(len(deliveries), " of ", published),
		fmt.Sprint(len(want), " of ", len(want)))
	for i := range want {
		if i >= len(told) {
			return
		}
		e := told[i]
		got := fmt.Sprintf("%s at %s, due %s, %d minutes before", e.Str("title"), stamp(e.Time("occurrenceUtc")),
			stamp(e.Time("dueUtc")), e.Int("offsetMinutes"))
		s.expect("announced", got, want[i])
	}
}

func (s *story) splitUp() {
	s.chapter("From now on on Wednesdays at ten")
	id := s.standup.Str("masterId")
	both := s.send(http.StatusCreated, http.MethodPost, "/v1/series/"+id+"/split", object{
		"date": s.date(22), "changes": object{"title": midweekTitle, "startUtc": s.at(24, 10, 0).Format(time.RFC3339)},
	}, s.get("/v1/series/"+id).Object("master").Int("version"))
	s.standup, s.midweek = both.Object("ended"), both.Object("following")
	s.titles[s.midweek.Str("masterId")] = midweekTitle
	s.say("The old series ends before that week, a new one goes on; the rule follows its start.")
	s.expect("the last Monday", s.standup.Time("lastStartUtc"), s.at(15, 9, 0))
	s.expect("the rule that goes on", s.midweek.Str("rrule"), "FREQ=WEEKLY;BYDAY=WE")
	s.waitUntilIdle()
	s.expectWeeks(15, 40, []string{
		entry(standupTitle, s.date(15), s.at(15, 9, 0), virtual),
		entry(midweekTitle, s.date(24), s.at(24, 10, 0), virtual),
		entry(midweekTitle, s.date(31), s.at(31, 10, 0), virtual),
		entry(midweekTitle, s.date(38), s.at(38, 10, 0), virtual),
	})
	s.expectSchedules([]string{
		scheduled(standupTitle, 10, s.at(15, 8, 50)), scheduled(standupTitle, 60, s.at(15, 8, 0)),
		scheduled(midweekTitle, 10, s.at(24, 9, 50)), scheduled(midweekTitle, 60, s.at(24, 9, 0)),
	})
	s.say("Each half counts by itself, and reminds by itself.")
	stats := s.finalStats()
	stats["totalEvents"], stats["upcomingEvents"] = 6, 2
	s.expectStats(stats)

	s.moveTo(s.at(25, 7, 0))
	s.expectAnnounced(s.midweek.Str("masterId"), []string{
		announced(midweekTitle, s.at(24, 10, 0), 60), announced(midweekTitle, s.at(24, 10, 0), 10),
	})
	s.expect("the last Monday was announced at", s.dues(id)[max(0, len(s.dues(id))-2):],
		[]string{stamp(s.at(15, 8, 0)), stamp(s.at(15, 8, 50))})
	s.expectSchedules([]string{
		scheduled(midweekTitle, 10, s.at(31, 9, 50)), scheduled(midweekTitle, 60, s.at(31, 9, 0)),
	})
	stats["upcomingEvents"] = 1
	s.expectStats(stats)
}
