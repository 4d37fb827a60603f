package entity

import (
	"nexus/pkg/item"
)

// Writer names the party on whose behalf an entity is written.
type Writer int

// The writers. A write of the system makes a version like any other, but it does not make a user's edit conflict.
const (
	ByUser   Writer = iota // a command, or a restoration
	BySystem               // the closing of a delivery, a timer of the archive, a repair of either
)

// EditVersion returns the version that a user's last write made. A release that does not know the attribute copies it
// unchanged when it writes; then the present version counts as an edit.
func EditVersion(it item.Item) int64 {
	if it.Has(AttrEditVersion) && item.Equal(it[AttrSystemVersion], it[AttrVersion]) {
		return it.Int(AttrEditVersion)
	}
	return it.Int(AttrVersion)
}

// HoldsAt reports whether the item is unchanged since the version that a user saw, apart from writes of the system.
func HoldsAt(it item.Item, version int64) bool {
	return EditVersion(it) <= version && version <= it.Int(AttrVersion)
}

// setEdit records in the item to store which version a user's last write made.
func setEdit(by Writer, before, after item.Item) {
	if by == ByUser {
		delete(after, AttrEditVersion)
		delete(after, AttrSystemVersion)
		return
	}
	after[AttrEditVersion] = item.Int(EditVersion(before))
	after[AttrSystemVersion] = item.Int(before.Int(AttrVersion) + 1)
}
