package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/table"
)

// call is the state of one request.
type call struct {
	*Service
	user     string
	expected *int64
	// ofSeries says that expected is the series' version, of an occurrence that has none of its own.
	ofSeries bool
	now      time.Time            // in whole seconds, as in every stored row
	receipt  *idempotency.Receipt // nil without an idempotency key
}

func (s *Service) newCall(r Request) (call, error) {
	c := call{Service: s, user: r.User, expected: r.ExpectedVersion, ofSeries: r.VersionOfSeries, now: s.second()}
	if r.IdempotencyKey == "" {
		return c, nil
	}
	parts := append(r.Command.content(), r.ExpectedVersion)
	if r.AnyVersion {
		parts = append(parts, "*")
	}
	var err error
	c.receipt, err = idempotency.New(r.User, r.IdempotencyKey, r.Retention, parts)
	return c, err
}

// second returns the time in whole seconds, as in every stored row.
func (s *Service) second() time.Time { return s.now().UTC().Truncate(time.Second) }

// check refuses a reference that no entity can have. It must run before any key is built of it.
func (c call) check(t *entity.Type, id string) (entity.Ref, error) {
	if t == nil || !t.HasCollection() {
		return entity.Ref{}, &NotFoundError{Ref: entity.Ref{ID: id}}
	}
	ref := entity.Ref{Type: t.Name, ID: id}
	if entity.CheckID(t.IDPrefix, id) != nil {
		return entity.Ref{}, &NotFoundError{Ref: ref}
	}
	return ref, nil
}

// expects returns a [StaleError] if a user has changed the entity since the expected version, or if the entity has not
// reached it. Writes of the system since then are no conflict (docs/contracts.md, "Concurrency").
func (c call) expects(t *entity.Type, ref entity.Ref, seen item.Item) error {
	if c.expected == nil || entity.HoldsAt(seen, *c.expected) {
		return nil
	}
	return &StaleError{Ref: ref, Current: seen.Int(entity.AttrVersion), Type: t, Item: seen}
}

// overtaken interprets a failed condition on an entity's version, by the row that was there. The user has no such
// entity; or the expected version is past; or, with errMoved, another attempt must decide.
func (c call) overtaken(t *entity.Type, ref entity.Ref, row item.Item) error {
	if row == nil {
		return &NotFoundError{Ref: ref}
	}
	seen, ok := t.VisibleAt(row, c.now)
	if !ok {
		return &NotFoundError{Ref: ref}
	}
	if err := c.expects(t, ref, seen); err != nil {
		return err
	}
	return errMoved
}

// read returns the rows of the keys that exist, in one round trip.
func (c call) read(ctx context.Context, keys []item.Key) (map[item.Key]item.Item, error) {
	rows, err := c.store.BatchGet(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read %s with %d more: %w", keys[0], len(keys)-1, err)
	}
	found := make(map[item.Key]item.Item, len(rows))
	for _, row := range rows {
		found[row.Key()] = row
	}
	return found, nil
}

// errMoved ends an attempt whose row another writer changed between the read and the write.
var errMoved = fmt.Errorf("the row changed meanwhile: %w", table.ErrConflict)

// repeat runs attempts until one is final: no other write came in between. It pauses between two attempts for a random
// time, and each attempt uses the time of its own beginning.
func (c call) repeat(ctx context.Context, attempt func(c call) (Result, error)) (Result, error) {
	var err error
	for n := range maxAttempts {
		if n > 0 {
			if c.pause(ctx, n-1) != nil {
				return Result{}, fmt.Errorf("no time for attempt %d: %w", n+1, err)
			}
			c.now = c.second()
		}
		var res Result
		res, err = attempt(c)
		var replay *idempotency.ReplayError
		if errors.As(err, &replay) {
			return c.replay(ctx, replay.Receipt, nil)
		}
		if !errors.Is(err, table.ErrConflict) {
			return res, err
		}
	}
	return Result{}, fmt.Errorf("given up after %d attempts: %w", maxAttempts, err)
}
