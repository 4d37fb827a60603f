package main

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

func (s *story) stretched() {
	s.chapter("A reminder that recurs")
	s.stretch = s.create("/v1/reminders", object{
		"title": "Stretch", "triggerUtc": s.at(26, 7, 30).Format(time.RFC3339), "tzid": planZone,
		"rrule": "FREQ=DAILY;COUNT=3",
	})
	id := s.stretch.Str("reminderId")
	s.titles[id] = "Stretch"
	s.waitUntilIdle()
	midweek := []string{scheduled(midweekTitle, 10, s.at(31, 9, 50)), scheduled(midweekTitle, 60, s.at(31, 9, 0))}
	s.expectSchedules(append(slices.Clone(midweek), scheduled("Stretch", 0, s.at(26, 7, 30))))
	s.moveTo(s.at(26, 7, 30))
	snoozed := s.post("/v1/reminders/"+id+"/snooze", object{"minutes": 30})
	until := snoozed.Object("snoozeState").Time("untilUtc")
	s.say("Announced, and put off until %s. The next is tomorrow's all the same.", day(until))
	s.expect("put off is", snoozed.Object("snoozeState").Time("occurrenceUtc"), s.at(26, 7, 30))
	s.expect("next trigger", snoozed.Time("triggerUtc"), s.at(27, 7, 30))
	s.moveTo(until)
	done := s.post("/v1/reminders/"+id+"/complete", object{})
	s.say("Done for today.")
	s.expect("status", done.Str("status"), "PENDING")
	s.expect("next trigger", done.Time("triggerUtc"), s.at(27, 7, 30))
	s.waitUntilIdle()
	s.expectSchedules(append(slices.Clone(midweek), scheduled("Stretch", 0, s.at(27, 7, 30))))
	s.moveTo(s.at(27, 7, 30))
	told := s.eventsOf("ReminderDue", id)
	var got []string
	for _, e := range told {
		got = append(got, fmt.Sprintf("%s due %s", stamp(e.Time("occurrenceUtc")), stamp(e.Time("dueUtc"))))
	}
	s.expect("announced", got, []string{
		fmt.Sprintf("%s due %s", stamp(s.at(26, 7, 30)), stamp(s.at(26, 7, 30))),
		fmt.Sprintf("%s due %s", stamp(s.at(26, 7, 30)), stamp(until)),
		fmt.Sprintf("%s due %s", stamp(s.at(27, 7, 30)), stamp(s.at(27, 7, 30))),
	})
	s.stretch = s.post("/v1/reminders/"+id+"/complete", object{"series": true})
	s.say("That is enough of it, for good.")
	s.expect("status", s.stretch.Str("status"), "COMPLETED")
	s.waitUntilIdle()
	s.expectSchedules(midweek)
}

func (s *story) ended() {
	s.chapter("The series ends")
	id := s.midweek.Str("masterId")
	now := s.now()
	s.midweek = s.send(http.StatusOK, http.MethodPost, "/v1/series/"+id+"/end", object{"untilUtc": stamp(now)},
		s.midweek.Int("version"))
	s.expect("its last occurrence", s.midweek.Time("lastStartUtc"), s.at(24, 10, 0))
	s.waitUntilIdle()
	s.expectSchedules(nil)
	s.expectWeeks(15, 35, []string{
		entry(standupTitle, s.date(15), s.at(15, 9, 0), virtual), entry(midweekTitle, s.date(24), s.at(24, 10, 0), virtual),
	})
	s.moveTo(now.Add(25 * time.Hour))
	s.say("The reminder that was done for good has left the table, and its copy stays.")
	s.gone("/v1/reminders/" + s.stretch.Str("reminderId"))
	s.expectEvent("ItemExpired", s.stretch.Str("reminderId"), s.stretch.Int("version")+1)
	s.expect("in the archive", s.archived(), []string{"Stretch", "Take the medicine"})
	s.expectStats(s.lastStats())
}

// lastStats returns the statistics at the end of the story: those of the week, two halves of a series that are over,
// and imported items in the future.
func (s *story) lastStats() map[string]int64 {
	stats := s.finalStats()
	stats["totalEvents"], stats["upcomingEvents"] = 8, 2
	return stats
}
