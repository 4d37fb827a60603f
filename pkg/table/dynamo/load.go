package dynamo

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// maxBatchWrite is the number of rows DynamoDB takes in one BatchWriteItem.
const maxBatchWrite = 25

// Load implements [table.Writer]. Two rows with one key are [table.ErrInvalid]: without an order, neither would be the
// last. Repeating a load is safe: it writes the same rows again.
func (s *Store) Load(ctx context.Context, rows []item.Item) error {
	requests, err := loadRequests(rows)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	done := 0
	for chunk := range slices.Chunk(requests, maxBatchWrite) {
		if err := s.load(ctx, chunk); err != nil {
			return fmt.Errorf("load %d rows from %s: %w", len(chunk), rows[done].Key(), err)
		}
		done += len(chunk)
	}
	return nil
}

// loadRequests checks and translates all rows before the first is written.
func loadRequests(rows []item.Item) ([]types.WriteRequest, error) {
	requests := make([]types.WriteRequest, len(rows))
	seen := make(map[item.Key]bool, len(rows))
	for i, row := range rows {
		key := row.Key()
		if seen[key] {
			return nil, fmt.Errorf("%s: %w: row given twice", key, table.ErrInvalid)
		}
		seen[key] = true
		it, err := toAttributes(row)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		requests[i] = types.WriteRequest{PutRequest: &types.PutRequest{Item: it}}
	}
	return requests, nil
}

// load sends up to [maxBatchWrite] rows at a time until none is left, and sends again what throttling leaves
// unprocessed.
func (s *Store) load(ctx context.Context, rest []types.WriteRequest) error {
	rounds := s.newRounds()
	for len(rest) > 0 {
		var seen attempts
		out, err := s.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems:           map[string][]types.WriteRequest{s.schema.Name: rest},
			ReturnConsumedCapacity: reportCapacity,
		}, seen.watch)
		if err != nil {
			s.reportWrite(ctx, "Load", 0)
			return translate(ctx, err, &seen)
		}
		left := out.UnprocessedItems[s.schema.Name]
		s.reportWrite(ctx, "Load", len(rest)-len(left), out.ConsumedCapacity...)
		if err := rounds.next(ctx, len(rest), len(left)); err != nil {
			return err
		}
		rest = left
	}
	return nil
}
