package command

import (
	"context"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
)

// UpdateMe changes the user's zone and preferences in USER_META: a JSON Merge Patch. It needs the expected version,
// which is 0 until the user's first change. That change gives the row version 1, whether or not a consumer wrote
// statistics into it before.
type UpdateMe struct {
	Patch map[string]any
	// ZonePause is the least time between two changes of the zone, each of which moves all floating items; 0 for none.
	// A change that comes earlier is refused with a [*TooSoonError].
	ZonePause time.Duration
}

// TooSoonError says that a change of the user's zone follows the last one too soon.
type TooSoonError struct{ Again time.Duration }

func (e *TooSoonError) Error() string {
	return fmt.Sprintf("the zone has just changed; again in %s", e.Again)
}

func (cmd UpdateMe) content() []any { return []any{"updateMe", cmd.Patch} }

func (cmd UpdateMe) run(ctx context.Context, c call) (Result, error) {
	fields, broken := c.meta.Parse(cmd.Patch)
	return c.edit(ctx, edit{
		typ: c.meta, ref: entity.Ref{Type: c.meta.Name, ID: c.user}, versioned: true,
		absent:   product.NewUserMeta(c.user, c.now),
		apply:    cmd.apply(patch(c.meta, fields, broken)),
		takenOff: []string{product.AttrStatsWritten},
		// A consumer owns the statistics and writes them without changing the version: a command that set them could restore
		// old ones.
		untouched: []string{product.AttrStats, product.AttrStatsVersion, product.AttrStatsHold, product.AttrStatsRepairs,
			product.AttrStatsLast, product.AttrStatsForm},
	})
}

// apply refuses a change of the zone that comes too soon. The version that the write expects makes this exact.
func (cmd UpdateMe) apply(patched applied) applied {
	return func(now time.Time, before, meta item.Item) (item.Item, []entity.FieldError, error) {
		after, wrong, err := patched(now, before, meta)
		changed, ever := before.Time(product.AttrZoneSetAt)
		moves := err == nil && !item.Equal(before[product.AttrDefaultTzid], after[product.AttrDefaultTzid])
		// Times are whole seconds. A change in the future is one that a wrong clock dated.
		if left := changed.Add(cmd.ZonePause).Sub(now); ever && moves && time.Second <= left && left <= cmd.ZonePause {
			return nil, nil, &TooSoonError{left}
		}
		return after, wrong, err
	}
}
