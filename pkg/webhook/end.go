package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/entity/outbox"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// bury makes dead what is pending of an endpoint that is disabled or gone. It needs no lease: each end is written under
// the rows as they were read, and while the endpoint is not active: a late worker ends nothing of one that is active
// again. Of an endpoint that is gone the lane goes, too.
func (w *Worker) bury(ctx context.Context, of call, hook item.Item, reason string) error {
	asNow := table.Check{Key: keyOfHook(of), If: table.NotExists()}
	if hook != nil {
		asNow.If = table.Exists(table.Equal(entity.AttrStatus, hook[entity.AttrStatus]))
	}
	q := table.Query{Partition: entity.UserPK(of.UserID), Range: table.Range{Prefix: outbox.OutPrefix(of.Hook)}}
	for row, err := range table.Rows(ctx, w.Store, q, 0) {
		if err != nil {
			return fmt.Errorf("read what is to be sent: %w", err)
		}
		if !w.hasTime(ctx, 0) {
			return w.goOn(ctx, of)
		}
		if err := w.drop(ctx, of, row, reason, asNow); err != nil {
			return err
		}
	}
	if hook != nil {
		return nil
	}
	return w.removeLane(ctx, of)
}

// removeLane removes the lane of an endpoint that was deleted. An id is never used again.
func (o *Outbox) removeLane(ctx context.Context, of call) error {
	if err := o.Store.Delete(ctx, table.Delete{Key: outbox.LaneKey(of.UserID, of.Hook)}); err != nil {
		return fmt.Errorf("delete the lane: %w", err)
	}
	return nil
}

// drop ends a message that is sent no more, if the conditions hold.
func (w *Worker) drop(ctx context.Context, of call, row item.Item, reason string, conditions ...table.Action) error {
	p, unread := readPending(row)
	if unread != nil {
		return nil //nolint:nilerr // a verification names it
	}
	content, err := table.Find(ctx, w.Store, outbox.MessageKey(of.UserID, p.id))
	if err != nil {
		return err
	}
	if content.Str(attrState) != StatePending {
		return w.clear(ctx, of.UserID, p, content)
	}
	return w.end(ctx, of, p, StateDead, reason, Dropped, conditions...)
}

// disable disables an endpoint, and makes dead what is pending of it. It does so only while the endpoint has the
// address that was asked: one that has another since stays.
func (w *Worker) disable(ctx context.Context, l *lane, hook item.Item, reason string) error {
	for {
		after := hook.Clone()
		after[entity.AttrStatus], after[outbox.AttrReason] = item.String(outbox.StatusDisabled), item.String(reason)
		next := webhookType.NextVersion(entity.BySystem, l.UserID, hook, after, w.Now(), nil)
		_, err := w.Store.Update(ctx, table.Diff(hook, next, table.AtVersion(hook.Int(entity.AttrVersion))))
		var failed *table.ConditionError
		switch {
		case err == nil:
			w.Log.LogAttrs(ctx, slog.LevelWarn, "webhook disabled", slog.String("webhookId", l.Hook),
				slog.String("reason", reason))
			w.Observe(Disabled)
			return w.bury(ctx, l.call, next, reasonDisabled)
		case !errors.As(err, &failed):
			return fmt.Errorf("disable an endpoint: %w", err)
		}
		now := failed.Failures[0].Old
		if now.Str(outbox.AttrURL) != hook.Str(outbox.AttrURL) || whyNot(now) != "" ||
			now.Str(outbox.AttrActiveSince) != hook.Str(outbox.AttrActiveSince) {
			return nil // the next round sees it
		}
		hook = now
	}
}

const (
	// MaxPending is the number of messages to an endpoint that may be pending.
	MaxPending = 10_000
	// countEvery is the time between two counts.
	countEvery = 10 * time.Minute
	// thinned is the number of messages that one call makes dead for being too many.
	thinned = 500
	// oldAfter is the age of the oldest message from which they are counted.
	oldAfter = time.Hour
)

// thin makes the oldest messages dead where there are too many, and reports whether it has. It counts at most every ten
// minutes.
func (w *Worker) thin(ctx context.Context, l *lane) (isThinned bool, err error) {
	now := w.Now()
	if now.Sub(l.countedAt) < countEvery {
		return false, nil
	}
	q := table.Query{Partition: entity.UserPK(l.UserID), Range: table.Range{Prefix: outbox.OutPrefix(l.Hook)}}
	n, err := w.Store.Count(ctx, q)
	if err != nil {
		return false, fmt.Errorf("count what is to be sent: %w", err)
	}
	l.countedAt, l.isChanged = now.UTC().Truncate(time.Second), true
	q.Limit = min(thinned, n-cmp.Or(w.Most, MaxPending))
	if q.Limit <= 0 {
		return false, nil
	}
	first, err := w.Store.Query(ctx, q)
	if err != nil {
		return false, fmt.Errorf("read the oldest messages: %w", err)
	}
	for _, row := range first.Items {
		if err := w.drop(ctx, l.call, row, reasonFull); err != nil {
			return false, err
		}
	}
	return true, nil
}
