package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"nexus/pkg/probe"
	"nexus/pkg/wallclock"
)

const (
	homeZone   = "Europe/Paris"
	travelZone = "America/New_York"
)

// cast holds the users and items of the week.
type cast struct {
	monday time.Time // 08:00 UTC of the week's first day
	titles map[string]string

	notes, report, rent, plumber, planning, dentist, medicine, plants object

	snoozedUntil time.Time
}

// wall returns a wall-clock reading in a zone, so many days after Monday.
func (s *story) wall(zone string, days, hour, minute int) time.Time {
	location, err := wallclock.LoadLocation(zone)
	if err != nil {
		s.err = err
		return time.Time{}
	}
	d := s.monday.AddDate(0, 0, days)
	return time.Date(d.Year(), d.Month(), d.Day(), hour, minute, 0, 0, location)
}

func (s *story) settingUp() {
	s.chapter("Monday morning")
	now := s.now()
	s.monday = time.Date(now.Year(), now.Month(), now.Day(), 8, 0, 0, 0, time.UTC)
	for s.monday.Weekday() != time.Monday || !s.monday.After(now) {
		s.monday = s.monday.AddDate(0, 0, 1)
	}
	s.moveTo(s.monday)
	me := s.get("/v1/me")
	s.expect("nothing is known of the user yet, version", me.Int("version"), 0)
	me = s.patch("/v1/me", 0, object{"defaultTzid": homeZone})
	s.say("The user lives by the clocks of %s.", me.Str("defaultTzid"))
	s.expect("version of the settings", me.Int("version"), 1)
}

func (s *story) writingDown() {
	s.chapter("A week is written down")
	s.titles = map[string]string{}
	add := func(plural, id string, body object) object {
		made := s.create("/v1/"+plural, body)
		s.titles[made.Str(id)] = made.Str("title")
		return made
	}
	instant := func(days, hour int) string { return s.wall(homeZone, days, hour, 0).Format(time.RFC3339) }
	date := func(days int) string { return s.monday.AddDate(0, 0, days).Format("2006-01-02") }

	s.notes = add("notes", "noteId", object{
		"title": "What the report has to say", "body": "Numbers first.", "isPinned": true,
	})
	add("notes", "noteId", object{"title": "Books to read", "body": "- one\n- another"})
	toNotes := []object{{"targetType": "NOTE", "targetId": s.notes.Str("noteId")}}

	s.planning = add("events", "eventId", object{
		"title": "Planning", "startUtc": instant(1, 9), "endUtc": instant(1, 10), "startTzid": homeZone,
		"reminderMinutes": []int{15, 60}, "links": toNotes,
	})
	s.dentist = add("events", "eventId", object{
		"title": "Dentist", "startUtc": instant(2, 14), "endUtc": instant(2, 15), "startTzid": homeZone,
		"reminderMinutes": []int{30},
	})
	add("events", "eventId", object{"title": "Trip", "isAllDay": true, "startDate": date(4), "endDate": date(6)})
	add("events", "eventId", object{
		"title": "Review", "startUtc": instant(-4, 10), "endUtc": instant(-4, 11), "startTzid": homeZone,
	})

	s.report = add("tasks", "taskId", object{
		"title": "Write the report", "priority": 1, "dueUtc": instant(1, 17), "dueTzid": homeZone,
		"reminderMinutes": []int{120}, "links": toNotes,
	})
	s.rent = add("tasks", "taskId", object{
		"title": "Pay the rent", "priority": 2, "dueUtc": instant(-1, 18), "dueTzid": homeZone,
	})
	s.plumber = add("tasks", "taskId", object{"title": "Call the plumber", "isAllDay": true, "dueDate": date(-3)})
	add("tasks", "taskId", object{"title": "Book the train", "dueUtc": instant(3, 18), "dueTzid": homeZone})
	add("tasks", "taskId", object{"title": "Tidy the desk", "priority": 5})

	s.medicine = add("reminders", "reminderId", object{
		"title": "Take the medicine", "triggerUtc": instant(0, 12), "tzid": homeZone,
	})
	s.plants = add("reminders", "reminderId", object{"title": "Water the plants", "triggerUtc": date(2) + "T07:30:00"})
	s.say("2 notes, 4 events, 5 tasks and 2 reminders; one of them, %q, rings at 07:30 wherever the user is.",
		s.plants.Str("title"))
	s.expect("things that the system accepted", len(s.titles), 13)
}

func (s *story) whatFollowed() {
	s.chapter("What followed from it")
	s.waitUntilIdle()
	for _, reader := range s.get("/dev/lag").List("readers") {
		for _, c := range reader.List("consumers") {
			s.say("%-9s (reader %s) has seen %d records.", c.Str("consumer"), reader.Str("reader"), c.Int("records"))
			if reader.Str("reader") == "projections" {
				s.expect(c.Str("consumer")+": records, one for each thing and one of the settings", c.Int("records"), 14)
			}
			s.expect(c.Str("consumer")+": records parked or unfinished", c.Int("parked")+c.Int("unfinished"), 0)
		}
	}
	s.say("stats counted. Last Thursday's review is over; the rent was due yesterday, the plumber on Friday.")
	s.expectStats(map[string]int64{
		"totalEvents": 4, "totalTasks": 5, "totalReminders": 2, "totalNotes": 2, "upcomingEvents": 3, "overdueTasks": 2,
	})
	s.say("links can be followed back from the pinned note.")
	s.expect("linked from", s.backlinks(s.notes.Str("noteId")), []string{"Planning", "Write the report"})
	s.say("reminders told the scheduler when to call.")
	s.expectSchedules(s.weeksSchedules(homeZone, s.wall(homeZone, 0, 12, 0)))
	s.say("The agenda of the week, in the order of time:")
	window := url.Values{"from": {stamp(s.monday)}, "to": {stamp(s.monday.AddDate(0, 0, 7))}}
	s.expect("agenda", probe.Titles(s.get("/v1/agenda?"+window.Encode()).List("items")), []string{
		"Take the medicine", "Planning", "Write the report", "Water the plants", "Dentist", "Book the train", "Trip",
	})
}

func (s *story) backlinks(noteID string) []string {
	titles := probe.Titles(s.get("/v1/notes/" + noteID + "/backlinks").List("items"))
	slices.Sort(titles)
	return titles
}

// weeksSchedules returns Monday's schedules: the zone affects only the plants, and medicine is its next instant, zero
// for never.
func (s *story) weeksSchedules(zone string, medicine time.Time) []string {
	want := []string{
		scheduled("Planning", 15, s.wall(homeZone, 1, 8, 45)),
		scheduled("Planning", 60, s.wall(homeZone, 1, 8, 0)),
		scheduled("Dentist", 30, s.wall(homeZone, 2, 13, 30)),
		scheduled("Write the report", 120, s.wall(homeZone, 1, 15, 0)),
		scheduled("Water the plants", 0, s.wall(zone, 2, 7, 30)),
	}
	if !medicine.IsZero() {
		want = append(want, scheduled("Take the medicine", 0, medicine))
	}
	return want
}

func (s *story) expectSchedules(want []string) {
	got := s.schedules()
	slices.Sort(want)
	s.expect("schedules", len(got), len(want))
	for i := range want {
		if i < len(got) {
			s.expect("schedule", got[i], want[i])
		}
	}
}

func (s *story) reminded() {
	s.chapter("Monday noon: the medicine")
	at, id := s.wall(homeZone, 0, 12, 0), s.medicine.Str("reminderId")
	s.moveTo(at)
	s.expectReminder(id, 0, at, at)
	snoozed := s.post("/v1/reminders/"+id+"/snooze", object{"minutes": 30})
	s.snoozedUntil = snoozed.Object("snoozeState").Time("untilUtc")
	s.say("Not now: it is put off until %s.", day(s.snoozedUntil))
	s.expect("status", snoozed.Str("status"), "SNOOZED")
	s.expect("put off by 30 minutes, from when that was asked", s.snoozedUntil.Sub(at).Truncate(time.Minute),
		30*time.Minute)
	s.waitUntilIdle()
	s.expectSchedules(s.weeksSchedules(homeZone, s.snoozedUntil))
	s.moveTo(s.snoozedUntil)
	s.expectReminder(id, 1, at, s.snoozedUntil)
	s.medicine = s.post("/v1/reminders/"+id+"/complete", object{})
	s.say("Taken.")
	s.expect("status", s.medicine.Str("status"), "COMPLETED")
	s.waitUntilIdle()
	s.expectSchedules(s.weeksSchedules(homeZone, time.Time{}))
	s.expect("cold copies of it, kept before it leaves", len(s.copies(id)), 1)
}

// expectReminder checks the reminder's n-th ReminderDue, which is the last one so far.
func (s *story) expectReminder(id string, n int, occurrence, due time.Time) {
	told := s.eventsOf("ReminderDue", id)
	s.expect("ReminderDue published for it", len(told), n+1)
	if s.err != nil || len(told) <= n {
		return
	}
	e := told[n]
	s.expect("what it announces", fmt.Sprintf("%s %q to %s", e.Str("itemType"), e.Str("title"), e.Str("userId")),
		fmt.Sprintf("REMINDER %q to %s", s.titles[id], s.client.user))
	s.expect("for the occurrence", e.Time("occurrenceUtc"), occurrence)
	s.expect("due", e.Time("dueUtc"), due)
	s.expect("minutes before", e.Int("offsetMinutes"), 0)
	s.expect("by browser, with sound", fmt.Sprint(e.Object("notify")["browser"], ", ", e.Object("notify")["sound"]),
		"true, true")
}

// copies returns the names of an item's cold copies.
func (s *story) copies(id string) []string {
	return s.objects("prefix=archive/" + s.client.user + "/" + id + "/")
}

// objects returns the names of the objects that the parameters select.
func (s *story) objects(parameters string) []string {
	var out []string
	names, _ := s.get("/dev/blobs?" + parameters)["items"].([]any)
	for _, name := range names {
		out = append(out, fmt.Sprint(name))
	}
	return out
}

func (s *story) moved() {
	s.chapter("Monday afternoon: off to New York")
	me := s.patch("/v1/me", 1, object{"defaultTzid": travelZone})
	s.expect("zone", me.Str("defaultTzid"), travelZone)
	s.waitUntilIdle()
	s.say("Only what floats has moved: the plants now ring at 07:30 of New York.")
	s.expectSchedules(s.weeksSchedules(travelZone, time.Time{}))
}

func (s *story) completed() {
	s.chapter("The report is done")
	s.moveTo(s.monday.Add(5 * time.Hour))
	s.report = s.patch("/v1/tasks/"+s.report.Str("taskId"), s.report.Int("version"), object{"status": "COMPLETED"})
	s.waitUntilIdle()
	s.expect("archived after", s.report.Time("archiveAt").Sub(s.report.Time("completedAt")), 24*time.Hour)
	want := slices.DeleteFunc(s.weeksSchedules(travelZone, time.Time{}), func(entry string) bool {
		return entry == scheduled("Write the report", 120, s.wall(homeZone, 1, 15, 0))
	})
	s.expectSchedules(want)
	stats := s.get("/v1/me/stats")
	s.expect("last task completed", stats.Time("lastTaskCompleted"), s.report.Time("completedAt"))
	s.expect("column COMPLETED", probe.Titles(s.get("/v1/tasks?status=COMPLETED").List("items")),
		[]string{"Write the report"})
}

func (s *story) gone(path string) { s.send(http.StatusGone, http.MethodGet, path, nil, -1) }
