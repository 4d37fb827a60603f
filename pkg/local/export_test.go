package local

import (
	"context"

	"nexus/pkg/change"
	"nexus/pkg/entity"
)

// Rows returns every row of the platform's table by its key, as the bytes that a record has of it.
func (p *Platform) Rows(ctx context.Context) (map[entity.Key]string, error) {
	rows := map[entity.Key]string{}
	err := p.backend.walker.Walk(ctx, 0, 1, func(row entity.Item) error {
		rows[row.Key()] = string(change.AppendItem(nil, row))
		return nil
	})
	return rows, err
}
