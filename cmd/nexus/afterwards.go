package main

import (
	"cmp"
	"slices"
	"time"

	"nexus/pkg/probe"
)

func (s *story) nextDay() {
	s.chapter("A day later")
	s.moveTo(s.report.Time("archiveAt").Add(time.Hour))
	s.say("Planning was announced twice, in its order.")
	s.expect("ReminderDue for it at", s.dues(s.planning.Str("eventId")),
		[]string{stamp(s.wall(homeZone, 1, 8, 0)), stamp(s.wall(homeZone, 1, 8, 45))})
	s.say("archive moved the finished report out of the way.")
	id := s.report.Str("taskId")
	archivedAs := s.report.Int("version") + 1
	s.expectEvent("TaskArchived", id, archivedAs)
	archiveAt := s.report.Time("archiveAt")
	s.report = s.get("/v1/tasks/" + id)
	s.expect("status", s.report.Str("status"), "ARCHIVED")
	s.expect("version", s.report.Int("version"), archivedAs)
	s.expect("archived in the minute it was to be", s.report.Time("archivedAt").Sub(archiveAt).Truncate(time.Minute),
		time.Duration(0))
	s.expect("cold copies of it", len(s.copies(id)), 1)
	s.say("The reminder, done since yesterday noon, has left the table; its copy stays.")
	medicine := s.medicine.Str("reminderId")
	s.gone("/v1/reminders/" + medicine)
	s.expectEvent("ItemExpired", medicine, s.medicine.Int("version")+1)
	s.expect("in the archive", s.archived(), []string{"Take the medicine", "Write the report"})
	s.expectStats(map[string]int64{
		"totalEvents": 4, "totalTasks": 5, "totalReminders": 1, "totalNotes": 2, "upcomingEvents": 2, "overdueTasks": 2,
	})
}

// dues returns the due instants of all events about an item.
func (s *story) dues(id string) []string {
	var out []string
	for _, e := range s.eventsOf("ReminderDue", id) {
		out = append(out, stamp(e.Time("dueUtc")))
	}
	return out
}

// expectEvent checks the one event of the type about the item.
func (s *story) expectEvent(eventType, id string, version int64) {
	told := s.eventsOf(eventType, id)
	s.expect(eventType+" published for it", len(told), 1)
	if s.err == nil && len(told) == 1 {
		s.expect(eventType+" names version", told[0].Int("version"), version)
	}
}

// archived returns the titles in the user's archive.
func (s *story) archived() []string {
	titles := probe.Titles(s.get("/v1/archive").List("items"))
	slices.Sort(titles)
	return titles
}

func (s *story) weekLater() {
	s.chapter("A week later")
	id := s.report.Str("taskId")
	s.moveTo(s.report.Time("archivedAt").AddDate(0, 0, 7).Add(time.Hour))
	s.say("On the way the dentist was announced, and the plants at half past seven in New York.")
	s.expect("Dentist announced at", s.dues(s.dentist.Str("eventId")), []string{stamp(s.wall(homeZone, 2, 13, 30))})
	s.expect("Water the plants announced at", s.dues(s.plants.Str("reminderId")),
		[]string{stamp(s.wall(travelZone, 2, 7, 30))})
	s.say("The archived report has left the table by its time to live. Its cold copy can be read.")
	s.gone("/v1/tasks/" + id)
	s.expectEvent("ItemExpired", id, s.report.Int("version")+1)
	for _, name := range s.copies(id) {
		kept := s.get("/dev/blobs/" + name)
		s.expect("copy of", kept.Str("itemType")+" "+kept.Str("itemId"), "TASK "+id)
		s.expect("title in the copy", kept.Object("item").Object("title").Str("S"), "Write the report")
		s.expect("version in the copy", kept.Int("version"), s.report.Int("version"))
	}
	s.say("The train was never booked, and the week's events are over.")
	s.expectStats(map[string]int64{
		"totalEvents": 4, "totalTasks": 4, "totalReminders": 1, "totalNotes": 2, "upcomingEvents": 0, "overdueTasks": 3,
	})
	s.expect("linked to the note now", s.backlinks(s.notes.Str("noteId")), []string{"Planning"})
}

func (s *story) restored() {
	s.chapter("The report is wanted back")
	id := s.report.Str("taskId")
	back := s.post("/v1/archive/"+id+"/restore", nil)
	s.expect("title", back.Str("title"), "Write the report")
	s.expect("version, two after the copy's", back.Int("version"), s.report.Int("version")+2)
	s.waitUntilIdle()
	s.expectEvent("ItemRestored", id, back.Int("version"))
	s.expect("in the archive", s.archived(), []string{"Take the medicine"})
	s.expect("cold copies of the report", len(s.copies(id)), 0)
	s.expect("linked to the note again", s.backlinks(s.notes.Str("noteId")), []string{"Planning", "Write the report"})
	s.expectStats(s.finalStats())
}

func (s *story) finalStats() map[string]int64 {
	return map[string]int64{
		"totalEvents": 4, "totalTasks": 5, "totalReminders": 1, "totalNotes": 2, "upcomingEvents": 0, "overdueTasks": 3,
	}
}

func (s *story) repeated() {
	s.chapter("Everything is delivered again, twice")
	before := map[string]int{}
	types := []string{"ReminderDue", "TaskArchived", "ItemExpired", "ItemRestored"}
	for _, t := range types {
		before[t] = len(s.events(t))
	}
	delivered := s.post("/dev/redeliver", object{"from": "start", "times": 2}).Object("delivered")
	s.waitUntilIdle()
	s.say("All records since Monday came to all consumers two more times: %d to projections, %d to effects.",
		delivered.Int("projections"), delivered.Int("effects"))
	s.expect("projections got some", delivered.Int("projections") > 0, true)
	s.expect("effects got some", delivered.Int("effects") > 0, true)
	for _, t := range types {
		s.expect("deliveries of "+t, len(s.events(t)), before[t])
	}
	s.expectSchedules(nil)
	s.expectStats(s.lastStats())
}

func (s *story) recounted() {
	s.chapter("Recount")
	s.say("The statistics against what the lists hold:")
	count := func(path string) int { return len(s.get(path).List("items")) }
	agenda := func(types string) int {
		things := map[string]bool{} // a series counts as one, independent of its occurrences
		for _, it := range s.agenda(s.monday.AddDate(0, 0, -30), s.monday.AddDate(0, 0, 330), types) {
			things[cmp.Or(it.Str("masterId"), it.Str("eventId"), it.Str("reminderId"))] = true
		}
		return len(things)
	}
	tasks := 0
	for _, status := range []string{"BACKLOG", "IN_PROGRESS", "COMPLETED", "ARCHIVED"} {
		tasks += count("/v1/tasks?status=" + status)
	}
	notes := 0
	for _, state := range []string{"pinned", "recent", "archived"} {
		notes += count("/v1/notes?state=" + state)
	}
	stats := s.get("/v1/me").Object("stats")
	s.expect("events", stats.Int("totalEvents"), agenda("EVENT"))
	s.expect("tasks", stats.Int("totalTasks"), tasks)
	s.expect("reminders", stats.Int("totalReminders"), agenda("REMINDER"))
	s.expect("notes", stats.Int("totalNotes"), notes)
	s.expect("records that anybody could not process", count("/dev/parked"), 0)
	s.expect("reminders missed", s.get("/dev/info").Int("missed"), 0)
}
