package dynamo

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Get implements [table.Reader].
func (s *Store) Get(ctx context.Context, key item.Key) (item.Item, error) {
	it, err := s.get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", key, err)
	}
	return it, nil
}

func (s *Store) get(ctx context.Context, key item.Key) (item.Item, error) {
	attributes, err := keyAttributes(key)
	if err != nil {
		return nil, err
	}
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:              &s.schema.Name,
		Key:                    attributes,
		ConsistentRead:         aws.Bool(true),
		ReturnConsumedCapacity: reportCapacity,
	})
	if err != nil {
		s.reportRead(ctx, "Get", 0)
		return nil, translate(ctx, err, &attempts{})
	}
	it, err := fromAttributes(out.Item)
	if err != nil {
		return nil, err
	}
	if it == nil {
		s.reportRead(ctx, "Get", 0, given(out.ConsumedCapacity)...)
		return nil, table.ErrNotFound
	}
	s.reportRead(ctx, "Get", 1, given(out.ConsumedCapacity)...)
	return it, nil
}

// BatchGet implements [table.Reader]. A list of more than [table.MaxBatchGet] keys takes several round trips, one after
// another.
func (s *Store) BatchGet(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	return s.batches(ctx, "BatchGet", true, keys)
}

// Peek implements [table.Reader], as BatchGet does.
func (s *Store) Peek(ctx context.Context, keys []item.Key) ([]item.Item, error) {
	return s.batches(ctx, "Peek", false, keys)
}

func (s *Store) batches(ctx context.Context, op string, consistent bool, keys []item.Key) ([]item.Item, error) {
	found := make(map[item.Key]item.Item, len(keys))
	unique := distinct(keys)
	for chunk := range slices.Chunk(unique, table.MaxBatchGet) {
		if err := s.batchGet(ctx, op, consistent, chunk, found); err != nil {
			return nil, fmt.Errorf("batch get of %d rows from %s: %w", len(chunk), chunk[0], err)
		}
	}
	items := make([]item.Item, 0, len(found))
	for _, key := range unique {
		if it, ok := found[key]; ok {
			items = append(items, it)
		}
	}
	return items, nil
}

// batchGet adds the rows that exist to found. The service leaves keys unprocessed beyond 16 MB, which is progress, and
// when it throttles.
func (s *Store) batchGet(
	ctx context.Context, op string, consistent bool, keys []item.Key, found map[item.Key]item.Item,
) error {
	rest := make([]map[string]types.AttributeValue, len(keys))
	for i, key := range keys {
		attributes, err := keyAttributes(key)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		rest[i] = attributes
	}
	rounds := s.newRounds()
	for len(rest) > 0 {
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{
				s.schema.Name: {Keys: rest, ConsistentRead: aws.Bool(consistent)},
			},
			ReturnConsumedCapacity: reportCapacity,
		})
		if err != nil {
			s.reportRead(ctx, op, 0)
			return translate(ctx, err, &attempts{})
		}
		items, err := fromRows(out.Responses[s.schema.Name])
		if err != nil {
			return err
		}
		s.reportRead(ctx, op, len(items), out.ConsumedCapacity...)
		for _, it := range items {
			found[it.Key()] = it
		}
		left := out.UnprocessedKeys[s.schema.Name].Keys
		if err := rounds.next(ctx, len(rest), len(left)); err != nil {
			return err
		}
		rest = left
	}
	return nil
}

// distinct returns the keys without repetitions, in their order.
func distinct(keys []item.Key) []item.Key {
	seen := make(map[item.Key]bool, len(keys))
	out := make([]item.Key, 0, len(keys))
	for _, key := range keys {
		if !seen[key] {
			seen[key] = true
			out = append(out, key)
		}
	}
	return out
}
