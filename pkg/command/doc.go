// Package command is the write side: each command of a user becomes one conditional write of the table, or one
// transaction, and nothing else. Everything that follows from a change (statistics, links, schedules, copies) is made
// by the consumers of the stream.
//
// A series has more rows than a transaction: there one transaction is the commit, before which nobody sees what is
// written, and after which nobody sees what is still to be tidied (docs/series.md). A repetition finishes what was cut
// short.
//
// It promises that a command is applied whole or not at all; that a change is made only to the version it was meant
// for; that a request repeated under its idempotency key has its effect once; and that all broken fields are named
// together. Commands know entity types only as values of pkg/entity, so a type of another product needs no change here.
//
// It must never put a whole item over an existing one, because bookkeeping of consumers lives in the same rows, and
// never decide on the answer of an index.
package command
