package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/projection"
	"nexus/pkg/table"
)

// strayLedger calls visit for each ledger row of a projection that belongs to no possible item: its id has no known
// type, or is malformed.
func (r *run) strayLedger(
	ctx context.Context, user string, p *projection.Projection, visit func(item.Item) error,
) error {
	prefix := entity.LedgerPrefix(p.Name())
	return r.each(ctx, user, family{prefix: prefix, idFrom: len(prefix)}, func(row item.Item, _ string) error {
		id := row.Str(item.AttrSK)[len(prefix):]
		if isID(r.Registry.ByID(id), id) {
			return nil
		}
		return visit(row)
	})
}

// each calls visit for every row of a family.
func (r *run) each(ctx context.Context, user string, f family, visit func(row item.Item, id string) error) error {
	c := r.cursor(user, f)
	for {
		row, id, err := c.peek(ctx)
		if err != nil || row == nil {
			return err
		}
		c.at++
		if err := visit(row, id); err != nil {
			return err
		}
	}
}

// strays finds derived rows that belong to no possible item. No program writes such rows, so one read is enough.
func (r *run) strays(ctx context.Context, user string) error {
	for i, p := range r.Projections {
		err := r.strayLedger(ctx, user, p, func(row item.Item) error {
			if r.repairing && p.Summed() && projection.CheckForm(row) == nil {
				r.rebuild[i] = true
				return r.found(strayOf(user, row))
			}
			return r.stray(ctx, user, row)
		})
		if err == nil {
			err = r.strayRows(ctx, user, p)
		}
		if err != nil {
			return fmt.Errorf("rows of nobody: %w", err)
		}
	}
	return nil
}

// strayRows does the same for a projection that stores rows, whose keys contain their sources.
func (r *run) strayRows(ctx context.Context, user string, p *projection.Projection) error {
	prefixes := map[string]*entity.Type{}
	common := ""
	for _, t := range r.Registry.Types() {
		prefix := p.RowsPrefix(t.Name)
		if prefix == "" {
			return nil
		}
		prefixes[prefix] = t
		common = commonPrefix(common, prefix)
	}
	return r.each(ctx, user, family{prefix: common}, func(row item.Item, _ string) error {
		sk := row.Str(item.AttrSK)
		for prefix, t := range prefixes {
			if rest, ok := strings.CutPrefix(sk, prefix); ok {
				id, _, hasMore := strings.Cut(rest, "#")
				if hasMore && t.HasCollection() && isID(t, id) {
					return nil
				}
			}
		}
		return r.stray(ctx, user, row)
	})
}

// commonPrefix returns the common prefix of an earlier result and one more text; was is empty at the start.
func commonPrefix(was, text string) string {
	if was == "" {
		return text
	}
	n := 0
	for n < min(len(was), len(text)) && was[n] == text[n] {
		n++
	}
	return text[:n]
}

func strayOf(user string, row item.Item) Difference {
	d := Difference{
		Kind: Stray, User: user, Key: row.Key().String(), Is: "there", ShouldBe: "no row: it can be no item's",
	}
	if err := projection.CheckForm(row); err != nil {
		d.Is, d.ShouldBe = err.Error(), "verified by that release"
	}
	return d
}

// stray reports a row and, in a repair, deletes it. A row that a later release wrote remains.
func (r *run) stray(ctx context.Context, user string, row item.Item) error {
	err := r.found(strayOf(user, row))
	if err != nil || !r.repairing || projection.CheckForm(row) != nil {
		return err
	}
	return r.forgive(ctx, user, row.Str(item.AttrSK), r.Store.Delete(ctx, table.Delete{
		Key: row.Key(), If: table.OrNoRow(table.Missing(entity.AttrForm)),
	}))
}

// walks finds cursors of walks that make no progress.
func (r *run) walks(ctx context.Context, user string) error {
	if r.Reminders == nil {
		return nil
	}
	var stalled []item.Item
	for _, prefix := range []string{entity.ItemPrefix(entity.RowZone), entity.ItemPrefix(entity.RowSeries)} {
		err := r.each(ctx, user, family{prefix: prefix, idFrom: len(prefix)}, func(row item.Item, _ string) error {
			if r.Reminders.Stalled(row) && len(stalled) < maxStalled {
				stalled = append(stalled, row)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for row := range slices.Values(stalled) {
		d := Difference{Kind: Walk, User: user, Key: row.Key().String(), Is: "not done for every item", ShouldBe: "done"}
		if err := r.found(d); err != nil {
			return err
		}
		if r.repairing {
			if err := r.forgive(ctx, user, d.Key, r.resume(ctx, row)); err != nil {
				return err
			}
		}
	}
	return nil
}
