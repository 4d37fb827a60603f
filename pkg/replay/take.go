package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/change"
	"nexus/pkg/consume"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/product"
	"nexus/pkg/table"
)

// takeRaw takes in a record that can be decoded. Another is the consumers' to park, and no row is to be made of it.
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

// take moves the clock to when the record was written and brings its row in the table to what the record says, unless a
// later record of the row was taken before.
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

// restored does what the command that brought an item back did beside it, of which no consumer gets a record.
func (s *System) restored(ctx context.Context, rec change.Record) error {
	if !rec.New.Has(entity.AttrRestoredAt) || rec.New.Str(entity.AttrRestoredAt) == rec.Old.Str(entity.AttrRestoredAt) {
		return nil
	}
	user, err := entity.ParseUserPK(rec.Key.PK)
	if err != nil {
		return err
	}
	sk, err := entity.ParseSortKey(rec.Key.SK)
	if err != nil {
		return err
	}
	if err := s.Store.Delete(ctx, table.Delete{Key: entity.ColdKey(user, sk.Ref().ID)}); err != nil {
		return fmt.Errorf("take back %s: %w", rec.Key, err)
	}
	return nil
}

// isFollowed says whether the row is an item, or one whose removal consumers see. What consumers keep for themselves
// they make anew.
func (s *System) isFollowed(rec change.Record) bool {
	if rec.Key.PK == "" || rec.Key.SK == "" || rec.Sequence == "" {
		return false
	}
	return reaches(s.registry, rec)
}

// imageOf is the record's image as the table is to have it: the statistics in a user's own row are the consumers', and
// a row that they made for them is no image at all. Nil for such a one.
func (s *System) imageOf(ctx context.Context, rec change.Record) (item.Item, error) {
	if rec.New.Str(entity.AttrType) != entity.TypeUserMeta {
		return rec.New, nil
	}
	if rec.New.Int(entity.AttrVersion) == 0 {
		return nil, nil
	}
	present, err := s.Store.Get(ctx, rec.Key)
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return nil, fmt.Errorf("read %s: %w", rec.Key, err)
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

// writtenAt is when the record was written, by whatever clock is ahead: the stream's, or the one by which items are
// dated.
func writtenAt(rec change.Record) time.Time {
	at := rec.Created
	if updated, ok := rec.New.Time(entity.AttrUpdatedAt); ok && updated.After(at) {
		at = updated
	}
	return at
}

// Follow moves the clock to the instant, and makes the calls that fall due on the way when they do. One that has passed
// leaves it where it is.
func (s *System) Follow(ctx context.Context, at time.Time) error {
	for {
		waiting := s.scheduler.Waiting()
		if len(waiting) == 0 || waiting[0].At.After(at) {
			break
		}
		s.MoveTo(waiting[0].At)
		if _, err := s.Fire(ctx); err != nil {
			return err
		}
	}
	s.MoveTo(at)
	return nil
}
