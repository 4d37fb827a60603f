package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// ExpiredRows finds the rows whose ttl is at or before the instant. Rows that it misses are found the next time; rows
// that have not expired are passed over.
type ExpiredRows func(ctx context.Context, at time.Time) ([]item.Item, error)

// SweptStore is the part of the store that a sweep needs.
type SweptStore interface {
	Get(ctx context.Context, key item.Key) (item.Item, error)
	Delete(ctx context.Context, d table.Delete) error
}

// Sweeper removes expired rows, as the service's TTL does, and remembers which removals were its own.
//
// A row is deleted under the ttl and the version that were seen, after the intent to do so is durable. The intent ends
// as swept or dropped; while it is open, [Sweeper.Swept] waits, so that nobody reads the removal's record before it is
// known whose it is. A row that is gone may have been removed by someone else while an attempt of the sweep's, or its
// answer, was lost: a user's delete leaves a row that says so ([entity.GoneKey]), a sweep does not. A removal therefore
// counts as an expiry exactly if no user asked for it. Repeating a sweep is safe.
type Sweeper struct {
	store SweptStore
	find  ExpiredRows

	sweeping sync.Mutex // one sweep at a time
	journal  *journal   // written during a sweep only

	mu    sync.Mutex
	fates map[Removal]fate
	moved chan struct{} // closed and replaced whenever a fate changes
}

// NewSweeper opens the journal of sweeps in the directory ([Engine.DataDir]).
func NewSweeper(dir string, store SweptStore, find ExpiredRows) (*Sweeper, error) {
	j, fates, err := openJournal(dir)
	if err != nil {
		return nil, err
	}
	return &Sweeper{store: store, find: find, journal: j, fates: fates, moved: make(chan struct{})}, nil
}

// Close gives the journal free. No sweep may run or follow.
func (s *Sweeper) Close() error { return s.journal.close() }

// Sweep removes the rows that have expired at the instant, earliest first, and returns how many. Intents that an
// earlier sweep or a crash left open are settled first. After an error the rest is left to the next sweep.
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
	expired := expiredRemovals(rows, at)
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

// remove deletes one row and says what became of the intent.
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
	// Also a success says only that the row is gone: a repetition of a lost attempt may have found it so.
	return s.whoRemoved(ctx, r.Key)
}

// whoRemoved decides on a row that is gone. Only a user's delete of an entity leaves a trace; whatever else has a ttl
// is removed by nobody but the sweep.
func (s *Sweeper) whoRemoved(ctx context.Context, key item.Key) (fate, error) {
	user, err := entity.ParseUserPK(key.PK)
	if err != nil {
		return swept, nil //nolint:nilerr // no user's row
	}
	sk, err := entity.ParseSortKey(key.SK)
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
