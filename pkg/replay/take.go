package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// takeRaw takes in a record that can be decoded. The consumers park any other, and no row is made of it.
func (s *System) takeRaw(ctx context.Context, raw json.RawMessage) error {
	decoded, err := change.Decode(consume.Event([]json.RawMessage{raw}), s.registry)
	if err != nil {
		return err
	}
	if !isOneRecord(decoded) {
		return nil
	}
	rec, err := change.Parse(raw)
	if err != nil {
		return err
	}
	return s.take(ctx, rec)
}

func isOneRecord(decoded []change.Decoded) bool { return len(decoded) == 1 && decoded[0].Err == nil }

// take moves the clock to the time of the record's write and updates its row in the table, unless it already took a
// later record of the row.
func (s *System) take(ctx context.Context, rec change.Record) error {
	if !s.isFollowed(rec) {
		return nil
	}
	if err := s.Follow(ctx, writtenAt(rec)); err != nil {
		return err
	}
	if last, ok := s.taken[rec.Key]; ok && change.CompareSequence(rec.Sequence, last) <= 0 {
		return nil
	}
	s.taken[rec.Key] = rec.Sequence
	if rec.New == nil {
		return s.Store.Delete(ctx, table.Delete{Key: rec.Key})
	}
	row, err := s.imageOf(ctx, rec)
	if err != nil || row == nil {
		return err
	}
	if err := s.restored(ctx, rec); err != nil {
		return err
	}
	if err := s.Store.Load(ctx, []item.Item{row}); err != nil {
		return fmt.Errorf("take in %s: %w", rec.Key, err)
	}
	return nil
}

// restored makes the other writes of the command that restored an item, of which no consumer gets a record.
func (s *System) restored(ctx context.Context, rec change.Record) error {
	if !rec.New.Has(entity.AttrRestoredAt) || rec.New.Str(entity.AttrRestoredAt) == rec.Old.Str(entity.AttrRestoredAt) {
		return nil
	}
	user, err := entity.ParseUserPK(rec.Key.PK)
	if err != nil {
		return err
	}
	sk, err := entity.ParseSortKey(rec.Key.SK, s.registry.Types()...)
	if err != nil {
		return err
	}
	if err := s.Store.Delete(ctx, table.Delete{Key: entity.ColdKey(user, sk.Ref().ID)}); err != nil {
		return fmt.Errorf("take back %s: %w", rec.Key, err)
	}
	return nil
}

// isFollowed reports whether the row is an item, or one whose removal consumers receive. Consumers write their own
// rows again.
func (s *System) isFollowed(rec change.Record) bool {
	return rec.Key.PK != "" && rec.Key.SK != "" && rec.Sequence != "" && s.reaches(rec)
}

// imageOf returns the record's image as the table must have it. The statistics in a user's row belong to the
// consumers, and a row that they made only for them counts as no image. Nil for such a row.
func (s *System) imageOf(ctx context.Context, rec change.Record) (item.Item, error) {
	if rec.New.Str(entity.AttrType) != entity.TypeUserMeta {
		return rec.New, nil
	}
	if rec.New.Int(entity.AttrVersion) == 0 {
		return nil, nil
	}
	present, err := table.Find(ctx, s.Store, rec.Key)
	if err != nil {
		return nil, err
	}
	row := rec.New.Clone()
	for _, name := range []string{product.AttrStats, product.AttrStatsVersion, product.AttrStatsHold,
		product.AttrStatsRepairs,
		product.AttrStatsLast, product.AttrStatsForm} {
		delete(row, name)
		if present.Has(name) {
			row[name] = present[name]
		}
	}
	return row, nil
}

// writtenAt returns the time of the record's write, by the clock that is ahead: the stream's, or the one that dates
// items.
func writtenAt(rec change.Record) time.Time {
	at := rec.Created
	if updated, ok := rec.New.Time(entity.AttrUpdatedAt); ok && updated.After(at) {
		at = updated
	}
	return at
}

// Follow moves the clock to the instant, and makes the calls that are due on the way at their times. A past instant
// leaves the clock unchanged.
func (s *System) Follow(ctx context.Context, at time.Time) error {
	for {
		next, waits := s.scheduler.Next()
		if !waits || next.After(at) {
			break
		}
		s.MoveTo(next)
		if _, err := s.Fire(ctx); err != nil {
			return err
		}
	}
	s.MoveTo(at)
	return nil
}
