// Package values is the values tree: drivers, milestones and actions, as a versioned repository of package revision.
//
// It promises:
//   - Every committed tree obeys the hierarchy's rules.
//   - A tree that breaks one is refused whole with everything that is wrong, each finding with its node and rule.
//   - Nothing is ever deleted for good: a deleted node stays in every later snapshot as a tombstone. Only a rollback
//     restores a snapshot unchanged, which may be from before a node existed.
//
// It must never write a tree that it did not check, nor read another user's.
package values
