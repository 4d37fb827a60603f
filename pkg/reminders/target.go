package reminders

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// target identifies the item of a piece of work.
type target struct {
	user string
	typ  *entity.Type
	id   string
}

func (t target) ref() entity.Ref { return entity.Ref{Type: t.typ.Name, ID: t.id} }
func (t target) key() item.Key   { return entity.ItemKey(t.user, t.ref()) }

// masterKey returns the key of the series to which the target is an exception. Its id was read before.
func (t target) masterKey() item.Key {
	masterID, _, _ := entity.ParseInstanceID(t.id)
	return entity.ItemKey(t.user, entity.Ref{Type: entity.TypeMaster, ID: masterID})
}

// hasReminders reports whether items of the type can be due, each under its own id.
func hasReminders(t *entity.Type) bool { return t != nil && t.Dues != nil && t.HasCollection() }

const namePrefix = "reminder-"

// ownerLength is the number of characters of a name that stand for the user, 66 bits: two of a million users share them
// with a probability of 10^-8.
const ownerLength = 11

// ScheduleName returns the name under which the next due instant of one offset of an item is scheduled. It is derived,
// so that every worker on the offset finds its schedule. It contains no character of the ids, so that it always fits.
// It begins with [UserPrefix], so that the schedules of a user can be listed.
func ScheduleName(user, itemID string, offsetMinutes int64) string {
	return UserPrefix(user) + digestOf(user, itemID, offsetMinutes)
}

// UserPrefix begins the names of all schedules of a user. It ends with a hyphen, and names of the former form have none
// at its place, but for a chance of 2^-66.
func UserPrefix(user string) string { return namePrefix + UserPart(user) + "-" }

// UserPart returns the part of a schedule's name that stands for the user.
func UserPart(user string) string { return digest(user)[:ownerLength] }

// FormerName returns the name that the same schedule has in the form before, without the part for the user.
func FormerName(user, itemID string, offsetMinutes int64) string {
	return namePrefix + digestOf(user, itemID, offsetMinutes)
}

// IsFormerName reports whether it can only be a name of the form before, by its length.
func IsFormerName(name string) bool { return len(name) == len(namePrefix)+digestLength }

func digestOf(user, itemID string, offsetMinutes int64) string {
	return digest(user, itemID, strconv.FormatInt(offsetMinutes, 10))
}

// digestLength is the length of a digest: 32 bytes in base64 without padding.
const digestLength = 43

// digest returns 43 characters of A-Z a-z 0-9 - _ that represent the parts. No part can contain the separator, which
// is that of the table's keys.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "#")))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
