package api

import (
	"context"
	"net/http"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/query"
	"nexus/pkg/webhook"
)

// filterFields are the parameters and members that select messages.
func filterFields() []entity.Field {
	return []entity.Field{
		{Name: memberState, Kind: entity.Enum, Enum: []string{webhook.StatePending, webhook.StateDone, webhook.StateDead},
			Doc: "Only messages in this state."},
		{Name: memberType, Kind: entity.Text, Min: 1, Max: 64,
			Doc: "Only messages of this type; task.* and * as in the types of a webhook."},
		{Name: "from", Kind: entity.Instant, Doc: "Only events from this instant on."},
		{Name: "to", Kind: entity.Instant, Doc: "Only events up to this instant."},
	}
}

// messagesOf reads what selects messages, and refuses what selects none whatever there is.
func (s *Config) messagesOf(of item.Item) (webhook.Filter, error) {
	f := webhook.Filter{State: of.Str(memberState), Type: of.Str(memberType), IDs: of.Strings(memberIDs)}
	f.From, _ = of.Time("from")
	f.To, _ = of.Time("to")
	var wrong entity.Faults
	if f.Type != "" {
		if err := webhook.CheckType(append(webhook.EventTypes(s.Registry), webhook.TypeTest), f.Type); err != nil {
			wrong.Add(memberType, "%v", err)
		}
	}
	if !f.To.IsZero() && f.To.Before(f.From) {
		wrong.Add("to", "is before from")
	}
	return f, entity.Invalid(wrong)
}

func messageList(user, hook, what string) string { return what + " " + user + " " + hook }

// readPlace returns the place of a cursor of a list of messages.
func readPlace(list, text string) (place string, err error) {
	if text == "" {
		return "", nil
	}
	place, ok := readMarkedCursor(list, text)
	if !ok || !webhook.CheckPlace(place) {
		return "", query.ErrCursor
	}
	return place, nil
}

func appendCursor(out object, name, list, rest string) object {
	if rest == "" {
		return out
	}
	return append(out, member{name, markedCursor(list, rest)})
}

func deliveriesOperation(t *entity.Type) *operation {
	return &operation{
		id: "listWebhookDeliveries", method: http.MethodGet, path: pathOf(t) + "/deliveries", tag: t.Plural, finds: true,
		summary: "List the messages to a webhook, and what became of them",
		detail: "The newest event first; a message is kept for 30 days after its end. A page reads as many messages as " +
			"limit says: with a filter it may be short, or empty, and still have a nextCursor.",
		query:   append(filterFields(), limitParam(), cursorParam()),
		answers: []documented{{status: http.StatusOK, doc: "A page of messages.", schema: pageSchema(deliverySchema())}},
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			if err := s.mayHook(); err != nil {
				return answer{}, err
			}
			f, err := s.messagesOf(c.query)
			if err != nil {
				return answer{}, err
			}
			most, cursor, p := pageOf(c.query)
			if p != nil {
				return answer{}, p
			}
			if most == 0 {
				most = query.DefaultLimit
			}
			hook := c.path[t.IDAttr]
			list := messageList(c.user, hook, "deliveries")
			place, err := readPlace(list, cursor)
			if err != nil {
				return answer{}, err
			}
			if _, err := s.Queries.Get(ctx, c.user, t, hook); err != nil {
				return answer{}, err
			}
			found, rest, err := s.Webhooks.Endpoints.List(ctx, c.user, hook, f, place, most)
			if err != nil {
				return answer{}, err
			}
			views := []object{}
			for _, one := range found {
				views = append(views, viewOfDelivery(one))
			}
			return viewAnswer(http.StatusOK, appendCursor(object{{memberItems, views}}, "nextCursor", list, rest))
		},
	}
}

func viewOfDelivery(d webhook.Delivery) object {
	attempts := []object{}
	for _, one := range d.Attempts {
		view := object{{"at", item.FormatInstant(one.At)}}
		if one.Status != 0 {
			view = append(view, member{memberStatus, one.Status})
		}
		view = append(view, member{memberMillis, one.Millis})
		if one.Text != "" {
			view = append(view, member{memberText, one.Text})
		}
		attempts = append(attempts, view)
	}
	view := object{
		{memberMessageID, d.ID}, {memberType, d.Type}, {memberOccurredAt, item.FormatInstant(d.At)}, {memberState, d.State},
	}
	if d.Reason != "" {
		view = append(view, member{memberReason, d.Reason})
	}
	if !d.NextAt.IsZero() {
		view = append(view, member{memberNextAt, item.FormatInstant(d.NextAt)})
	}
	return append(view, member{memberAttempts, attempts})
}

func messageIDSchema() object {
	return object{
		{"type", "string"}, {"pattern", "^msg_[A-Z2-7]{26}$"}, {"description", "The id of the message, webhook-id."},
	}
}

func deliverySchema() object {
	whole := func(doc string) object { return object{{"type", "integer"}, {"minimum", 0}, {"description", doc}} }
	attempt := record([]string{"at", memberMillis}, object{
		{"at", instantSchema("When it began.")},
		{memberStatus, whole("The status of the answer; absent if there was none.")},
		{memberMillis, whole("How long it took, in milliseconds.")},
		{memberText, textSchema("How the answer begins, or why there was none.")},
	})
	return record([]string{memberMessageID, memberType, memberOccurredAt, memberState, memberAttempts}, object{
		{memberMessageID, messageIDSchema()},
		{memberType, textSchema("The type of the event.")},
		{memberOccurredAt, instantSchema("The time of the event.")},
		{memberState, enumSchema("What became of it.", webhook.StatePending, webhook.StateDone, webhook.StateDead)},
		{memberReason, textSchema("Why a dead message is sent no more: failed, disabled, deleted, full or late.")},
		{memberNextAt, instantSchema("When the next attempt is due, for a pending message.")},
		{memberAttempts, listOf(attempt)},
	})
}

func redeliverOperation(t *entity.Type) *operation {
	fields := slices.Concat(filterFields(), []entity.Field{
		{Name: memberIDs, Kind: entity.Tags, Max: maxRedelivered, MemberMin: 1, MemberMax: 64,
			Doc: "Only messages with these ids."},
		{Name: memberDryRun, Kind: entity.Flag, Doc: "Count, and send nothing."},
		{Name: "cursor", Kind: entity.Text, Min: 1, Max: 500, Doc: "cursor of the answer before, with the same filter."},
	})
	fields[0].Enum = []string{webhook.StateDone, webhook.StateDead}
	selection := form(fields...)
	return &operation{
		id: "redeliverWebhook", method: http.MethodPost, path: pathOf(t) + "/redeliver", tag: t.Plural, writes: true,
		alone: true, forgets: true, finds: true, summary: "Send messages again that are done or dead",
		detail: "Under their ids, with their bodies. A request reads 1,000 messages at most, from the oldest on: where the " +
			"answer has a cursor, ask again with it.",
		conflicts: "The webhook is disabled.",
		body: &body{
			form: selection, schema: formSchema(selection), example: map[string]any{memberState: "dead", memberDryRun: true},
		},
		answers: []documented{{status: http.StatusOK, doc: "How many are sent again.", schema: record(
			[]string{memberCount}, object{
				{memberCount, object{{"type", "integer"}, {"minimum", 0},
					{"description", "The messages of those read that are sent again, or would be."}}},
				{"cursor", textSchema("Leads on to the messages that were not read.")},
			})}},
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			if ids, ok := c.doc[memberIDs].([]any); ok && len(ids) == 0 { // no id would be each message
				return answer{}, refuseFields(entity.FieldError{Pointer: "/" + memberIDs, Detail: "has no id"})
			}
			f, err := s.messagesOf(c.form)
			if err != nil {
				return answer{}, err
			}
			if _, err := s.active(ctx, c, t); err != nil {
				return answer{}, err
			}
			hook := c.path[t.IDAttr]
			list := messageList(c.user, hook, "redeliver")
			place, err := readPlace(list, c.form.Str("cursor"))
			if err != nil {
				return answer{}, err
			}
			n, rest, err := s.Webhooks.Endpoints.Redeliver(ctx, c.user, hook, f, place, c.form.Bool(memberDryRun))
			if err != nil {
				return answer{}, err
			}
			return viewAnswer(http.StatusOK, appendCursor(object{{memberCount, n}}, "cursor", list, rest))
		},
	}
}
