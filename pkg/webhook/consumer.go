package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/mask"
	"nexus/pkg/port"
	"nexus/pkg/table"
)

// Name is the consumer's name.
const Name = "webhooks"

// Consumer puts a message for each event and each endpoint that asks for it.
type Consumer struct {
	Outbox
	atOnce int
}

var _ change.BatchConsumer = (*Consumer)(nil)

// NewConsumer returns the consumer. It works for so many users of a batch at a time.
func NewConsumer(o Outbox, atOnce int) *Consumer { return &Consumer{o, atOnce} }

// Name implements [change.Consumer].
func (*Consumer) Name() string { return Name }

// AcceptsBatches implements [change.BatchConsumer].
func (*Consumer) AcceptsBatches() {}

// Apply implements [change.Consumer]. A user without endpoints costs one query in each batch, and nothing else.
func (c *Consumer) Apply(ctx context.Context, batch []change.Change) []change.Outcome {
	outcomes := make([]change.Outcome, len(batch))
	byUser := map[string][]int{}
	for i, ch := range batch {
		switch {
		case eventType(ch) != "":
			byUser[ch.User] = append(byUser[ch.User], i)
		case concernsLane(ch):
			if err := c.wake(mask.With(ctx, ch.User), call{ch.User, ch.Ref.ID}, time.Time{}); err != nil {
				outcomes[i] = change.Outcome{Verdict: verdictOf(err), Err: err}
			}
		}
	}
	users := slices.Sorted(maps.Keys(byUser))
	sideBySide(c.atOnce, len(users), func(i int) { c.applyTo(ctx, users[i], batch, byUser[users[i]], outcomes) })
	return outcomes
}

// concernsLane reports whether a record is about an endpoint whose messages the worker has to look at again: what waits
// for one that is gone or disabled is sent no more.
func concernsLane(ch change.Change) bool {
	if ch.Type == nil || ch.Type.Name != outbox.TypeWebhook || ch.Kind == change.Inserted {
		return false
	}
	return ch.New.Str(outbox.AttrActiveSince) != ch.Old.Str(outbox.AttrActiveSince) ||
		ch.New.Str(entity.AttrStatus) != ch.Old.Str(entity.AttrStatus)
}

// applyTo applies the records of one user. If the schedule of an endpoint fails, all records with messages to it are
// applied again: each is put after one.
func (c *Consumer) applyTo(
	ctx context.Context, user string, batch []change.Change, indexes []int, outcomes []change.Outcome,
) {
	ctx = mask.With(ctx, user)
	fail := func(i int, err error) {
		if err != nil && outcomes[i].Err == nil {
			outcomes[i] = change.Outcome{
				Verdict: verdictOf(err), Err: fmt.Errorf("webhooks of %s: %w", batch[i].Key, err),
			}
		}
	}
	hooks, err := c.hooksOf(ctx, user)
	for _, i := range indexes {
		fail(i, err)
	}
	if err != nil {
		return
	}
	if len(hooks) == 0 {
		return
	}
	batch = slices.Clone(batch) // others apply it, too
	unread := map[item.Key]error{}
	for _, i := range indexes {
		ch := &batch[i]
		if c.Happened != nil {
			ch.Created = c.Happened(*ch)
		}
		ch.Kind, err = change.KindOf(ctx, *ch, func(ctx context.Context, key item.Key) (item.Item, error) {
			return table.Find(ctx, c.Store, key)
		})
		if err != nil {
			unread[ch.Key] = err
		}
	}
	for _, hook := range hooks {
		asked := slices.DeleteFunc(slices.Clone(indexes), func(i int) bool {
			return unread[batch[i].Key] == nil && !(takes(hook, batch[i].Created) && asksFor(hook, eventType(batch[i])))
		})
		if len(asked) > 0 {
			c.offer(ctx, hook, batch, asked, maps.Clone(unread), fail)
		}
	}
}

// offer puts the messages to an endpoint about records. Those of a broken item fail, and an item's later records wait
// for an earlier one.
func (c *Consumer) offer(ctx context.Context, hook item.Item, batch []change.Change, indexes []int,
	broken map[item.Key]error, fail func(int, error),
) {
	lane := call{batch[indexes[0]].User, hook.Str(webhookType.IDAttr)}
	var soon time.Time
	var err error
	for _, i := range indexes {
		if err == nil && soon.Sub(c.Now()) < leastLeft { // the first one, or puts that take long
			soon, err = c.announce(ctx, lane)
		}
		ch := &batch[i]
		if broken[ch.Key] == nil && err == nil {
			_, broken[ch.Key] = c.put(ctx, messageOf(hook, *ch, eventType(*ch)))
		}
		fail(i, cmp.Or(broken[ch.Key], err))
	}
	if err == nil {
		err = c.wake(ctx, lane, soon)
	}
	for _, i := range indexes {
		fail(i, err)
	}
}

// takes reports whether an endpoint gets what happens at the time: it is active, and was there in that second.
func takes(hook item.Item, at time.Time) bool {
	made, _ := hook.Time(entity.AttrCreatedAt)
	return hook.Str(entity.AttrStatus) == outbox.StatusActive && !at.Before(made.Truncate(time.Second))
}

func verdictOf(err error) change.Verdict {
	if errors.Is(err, port.ErrInvalid) {
		return change.Poison
	}
	return change.Retry
}
