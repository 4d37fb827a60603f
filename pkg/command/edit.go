package command

import (
	"context"
	"fmt"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// edit is a command that changes one existing entity: one read of everything it depends on, one conditional write.
type edit struct {
	typ *entity.Type
	ref entity.Ref
	// versioned commands must say which version they change.
	versioned bool
	// wantsMeta says that apply, or the type's own rules, read USER_META.
	wantsMeta bool
	// links are those that the entity may get; their targets are read together with it.
	links []entity.Link
	// pointer names a link's target in the request.
	pointer func(index int) string
	// absent replaces an entity that has no row; nil if there must be one.
	absent item.Item
	// untouched attributes are never written.
	untouched []string
	// takenOff attributes are removed with every write, whether or not the row had them when it was read.
	takenOff []string
	// guard, if set, runs before each attempt's write with the stored row and the new one. It returns tests that the row
	// must pass in addition to that of its version.
	guard func(ctx context.Context, stored, after item.Item) ([]table.Test, error)
	// apply returns the changed entity, which must be a new one, with the faults of the request; no entity if it cannot
	// be determined.
	apply applied
}

// applied has the time of the attempt: an earlier one may have been before a delivery.
type applied func(now time.Time, before, meta item.Item) (after item.Item, wrong []entity.FieldError, err error)

func (c call) edit(ctx context.Context, e edit) (Result, error) {
	if e.versioned && c.expected == nil {
		return Result{}, ErrNoVersion
	}
	return c.decide(ctx, func(c call) (Result, error) { return c.attempt(ctx, e) })
}

func (c call) attempt(ctx context.Context, e edit) (Result, error) {
	rows, err := c.read(ctx, c.keysOf(e))
	if err != nil {
		return Result{}, err
	}
	stored := rows[entity.ItemKey(c.user, e.ref)]
	if c.receipt != nil {
		if row := rows[c.receipt.Key]; row != nil {
			if err := c.receipt.Check(row, c.now); err != nil {
				return c.answerTwin(ctx, err, stored)
			}
		}
	}
	before, err := c.seen(e, stored)
	if err != nil {
		return Result{}, err
	}
	meta := item.Item(nil)
	if e.wantsMeta {
		meta = c.userMeta(rows)
	}
	merged, wrong, err := e.apply(c.now, before, meta)
	if err != nil {
		return Result{}, err
	}
	if merged == nil {
		if err := entity.Invalid(wrong); err != nil {
			return Result{}, err
		}
		return Result{}, fmt.Errorf("change %s: the command left no entity", e.ref)
	}
	res := Result{Type: e.typ, Ref: e.ref, Item: before, Version: before.Int(entity.AttrVersion)}
	if len(wrong) == 0 && merged.Equal(before) {
		return res, c.remember(ctx, effect{done: doneChange, ref: e.ref, version: res.Version})
	}
	after, err := c.next(e, before, merged, meta, wrong)
	if err != nil {
		return Result{}, err
	}
	if err := c.checkTargets(newLinks(before, after), rows, e.pointer); err != nil {
		return Result{}, err
	}
	var tests []table.Test
	if e.guard != nil {
		if tests, err = e.guard(ctx, stored, after); err != nil {
			return Result{}, err
		}
	}
	steps := []step{c.change(e, stored, after, tests...)}
	res.Version = after.Int(entity.AttrVersion)
	row, err := c.commit(ctx, steps, effect{done: doneChange, ref: e.ref, version: res.Version})
	if err != nil {
		return Result{}, err
	}
	if row == nil {
		row = after
	}
	res.Item, _ = e.typ.VisibleAt(row, c.now)
	return res, nil
}

func (c call) keysOf(e edit) []item.Key {
	keys := append([]item.Key{entity.ItemKey(c.user, e.ref)}, c.targetKeys(e.links)...)
	if e.wantsMeta {
		keys = append(keys, entity.MetaKey(c.user))
	}
	if c.receipt != nil {
		keys = append(keys, c.receipt.Key)
	}
	return keys
}

// answerTwin answers from the receipt with the row that was read together with it.
func (c call) answerTwin(ctx context.Context, err error, stored item.Item) (Result, error) {
	if replay, ok := err.(*idempotency.ReplayError); ok {
		return c.replay(ctx, replay.Receipt, stored)
	}
	return Result{}, err
}

// seen returns the entity as its user sees it, if it exists and has the expected version.
func (c call) seen(e edit, stored item.Item) (item.Item, error) {
	if stored == nil {
		stored = e.absent
	}
	if stored == nil {
		return nil, &NotFoundError{Ref: e.ref}
	}
	before, ok := e.typ.VisibleAt(stored, c.now)
	if !ok {
		return nil, &NotFoundError{Ref: e.ref}
	}
	return before, c.expects(e.typ, e.ref, before)
}

// next returns the entity to store, checked as a whole.
func (c call) next(e edit, before, merged, meta item.Item, wrong []entity.FieldError) (item.Item, error) {
	after := e.typ.NextVersion(entity.ByUser, c.user, before, merged, c.now, product.Settings(meta))
	outside := c.checkWrite(e.typ, before, after, meta)
	if err := entity.Invalid(wrong, e.typ.Validate(after), c.registry.CheckLinks(after), outside); err != nil {
		return nil, err
	}
	if e.typ.DuesDiffer(before, after) {
		after.SetTime(product.AttrDueSetAt, c.now)
	}
	return after, nil
}

// checkWrite returns what the type's rules say of a write of the user, given USER_META if they need it.
func (c call) checkWrite(t *entity.Type, before, after, meta item.Item) []entity.FieldError {
	if t.CheckWrite == nil {
		return nil
	}
	return t.CheckWrite(entity.Write{
		Type: t, By: entity.ByUser, Before: before, After: after, Now: c.now, Preferences: product.Settings(meta),
	})
}

// change returns the step from the stored row (which readers may see otherwise because of time) to after.
func (c call) change(e edit, stored, after item.Item, tests ...table.Test) step {
	condition := table.AtVersion(stored.Int(entity.AttrVersion))
	condition.Tests = append(condition.Tests, tests...)
	if stored == nil {
		// A consumer may put the row there first, at version 0.
		condition = table.OrNoRow(table.Equal(entity.AttrVersion, item.Int(0)))
	}
	update := table.Diff(stored, after, condition)
	for _, name := range e.untouched {
		delete(update.Set, name)
	}
	update.Remove = slices.DeleteFunc(update.Remove, func(name string) bool { return slices.Contains(e.untouched, name) })
	update.Remove = append(update.Remove, e.takenOff...)
	return step{
		action: update,
		failed: func(old item.Item) error { return c.overtaken(e.typ, e.ref, old) },
	}
}

// remember writes the receipt of a command that had nothing else to write.
func (c call) remember(ctx context.Context, e effect) error {
	if c.receipt == nil {
		return nil
	}
	_, err := c.commit(ctx, nil, e)
	return err
}

// userMeta returns USER_META from the rows read, or its defaults if there is none yet.
func (c call) userMeta(rows map[item.Key]item.Item) item.Item {
	return product.UserMetaOf(c.user, rows[entity.MetaKey(c.user)], c.now)
}

// patch makes the apply of a merge patch (RFC 7396) whose document was read.
func patch(t *entity.Type, fields item.Item, broken []entity.FieldError) applied {
	return func(_ time.Time, before, _ item.Item) (item.Item, []entity.FieldError, error) {
		after, unsettled := t.Merge(before, fields)
		return after, append(slices.Clip(broken), unsettled...), nil
	}
}
