// Package departure holds the keys of the rows of accounts that leave, and of the two rows of a deployment that their
// erasure needs. No user owns any of them.
//
// It promises that a key names a user by the pepper alone (package pepper). It must never know which attributes a row
// has.
package departure

import (
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

const (
	separator  = "#"
	statePK    = "ERASE"
	stateSK    = "STATE"
	formPK     = "REGISTER"
	pepperPK   = "PEPPER"
	deployment = "DEPLOYMENT"
)

// StateKey returns the key of the row with the state of an account, by the name that the pepper gives its user. It
// panics on a name that is no user id in form.
func StateKey(name string) item.Key {
	if err := entity.CheckUserID(name); err != nil {
		panic("departure: " + err.Error())
	}
	return item.Key{PK: statePK + separator + name, SK: stateSK}
}

// RecordKey returns the key that a local stream gives the records of an erased account in the place of their own. No
// table has such a row.
func RecordKey(name string) item.Key { return item.Key{PK: StateKey(name).PK, SK: "RECORD"} }

// Name returns the name in the key of an account's row; not ok for another key.
func Name(key item.Key) (name string, ok bool) {
	name, ok = strings.CutPrefix(key.PK, statePK+separator)
	return name, ok && entity.CheckUserID(name) == nil && key.SK == stateSK
}

// StatePK is the partition of the state view in which accounts that leave stand, by the instant of their erasure.
func StatePK() string { return statePK }

// AllStatePKs is a pattern of the partitions of accounts' rows, with a star for any name.
func AllStatePKs() string { return statePK + separator + "*" }

// FormKey returns the key of the row that says which form all rows and schedules have.
func FormKey() item.Key { return item.Key{PK: formPK, SK: deployment} }

// PepperKey returns the key of the row by which a deployment recognises its pepper.
func PepperKey() item.Key { return item.Key{PK: pepperPK, SK: deployment} }
