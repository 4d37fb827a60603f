package api

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// Members of the statistics that are counted when read.
const (
	memberUpcoming = "upcomingEvents"
	memberOverdue  = "overdueTasks"
	memberAsOf     = "asOf"
)

// meOperations returns the operations on the user's own row.
func meOperations(r *entity.Registry) []*operation {
	t := r.ByName(entity.TypeUserMeta)
	if t == nil {
		return nil
	}
	stats, _ := t.Field(product.AttrStats)
	totals := form(stats.Fields...)
	return []*operation{
		watchOperation(), insightsOperation(),
		{
			id: "getMe", method: http.MethodGet, path: "/v1/me", tag: "me",
			summary: "Read the user's zone, preferences and totals", detail: "Until the first change: the defaults, at " +
				"version 0. nearLimits names the quotas of which 80 percent are used, and leaving says when the " +
				"account is to be erased. " +
				"Statistics change without a new version, so If-None-Match is not looked at.",
			answers: []documented{entityAnswer(http.StatusOK, t, "The user's own row.")},
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				it, err := s.Queries.Me(ctx, c.user)
				more := append(s.nearLimits(it), leaving(c.eraseAt)...)
				return answer{status: http.StatusOK, typ: t, item: it, more: more}, err
			},
		},
		{
			id: "updateMe", method: http.MethodPatch, path: "/v1/me", tag: "me", writes: true, precondition: needsVersion,
			summary: "Change the user's zone and preferences",
			detail:  `A JSON Merge Patch (RFC 7396): null brings a default back. The first change is made with If-Match: "0".`,
			body: &body{
				schema: schemaRef(entityNoun(t) + "Patch"), required: true, patch: true,
				example: map[string]any{product.AttrDefaultTzid: "Europe/London"},
			},
			answers: []documented{entityAnswer(http.StatusOK, t, "The user's own row as it is now.")},
			run:     updateMe,
		},
		{
			id: "getStats", method: http.MethodGet, path: "/v1/me/stats", tag: "me",
			summary: "Read the statistics as of now",
			detail:  "The totals, with what moves by the clock: events still to come and tasks past their due time.",
			answers: []documented{{status: http.StatusOK, doc: "The statistics.", schema: statsSchema(totals)}},
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				now, err := s.Queries.Stats(ctx, c.user)
				if err != nil {
					return answer{}, err
				}
				out := totals.AppendMembers([]byte{'{'}, now.Totals)
				out = strconv.AppendInt(append(out, `,"`+memberUpcoming+`":`...), int64(now.UpcomingEvents), 10)
				out = strconv.AppendInt(append(out, `,"`+memberOverdue+`":`...), int64(now.OverdueTasks), 10)
				counted := slices.Clip(out) // equal counts have one tag, independent of their time
				out = appendText(append(counted, `,"`+memberAsOf+`":`...), item.FormatInstant(now.AsOf))
				return answer{status: http.StatusOK, body: append(out, '}'), tagged: counted}, nil
			},
		},
	}
}

func statsSchema(totals *entity.Type) object {
	count := func(doc string) object {
		return object{{"type", "integer"}, {"minimum", 0}, {"description", doc}}
	}
	properties := append(properties(totals.Fields, shown),
		member{memberUpcoming, count("Events that begin after asOf.")},
		member{memberOverdue, count("Open tasks whose due time has come.")},
		member{
			memberAsOf, object{{"type", "string"}, {"format", "date-time"}, {"description", "When the counts were taken."}},
		},
	)
	return object{
		{"type", "object"}, {"properties", properties},
		{"required", append(required(totals.Fields, shown), memberUpcoming, memberOverdue, memberAsOf)},
	}
}
