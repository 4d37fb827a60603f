// Package revision keeps versioned repositories: a head, a commit log that is only ever added to, and for each revision
// an immutable snapshot. The values tree (package values) and the daily plan (package plan) stand on this one mechanism
// and bring no more than the form of their states and the rules that these obey.
//
// It promises that a reader sees a snapshot whole or not at all; that history is a line, in the order of its times,
// from which nothing is ever lost; that of two writers on one parent one commits and the other is told the present
// head; and that a commit repeated under its idempotency key is answered with what the first one did.
//
// What makes a revision is one transaction: the head moves from the parent that the writer read, and the log gets its
// entry. A small snapshot is part of it. The rows of a larger one come first, announced by a draft, and the transaction
// takes the draft away on the condition that nobody has sealed it. Whoever removes an abandoned snapshot seals its
// draft before the first row goes, so what was removed can never be published, however late its writer wakes up.
//
// It must never write a row that a head or a log entry names, nor remove one, and must never decide on an index.
package revision
