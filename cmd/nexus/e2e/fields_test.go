package e2e_test

import (
	"fmt"
	"time"
)

// fields are random contents of a kind of entity that differ from all others by their title. Instants lie at least a
// quarter of an hour from the load's beginning, so that what is past stays past and what is to come stays to come.
func (w *worker) fields(kind string) map[string]any {
	out := map[string]any{"title": fmt.Sprintf("%s «%d» 予定 %s", kind, w.steps, w.key())}
	if w.rand.IntN(3) == 0 {
		out["tags"] = []string{"home", fmt.Sprintf("tag %d", w.rand.IntN(20))}
	}
	switch kind {
	case "TASK":
		w.taskFields(out)
	case "NOTE":
		out["body"] = fmt.Sprintf("# Heading\n\n\"quoted\" \\ and <tags> & %d", w.rand.Int())
		out["isPinned"] = w.rand.IntN(2) == 0
		out["status"] = []string{"ACTIVE", "ACTIVE", "ARCHIVED"}[w.rand.IntN(3)]
	case "EVENT":
		w.eventFields(out)
	case "REMINDER":
		out["triggerUtc"], out["tzid"] = w.instant(72).Format(time.RFC3339), "Europe/London"
		out["rrule"] = []any{nil, nil, "FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,TH", "FREQ=DAILY;COUNT=4"}[w.rand.IntN(5)]
	}
	return out
}

// isTime says that a member says when an item is: such members only make sense together.
func isTime(name string) bool {
	switch name {
	case "isAllDay", "dueDate", "dueUtc", "dueTzid", "startUtc", "endUtc", "startTzid", "startDate", "endDate",
		"reminderMinutes", "triggerUtc", "tzid", "rrule":
		return true
	}
	return false
}

func (w *worker) taskFields(out map[string]any) {
	out["status"] = []string{"BACKLOG", "BACKLOG", "IN_PROGRESS", "COMPLETED", "ARCHIVED"}[w.rand.IntN(5)]
	out["priority"] = 1 + w.rand.IntN(5)
	// Every member about time is named, null where it is absent, so that the same members make a patch as well.
	out["isAllDay"], out["dueDate"], out["dueUtc"], out["dueTzid"], out["startUtc"] = false, nil, nil, nil, nil
	out["reminderMinutes"] = nil
	switch due := w.instant(72); w.rand.IntN(4) {
	case 0: // not dated
	case 1:
		out["isAllDay"], out["dueDate"] = true, due.Format(time.DateOnly)
	case 2:
		out["dueUtc"] = w.floating()
	default:
		out["dueUtc"], out["dueTzid"] = due.Format(time.RFC3339), "Asia/Tokyo"
		out["reminderMinutes"] = w.offsets()
	}
}

func (w *worker) eventFields(out map[string]any) {
	out["status"] = []string{"CONFIRMED", "CONFIRMED", "TENTATIVE", "CANCELLED"}[w.rand.IntN(4)]
	out["isAllDay"], out["startDate"], out["startUtc"], out["endUtc"], out["startTzid"], out["reminderMinutes"] = false,
		nil, nil, nil, nil, nil
	out["endDate"] = nil
	switch start := w.instant(72); w.rand.IntN(4) {
	case 0:
		out["isAllDay"], out["startDate"] = true, start.Format(time.DateOnly)
	case 1:
		out["startUtc"] = w.floating()
	default:
		out["startUtc"], out["startTzid"] = start.Format(time.RFC3339), "America/New_York"
		out["endUtc"] = start.Add(time.Duration(w.rand.IntN(40)) * time.Hour).Format(time.RFC3339)
		out["reminderMinutes"] = w.offsets()
	}
}

// instant is so many hours around now, half an hour off.
func (w *worker) instant(hours int) time.Time {
	around := time.Duration(w.rand.IntN(2*hours)-hours) * time.Hour
	return w.base.Add(around + 30*time.Minute).UTC().Truncate(time.Second)
}

// floating is a reading of the wall clock.
func (w *worker) floating() string { return w.instant(72).Format("2006-01-02T15:04:05") }

func (w *worker) offsets() []int {
	return [][]int{{0}, {15}, {60, 15}, {1440}, {120, 60, 0}}[w.rand.IntN(5)]
}
