// Package command is the write side: each command of a user becomes one conditional write of the table, or one
// transaction, and nothing else. The consumers of the stream make everything that follows from a change (statistics,
// links, schedules, copies).
//
// A series has more rows than a transaction. There one transaction is the commit: earlier writes are invisible before
// it, and rows that are still to be tidied are invisible after it (docs/series.md). A repetition finishes an
// interrupted command.
//
// It promises that a command is applied whole or not at all, and that a change applies only to the version for which
// it was meant. A request repeated under its idempotency key has its effect once. All invalid fields are named
// together. Commands treat entity types only as values of pkg/entity, so a type of another product needs no change
// here.
//
// It must never put a whole item over an existing one, because consumers' bookkeeping is in the same rows, and never
// decide on the answer of an index.
package command
