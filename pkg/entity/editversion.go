package entity

import (
	"nexus/pkg/item"
)

// Writer says on whose behalf an entity is written.
type Writer int

// The writers. A system's write makes a version like any other, and yet no edit of a user a conflict.
const (
	ByUser   Writer = iota // a command, or a restoration
	BySystem               // the closing of a delivery, a timer of the archive, a repair of either
)

// EditVersion returns the version that the last write of a user made. A release that does not know the attribute leaves
// it behind when it writes; then the present version is an edit.
func EditVersion(it item.Item) int64 {
	if it.Has(AttrEditVersion) && item.Equal(it[AttrSystemVersion], it[AttrVersion]) {
		return it.Int(AttrEditVersion)
	}
	return it.Int(AttrVersion)
}

// HoldsAt reports whether what a user saw at the version still stands: all that was written since is the system's own.
func HoldsAt(it item.Item, version int64) bool {
	return EditVersion(it) <= version && version <= it.Int(AttrVersion)
}

// setEdit notes on the item to store which version the last write of a user made.
func setEdit(by Writer, before, after item.Item) {
	if by == ByUser {
		delete(after, AttrEditVersion)
		delete(after, AttrSystemVersion)
		return
	}
	after[AttrEditVersion] = item.Int(EditVersion(before))
	after[AttrSystemVersion] = item.Int(before.Int(AttrVersion) + 1)
}
