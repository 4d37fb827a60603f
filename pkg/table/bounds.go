package table

import (
	"fmt"

	"nexus/pkg/item"
)

// Bounds of DynamoDB's items and of the two parts of a key, those of indexes included, in bytes.
const (
	MaxItemBytes = 400 << 10
	MaxPKBytes   = 2048
	MaxSKBytes   = 1024
)

// CheckKeys returns an [ErrInvalid] for an item with a key attribute that is no string of a permitted length. The key
// attributes of an index may be absent, those of the table may not.
func CheckKeys(schema Schema, it item.Item) error {
	if err := checkKeyPair(IndexSchema{PK: schema.PK, SK: schema.SK}, it, false); err != nil {
		return err
	}
	for _, index := range schema.Indexes {
		if err := checkKeyPair(index, it, true); err != nil {
			return err
		}
	}
	return nil
}

func checkKeyPair(keys IndexSchema, it item.Item, mayBeAbsent bool) error {
	for _, part := range [...]struct {
		name  string
		limit int
	}{{keys.PK, MaxPKBytes}, {keys.SK, MaxSKBytes}} {
		v := it[part.name]
		if v == nil && mayBeAbsent {
			continue
		}
		text, ok := v.(item.String)
		if !ok || text == "" || len(text) > part.limit {
			return fmt.Errorf("%w: key attribute %s is no string of 1 to %d bytes", ErrInvalid, part.name, part.limit)
		}
	}
	return nil
}
