// Package revision implements versioned repositories: a head, an append-only commit log, and an immutable snapshot for
// each revision. The values tree (package values) and the daily plan (package plan) use this mechanism; they add only
// the form of their states and their rules.
//
// It promises:
//   - A reader sees a snapshot whole or not at all.
//   - History is a line, in the order of its times, and loses nothing but what its user prunes.
//   - Of two writers on one parent one commits, and the other gets the present head.
//   - A commit repeated under its idempotency key returns the first one's result.
//
// One transaction makes a revision: it moves the head from the parent that the writer read, and adds the entry to the
// log. A small snapshot is part of it. The rows of a larger one are written before, announced by a draft, and the
// transaction deletes the draft on the condition that it is not sealed. A caller that removes an abandoned snapshot
// seals its draft before it removes the first row. So a removed snapshot can never be published, however late its
// writer continues.
//
// A pruning takes older revisions out of the log, and puts a draft for each in the same transaction. Their rows stay
// for as long as a reader can run. Repeating it is safe: an entry leaves the log once, under the head as it was read,
// and each draft that is left says which rows no revision has.
//
// It must never write a row that a head or a log entry names, nor remove one, and must never decide on an index.
package revision
