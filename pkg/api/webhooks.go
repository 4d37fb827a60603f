package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/product"
	"nexus/pkg/query"
	"nexus/pkg/table"
	"nexus/pkg/webhook"
)

// Webhooks hold the dependencies of the operations about webhooks.
type Webhooks struct {
	Endpoints *webhook.Endpoints
	// CheckURL refuses an address that may not be called.
	CheckURL func(address string) error
}

const (
	memberSecret     = "secret"
	memberPublicKey  = "publicKey"
	memberMessageID  = "messageId"
	memberType       = "type"
	memberOccurredAt = "occurredAt"
	memberAttempts   = "attempts"
	memberNextAt     = "nextAt"
	memberStatus     = "status"
	memberMillis     = "ms"
	memberText       = "text"
	memberIDs        = "ids"

	maxRedelivered = 100 // ids that a request may name
)

// mayHook reports why no webhook is called here.
func (s *Config) mayHook() error {
	if s.Webhooks == nil {
		return refuse(notFound, "This system calls no webhooks.")
	}
	return nil
}

// webhookOperations returns the operations of webhooks: those of every type, which are told the secret and check the
// address, and those about messages.
func webhookOperations(t *entity.Type) []*operation {
	all := entityOperations(t)
	for _, o := range all {
		switch run := o.run; {
		case o.body == nil:
		case o.body.creates != nil:
			o.detail += " The answer has the secret, which no other answer but that of a rotation has. The types of events " +
				"are those of docs/webhooks.md."
			o.fills, o.finds = fillsWebhooks, true
			o.run = func(ctx context.Context, s *Config, c call) (answer, error) {
				if err := s.mayHook(); err != nil {
					return answer{}, err
				}
				return s.withSecret(ctx, c)(s.checked(ctx, c, run))
			}
		default:
			o.body.example = map[string]any{outbox.AttrOrdering: outbox.OrderingFifo}
			o.run = func(ctx context.Context, s *Config, c call) (answer, error) { return s.checked(ctx, c, run) }
		}
	}
	return append(all, rotateOperation(t), testHookOperation(t), deliveriesOperation(t), redeliverOperation(t))
}

// checked carries an operation out whose body may have an address and types of events.
func (s *Config) checked(
	ctx context.Context, c call, run func(context.Context, *Config, call) (answer, error),
) (answer, error) {
	if address, ok := c.doc[outbox.AttrURL].(string); ok && s.Webhooks != nil {
		if err := s.Webhooks.CheckURL(address); err != nil {
			return answer{}, refuseFields(entity.FieldError{Pointer: "/" + outbox.AttrURL, Detail: err.Error()})
		}
	}
	types, _ := c.doc[outbox.AttrEventTypes].([]any) // anything else is refused as for every entity
	var known []string
	if len(types) > 0 {
		known = webhook.EventTypes(s.Registry)
	}
	for i, one := range types {
		if pattern, ok := one.(string); ok && !webhook.HasEvents(known, pattern) {
			at := fmt.Sprintf("/%s/%d", outbox.AttrEventTypes, i)
			return answer{}, refuseFields(entity.FieldError{Pointer: at, Detail: "is the type of no event"})
		}
	}
	return run(ctx, s, c)
}

// withSecret returns the function that adds the secret of a webhook to an answer that has it.
func (s *Config) withSecret(ctx context.Context, c call) func(answer, error) (answer, error) {
	return func(a answer, err error) (answer, error) {
		if err != nil || a.item == nil {
			return a, err
		}
		master, err := s.Webhooks.Endpoints.Master(ctx)
		if err != nil {
			return answer{}, err
		}
		keys := master.KeysOf(c.user, a.item)
		a.more = appendText(append(a.more, `,"`+memberSecret+`":`...), keys.Secret)
		a.more = appendText(append(a.more, `,"`+memberPublicKey+`":`...), keys.PublicKey)
		return a, nil
	}
}

// secretsSchema returns the members of a webhook in the answers that tell its secret.
func secretsSchema() object {
	return object{
		{memberSecret, textSchema("The secret of signatures v1; only in the answer to the creation and to a rotation.")},
		{memberPublicKey, textSchema("The public key of signatures v1a; likewise.")},
	}
}

// fillsWebhooks judges an operation that makes one more webhook.
func fillsWebhooks(ctx context.Context, s *Config, c call) error {
	if err := s.limiter.Room(ctx, c.user, limit.Gone); err != nil {
		return err
	}
	return s.limiter.Count(ctx, c.user, limit.Webhooks, table.Query{
		Partition: entity.UserPK(c.user), Range: table.Range{Prefix: entity.ItemPrefix(outbox.TypeWebhook)},
	})
}

func pathOf(t *entity.Type) string { return "/v1/" + t.Plural + "/{" + t.IDAttr + "}" }

func rotateOperation(t *entity.Type) *operation {
	return &operation{
		id: "rotateWebhook", method: http.MethodPost, path: pathOf(t) + "/rotate", tag: t.Plural, writes: true,
		precondition: mayHaveVersion, finds: true, summary: "Give a webhook a new secret",
		detail:  "Messages are signed by both for 24 hours. Another rotation within that time ends the oldest secret.",
		answers: []documented{entityAnswer(http.StatusOK, t, "The webhook, with the new secret."), goneAnswer},
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			if err := s.mayHook(); err != nil {
				return answer{}, err
			}
			return s.withSecret(ctx, c)(s.do(ctx, c, command.CustomCommand{
				Name: "rotateWebhook", Type: t, ID: c.path[t.IDAttr],
				Apply: func(before item.Item, now time.Time) (item.Item, error) {
					after := before.Clone()
					after[outbox.AttrGeneration] = item.Int(before.Int(outbox.AttrGeneration) + 1)
					after.SetTime(outbox.AttrRotatedAt, now)
					return after, nil
				},
			}))
		},
	}
}

// active returns a webhook that gets messages.
func (s *Config) active(ctx context.Context, c call, t *entity.Type) (item.Item, error) {
	if err := s.mayHook(); err != nil {
		return nil, err
	}
	id := c.path[t.IDAttr]
	hook, err := s.Webhooks.Endpoints.Find(ctx, c.user, id)
	switch {
	case err != nil:
		return nil, err
	case hook == nil:
		return nil, &command.NotFoundError{Ref: entity.Ref{Type: t.Name, ID: id}}
	case hook.Str(entity.AttrStatus) != product.StatusActive:
		return nil, &command.StateError{Ref: entity.Ref{Type: t.Name, ID: id}, Reason: "is disabled"}
	}
	return hook, nil
}

func testHookOperation(t *entity.Type) *operation {
	return &operation{
		id: "testWebhook", method: http.MethodPost, path: pathOf(t) + "/test", tag: t.Plural, writes: true, alone: true,
		forgets: true, finds: true, summary: "Send a message to a webhook to try it",
		detail:    "Of the type " + webhook.TypeTest + ". It goes the way of every message; see its deliveries.",
		conflicts: "The webhook is disabled.",
		answers: []documented{{status: http.StatusAccepted, doc: "It is sent.", schema: record(
			[]string{memberMessageID}, object{{memberMessageID, messageIDSchema()}})}},
		run: func(ctx context.Context, s *Config, c call) (answer, error) {
			if _, err := s.active(ctx, c, t); err != nil {
				return answer{}, err
			}
			id, err := s.Webhooks.Endpoints.Test(ctx, c.user, c.path[t.IDAttr])
			if err != nil {
				return answer{}, err
			}
			return viewAnswer(http.StatusAccepted, object{{memberMessageID, id}})
		},
	}
}

// filterFields are the parameters and members that select messages.
func filterFields() []entity.Field {
	return []entity.Field{
		{Name: memberState, Kind: entity.Enum, Enum: []string{webhook.StatePending, webhook.StateDone, webhook.StateDead},
			Doc: "Only messages in this state."},
		{Name: memberType, Kind: entity.Text, Min: 1, Max: 64, Doc: "Only messages of this type."},
		{Name: "from", Kind: entity.Instant, Doc: "Only events from this instant on."},
		{Name: "to", Kind: entity.Instant, Doc: "Only events up to this instant."},
	}
}

func messagesOf(of item.Item) webhook.Filter {
	f := webhook.Filter{State: of.Str(memberState), Type: of.Str(memberType), IDs: of.Strings(memberIDs)}
	f.From, _ = of.Time("from")
	f.To, _ = of.Time("to")
	return f
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
			found, rest, err := s.Webhooks.Endpoints.List(ctx, c.user, hook, messagesOf(c.query), place, most)
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

// checkSelection refuses a filter that says less than its sender meant: no id would be each message.
func checkSelection(c call) error {
	if ids, ok := c.doc[memberIDs].([]any); ok && len(ids) == 0 {
		return refuseFields(entity.FieldError{Pointer: "/" + memberIDs, Detail: "has no id"})
	}
	from, _ := c.form.Time("from")
	if to, ok := c.form.Time("to"); ok && to.Before(from) {
		return refuseFields(entity.FieldError{Pointer: "/to", Detail: "is before from"})
	}
	return nil
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
			if err := checkSelection(c); err != nil {
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
			n, rest, err := s.Webhooks.Endpoints.Redeliver(ctx, c.user, hook, messagesOf(c.form), place,
				c.form.Bool(memberDryRun))
			if err != nil {
				return answer{}, err
			}
			return viewAnswer(http.StatusOK, appendCursor(object{{memberCount, n}}, "cursor", list, rest))
		},
	}
}
