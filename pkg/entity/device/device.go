// Package device holds the keys of the rows that keep a user's devices in step: the change log, and the row that says
// that an app is open. Package changelog reads the log's rows.
//
// It promises that each key that it builds can be parsed again. It must never know which attributes a row has.
package device

import (
	"fmt"
	"strconv"

	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// RowChange is the prefix of the sort keys.
const RowChange = "CHANGE"

// watch stands where a row of the change log has its number. It sorts behind every number.
const watch = "open"

// changeDigits is the length of a row's number in the change log: numbers sort as their texts do.
const changeDigits = 12

// MaxChange is the greatest number that a row of a change log may have.
const MaxChange = 999_999_999_999

// key returns a key under the rule of package entity: it panics if the component is empty or contains the separator.
func key(user, prefix, component string) item.Key {
	return item.Key{
		PK: entity.UserPK(user), SK: entity.SortKey{Prefix: prefix, Components: []string{component}}.String(),
	}
}

// ChangeKey returns the key of a row of the user's change log, by its number from 1 on.
func ChangeKey(user string, n int64) item.Key {
	if n < 1 || n > MaxChange {
		panic(fmt.Sprintf("device: number %d of a row of a change log is not in 1..%d", n, int64(MaxChange)))
	}
	return key(user, RowChange, fmt.Sprintf("%0*d", changeDigits, n))
}

// ChangePrefix begins the sort keys of all rows of a change log, and of the watch.
func ChangePrefix() string { return entity.ItemPrefix(RowChange) }

// ParseChange returns the number of a row of a change log.
func ParseChange(sk string) (int64, error) {
	key, err := entity.ParseSortKey(sk)
	if err != nil {
		return 0, err
	}
	digits := key.Components[0]
	n, err := strconv.ParseInt(digits, 10, 64)
	if key.Prefix != RowChange || len(digits) != changeDigits || err != nil || n < 1 {
		return 0, fmt.Errorf("sort key %q: want %s and a number of %d digits from 1 on", sk, RowChange, changeDigits)
	}
	return n, nil
}

// WatchKey returns the key of the row that says, while it lives, that some app of the user is open. It sorts right
// behind the newest row of the change log, so that one read has both.
func WatchKey(user string) item.Key { return key(user, RowChange, watch) }
