package change

import (
	"fmt"

	"nexus/pkg/item"
)

// AppendItem appends the item in DynamoDB's JSON, each value with its type, as a record's images have it. Only this
// form leaves the table and restores an equal item.
func AppendItem(dst []byte, it item.Item) []byte { return appendItem(dst, it) }

// ParseItem is the inverse of [AppendItem]. An error wraps [ErrUndecodable].
func ParseItem(raw []byte) (item.Item, error) {
	r := newReader(raw)
	it, err := r.image()
	if err = r.alone(err); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUndecodable, err)
	}
	return it, nil
}
