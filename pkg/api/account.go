package api

import (
	"context"

	"nexus/pkg/account"
)

// Fence tells the state of a user's account: [account.Fence].
type Fence interface {
	State(ctx context.Context, user string) (account.State, error)
}

var _ Fence = (*account.Fence)(nil)

// askFence refuses what the state of the user's account does not allow. It writes no row, and so comes before any
// limit.
func (a *API) askFence(ctx context.Context, user string, o *operation) error {
	if a.cfg.Fence == nil || user == "" || o == nil {
		return nil
	}
	state, err := a.cfg.Fence.State(ctx, user)
	switch {
	case err != nil:
		return err
	case state.IsGone():
		return refuse(accountErased, "The account is being erased, or was.")
	case state == account.Leaving && o.writes && !o.whileLeaving:
		return refuse(accountLeaving, "The account is to be erased.")
	}
	return nil
}
