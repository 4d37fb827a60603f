// Package account holds the keys of the rows about a user's account as a whole: how far an import of everything has
// come, and the jobs of its exports.
//
// It promises that each key that it builds can be parsed again. It must never know which attributes a row has.
package account

import (
	"fmt"
	"strings"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// The prefixes of the sort keys.
const (
	RowImport = "IMPORT"
	RowExport = "EXPORT"
)

// ImportKey returns the key of the row that says how far an import of the user's whole account has come.
func ImportKey(user string) item.Key {
	return item.Key{
		PK: entity.UserPK(user), SK: entity.SortKey{Prefix: RowImport, Components: []string{user}}.String(),
	}
}

// exportDigits is the number of digits of the id of an export.
const exportDigits = 6

// ExportID returns the id of a user's n-th export: ids are in the order of their numbers.
func ExportID(n int) string { return fmt.Sprintf("%0*d", exportDigits, n) }

// ExportNumber returns the number of an id; false for what is no id of an export.
func ExportNumber(id string) (n int, ok bool) {
	for _, c := range []byte(id) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(id) == exportDigits && n > 0
}

// ExportKey returns the key of the row of a user's export. The id is one of [ExportID].
func ExportKey(user, id string) item.Key {
	return item.Key{
		PK: entity.UserPK(user), SK: entity.SortKey{Prefix: RowExport, Components: []string{id}}.String(),
	}
}

// ExportPrefix begins the sort keys of a user's exports.
func ExportPrefix() string { return RowExport + "#" }

// ParseExportKey returns the user and the id in the key of an export; false for another key.
func ParseExportKey(key item.Key) (user, id string, ok bool) {
	user, err := entity.ParseUserPK(key.PK)
	id, is := strings.CutPrefix(key.SK, ExportPrefix())
	_, isID := ExportNumber(id)
	return user, id, err == nil && is && isID
}

// ExportView is the partition of the state view in which exports stand that a worker still has to do something about.
func ExportView() string { return RowExport }
