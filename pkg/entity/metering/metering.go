// Package metering holds the keys of the rows that say how much of a limit a user has used. Package limit reads and
// writes the rows.
//
// It promises that each key that it builds can be parsed again. It must never know which attributes a row has.
package metering

import (
	"nexus/pkg/entity"
	"nexus/pkg/item"
)

// RowRate is the prefix of the sort keys of rates.
const RowRate = "RATE"

// RateKey returns the key of the row that meters the user's use of a policy.
func RateKey(user, policy string) item.Key {
	return item.Key{
		PK: entity.UserPK(user), SK: entity.SortKey{Prefix: RowRate, Components: []string{policy}}.String(),
	}
}
