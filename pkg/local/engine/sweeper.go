package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// ExpiredRows finds the rows whose ttl is at or before the instant. A later call finds rows that it misses; the sweep
// ignores rows that have not expired.
type ExpiredRows func(ctx context.Context, at time.Time) ([]item.Item, error)

// SweptStore is the part of the store that a sweep needs.
type SweptStore interface {
	Get(ctx context.Context, key item.Key) (item.Item, error)
	Delete(ctx context.Context, d table.Delete) error
}

// Sweeper removes expired rows, as the service's TTL does, and records which removals were its own.
//
// It deletes a row under the ttl and the version that it read, after the intent to do so is durable. The intent ends
// as swept or dropped; while it is open, [Sweeper.Swept] waits, so that no reader gets the removal's record before its
// cause is known. A user may have removed a row while an attempt of the sweep, or its answer, was lost. A user's
// delete leaves a row that records it ([entity.GoneKey]), a sweep does not. A removal therefore counts as an expiry
// exactly if no user requested it. Repeating a sweep is safe.
type Sweeper struct {
	store SweptStore
	find  ExpiredRows
	types []*entity.Type // of the items

	sweeping sync.Mutex // one sweep at a time
	journal  *journal   // written during a sweep only

	mu    sync.Mutex
	fates map[Removal]fate
	moved chan struct{} // closed and replaced whenever a fate changes
}

// NewSweeper opens the journal of sweeps in the directory ([Engine.DataDir]).
func NewSweeper(dir string, store SweptStore, find ExpiredRows, types ...*entity.Type) (*Sweeper, error) {
	j, fates, err := openJournal(dir)
	if err != nil {
		return nil, err
	}
	return &Sweeper{store: store, find: find, types: types, journal: j, fates: fates, moved: make(chan struct{})}, nil
}

// Close closes the journal. No sweep may run or follow.
func (s *Sweeper) Close() error { return s.journal.close() }

// Sweep removes the rows that have expired at the instant, earliest first, and returns their number. It first ends
// intents that an earlier sweep or a crash left open. After an error the rest is left to the next sweep.
func (s *Sweeper) Sweep(ctx context.Context, at time.Time) (int, error) {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	open := s.open()
	count, err := s.carryOut(ctx, open)
	if err != nil {
		return count, err
	}
	rows, err := s.find(ctx, at)
	if err != nil {
		return count, fmt.Errorf("find expired rows: %w", err)
	}
	var expired []Removal
	for _, r := range expiredRemovals(rows, at) {
		if !s.isPast(r) {
			expired = append(expired, r)
		} else if _, err := s.remove(ctx, r); err != nil { // it is there only if the table was set back
			return count, fmt.Errorf("sweep %s again: %w", r.Key, err)
		}
	}
	if len(expired) == 0 {
		return count, nil
	}
	if err := s.journal.add(intended, expired...); err != nil {
		return count, err
	}
	s.note(intended, expired...)
	more, err := s.carryOut(ctx, expired)
	return count + more, err
}

// isPast reports whether an item was swept at this version. No later row of the item has that version, so the cause of
// the removal is known for good: the item may have come back since, and its user may have deleted it.
func (s *Sweeper) isPast(r Removal) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.Version != "" && s.fates[r] == swept
}

func expiredRemovals(rows []item.Item, at time.Time) []Removal {
	var expired []Removal
	for _, row := range rows {
		ttl, ok := row[entity.AttrTTL].(item.Number)
		if !ok || row.Int(entity.AttrTTL) > at.Unix() {
			continue
		}
		version, _ := row[entity.AttrVersion].(item.Number)
		expired = append(expired, Removal{Key: row.Key(), TTL: ttl, Version: version})
	}
	slices.SortFunc(expired, compareRemovals)
	return slices.Compact(expired)
}

func compareRemovals(a, b Removal) int {
	ttl := entity.AttrTTL
	return cmp.Or(
		cmp.Compare(item.Item{ttl: a.TTL}.Int(ttl), item.Item{ttl: b.TTL}.Int(ttl)),
		strings.Compare(a.Key.PK, b.Key.PK),
		strings.Compare(a.Key.SK, b.Key.SK),
	)
}

// open returns the intents without an end, in the order of a sweep.
func (s *Sweeper) open() []Removal {
	s.mu.Lock()
	defer s.mu.Unlock()
	var open []Removal
	for r, f := range s.fates {
		if f == intended {
			open = append(open, r)
		}
	}
	slices.SortFunc(open, compareRemovals)
	return open
}

func (s *Sweeper) carryOut(ctx context.Context, removals []Removal) (count int, err error) {
	for _, r := range removals {
		became, err := s.remove(ctx, r)
		if err != nil {
			return count, fmt.Errorf("sweep %s: %w", r.Key, err)
		}
		if err := s.journal.add(became, r); err != nil {
			return count, err
		}
		s.note(became, r)
		if became == swept {
			count++
		}
	}
	return count, nil
}

// remove deletes one row and returns the fate of the intent.
func (s *Sweeper) remove(ctx context.Context, r Removal) (fate, error) {
	version := table.Missing(entity.AttrVersion)
	if r.Version != "" {
		version = table.Equal(entity.AttrVersion, r.Version)
	}
	err := s.store.Delete(ctx, table.Delete{
		Key: r.Key,
		If:  table.Exists(table.Equal(entity.AttrTTL, r.TTL), version),
	})
	var refused *table.ConditionError
	if err != nil && !errors.As(err, &refused) {
		return "", err
	}
	if refused != nil {
		if failure, ok := refused.At(0); ok && failure.Old != nil {
			return dropped, nil
		}
	}
	// Even a success only means that the row is gone: a repetition of a lost attempt may have found it gone.
	return s.whoRemoved(ctx, r.Key)
}

// whoRemoved decides why a row is gone. Only a user's delete of an entity leaves a trace; only the sweep removes other
// rows with a ttl.
func (s *Sweeper) whoRemoved(ctx context.Context, key item.Key) (fate, error) {
	user, err := entity.ParseUserPK(key.PK)
	if err != nil {
		return swept, nil //nolint:nilerr // no user's row
	}
	sk, err := entity.ParseSortKey(key.SK, s.types...)
	if err != nil || sk.IsRow() {
		return swept, nil //nolint:nilerr // no entity
	}
	_, err = s.store.Get(ctx, entity.GoneKey(user, sk.Components[0]))
	switch {
	case err == nil:
		return dropped, nil
	case errors.Is(err, table.ErrNotFound):
		return swept, nil
	}
	return "", err
}

// Count returns of how many removals of such rows the journal tells.
func (s *Sweeper) Count(are func(item.Key) bool) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.fates {
		if are(r.Key) {
			n++
		}
	}
	return n
}

// Forget removes from the journal what it says of the rows, and returns of how many removals. It is for rows of an
// erased user: their records in the stream concern no consumer any more, whatever removed the rows.
func (s *Sweeper) Forget(are func(item.Key) bool) (int, error) {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	s.mu.Lock()
	kept := maps.Clone(s.fates)
	s.mu.Unlock()
	maps.DeleteFunc(kept, func(r Removal, _ fate) bool { return are(r.Key) })
	forgotten := len(s.fates) - len(kept)
	if forgotten == 0 {
		return 0, nil
	}
	if err := s.journal.rewrite(kept); err != nil {
		return 0, err
	}
	s.mu.Lock()
	s.fates = kept
	s.mu.Unlock()
	s.note("")
	return forgotten, nil
}

func (s *Sweeper) note(f fate, removals ...Removal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range removals {
		s.fates[r] = f
	}
	close(s.moved)
	s.moved = make(chan struct{})
}

// Swept implements [Removals].
func (s *Sweeper) Swept(ctx context.Context, removal Removal) (bool, error) {
	for {
		s.mu.Lock()
		f, moved := s.fates[removal], s.moved
		s.mu.Unlock()
		if f != intended {
			return f == swept, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return false, fmt.Errorf("wait for the sweep of %s: %w", removal.Key, ctx.Err())
		}
	}
}
