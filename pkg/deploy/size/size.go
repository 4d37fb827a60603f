// Package size defines the size of each function: memory, time and concurrency, as data for the infrastructure and for
// the cost model.
//
// It promises sizes that Lambda accepts, and that the size of one function leaves the others their share. The reason
// for each is beside it.
package size

import (
	"time"

	"nexus/pkg/deploy/env"
)

// Size is a function's configuration in Lambda.
type Size struct {
	// MemoryMB also decides the share of a processor: 1,769 MB are one (AWS Lambda Developer Guide, "Configure function
	// memory").
	MemoryMB int
	// Timeout ends an invocation.
	Timeout time.Duration
	// Reserved is the concurrency that is reserved for the function and that it cannot exceed; 0 for its share of the
	// account's.
	Reserved int
}

// WalksAtOnce is how many walks, of as many users, are carried out at a time. They share the table and the scheduler
// with what users wait for, and a walk may take minutes.
const WalksAtOnce = 5

// AccountEvery is the time between two calls of account, CanaryEvery between two of canary.
const (
	AccountEvery = 5 * time.Minute
	CanaryEvery  = 5 * time.Minute
)

// For returns the function's size.
func For(f env.Function) Size {
	switch f {
	case env.Command, env.Query:
		// Users wait for these functions, and the functions for the table: a request computes for less than a millisecond of
		// a whole processor, and waits for several. More memory would make that shorter, and the waiting dearer. An HTTP API
		// waits for 30 seconds at most, so the function gives up before and answers by itself. No concurrency is reserved:
		// the API's throttle bounds them.
		return Size{MemoryMB: 512, Timeout: 28 * time.Second}
	case env.Projections:
		// A batch of any size is a few calls, and waiting for them takes most of the time; more memory would only cost more.
		// A minute is enough for every pause that a throttled table requires within an invocation. The reserve is out of
		// reach of requests: consumers continue while users exhaust the account's concurrency.
		return Size{MemoryMB: 256, Timeout: time.Minute, Reserved: 50}
	case env.Effects:
		// As projections; but each record that matters costs some separate calls.
		return Size{MemoryMB: 256, Timeout: 2 * time.Minute, Reserved: 50}
	case env.Walk:
		// It has the items of a page in its memory, for 20 seconds of work and the page that is open then. The mapping runs
		// [WalksAtOnce]; the reserve leaves room for a deployment.
		return Size{MemoryMB: 512, Timeout: time.Minute, Reserved: 2 * WalksAtOnce}
	case env.Account:
		// No user waits for it, and whole accounts pass through its memory. Lambda's longest time: what is left is the next
		// call's. The reserve is more than the calls of one such time.
		return Size{MemoryMB: 1024, Timeout: 15 * time.Minute, Reserved: 5}
	case env.Canary:
		// Some requests, and waiting for what follows from them. Its time ends before the next call.
		return Size{MemoryMB: 128, Timeout: 4 * time.Minute, Reserved: 1}
	case env.Deliver:
		// One reminder on a user's devices: some calls, and waiting for push services, 10 seconds each at most. What is
		// asked for again within a minute waits here, too. Reminders are due together, as for notify. The reserve bounds
		// what push services that hang can take.
		return Size{MemoryMB: 256, Timeout: 2 * time.Minute, Reserved: 100}
	case env.Notify:
		// One reminder, some calls. Reminders are due together, at full hours. The reserve bounds what they take from all
		// other functions, and Lambda's queue delivers the waiting ones seconds later.
		return Size{MemoryMB: 256, Timeout: 30 * time.Second, Reserved: 100}
	}
	return Size{}
}
