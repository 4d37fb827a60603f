package account

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"nexus/pkg/blob"
	"nexus/pkg/entity/departure"
	"nexus/pkg/idempotency"
	"nexus/pkg/item"
	"nexus/pkg/pepper"
	"nexus/pkg/table"
)

// Names of objects in the archive bucket, which a restore of the table leaves as they are. None has a user id.
const (
	LeavingPrefix = "leaving/" // when an account is to be erased
	ErasedPrefix  = "erased/"  // when one was
	PepperObject  = "pepper"   // by which the deployment recognises its pepper
)

// Errors on which callers decide.
var (
	// ErrErased says that the account is being erased, or was.
	ErrErased = errors.New("the account is erased")
	// ErrLeaving says that the account is to be erased, so that nothing changes it but its return.
	ErrLeaving = errors.New("the account is to be erased: POST /v1/me/restore takes that back")
	// ErrPresent says that the account is not leaving.
	ErrPresent = errors.New("the account is not leaving")
	// errRace says that another worker changed the account's state again and again.
	errRace = fmt.Errorf("the account's state changed: %w", table.ErrConflict)
)

// Config holds the dependencies of a [Service]. All are required.
type Config struct {
	Store   table.Store
	Objects blob.Store // the archive bucket
	Pepper  pepper.Pepper
	Now     func() time.Time
}

// Service lets accounts leave and return. It is safe for concurrent use.
type Service struct{ Config }

// New returns a service. It panics if something is missing, a mistake in the program.
func New(c Config) *Service {
	if c.Store == nil || c.Objects == nil || c.Pepper.IsZero() || c.Now == nil {
		panic("account: a part of the Config is missing")
	}
	return &Service{c}
}

// tries bounds how often a change of the state is tried under another worker's.
const tries = 3

// Leave requests the erasure of the account and returns its instant. A repetition returns that of the first request.
func (s *Service) Leave(ctx context.Context, user string) (eraseAt time.Time, err error) {
	return s.leave(ctx, user, Notice, nil)
}

// LeaveNow requests it at once, also for an account that is leaving.
func (s *Service) LeaveNow(ctx context.Context, user string) error {
	_, err := s.leave(ctx, user, 0, nil)
	return err
}

// leave puts the object before the row: a restore of the table takes rows away and leaves objects. The row is put with
// the check of the pepper, so that no account has a row in a table that does not know its pepper. The receipt, if there
// is one, is put with the row, or with a check of the row that is there.
func (s *Service) leave(
	ctx context.Context, user string, notice time.Duration, receipt *idempotency.Receipt,
) (time.Time, error) {
	name := s.Pepper.Erasure(user)
	if err := s.checkPepper(ctx); err != nil {
		return time.Time{}, err
	}
	for range tries {
		now := s.Now()
		is, err := findRow(ctx, s.Store, name, now)
		if err != nil {
			return time.Time{}, err
		}
		eraseAt := now.Add(notice).UTC().Truncate(time.Second)
		condition := replaceable(now)
		switch {
		case is.state.IsGone():
			return time.Time{}, ErrErased
		case is.state == Leaving && !eraseAt.Before(is.eraseAt):
			if moved, err := s.remember(ctx, receipt, table.Check{Key: departure.StateKey(name), If: is.asRead()}); !moved {
				return is.eraseAt, err
			}
			continue
		case is.state == Leaving:
			condition = is.asRead()
		}
		noted := map[string]time.Time{attrAskedAt: now, attrEraseAt: eraseAt}
		if err := s.note(ctx, LeavingPrefix+name, noted); err != nil {
			return time.Time{}, err
		}
		check := PepperRow(s.Pepper)
		err = s.Store.Transact(ctx, withReceipt(receipt, now,
			table.Put{Item: requested(name, user, now, eraseAt), If: condition},
			table.Put{Item: check, If: table.OrNoRow(table.Equal(attrCheck, check[attrCheck]))})...)
		var failed *table.ConditionError
		switch {
		case err == nil:
			return eraseAt, nil
		case !errors.As(err, &failed):
			return time.Time{}, fmt.Errorf("request the erasure of an account: %w", err)
		}
		if _, is := failed.At(1); is {
			return time.Time{}, ErrPepper
		}
		if err := receipt.Find(ctx, s.Store, s.Now()); err != nil {
			return time.Time{}, err
		}
	}
	return time.Time{}, errRace
}

// Return takes the request back. It takes the row away before the object: what a crash leaves of the object ends by
// itself, as of one without a row. [ErrPresent] says that there is no request, [ErrErased] that it is too late.
func (s *Service) Return(ctx context.Context, user string) error { return s.back(ctx, user, nil) }

func (s *Service) back(ctx context.Context, user string, receipt *idempotency.Receipt) error {
	name := s.Pepper.Erasure(user)
	now := s.Now()
	is, err := findRow(ctx, s.Store, name, now)
	switch {
	case err != nil:
		return err
	case is.state == Present:
		moved, err := s.remember(ctx, receipt, table.Check{Key: departure.StateKey(name), If: replaceable(now)})
		if moved {
			return errRace
		}
		return cmp.Or(err, ErrPresent)
	case is.state.IsGone():
		return ErrErased
	}
	err = s.Store.Transact(ctx, withReceipt(receipt, now, table.Delete{Key: departure.StateKey(name), If: is.asRead()})...)
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		return errRace
	}
	if err != nil {
		return fmt.Errorf("take back the erasure of an account: %w", err)
	}
	return s.Objects.Delete(ctx, LeavingPrefix+name)
}

// State returns the account's state and the instant of its erasure, read consistently.
func (s *Service) State(ctx context.Context, user string) (State, time.Time, error) {
	is, err := findRow(ctx, s.Store, s.Pepper.Erasure(user), s.Now())
	return is.state, is.eraseAt, err
}

// checkPepper compares the pepper with the one of the objects, and puts the check if there is none.
func (s *Service) checkPepper(ctx context.Context) error {
	body, err := s.Objects.Get(ctx, PepperObject)
	if errors.Is(err, blob.ErrNotFound) {
		return s.Objects.Put(ctx, PepperObject, []byte(s.Pepper.Check()))
	}
	if err != nil {
		return err
	}
	if string(body) != s.Pepper.Check() {
		return ErrPepper
	}
	return nil
}

// note puts an object that holds instants alone.
func (s *Service) note(ctx context.Context, object string, instants map[string]time.Time) error {
	noted := map[string]string{}
	for what, at := range instants {
		noted[what] = item.FormatInstant(at)
	}
	body, err := json.Marshal(noted)
	if err != nil {
		return err
	}
	return s.Objects.Put(ctx, object, body)
}

// readNote reads one instant of such an object.
func readNote(body []byte, what string) (time.Time, error) {
	var noted map[string]string
	if err := json.Unmarshal(body, &noted); err != nil {
		return time.Time{}, err
	}
	return item.ParseInstant(noted[what])
}
