// Package fence makes the fence that a function asks before it works for a user.
//
// It promises that a function remembers an account's state no longer than package account allows for.
package fence

import (
	"time"

	"nexus/functions/internal/cloud"
	"nexus/pkg/account"
	"nexus/pkg/deploy/env"
)

// New returns the function's fence on its table. What it reads is counted as the function's.
func New(tables *cloud.Tables, s env.Settings) *account.Fence {
	return account.NewFence(account.FenceConfig{
		Store: tables.StoreFor(string(s.Function)), Pepper: s.Pepper(), Now: time.Now, Memory: account.Memory,
	})
}
