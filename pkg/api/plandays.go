package api

import (
	"context"
	"net/http"
	"strconv"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/revision/plan"
)

// planDaysOperation returns the operation that sums up the plans of several days.
func planDaysOperation() *operation {
	count := func(doc string) object {
		return object{{"type", "integer"}, {"minimum", 0}, {"description", doc}}
	}
	var minutes object
	var types []string
	for _, t := range plan.BlockTypes() {
		minutes = append(minutes, member{string(t), count("Minutes of blocks of this type.")})
		types = append(types, string(t))
	}
	day := object{
		{"type", "object"},
		{"properties", object{
			{memberDate, object{{"type", "string"}, {"format", "date"}, {"description", "The day."}}},
			{"todos", count("To-dos of the day.")}, {"done", count("To-dos of the day that are completed.")},
			{"minutes", object{{"type", "object"}, {"properties", minutes}, {"required", types}}},
			{"doneMinutes", count("Minutes of the pomodoros whose to-do is completed.")},
		}},
		{"required", []string{memberDate, "todos", "done", "minutes", "doneMinutes"}},
	}
	window := " day, YYYY-MM-DD."
	return &operation{
		id: "listPlans", method: http.MethodGet, path: "/v1/plans", tag: "me",
		summary: "Compare the time planned and done, by day",
		detail: "A summary of the present plan of each day from from to to, both included. A day without a plan is left " +
			"out. The time done is that of the pomodoros whose to-do is completed.",
		query: []entity.Field{
			{Name: "from", Kind: entity.Date, Required: true, Doc: "First" + window},
			{Name: "to", Kind: entity.Date, Required: true,
				Doc: "Last" + window + " At most " + strconv.Itoa(plan.MaxDays) + " days with the first."},
		},
		answers: []documented{{status: http.StatusOK, doc: "The days.", schema: object{
			{"type", "object"},
			{"properties", object{{"items", object{{"type", "array"}, {"maxItems", plan.MaxDays}, {"items", day}}}}},
			{"required", []string{"items"}},
		}}},
		run: listPlans,
	}
}

func listPlans(ctx context.Context, s *Config, c call) (answer, error) {
	first, err := item.ParseDate(c.query.Str("from"))
	if err != nil {
		return answer{}, err
	}
	last, err := item.ParseDate(c.query.Str("to"))
	if err != nil {
		return answer{}, err
	}
	var wrong entity.Faults
	switch {
	case last.Before(first):
		wrong.Add("to", "must not be before from, which is %s", item.FormatDate(first))
	case last.After(first.AddDate(0, 0, plan.MaxDays-1)):
		wrong.Add("to", "must be at most %d days from from, that day included", plan.MaxDays)
	}
	if err := entity.Invalid(wrong); err != nil {
		return answer{}, err
	}
	days, err := s.Plans.Days(ctx, c.user, first, last)
	if err != nil {
		return answer{}, err
	}
	return viewAnswer(http.StatusOK, map[string][]plan.Day{"items": days})
}
