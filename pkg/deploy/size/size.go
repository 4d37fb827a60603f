// Package size is how large each function is made: memory, time and concurrency, as data for the infrastructure and for
// whoever reckons what they cost.
//
// It promises sizes that Lambda takes, and that what is given to one function leaves the others theirs. Why each is as
// it is stands beside it.
package size

import (
	"time"

	"nexus/pkg/deploy/env"
)

// Size is what Lambda gives a function.
type Size struct {
	// MemoryMB also decides the share of a processor: 1,769 MB are one (AWS Lambda Developer Guide, "Configure function
	// memory").
	MemoryMB int
	// Timeout ends an invocation.
	Timeout time.Duration
	// Reserved is the concurrency that is kept for the function and that it cannot exceed; 0 for its share of the
	// account's.
	Reserved int
}

// Of returns the function's size.
func Of(f env.Function) Size {
	switch f {
	case env.Command, env.Query:
		// Users wait, and what they wait for at a cold start is processor time. What is only computed costs the same with
		// twice the memory in half the time. An HTTP API waits for 30 seconds at most, so the function gives up before and
		// answers by itself. No concurrency is reserved: the API's throttle is what bounds them.
		return Size{MemoryMB: 1024, Timeout: 28 * time.Second}
	case env.Projections:
		// A batch is a few calls whatever its size, and most of the time is waiting for them, which more memory would only
		// make dearer. A minute is enough for every pause that a throttled table asks for within an invocation. The reserve
		// is what requests cannot take: what follows from writes goes on while users use up the account's concurrency.
		return Size{MemoryMB: 512, Timeout: time.Minute, Reserved: 50}
	case env.Effects:
		// As projections; but each record that matters costs some calls of its own, and a change of zone walks through a
		// user's items.
		return Size{MemoryMB: 512, Timeout: 2 * time.Minute, Reserved: 50}
	case env.Notify:
		// One reminder, some calls. Reminders fall due together, at full hours; the reserve bounds what they take from
		// everybody else, and what waits is delivered seconds later by Lambda's queue.
		return Size{MemoryMB: 256, Timeout: 30 * time.Second, Reserved: 100}
	}
	return Size{}
}
