package query

import (
	"context"
	"fmt"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

const (
	// maxInsightDays bounds the window of insights. A streak is counted inside as many days.
	maxInsightDays = 366
	// streakPage is how many completions of a streak are read at a time: one of each of its days is enough.
	streakPage = 50
)

// Insights count what a user completed on the days of a window, and what was due on them and is still open.
type Insights struct {
	From, To   string // dates, both inclusive
	Completed  int
	Overdue    int
	ByPriority map[int64]int
	Days       []DayCount // each day of the window
	// Streak is the number of days in a row with a completion, of which the last is today or yesterday.
	Streak int
}

// DayCount is how many tasks were completed on a date, and how many became overdue on it and are so still.
type DayCount struct {
	Date      string
	Completed int
	Overdue   int
}

// Insights counts the completions of the dates from and to, of which an empty one is that of the present week: it
// begins on the user's first weekday. Completions stay after their tasks have expired. It reads a range of small rows,
// which the insights keep in the state view, those of the statistics for overdue tasks, and the days of the streak. An
// [*entity.ValidationError] names a date that
// is none, or a window that is too long.
func (s *Service) Insights(ctx context.Context, user, from, to string) (Insights, error) {
	meta, err := s.Me(ctx, user)
	if err != nil {
		return Insights{}, err
	}
	settings := product.Settings(meta)
	zone := product.ZoneOf(settings)
	today, err := item.ParseDate(item.FormatDate(s.now().In(zone)))
	if err != nil {
		return Insights{}, fmt.Errorf("today: %w", err)
	}
	first, last, err := insightWindow(from, to, weekOf(today, settings.Int("weekStart")))
	if err != nil {
		return Insights{}, err
	}
	out := Insights{From: item.FormatDate(first), To: item.FormatDate(last), ByPriority: map[int64]int{}}
	completed, late := map[string]int{}, map[string]int{}
	for row, err := range table.Rows(ctx, s.store, completions(user, first, last), 0) {
		if err != nil {
			return Insights{}, fmt.Errorf("completions of %s: %w", entity.UserPK(user), err)
		}
		if day, priority, ok := product.Completion(row); ok {
			completed[day]++
			out.ByPriority[priority]++
		}
	}
	if err := s.overdueByDay(ctx, user, first, last, zone, late); err != nil {
		return Insights{}, fmt.Errorf("overdue tasks of %s: %w", entity.UserPK(user), err)
	}
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		date := item.FormatDate(day)
		out.Days = append(out.Days, DayCount{date, completed[date], late[date]})
		out.Completed, out.Overdue = out.Completed+completed[date], out.Overdue+late[date]
	}
	out.Streak, err = s.streak(ctx, user, today)
	return out, err
}

// overdueByDay counts the tasks that are overdue by the day on which they became so, in the zone. A time at midnight
// belongs to the day that it ends.
func (s *Service) overdueByDay(
	ctx context.Context, user string, first, last time.Time, zone *time.Location, counts map[string]int,
) error {
	now, after := s.now().UTC().Truncate(time.Second), last.AddDate(0, 0, 1)
	latest := item.LatestWall(now, zone)
	ranges := []struct {
		floating bool
		from, to time.Time
		dates    *time.Location
	}{
		{false, item.Resolve(first, zone), earlier(item.Resolve(after, zone), now), zone},
		{true, first, earlier(after, latest), time.UTC},
	}
	for _, r := range ranges {
		if !r.from.Before(r.to) {
			continue
		}
		prefix := entity.OpenPrefix(product.TypeTask, r.floating)
		due := open{
			entity.OpenSK(product.TypeTask, r.floating, r.from.Add(time.Second)),
			entity.OpenSK(product.TypeTask, r.floating, r.to),
		}
		for row, err := range table.Rows(ctx, s.store, due.query(user), 0) {
			if err != nil {
				return err
			}
			at, err := item.ParseInstant(strings.TrimPrefix(row.Str(item.AttrGSI3SK), prefix))
			if err != nil {
				return fmt.Errorf("%s: %w", row.Key(), err)
			}
			counts[item.FormatDate(at.Add(-time.Second).In(r.dates))]++
		}
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// streak counts the days in a row with a completion back from today, or from yesterday if there is none today. Of each
// page it continues behind the last day of which it has seen a completion.
func (s *Service) streak(ctx context.Context, user string, today time.Time) (days int, err error) {
	oldest := today.AddDate(0, 0, 1-maxInsightDays)
	next := today // the day that would continue the streak
	for !next.Before(oldest) {
		q := completions(user, oldest, next)
		q.Descending, q.Limit = true, streakPage
		page, err := s.store.Query(ctx, q)
		if err != nil {
			return 0, fmt.Errorf("streak of %s: %w", entity.UserPK(user), err)
		}
		before := next
		for _, row := range page.Items {
			text, _, _ := product.Completion(row)
			day, err := item.ParseDate(text)
			isYesterday := days == 0 && next.Equal(today) && day.Equal(today.AddDate(0, 0, -1))
			switch {
			case err != nil || day.After(next):
			case day.Equal(next), isYesterday:
				days++
				next = day.AddDate(0, 0, -1)
			default:
				return days, nil
			}
		}
		if next.Equal(before) {
			break
		}
	}
	return days, nil
}

// completions returns the query of the rows at the days.
func completions(user string, first, last time.Time) table.Query {
	return table.Query{Index: table.StateView, Partition: entity.UserPK(user), Range: table.Range{
		From: product.DoneSK(item.FormatDate(first)), To: product.DoneSK(item.FormatDate(last)),
	}}
}

// weekOf returns the first and the last day of the week of a day; the week begins on Sunday (0) or Monday (1).
func weekOf(day time.Time, start int64) [2]time.Time {
	back := (int(day.Weekday()) - int(start) + 7) % 7
	first := day.AddDate(0, 0, -back)
	return [2]time.Time{first, first.AddDate(0, 0, 6)}
}

// insightWindow reads the bounds of a window. One that is not given is that of the week.
func insightWindow(from, to string, week [2]time.Time) (first, last time.Time, err error) {
	var wrong entity.Faults
	bounds := week
	for i, bound := range []struct{ name, text string }{{"from", from}, {"to", to}} {
		if bound.text == "" {
			continue
		}
		day, err := item.ParseDate(bound.text)
		if err != nil || day.Year() < minYear || day.Year() > maxYear {
			wrong.Add(bound.name, "must be a date YYYY-MM-DD in the years %d to %d", minYear, maxYear)
			continue
		}
		bounds[i] = day
	}
	first, last = bounds[0], bounds[1]
	if len(wrong) > 0 {
		return first, last, entity.Invalid(wrong)
	}
	begin, end := item.FormatDate(first), item.FormatDate(last)
	if from == "" {
		begin += ", the first day of this week"
	}
	isLong := last.After(first.AddDate(0, 0, maxInsightDays-1))
	switch {
	case last.Before(first) && to == "":
		wrong.Add("from", "must not be after to, which is %s, the last day of this week", end)
	case last.Before(first):
		wrong.Add("to", "must not be before from, which is %s", begin)
	case isLong && to == "":
		wrong.Add("from", "must be at most %d days from to, which is %s, the last day of this week, that day included",
			maxInsightDays, end)
	case isLong:
		wrong.Add("to", "must be at most %d days from from, which is %s, that day included", maxInsightDays, begin)
	}
	return first, last, entity.Invalid(wrong)
}
