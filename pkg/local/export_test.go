package local

import (
	"context"

	"nexus/pkg/change"
	"nexus/pkg/item"
)

// Rows returns every row of the platform's table by its key, as the bytes that a record has of it.
func (p *Platform) Rows(ctx context.Context) (map[item.Key]string, error) {
	rows := map[item.Key]string{}
	err := p.backend.walker.Walk(ctx, 0, 1, func(row item.Item) error {
		rows[row.Key()] = string(change.AppendItem(nil, row))
		return nil
	})
	return rows, err
}
