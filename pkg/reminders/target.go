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

// ScheduleName returns the name under which the next due instant of one offset of an item is scheduled. It is derived,
// so that every worker on the offset finds its schedule. It contains no character of the ids, so that it always fits.
func ScheduleName(user, itemID string, offsetMinutes int64) string {
	return namePrefix + digest(user, itemID, strconv.FormatInt(offsetMinutes, 10))
}

// digest returns 43 characters of A-Z a-z 0-9 - _ that represent the parts. No part can contain the separator, which
// is that of the table's keys.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "#")))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
