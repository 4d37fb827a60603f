package account

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

// receiptStatus is the status in the receipt of a request about the account itself.
const receiptStatus = "ACCOUNT"

// LeaveOnce is [Service.Leave] under an idempotency key; "" for none. A repetition changes nothing. It returns the
// instant as it is now, the zero time if the account stays. Errors are also [idempotency.ErrKey] and
// [idempotency.ErrKeyReused].
func (s *Service) LeaveOnce(ctx context.Context, user, key string) (eraseAt time.Time, replayed bool, err error) {
	replayed, err = s.once(ctx, user, key, "leave", func(receipt *idempotency.Receipt) (err error) {
		eraseAt, err = s.leave(ctx, user, Notice, receipt)
		return err
	})
	if replayed {
		var state State
		if state, eraseAt, err = s.State(ctx, user); err == nil && state.IsGone() {
			err = ErrErased
		}
	}
	return eraseAt, replayed, err
}

// ReturnOnce is [Service.Return] under an idempotency key; "" for none. A repetition changes nothing. Errors are also
// [idempotency.ErrKey] and [idempotency.ErrKeyReused].
func (s *Service) ReturnOnce(ctx context.Context, user, key string) (replayed bool, err error) {
	return s.once(ctx, user, key, "return", func(receipt *idempotency.Receipt) error {
		return s.back(ctx, user, receipt)
	})
}

// once carries a request about the account out under its receipt. That is a row of the user: an erasure removes it,
// which begins after it has ended.
func (s *Service) once(
	ctx context.Context, user, key, request string, write func(*idempotency.Receipt) error,
) (replayed bool, err error) {
	if err := entity.CheckUserID(user); err != nil {
		return false, fmt.Errorf("user: %w", err)
	}
	receipt, err := idempotency.New(user, key, 0, []any{"account", request})
	if err != nil {
		return false, err
	}
	before, err := receipt.Once(ctx, s.Store, s.Now,
		func(err error) bool { return errors.Is(err, errRace) }, func() error { return write(receipt) })
	return before != nil, err
}

// withReceipt returns actions with the one that puts the receipt, if there is one.
func withReceipt(receipt *idempotency.Receipt, now time.Time, actions ...table.Action) []table.Action {
	if receipt == nil {
		return actions
	}
	return append(actions, receipt.Put(item.Item{entity.AttrStatus: item.String(receiptStatus)}, now))
}

// remember puts the receipt, if there is one, of a request that changes nothing. It reports whether the account's row
// is no longer as the check says.
func (s *Service) remember(
	ctx context.Context, receipt *idempotency.Receipt, unchanged table.Check,
) (moved bool, err error) {
	if receipt == nil {
		return false, nil
	}
	err = s.Store.Transact(ctx, withReceipt(receipt, s.Now(), unchanged)...)
	var failed *table.ConditionError
	if errors.As(err, &failed) {
		err = receipt.Find(ctx, s.Store, s.Now())
		return err == nil, err
	}
	return false, err
}
