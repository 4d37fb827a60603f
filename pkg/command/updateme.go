package command

import (
	"context"

	"nexus/pkg/entity"
	"nexus/pkg/product"
)

// UpdateMe changes the user's zone and preferences in USER_META: a JSON Merge Patch. It needs the expected version,
// which is 0 until the user's first change. That change gives the row version 1, whether or not a consumer wrote
// statistics into it before.
type UpdateMe struct {
	Patch map[string]any
}

func (cmd UpdateMe) content() []any { return []any{"updateMe", cmd.Patch} }

func (cmd UpdateMe) run(ctx context.Context, c call) (Result, error) {
	fields, broken := c.meta.Parse(cmd.Patch)
	return c.edit(ctx, edit{
		typ: c.meta, ref: entity.Ref{Type: c.meta.Name, ID: c.user}, versioned: true,
		absent:   product.NewUserMeta(c.user, c.now),
		apply:    patch(c.meta, fields, broken),
		takenOff: []string{product.AttrStatsWritten},
		// A consumer owns the statistics and writes them without changing the version: a command that set them could restore
		// old ones.
		untouched: []string{product.AttrStats, product.AttrStatsVersion, product.AttrStatsHold, product.AttrStatsRepairs,
			product.AttrStatsLast, product.AttrStatsForm},
	})
}
