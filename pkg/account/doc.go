// Package account erases the account of a user: everything that the register of owners (package register) lists.
//
// It promises:
//   - From the instant at which an account is ERASED nothing of it is in the table, in an object, a schedule or a
//     parked record, and no record, call, redrive or repair brings it back (docs/correctness.md, law E1).
//   - Until an erasure begins it can be taken back, and the account is as it was (law E2).
//   - It changes no byte that another user owns (law E3).
//
// It must never know what the rows of a user mean, keep a user id past ERASED, or erase before the instant that the
// request was answered with.
//
// # The fence
//
// The state of an account is one row. Everything that works for a user asks a [Fence] first, which remembers an answer
// for a minute. Nothing but the erasure itself works for longer than two minutes. So five minutes after a change of the
// state nothing is alive that read the former one: that wait, not a condition on every write, keeps what is erased from
// coming back.
//
// # Why repeating is safe
//
// Each step of an erasure removes whatever it finds, and is done when it finds nothing. The row holds which step of
// which pass is next. It moves under its revision, so of two workers one stops. A crash costs the step in which it
// came. Passes repeat until one has found nothing, so that what arrived behind a step is found by the next pass. The
// object that makes a later restore erase again, the event and the end of the request come before ERASED, and each may
// come twice.
//
// A request of the user to leave, or to return, changes one row. The same transaction puts its receipt: so a late
// repetition under an idempotency key never undoes a later request. Without a key each is as good as the first.
package account
