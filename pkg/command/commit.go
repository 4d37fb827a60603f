package command

import (
	"context"
	"errors"
	"fmt"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// step is one action of a command's write, with the error that its failed condition means. Old is the row that was
// there; nil if there was none.
type step struct {
	action table.Action
	failed func(old item.Item) error
}

// effect describes what a command did, for the receipt.
type effect struct {
	done string
	ref  entity.Ref
	// version is the one that the command made of the entity, as its user sees it, or found if it changed nothing.
	version int64
	// ended is the version that a split made of the series that it names; 0 for any other command.
	ended int64
}

// made returns what the command made of the entity that it names.
func (e effect) made() int64 {
	if e.ended != 0 {
		return e.ended
	}
	return e.version
}

// commit writes the steps and the receipt, all or none. It returns the row that an update left, if the store returns
// it; otherwise nil.
func (c call) commit(ctx context.Context, steps []step, e effect) (item.Item, error) {
	row, err := c.write(ctx, steps, e)
	var failed *table.ConditionError
	if !errors.As(err, &failed) {
		return row, err
	}
	if f, ok := failed.At(len(steps)); ok {
		// The receipt is the last action: a twin's receipt explains every other failure.
		if err := c.receipt.Check(f.Old, c.now); err != nil {
			return nil, err
		}
	}
	for i, s := range steps {
		if f, ok := failed.At(i); ok {
			return nil, s.failed(f.Old)
		}
	}
	return nil, errMoved
}

func (c call) write(ctx context.Context, steps []step, e effect) (item.Item, error) {
	actions := make([]table.Action, 0, len(steps)+1)
	for _, s := range steps {
		actions = append(actions, s.action)
	}
	if c.receipt != nil {
		actions = append(actions, c.receiptOf(e))
	}
	if len(actions) == 1 {
		// A single write costs half of a transaction with one action.
		switch a := actions[0].(type) {
		case table.Put:
			return nil, wrapWrite(e, c.store.Put(ctx, a))
		case table.Update:
			row, err := c.store.Update(ctx, a)
			return row, wrapWrite(e, err)
		}
	}
	return nil, wrapWrite(e, c.store.Transact(ctx, actions...))
}

func wrapWrite(e effect, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write %s: %w", e.ref, err)
}

// newLink is a link that an item gets, with its position in the list.
type newLink struct {
	index  int
	target entity.Ref
}

// newLinks returns the links of after whose targets before has no link to.
func newLinks(before, after item.Item) []newLink {
	known := map[entity.Ref]bool{}
	for _, l := range entity.LinksOf(before) {
		known[l.Target] = true
	}
	var added []newLink
	for i, l := range entity.LinksOf(after) {
		if !known[l.Target] {
			added = append(added, newLink{i, l.Target})
		}
	}
	return added
}

// maxTargets bounds the targets read for one command: an item has fewer links than that.
const maxTargets = 50

// targetKeys returns the keys of the links' targets, without those that no entity can have.
func (c call) targetKeys(links []entity.Link) []item.Key {
	var keys []item.Key
	for _, l := range links {
		if _, err := c.check(c.registry.ByName(l.Target.Type), l.Target.ID); err == nil && len(keys) < maxTargets {
			keys = append(keys, entity.ItemKey(c.user, l.Target))
		}
	}
	return keys
}

// checkTargets refuses a link whose target is missing, expired or undone in the rows read. The write does not check it
// again: no command looks at the links that lead to an item, so a deletion in between may as well have come later.
func (c call) checkTargets(links []newLink, rows map[item.Key]item.Item, pointer func(index int) string) error {
	for _, l := range links {
		row := rows[entity.ItemKey(c.user, l.target)]
		if row == nil || entity.Expired(row, c.now) || isUndone(row) {
			return &NotFoundError{Ref: l.target, Pointer: pointer(l.index)}
		}
	}
	return nil
}

// pointerToTarget returns the pointer to the target of one of the document's links.
func pointerToTarget(index int) string {
	return fmt.Sprintf("/%s/%d/%s", entity.AttrLinks, index, entity.LinkTargetID)
}
