// Package metering holds the keys of the rows that say how much of a limit a user has used. Package limit reads and
// writes the rows.
//
// It promises that each key that it builds can be parsed again. It must never know which attributes a row has.
package metering

import (
	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// The prefixes of the sort keys of rates and of counts.
const (
	RowRate  = "RATE"
	RowCount = "COUNT"
)

// RateKey returns the key of the row that meters the user's use of a policy.
func RateKey(user, policy string) item.Key {
	return item.Key{
		PK: entity.UserPK(user), SK: entity.SortKey{Prefix: RowRate, Components: []string{policy}}.String(),
	}
}

// CountKey returns the key of the row with the counts of what no total of the user has.
func CountKey(user string) item.Key {
	return item.Key{PK: entity.UserPK(user), SK: entity.SortKey{Prefix: RowCount, Components: []string{user}}.String()}
}
