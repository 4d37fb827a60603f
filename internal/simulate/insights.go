package simulate

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/insights"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// completion is a task's completion as the log of writes has it: it outlives the task, unless the user takes it back.
type completion struct {
	at, day  string
	priority int64
}

// zoneSpan is a zone that a user had, from a record of the log on.
type zoneSpan struct {
	from int
	zone *time.Location
}

// noteZone keeps the zones that a user has had: a command stamps the day by the one that it has read.
func (h *history) noteZone(s *userState) {
	zone := s.zone()
	if n := len(s.zones); n == 0 || s.zones[n-1].zone.String() != zone.String() {
		s.zones = append(s.zones, zoneSpan{len(h.stream.log), zone})
	}
}

// dated returns the day that a request gives to a completion; empty for none.
func dated(cmd command.Command) string {
	var fields map[string]any
	switch cmd := cmd.(type) {
	case command.Update:
		fields = cmd.Patch
	case command.Create:
		fields = cmd.Fields
	}
	day, _ := fields[product.AttrCompletedOn].(string)
	return day
}

// noteCompletion follows the completion of a task (docs/insights.md). What a command writes is checked: a completion
// has the day that the client gave, or that of the user's clock.
func (h *history) noteCompletion(s *userState, r *record, ref entity.Ref) {
	at, isDone := r.New.Time(product.AttrCompletedAt)
	status := r.New.Str(entity.AttrStatus)
	isDone = isDone && (status == product.StatusCompleted || status == product.StatusArchived)
	was, wasDone := s.completions[ref.ID]
	switch {
	case r.New == nil && r.Expired:
		if wasDone {
			h.happened["completion that outlives its task"]++
		}
		return
	case !isDone:
		delete(s.completions, ref.ID)
		return
	}
	now := completion{r.New.Str(product.AttrCompletedAt), was.day, r.New.Int(product.AttrPriority)}
	isNew := !wasDone || was.at != now.at || // or again within a second
		status == product.StatusCompleted && r.Old != nil && r.Old.Str(entity.AttrStatus) != status
	given := ""
	if r.by == commanding {
		given = h.writer.dated
	}
	isStamped := r.New.Str(product.AttrCompletedOnAt) == now.at // by this release, maybe within the same second
	switch {
	case isNew && h.byFormer() && !isStamped:
		now.day = at.UTC().Format(time.DateOnly) // a release before stamps no day
	case isNew && h.byFormer():
		now.day = r.New.Str(product.AttrCompletedOn)
	case given != "" && isNew, given != "" && r.New.Str(product.AttrCompletedOn) == given:
		now.day = given
		h.happened["completion dated by its client"]++
	case isNew:
		now.day = r.New.Str(product.AttrCompletedOn)
		if !h.isOnClock(s, at, now.day) {
			h.violate("I1", s.user, ref.ID, "was completed at %s and is dated %q", item.FormatInstant(at), now.day)
		}
	}
	if is := r.New.Str(product.AttrCompletedOn); is != now.day && isStamped {
		h.violate("I1", s.user, ref.ID, "was completed on %s and is dated %s", now.day, is)
	}
	s.completions[ref.ID] = now
}

// isOnClock reports whether it is the date of an instant on the user's clock, in a zone that the user had since the
// command began.
func (h *history) isOnClock(s *userState, at time.Time, day string) bool {
	for i, span := range s.zones {
		isPast := i+1 < len(s.zones) && s.zones[i+1].from <= h.writer.since
		if !isPast && at.In(span.zone).Format(time.DateOnly) == day {
			return true
		}
	}
	return len(s.zones) == 0 && at.UTC().Format(time.DateOnly) == day
}

// checkInsights compares, once all is settled, what is in the ledger and what the API says with the log of the
// completions (I2).
func (h *history) checkInsights(s *userState) {
	standing := map[string]string{}
	for id, row := range s.ledgers[insights.Name] {
		if c := row.Str(ledgerContribution); c != "" {
			standing[id] = c + " at " + row.Str(item.AttrGSI3SK)
		}
	}
	byDay := map[string]map[int64]int{}
	for _, id := range slices.Sorted(maps.Keys(s.completions)) {
		c := s.completions[id]
		place := "DONE#TASK#" + c.day
		if want := fmt.Sprintf("i1 %s %d at %s", place, c.priority, place); standing[id] != want {
			h.violate("I2", s.user, id, "stands in the insights as %q, and the log says %q", standing[id], want)
		}
		delete(standing, id)
		if byDay[c.day] == nil {
			byDay[c.day] = map[int64]int{}
		}
		byDay[c.day][c.priority]++
	}
	for id, is := range standing {
		h.violate("I2", s.user, id, "stands in the insights as %q, and the log says nothing", is)
	}
	h.checkInsightsRead(s, byDay)
}

// checkInsightsRead compares an answer about the last year with the log.
func (h *history) checkInsightsRead(s *userState, byDay map[string]map[int64]int) {
	today, _ := time.Parse(time.DateOnly, h.now.In(s.zone()).Format(time.DateOnly))
	first, last := today.AddDate(0, 0, -360), today.AddDate(0, 0, 5)
	in, err := h.direct.Queries.Insights(noContext, s.user, first.Format(time.DateOnly), last.Format(time.DateOnly))
	if err != nil {
		h.violate("I2", s.user, "insights", "are answered %v", err)
		return
	}
	total, byPriority := 0, map[int64]int{}
	for i, day := range in.Days {
		date, n := first.AddDate(0, 0, i).Format(time.DateOnly), 0
		for priority, count := range byDay[date] {
			n, byPriority[priority] = n+count, byPriority[priority]+count
		}
		if day.Date != date || day.Completed != n {
			h.violate("I2", s.user, "insights", "are %d on %s, and the log says %d on %s", day.Completed, day.Date, n, date)
		}
		total += n
	}
	if total != in.Completed || !maps.Equal(byPriority, in.ByPriority) || len(in.Days) != 366 {
		h.violate("I2", s.user, "insights", "are %d, %v in %d days, and the log says %d, %v", in.Completed, in.ByPriority,
			len(in.Days), total, byPriority)
	}
	streak, day := 0, today
	if len(byDay[day.Format(time.DateOnly)]) == 0 {
		day = day.AddDate(0, 0, -1)
	}
	for ; len(byDay[day.Format(time.DateOnly)]) > 0; day = day.AddDate(0, 0, -1) {
		streak++
	}
	if streak != in.Streak {
		h.violate("I2", s.user, "insights", "have a streak of %d days, and the log says %d", in.Streak, streak)
	}
}

// complete is a patch that completes a task: in part with a day of these weeks, as a client does that was offline.
func (a author) complete() string {
	if !a.luck.one(4) {
		return `{"status":"COMPLETED"}`
	}
	day := a.now.In(a.zone()).AddDate(0, 0, -a.luck.IntN(20))
	return fmt.Sprintf(`{"status":"COMPLETED","completedOn":%q}`, day.Format(time.DateOnly))
}
