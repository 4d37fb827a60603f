package api

import (
	"context"
	"net/http"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// maxSnoozeMinutes is four weeks.
const maxSnoozeMinutes = 40320

// reminderOperations returns the actions on a reminder, which depend on its state rather than its version.
func reminderOperations(t *entity.Type) []*operation {
	saw := entity.Field{Name: product.SnoozeOccurrenceUtc, Kind: entity.Instant,
		Doc: "The occurrence that the user saw: RFC 3339 with offset. If it is not the present one: 409."}
	snooze := form(
		entity.Field{
			Name: "minutes", Kind: entity.Integer, Min: 1, Max: maxSnoozeMinutes,
			Doc: "Minutes from now. Either this or untilUtc.",
		},
		entity.Field{
			Name: product.SnoozeUntilUtc, Kind: entity.Instant,
			Doc: "When to remind again: RFC 3339 with offset, in the future, at most 366 days from now.",
		},
		saw,
	)
	end := form(entity.Field{Name: "series", Kind: entity.Flag, Doc: "End all occurrences, not only the present one."},
		saw)
	action := func(verb, summary, detail, conflict string, b *body,
		make func(id string, form item.Item) command.Command) *operation {
		return &operation{
			id: verb + entityNoun(t), method: http.MethodPost, path: "/v1/" + t.Plural + "/{" + t.IDAttr + "}/" + verb,
			tag:    t.Plural,
			writes: true, precondition: mayHaveVersion, summary: summary, detail: detail, body: b, finds: true,
			conflicts: conflict,
			answers:   []documented{entityAnswer(http.StatusOK, t, "The reminder as it is now."), goneAnswer},
			run: func(ctx context.Context, s *Config, c call) (answer, error) {
				return s.do(ctx, c, make(c.path[t.IDAttr], c.form))
			},
		}
	}
	return []*operation{
		action("snooze", "Put a reminder off", "The present occurrence: the one that is snoozed; else the one that rang "+
			"last, or a later one that was due since; else the one of its trigger. "+
			"The trigger of a recurring reminder moves on behind it.",
			"The reminder is completed or dismissed, or its present occurrence is not the one that the user saw.",
			&body{form: snooze, schema: formSchema(snooze), required: true, example: map[string]any{"minutes": 10}},
			func(id string, f item.Item) command.Command {
				cmd := command.SnoozeReminder{ID: id, UntilUtc: f.Str(product.SnoozeUntilUtc), OccurrenceUtc: f.Str(saw.Name)}
				if f.Has("minutes") {
					minutes := f.Int("minutes")
					cmd.Minutes = &minutes
				}
				return cmd
			}),
		action("complete", "Complete a reminder", "Of a recurring reminder the present occurrence alone, unless series "+
			"asks for all or no trigger is left to come. One that is completed already stays as it is.",
			"The reminder is dismissed, or its present occurrence is not the one that the user saw.",
			&body{form: end, schema: formSchema(end), example: map[string]any{"series": false}},
			func(id string, f item.Item) command.Command {
				return command.CompleteReminder{ID: id, Series: f.Bool("series"), OccurrenceUtc: f.Str(saw.Name)}
			}),
		action("dismiss", "Dismiss a reminder", "Of a recurring reminder the present occurrence alone, unless series asks "+
			"for all or no trigger is left to come. One that is dismissed already stays as it is.",
			"The reminder is completed, or its present occurrence is not the one that the user saw.",
			&body{form: end, schema: formSchema(end), example: map[string]any{"series": false}},
			func(id string, f item.Item) command.Command {
				return command.DismissReminder{ID: id, Series: f.Bool("series"), OccurrenceUtc: f.Str(saw.Name)}
			}),
	}
}
