package api

import (
	"context"
	"net/http"
	"strconv"

	"nexus/pkg/entity"
	"nexus/pkg/product"
	"nexus/pkg/query"
)

// Members of the insights.
const (
	memberCompleted  = "completed"
	memberLate       = "overdue"
	memberByPriority = "byPriority"
	memberDays       = "days"
	memberStreak     = "streak"
)

// insightsOperation returns the operation that counts what was completed on the days of a window.
func insightsOperation() *operation {
	return &operation{
		id: "getInsights", method: http.MethodGet, path: "/v1/me/insights", tag: "me",
		summary: "Count the completed and the overdue tasks by day",
		detail: "Tasks by the day of their completion, completedOn, both ends included. Archived tasks count, and those " +
			"that have left for the archive. A deleted or reopened task does not. A task that is overdue counts on the day " +
			"on which it became so. A change shows within a second or so.",
		query: []entity.Field{
			{Name: "from", Kind: entity.Date, Doc: "First day; that of the present week by the user's weekStart unless given."},
			{Name: "to", Kind: entity.Date, Doc: "Last day, at most 366 days with the first; that of this week unless given."},
		},
		answers: []documented{{status: http.StatusOK, doc: "The insights.", schema: insightsSchema()}},
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			in, err := s.Queries.Insights(ctx, c.user, c.query.Str("from"), c.query.Str("to"))
			if err != nil {
				return answer{}, err
			}
			return answer{status: http.StatusOK, body: appendInsights(nil, in)}, nil
		},
	}
}

func appendInsights(out []byte, in query.Insights) []byte {
	number := func(name string, n int) {
		out = strconv.AppendInt(append(out, `"`+name+`":`...), int64(n), 10)
	}
	out = append(out, `{"from":"`+in.From+`","to":"`+in.To+`",`...) // digits and hyphens alone
	number(memberCompleted, in.Completed)
	out = append(out, ',')
	number(memberLate, in.Overdue)
	out = append(out, `,"`+memberByPriority+`":{`...)
	for p := int64(product.MinPriority); p <= product.MaxPriority; p++ {
		if p > product.MinPriority {
			out = append(out, ',')
		}
		number(strconv.FormatInt(p, 10), in.ByPriority[p])
	}
	out = append(out, `},"`+memberDays+`":[`...)
	for i, day := range in.Days {
		out = append(appendComma(out, i), `{"`+memberDate+`":"`+day.Date+`",`...)
		number(memberCompleted, day.Completed)
		out = append(out, ',')
		number(memberLate, day.Overdue)
		out = append(out, '}')
	}
	out = append(out, `],`...)
	number(memberStreak, in.Streak)
	return append(out, '}')
}

func insightsSchema() object {
	count := func(doc string) object {
		return object{{"type", "integer"}, {"minimum", 0}, {"description", doc}}
	}
	day := func(doc string) object {
		return object{{"type", "string"}, {"format", "date"}, {"description", doc}}
	}
	var priorities object
	var names []string
	for p := int64(product.MinPriority); p <= product.MaxPriority; p++ {
		name := strconv.FormatInt(p, 10)
		names = append(names, name)
		priorities = append(priorities, member{name, count("Tasks of priority " + name + ".")})
	}
	return object{
		{"type", "object"},
		{"properties", object{
			{"from", day("The first day.")}, {"to", day("The last day.")},
			{memberCompleted, count("Tasks completed on these days.")},
			{memberLate, count("Open tasks that became overdue on these days.")},
			{memberByPriority, object{
				{"type", "object"}, {"description", "Tasks completed on these days, by priority."},
				{"properties", priorities}, {"required", names},
			}},
			{memberDays, object{
				{"type", "array"}, {"maxItems", 366}, {"description", "Each day of the window."},
				{"items", object{
					{"type", "object"},
					{"properties", object{
						{memberDate, day("The day.")}, {memberCompleted, count("Tasks completed on it.")},
						{memberLate, count("Open tasks that became overdue on it.")},
					}},
					{"required", []string{memberDate, memberCompleted, memberLate}},
				}},
			}},
			{memberStreak, count("Days in a row with a completion up to today, or yesterday; counted inside 366 days.")},
		}},
		{"required", []string{"from", "to", memberCompleted, memberLate, memberByPriority, memberDays, memberStreak}},
	}
}
