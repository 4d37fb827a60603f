package archive

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

var errMalformedTimer = errors.New("malformed timer")

// startTimer puts the timer of a task that this record completed. All its content is from the image, so that a
// repetition writes the same row. A repetition after the timer fired makes it fire again, without effect.
func (c *Consumer) startTimer(ctx context.Context, ch change.Change) error {
	archiveAt, due := ch.New.Time(product.AttrArchiveAt)
	if !due || ch.New.Str(entity.AttrStatus) != product.StatusCompleted || sameCompletion(ch.Old, ch.New) {
		return nil
	}
	row := entity.TimerKey(ch.User, ch.Ref.ID, ch.Version).Item()
	row[entity.AttrTTL] = item.Int(archiveAt.Unix())
	row[product.AttrCompletedAt] = ch.New[product.AttrCompletedAt]
	row[product.AttrArchiveAt] = ch.New[product.AttrArchiveAt]
	if err := c.Store.Put(ctx, table.Put{Item: row}); err != nil {
		return fmt.Errorf("put timer: %w", err)
	}
	return nil
}

// sameCompletion reports whether two images have the same completion of a task.
func sameCompletion(a, b item.Item) bool {
	return a.Str(entity.AttrStatus) == b.Str(entity.AttrStatus) &&
		a.Str(product.AttrCompletedAt) == b.Str(product.AttrCompletedAt) &&
		a.Str(product.AttrArchiveAt) == b.Str(product.AttrArchiveAt)
}

// timerRemoved archives the task of a timer that TTL removed, if it still has the completion for which the timer was
// set. Other rows expire too, and no filter guarantees that their records are left out.
func (c *Consumer) timerRemoved(ctx context.Context, ch change.Change) error {
	if ch.Kind != change.Expired || !strings.HasPrefix(ch.Key.SK, entity.ItemPrefix(entity.RowTimer)) {
		return nil
	}
	timer, err := entity.ParseTimer(ch.Key.SK)
	if err != nil {
		return fmt.Errorf("%w: %w", errMalformedTimer, err)
	}
	task := c.Registry.ByID(timer.TaskID)
	if task == nil {
		return fmt.Errorf("%w: %s is no entity's id", errMalformedTimer, timer.TaskID)
	}
	key := entity.ItemKey(ch.User, entity.Ref{Type: task.Name, ID: timer.TaskID})
	for range maxRounds {
		before, err := table.Find(ctx, c.Store, key)
		if err != nil {
			return err
		}
		if before.Str(entity.AttrStatus) != product.StatusCompleted ||
			before.Str(product.AttrCompletedAt) != ch.Old.Str(product.AttrCompletedAt) ||
			before.Str(product.AttrArchiveAt) != ch.Old.Str(product.AttrArchiveAt) {
			return nil
		}
		after := before.Clone()
		after[entity.AttrStatus] = item.String(product.StatusArchived)
		after = task.NextVersion(entity.BySystem, ch.User, before, after, c.Now(), nil)
		_, err = c.Store.Update(ctx, table.Diff(before, after, table.AtVersion(before.Int(entity.AttrVersion))))
		var failed *table.ConditionError
		if err == nil {
			return nil
		}
		if !errors.As(err, &failed) {
			return fmt.Errorf("archive task %s: %w", timer.TaskID, err)
		}
	}
	return errContended
}
