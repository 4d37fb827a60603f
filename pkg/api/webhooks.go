package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"nexus/pkg/command"
	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/limit"
	"nexus/pkg/product"
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
	var wrong entity.Faults
	for i, one := range types {
		if asked, ok := one.(string); ok {
			if err := webhook.CheckType(known, asked); err != nil {
				wrong.At(fmt.Sprintf("/%s/%d", outbox.AttrEventTypes, i), "%v", err)
			}
		}
	}
	if err := entity.Invalid(wrong); err != nil {
		return answer{}, err
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
