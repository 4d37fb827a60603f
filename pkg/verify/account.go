package verify

import (
	"context"
	"errors"
	"fmt"

	"nexus/pkg/account"
	"nexus/pkg/reminders"
	"nexus/pkg/table"
)

// ErrNoPepper says that accounts have left this table, and that nothing tells which.
var ErrNoPepper = errors.New("a repair needs the pepper: accounts have left this table")

// checkPepper refuses a repair that could bring an erased account back.
func (r *run) checkPepper(ctx context.Context) error {
	if r.Accounts != nil {
		return nil
	}
	has, err := account.HasPepper(ctx, r.Store)
	if err != nil || !has {
		return err
	}
	if r.o.Repair {
		return ErrNoPepper
	}
	r.sum.Unchecked = append(r.sum.Unchecked, "which accounts leave or are erased: no pepper is known")
	return nil
}

// maxAway bounds the accounts whose state a run remembers while it goes through the schedules.
const maxAway = 10_000

// stateOf returns the state of an account, as it was within this run. A repair asks again before each write.
func (r *run) stateOf(ctx context.Context, user string) (account.State, error) {
	if r.Accounts == nil {
		return account.Present, nil
	}
	if state, known := r.away[user]; known {
		return state, nil
	}
	state, err := r.Accounts.Fresh(ctx, user)
	if err != nil {
		return state, err
	}
	r.read(1)
	if r.away == nil || len(r.away) >= maxAway {
		r.away = map[string]account.State{}
	}
	r.away[user] = state
	return state, nil
}

// isAway reports whether the account is leaving or gone. Of such nothing is named or repaired, except that there is
// anything of one that is erased. The partition is one of the user's.
func (r *run) isAway(ctx context.Context, user, partition string) (bool, error) {
	state, err := r.stateOf(ctx, user)
	if err != nil || state != account.Erased {
		return state != account.Present, err
	}
	r.repairing = r.o.Repair
	for range 2 {
		rows, err := r.Store.Count(ctx, table.Query{Partition: partition})
		if err != nil || rows == 0 {
			return true, err
		}
		r.read(rows)
		err = r.found(Difference{
			Kind: Erased, User: user, Key: partition, Is: fmt.Sprintf("%d rows", rows),
			ShouldBe: "no rows: the account is erased",
		})
		if err != nil || !r.repairing || r.Forget == nil {
			return true, err
		}
		if err := r.forgive(ctx, user, partition, r.Forget(ctx, user)); err != nil {
			return true, err
		}
		r.repairing = false
	}
	return true, nil
}

// isFormer reports whether it is a row or a schedule of a form before, which an erasure would not find.
func (d Difference) isFormer() bool {
	return d.Kind == Plan || d.Kind == Schedule && reminders.IsFormerName(d.Key)
}

// putForm says that all rows and schedules have the present form, which is what an erasure needs. Only a repair of all
// users finds that out.
func (r *run) putForm(ctx context.Context) error {
	if r.o.User != "" || r.Reminders == nil || r.former > 0 || r.failed > 0 {
		return nil
	}
	return r.Store.Put(ctx, table.Put{Item: account.FormRow()})
}
