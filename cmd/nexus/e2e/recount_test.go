package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// totalOf names the statistic that counts a kind of entity.
var totalOf = map[string]string{
	"EVENT": "totalEvents", "MASTER": "totalEvents", "TASK": "totalTasks", "REMINDER": "totalReminders",
	"NOTE": "totalNotes",
}

// id is an entity's id by its row.
func (r row) id() string {
	if r.kind() == "INSTANCE" {
		return "inst_" + r.date() + "_" + strings.TrimPrefix(strings.Split(r.text("SK"), "#")[1], "mst_")
	}
	_, id, _ := strings.Cut(r.text("SK"), "#")
	return id
}

// isEntity says that a row is something of its user's.
func (r row) isEntity() bool { return totalOf[r.kind()] != "" || r.kind() == "INSTANCE" }

// node is an entity's type and id, as links name it.
func (r row) node() string { return r.kind() + "#" + r.id() }

// recount compares everything derived with what it is derived from, by a scan of the table, and returns what differs.
// The system has settled. It returns the rows as well, for callers that have more to compare.
func (s *system) recount() (rows []row, differences []string) {
	s.t.Helper()
	rows = s.scan()
	byUser := map[string][]row{}
	for _, r := range rows {
		byUser[r.user()] = append(byUser[r.user()], r)
	}
	for _, user := range slices.Sorted(maps.Keys(byUser)) {
		own := byUser[user]
		differences = append(differences, s.recountStats(user, own)...)
		differences = append(differences, recountLinks(own)...)
		differences = append(differences, s.recountArchive(user, own)...)
	}
	differences = append(differences, s.recountSeries(rows)...)
	return rows, append(differences, s.recountSchedules(rows)...)
}

// recountStats holds the statistics that a user reads against the user's rows.
func (s *system) recountStats(user string, rows []row) []string {
	s.t.Helper()
	stats := s.client(user).get("/v1/me/stats")
	asOf, err := time.Parse(time.RFC3339, fmt.Sprint(stats["asOf"]))
	require.NoError(s.t, err, "asOf of %v", stats)
	zone := time.UTC
	want := map[string]int64{
		"totalEvents": 0, "totalTasks": 0, "totalReminders": 0, "totalNotes": 0, "upcomingEvents": 0, "overdueTasks": 0,
	}
	for _, r := range rows {
		if r.kind() == "USER_META" && r.text("defaultTzid") != "" {
			zone, err = time.LoadLocation(r.text("defaultTzid"))
			require.NoError(s.t, err)
		}
	}
	for _, r := range rows {
		if total := totalOf[r.kind()]; total != "" {
			want[total]++
		}
		if r.kind() == "MASTER" {
			if last, ends := r.last(s.t, zone); r.text("status") != "CANCELLED" && (!ends || last.After(asOf)) {
				want["upcomingEvents"]++
			}
			continue
		}
		at, timed := r.moment(s, zone)
		switch status := r.text("status"); {
		case r.kind() == "EVENT" && status != "CANCELLED" && timed && at.After(asOf):
			want["upcomingEvents"]++
		case r.kind() == "TASK" && (status == "BACKLOG" || status == "IN_PROGRESS") && timed && !at.After(asOf):
			want["overdueTasks"]++
		}
	}
	var differences []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got, err := wholeNumber(stats, name); err != nil || got != want[name] {
			differences = append(differences,
				fmt.Sprintf("%s of %s is %v, recounted %d (%v)", name, user, stats[name], want[name], err))
		}
	}
	return differences
}

// moment is when an event starts or a task is due, floating readings resolved in the zone: for an all-day task that is
// the midnight after its day.
func (r row) moment(s *system, zone *time.Location) (at time.Time, ok bool) {
	s.t.Helper()
	attribute, tzid := "startUtc", "startTzid"
	if r.kind() == "TASK" {
		attribute, tzid = "dueUtc", "dueTzid"
	}
	if r["isAllDay"] == true {
		day, after := r.text("startDate"), 0
		if r.kind() == "TASK" {
			day, after = r.text("dueDate"), 1
		}
		at, err := time.ParseInLocation(time.DateOnly, day, zone)
		require.NoError(s.t, err, "%s", r)
		return at.AddDate(0, 0, after), true
	}
	if r.text(attribute) == "" {
		return time.Time{}, false
	}
	if r.text(tzid) != "" {
		zone = time.UTC
	}
	at, err := time.ParseInLocation("2006-01-02T15:04:05Z", r.text(attribute), zone)
	require.NoError(s.t, err, "%s", r)
	return at, true
}

// recountLinks holds one user's edges against the links of the user's items: exactly those rows, exactly so.
func recountLinks(rows []row) []string {
	want, got := map[string]row{}, map[string]row{}
	for _, r := range rows {
		if r.kind() == "LINK" {
			got[r.key()] = r
		}
		if !r.isEntity() {
			continue
		}
		links, _ := r["links"].([]any)
		for _, l := range links {
			link := row(l.(map[string]any))
			target := link.text("targetType") + "#" + link.text("targetId")
			edge := row{
				"PK": r.text("PK"), "SK": "LINK#" + r.node() + "#" + target,
				"GSI4PK": "LINKED#" + strings.TrimPrefix(r.text("PK"), "USER#") + "#" + target, "GSI4SK": r.node(),
			}
			want[edge.key()] = edge
		}
	}
	var differences []string
	for key, edge := range want {
		if text := got[key].String(); text != edge.String() {
			differences = append(differences, fmt.Sprintf("edge %s is %s", edge, text))
		}
	}
	for key := range got {
		if want[key] == nil {
			differences = append(differences, "edge "+key+" belongs to no link")
		}
	}
	return differences
}

// recountArchive holds what the archive keeps against the user's items: a timer for every task that was completed, a
// cold copy and an end for every item that is over, neither for any other.
func (s *system) recountArchive(user string, rows []row) []string {
	s.t.Helper()
	timers, cold := map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		switch r.kind() {
		case "TIMER":
			timers[strings.Split(r.text("SK"), "#")[2]+" at "+fmt.Sprint(r["ttl"])] = true
		case "COLD":
			cold[r.id()] = true
		}
	}
	var differences []string
	living := map[string]bool{}
	for _, r := range rows {
		if !r.isEntity() {
			continue
		}
		living[r.id()] = true
		status := r.text("status")
		if at, err := time.Parse(time.RFC3339, r.text("archiveAt")); status == "COMPLETED" && r.kind() == "TASK" &&
			err == nil {
			if timer := fmt.Sprintf("%s at %d", r.id(), at.Unix()); !timers[timer] {
				differences = append(differences, "no timer for "+timer)
			}
		}
		over := r.kind() == "TASK" && status == "ARCHIVED" || r.kind() == "EVENT" && status == "CANCELLED" ||
			r.kind() == "REMINDER" && (status == "COMPLETED" || status == "DISMISSED")
		_, ends := r["ttl"]
		if ends != over || cold[r.id()] != over {
			differences = append(differences,
				fmt.Sprintf("%s, status %s: ttl %v, cold copy %t", r.key(), status, r["ttl"], cold[r.id()]))
		}
		if over {
			name := fmt.Sprintf("archive/%s/%s/%s.json", user, r.id(), r["version"])
			if got, err := s.anonymous().call(s.t.Context(),
				request{method: http.MethodGet, path: "/dev/blobs/" + name}); err != nil || got.status != http.StatusOK {
				differences = append(differences, fmt.Sprintf("cold copy %s: %s, %v", name, got, err))
			}
		}
	}
	for id := range cold {
		if !living[id] {
			differences = append(differences, "cold copy of "+id+", which is not there")
		}
	}
	return differences
}

// recountSchedules holds the schedules that are still to be called against the items: one for each offset of each item
// whose instant is to come, and no other. Items of the tests are due in a zone, never within a minute of now.
func (s *system) recountSchedules(rows []row) []string {
	s.t.Helper()
	now := s.now()
	want := map[string]string{} // by text, whose it is
	for _, r := range rows {
		for offset, at := range r.dues(s, now) {
			if at.After(now) {
				want[fmt.Sprintf("%s %s %d at %s", r.user(), r.id(), offset, at.Format(time.RFC3339))] = r.id()
			}
		}
	}
	for d, at := range s.seriesDues(rows, now) {
		want[fmt.Sprintf("%s %s %d at %s", d.user, d.id, d.offset, at.UTC().Format(time.RFC3339))] = d.id
	}
	var differences []string
	for _, sch := range s.pending() {
		text := fmt.Sprintf("%s %s %d at %s", sch.Payload.UserID, sch.Payload.ItemID, sch.Payload.OffsetMinutes,
			sch.At.UTC().Format(time.RFC3339))
		if want[text] == "" {
			differences = append(differences, "schedule without an item: "+text+about(rows, sch.Payload.ItemID))
		}
		delete(want, text)
	}
	for text, id := range want {
		differences = append(differences, "no schedule for "+text+about(rows, id))
	}
	return differences
}

// about shows the rows that decide about an item's schedules, and the deliveries of what was delivered.
func about(rows []row, id string) string {
	_, series, _ := strings.Cut(strings.TrimPrefix(id, "inst_"), "_")
	var out strings.Builder
	for _, r := range rows {
		switch r.kind() {
		case "EVENT", "TASK", "REMINDER", "MASTER", "INSTANCE", "FIRED":
			if strings.Contains(r.text("SK"), id) || strings.Contains(r.text("SK"), "mst_"+series) {
				out.WriteString("\n\t" + r.String())
			}
		}
	}
	return out.String()
}

// dues are the instants at which an item is to be announced, by offset in minutes. Floating items of the tests have
// none.
func (r row) dues(s *system, now time.Time) map[int64]time.Time {
	s.t.Helper()
	out := map[int64]time.Time{}
	switch status := r.text("status"); {
	case r.kind() == "EVENT" && status != "CANCELLED",
		r.kind() == "TASK" && (status == "BACKLOG" || status == "IN_PROGRESS"):
		at, timed := r.moment(s, time.UTC)
		for _, minutes := range r.offsets(s.t) {
			require.True(s.t, timed, "%s has offsets and no time", r)
			out[minutes] = at.Add(-time.Duration(minutes) * time.Minute)
		}
	case r.kind() == "REMINDER" && (status == "PENDING" || status == "SNOOZED"):
		if at, ok := r.nextTrigger(s, now); ok {
			out[0] = at
		}
	}
	return out
}

// nextTrigger is the earlier of a reminder's snooze and its trigger, of a recurring one the first that is to come. What
// was put off and delivered before its trigger is over.
func (r row) nextTrigger(s *system, now time.Time) (at time.Time, ok bool) {
	s.t.Helper()
	note := func(instant time.Time) {
		if instant.After(now) && (!ok || instant.Before(at)) {
			at, ok = instant, true
		}
	}
	trigger := r.wall(s.t, "triggerUtc")
	delivered := func(at time.Time) bool {
		return r.text("lastFiredUtc") != "" && !at.After(r.wall(s.t, "lastFiredUtc"))
	}
	isRecurring := r.text("rrule") != ""
	if r.text("status") == "SNOOZED" {
		state := row(r["snoozeState"].(map[string]any))
		note(state.wall(s.t, "untilUtc"))
	}
	switch {
	case !isRecurring && r.text("status") == "PENDING" && !delivered(trigger):
		note(trigger)
	case isRecurring:
		n := 0
		for o := range r.expansion(s.t).Each(time.Time{}, time.Time{}) {
			isOver := delivered(o.Start) || o.Start.Before(trigger) ||
				o.Start.Equal(trigger) && r.text("doneTriggerUtc") == r.text("triggerUtc")
			if !isOver && o.Start.After(now) {
				note(o.Start)
				break
			}
			n++
			require.Less(s.t, n, maxExpanded, "triggers of %s", r)
		}
	}
	return at, ok
}
