// Package values is the values tree: drivers, milestones and actions, as a versioned repository of package revision.
//
// It promises that every committed tree obeys the hierarchy's rules, that whatever breaks one is refused whole with
// everything that is wrong, each finding with its node and rule, and that nothing is ever deleted for good: what is
// deleted stays in every later snapshot as a tombstone. A rollback alone restores a snapshot as it was, which may be
// from before a node was there.
//
// It must never write a tree that it did not check, nor look at another user's.
package values
