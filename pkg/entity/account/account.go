// Package account holds the keys of the rows about a user's account as a whole: how far an import of everything has
// come.
//
// It promises that each key that it builds can be parsed again. It must never know which attributes a row has.
package account

import (
	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// RowImport is the prefix of the sort key.
const RowImport = "IMPORT"

// ImportKey returns the key of the row that says how far an import of the user's whole account has come.
func ImportKey(user string) item.Key {
	return item.Key{
		PK: entity.UserPK(user), SK: entity.SortKey{Prefix: RowImport, Components: []string{user}}.String(),
	}
}
