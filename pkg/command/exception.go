package command

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
	"nexus/pkg/table"
)

// exceptionEdit is a command about one occurrence of a series.
type exceptionEdit struct {
	masterID, date string
	links          []entity.Link
	// apply returns the new fields of the occurrence's row, including modifiedFields; none to undo the exception. Plain
	// is the occurrence without its exception, and o the present one.
	apply func(plain item.Item, o series.Occurrence) (item.Item, []entity.FieldError)
}

func (c call) except(ctx context.Context, e exceptionEdit) (Result, error) {
	if _, err := c.checkSeries(e.masterID); err != nil {
		return Result{}, err
	}
	if !entity.IsCompactDate(e.date) {
		return Result{},
			entity.Invalid([]entity.FieldError{{Pointer: pointerToDate, Detail: entity.ExplainOccurrenceDate(e.date)}})
	}
	if c.expected == nil {
		return Result{}, ErrNoVersion
	}
	return c.decide(ctx, func(c call) (Result, error) { return c.attemptException(ctx, e) })
}

// occurrence is one occurrence of a series with the rows that make it.
type occurrence struct {
	ref         entity.Ref
	master, row item.Item
	series      *series.Series
	series.Occurrence
}

func (e exceptionEdit) keys(c call) (master, instance item.Key) {
	id := entity.InstanceID(e.masterID, e.date)
	return entity.ItemKey(c.user, entity.Ref{Type: entity.TypeMaster, ID: e.masterID}),
		entity.ItemKey(c.user, entity.Ref{Type: entity.TypeInstance, ID: id})
}

// find returns the occurrence from the rows read.
func (e exceptionEdit) find(c call, rows map[item.Key]item.Item) (occurrence, error) {
	masterKey, key := e.keys(c)
	o := occurrence{
		ref:    entity.Ref{Type: entity.TypeInstance, ID: entity.InstanceID(e.masterID, e.date)},
		master: rows[masterKey], row: rows[key],
	}
	if o.master == nil || entity.Expired(o.master, c.now) {
		return o, &NotFoundError{Ref: entity.Ref{Type: entity.TypeMaster, ID: e.masterID}}
	}
	var err error
	if o.series, err = open(o.master); err != nil {
		return o, err
	}
	if o.row != nil {
		o.series = o.series.With(o.row)
	}
	var ok bool
	if o.Occurrence, ok = o.series.On(e.date); !ok {
		return o, &NotFoundError{Ref: o.ref}
	}
	return o, nil
}

func (c call) attemptException(ctx context.Context, e exceptionEdit) (Result, error) {
	masterKey, key := e.keys(c)
	keys := append([]item.Key{masterKey, key}, c.targetKeys(e.links)...)
	if c.receipt != nil {
		keys = append(keys, c.receipt.Key)
	}
	rows, err := c.read(ctx, keys)
	if err != nil {
		return Result{}, err
	}
	if c.receipt != nil {
		if err := c.receipt.Check(rows[c.receipt.Key], c.now); err != nil {
			return Result{}, err
		}
	}
	o, err := e.find(c, rows)
	if err != nil {
		return Result{}, err
	}
	before := o.series.Item(o.Occurrence)
	if err := c.expectsOccurrence(o, before); err != nil {
		return Result{}, err
	}
	after, wrong, err := c.nextException(e, o)
	if err != nil {
		return Result{}, err
	}
	if err := entity.Invalid(wrong); err != nil {
		return Result{}, err
	}
	return c.writeException(ctx, e, o, before, after, rows)
}

// expectsOccurrence is [call.expects] for an occurrence. The version of its series holds only if it has none of its
// own.
func (c call) expectsOccurrence(o occurrence, before item.Item) error {
	switch {
	case !c.ofSeries:
		return c.expects(c.instanceType(), o.ref, before)
	case o.Virtual() && entity.HoldsAt(o.master, *c.expected):
		return nil
	}
	return &StaleError{Ref: o.ref, Current: before.Int(entity.AttrVersion), Type: c.instanceType(), Item: before}
}

// nextException returns the new row of an occurrence, checked as a whole; nil if it needs none.
func (c call) nextException(e exceptionEdit, o occurrence) (item.Item, []entity.FieldError, error) {
	t := c.instanceType()
	base, err := open(o.master)
	if err != nil {
		return nil, nil, err
	}
	virtual, _ := base.On(e.date)
	plain := base.Item(virtual)
	own, wrong := e.apply(plain, o.Occurrence)
	switch {
	case own == nil && o.Virtual():
		return o.row, wrong, nil
	case own == nil:
		return c.undone(o.row), wrong, nil
	}
	own[product.AttrMasterID], own[product.AttrRecurrenceID] = plain[product.AttrMasterID], plain[product.AttrRecurrenceID]
	after := c.firstInstance(o.master, o.ref.ID, own)
	if o.row != nil {
		kept := after.Clone()
		copyFields(kept, o.row, []string{entity.AttrCreatedAt, product.AttrDueSetAt, product.AttrSequence, product.AttrKept})
		if o.Owns(product.AttrKept) { // no client can set it, so it stays the occurrence's own
			names := append(kept.Strings(product.AttrModifiedFields), product.AttrKept)
			kept[product.AttrModifiedFields] = inOrder(t, names)
		}
		after = c.nextInstance(o.master, o.row, kept)
	}
	return after, slices.Concat(wrong, t.Validate(after), c.registry.CheckLinks(after)), nil
}

// writeException writes the row together with the series' count of such writes. So of a write to the exception and a
// split or reshape of the series, the later one detects the earlier.
func (c call) writeException(
	ctx context.Context, e exceptionEdit, o occurrence, before, after item.Item, rows map[item.Key]item.Item,
) (Result, error) {
	t := c.instanceType()
	now := o
	if after != nil {
		s, err := open(o.master, after)
		if err != nil {
			return Result{}, err
		}
		now.series = s
		now.Occurrence, _ = s.On(e.date)
	}
	res := Result{Type: t, Ref: o.ref, Item: now.series.Item(now.Occurrence), Row: after.Int(entity.AttrVersion)}
	if sameOccurrence(t, before, res.Item) {
		res.Item, res.Version, res.Row = before, before.Int(entity.AttrVersion), o.row.Int(entity.AttrVersion)
		return res, c.remember(ctx, effect{done: doneChange, ref: o.ref, version: res.Version})
	}
	if duesMoved(o.Occurrence, before, now.Occurrence, res.Item) {
		after.SetTime(product.AttrDueSetAt, c.now)
		if !now.Virtual() {
			res.Item.SetTime(product.AttrDueSetAt, c.now)
		}
	}
	if o.Virtual() {
		if err := c.hasRoom(ctx, o); err != nil {
			return Result{}, err
		}
	}
	if err := c.checkTargets(newLinks(before, after), rows, pointerToTarget); err != nil {
		return Result{}, err
	}
	steps := []step{putRow(o.row, after), countException(o.master)}
	res.Version = res.Item.Int(entity.AttrVersion)
	if _, err := c.commit(ctx, steps, effect{done: doneChange, ref: o.ref, version: res.Version}); err != nil {
		return Result{}, err
	}
	return res, nil
}

// sameOccurrence reports whether the change is invisible.
func sameOccurrence(t *entity.Type, before, after item.Item) bool {
	for _, f := range t.Fields {
		switch f.Name {
		case entity.AttrVersion, entity.AttrCreatedAt, entity.AttrUpdatedAt, product.AttrDueSetAt:
		default:
			if !item.Equal(before[f.Name], after[f.Name]) {
				return false
			}
		}
	}
	return true
}

// duesMoved reports whether a change moves, adds or removes the instant of a reminder, or makes it the occurrence's
// own rather than the series'.
func duesMoved(o series.Occurrence, before item.Item, now series.Occurrence, after item.Item) bool {
	for _, name := range append(product.SpanFields(), product.AttrReminderMinutes) {
		if !item.Equal(before[name], after[name]) {
			return true
		}
	}
	return o.Owns(product.AttrReminderMinutes) != now.Owns(product.AttrReminderMinutes) || o.Cancelled() != now.Cancelled()
}

// putRow is the step that writes an instance over what is stored of it, if anything.
func putRow(stored, after item.Item) step {
	moved := func(item.Item) error { return errMoved }
	if stored == nil {
		return step{action: table.Put{Item: after, If: table.NotExists()}, failed: moved}
	}
	return step{action: table.Diff(stored, after, table.AtVersion(stored.Int(entity.AttrVersion))), failed: moved}
}

// countException returns the step that counts a write of an instance in its series. It is bookkeeping: neither version
// nor updatedAt change.
func countException(master item.Item) step {
	return step{
		action: table.Update{
			Key: master.Key(), If: unchanged(master),
			Set: item.Item{
				product.AttrHasExceptions:     item.Bool(true),
				product.AttrExceptionsVersion: item.Int(master.Int(product.AttrExceptionsVersion) + 1),
			},
		},
		failed: func(item.Item) error { return errMoved },
	}
}

// hasRoom refuses an exception beyond the bound. It counts the rows first, which costs less than reading them; the
// first exception of a series needs not even that.
func (c call) hasRoom(ctx context.Context, o occurrence) error {
	if !o.master.Bool(product.AttrHasExceptions) {
		return nil
	}
	masterID := o.series.ID()
	rows, err := c.countInstances(ctx, masterID)
	if err != nil || rows < MaxExceptions {
		return err
	}
	all, err := c.instances(ctx, masterID)
	if err != nil {
		return err
	}
	s, err := open(o.master, all...)
	if err != nil {
		return err
	}
	full := &StateError{Ref: entity.Ref{Type: entity.TypeMaster, ID: masterID}}
	switch {
	case len(s.Exceptions()) >= MaxExceptions:
		full.Reason = fmt.Sprintf("has as many occurrences that differ as it may have (%d): split it", MaxExceptions)
	case o.row == nil && len(all) >= MaxInstances:
		full.Reason = fmt.Sprintf("had changes on as many dates as it may have (%d), undone ones too: split it", MaxInstances)
	default:
		return nil
	}
	return full
}

// replayInstance answers a repeated request about an occurrence with its present state.
func (c call) replayInstance(ctx context.Context, res Result) (Result, error) {
	masterID, date, err := entity.ParseInstanceID(res.Ref.ID)
	if err != nil {
		return Result{}, fmt.Errorf("receipt of %s: %w", res.Ref, err)
	}
	e := exceptionEdit{masterID: masterID, date: date}
	masterKey, key := e.keys(c)
	rows, err := c.read(ctx, []item.Key{masterKey, key})
	if err != nil {
		return Result{}, err
	}
	o, err := e.find(c, rows)
	var missing *NotFoundError
	if errors.As(err, &missing) {
		res.Deleted = true
		return res, nil
	}
	if err != nil {
		return Result{}, err
	}
	res.Item, res.Row = o.series.Item(o.Occurrence), o.row.Int(entity.AttrVersion)
	return res, nil
}
