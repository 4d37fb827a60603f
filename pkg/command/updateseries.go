package command

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/series"
	"nexus/pkg/table"
)

// UpdateSeries changes fields of a series: a JSON Merge Patch (RFC 7396). It needs the expected version. When the
// start moves, rule and end follow, see [series.Follow], unless the patch sets them. Exceptions whose dates are still
// occurrences stay, the others are undone.
type UpdateSeries struct {
	ID string
	// Patch is the decoded JSON document, as for [Update].
	Patch map[string]any
}

func (cmd UpdateSeries) content() []any { return []any{"updateSeries", cmd.ID, cmd.Patch} }

func (cmd UpdateSeries) run(ctx context.Context, c call) (Result, error) {
	ref, err := c.checkSeries(cmd.ID)
	if err != nil {
		return Result{}, err
	}
	t := c.masterType()
	fields, broken := t.Parse(cmd.Patch)
	merge := patch(t, fields, broken)
	return c.reshape(ctx, edit{
		typ: t, ref: ref, versioned: true, links: entity.LinksOf(fields), pointer: pointerToTarget,
		apply: func(now time.Time, before, meta item.Item) (item.Item, []entity.FieldError, error) {
			after, wrong, err := merge(now, before, meta)
			if err == nil {
				followStart(before, after, cmd.Patch)
			}
			return after, wrong, err
		},
	})
}

// followStart moves the rule and end of a series with its start, unless the patch sets them.
func followStart(before, after item.Item, patch map[string]any) {
	rule, end := series.Follow(before, after, slices.Collect(maps.Keys(patch))...)
	if _, says := patch[product.AttrRRule]; !says {
		after[product.AttrRRule] = item.String(rule)
	}
	after.SetTime(product.AttrRRuleUntil, end)
}

// EndSeries ends a series: no occurrence starts after the instant. It needs the expected version. A series that
// already ends earlier stays unchanged. It refuses an end that leaves no occurrence, because such a series must be
// deleted.
type EndSeries struct {
	ID string
	// UntilUtc is RFC 3339, without offset for a floating or all-day series.
	UntilUtc string
}

// attrUntilUtc names the instant in the request.
const attrUntilUtc = "untilUtc"

func (cmd EndSeries) content() []any { return []any{"endSeries", cmd.ID, cmd.UntilUtc} }

func (cmd EndSeries) run(ctx context.Context, c call) (Result, error) {
	ref, err := c.checkSeries(cmd.ID)
	if err != nil {
		return Result{}, err
	}
	t := c.masterType()
	fields, broken := t.Parse(map[string]any{product.AttrRRuleUntil: cmd.UntilUtc})
	if err := entity.Invalid(broken); err != nil {
		return Result{}, renamePointer(err, "/"+product.AttrRRuleUntil, "/"+attrUntilUtc)
	}
	merge := patch(t, fields, nil)
	res, err := c.reshape(ctx, edit{
		typ: t, ref: ref, versioned: true, pointer: pointerToTarget,
		apply: func(now time.Time, before, meta item.Item) (item.Item, []entity.FieldError, error) {
			after, wrong, err := merge(now, before, meta)
			if err != nil || len(wrong) > 0 {
				return after, wrong, err
			}
			if ends := before.Str(product.AttrRRuleUntil); ends != "" && ends <= after.Str(product.AttrRRuleUntil) {
				return before, nil, nil
			}
			return after, nil, refuseEmpty(after)
		},
	})
	return res, renamePointer(err, "/"+product.AttrRRuleUntil, "/"+attrUntilUtc)
}

// refuseEmpty refuses an end before the first occurrence.
func refuseEmpty(master item.Item) error {
	s, err := open(master)
	if err != nil {
		return err
	}
	if _, ok := s.Rule().First(); ok {
		return nil
	}
	return entity.Invalid([]entity.FieldError{
		{Pointer: "/" + attrUntilUtc, Detail: "leaves no occurrence: delete the series instead"},
	})
}

// renamePointer changes the field of a validation error from the entity's to the request's.
func renamePointer(err error, from, to string) error {
	var invalid *entity.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	fields := slices.Clone(invalid.Fields)
	for i, f := range fields {
		if f.Pointer == from {
			fields[i].Pointer = to
		}
	}
	return entity.Invalid(fields)
}

// recurrenceFields returns the fields that decide on which dates a series has.
func recurrenceFields() []string {
	return append(product.SpanFields(), product.AttrRRule, product.AttrRRuleUntil, product.AttrExDate, product.AttrRDate)
}

// reshape carries out a change of a series that may remove dates of exceptions. The write of the series is the commit:
// it hides those exceptions, and afterwards they are undone. Exceptions that an earlier change hid are undone before
// the commit, because the new shape of the series might show them again.
func (c call) reshape(ctx context.Context, e edit) (Result, error) {
	var lost []item.Item
	walked := 0
	e.guard = func(ctx context.Context, stored, after item.Item) (tests []table.Test, err error) {
		lost, walked = nil, 0
		differs := func(name string) bool { return !item.Equal(stored[name], after[name]) }
		hasExceptions := stored.Bool(product.AttrHasExceptions)
		switch {
		case slices.ContainsFunc(recurrenceFields(), differs):
			if hasExceptions {
				lost, walked, err = c.lost(ctx, stored, after)
			}
			return []table.Test{exceptionsAt(stored)}, err
		case hasExceptions && differs(entity.AttrStatus):
			walked, err = c.countInstances(ctx, e.ref.ID)
		}
		return nil, err
	}
	res, err := c.edit(ctx, e)
	if err == nil && !res.Replayed {
		res.Walked = walked
		if err := c.strip(ctx, lost); err != nil {
			return Result{}, unfinished(err)
		}
	}
	return c.finish(ctx, e.ref.ID, res, err)
}

// lost undoes the exceptions that are idle in the present series. It returns those that will be idle after the change,
// and the number of all.
func (c call) lost(ctx context.Context, before, after item.Item) (idle []item.Item, all int, err error) {
	rows, err := c.instances(ctx, before.Str(product.AttrMasterID))
	if err != nil {
		return nil, 0, err
	}
	valid := rows
	if s, err := open(before, rows...); err == nil { // a rule that cannot be read hides nothing
		if err := c.strip(ctx, s.Idle()); err != nil {
			return nil, 0, err
		}
		valid = exceptionRows(s)
	}
	changed, err := open(after, valid...)
	if err != nil {
		return nil, 0, err
	}
	return changed.Idle(), len(rows), nil
}

// exceptionRows returns the valid exceptions of a series.
func exceptionRows(s *series.Series) []item.Item {
	var rows []item.Item
	for _, o := range s.Exceptions() {
		rows = append(rows, o.Exception)
	}
	return rows
}
