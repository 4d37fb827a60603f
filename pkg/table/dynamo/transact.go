package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Transact implements [table.Writer]. One action that writes is sent as a single write, for half the units. The
// package comment says what that means when an answer is lost.
func (s *Store) Transact(ctx context.Context, actions ...table.Action) error {
	if len(actions) == 0 || len(actions) > table.MaxActions {
		return fmt.Errorf("transact: %w: %d actions, want 1 to %d", table.ErrInvalid, len(actions), table.MaxActions)
	}
	var err error
	if isSingle, single := s.single(ctx, actions); isSingle {
		err = single
	} else {
		err = s.transact(ctx, actions)
	}
	if err != nil {
		return fmt.Errorf("transact %d from %s: %w", len(actions), target(actions[0]), err)
	}
	return nil
}

// single sends the only action, if it can be sent alone.
func (s *Store) single(ctx context.Context, actions []table.Action) (bool, error) {
	if len(actions) > 1 {
		return false, nil
	}
	switch action := actions[0].(type) {
	case table.Put:
		return true, s.put(ctx, "Transact", action)
	case table.Update:
		_, err := s.update(ctx, "Transact", action, types.ReturnValueNone)
		return true, err
	case table.Delete:
		return true, s.delete(ctx, "Transact", action)
	default:
		return false, nil
	}
}

func (s *Store) transact(ctx context.Context, actions []table.Action) error {
	items, err := s.writeItems(actions)
	if err != nil {
		return err
	}
	var seen attempts
	out, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems:          items,
		ClientRequestToken:     aws.String(s.token()),
		ReturnConsumedCapacity: reportCapacity,
	}, seen.watch)
	if err == nil {
		s.reportWrite(ctx, "Transact", len(actions), out.ConsumedCapacity...)
		return nil
	}
	s.reportWrite(ctx, "Transact", 0)
	// The token makes a cancellation final: if an earlier attempt had been applied, the service would have reported
	// success.
	var cancel *types.TransactionCanceledException
	if errors.As(err, &cancel) {
		return cancelled(cancel)
	}
	return translate(ctx, err, &seen)
}

// writeItems translates the actions; two on one row are refused here, as the service does.
func (s *Store) writeItems(actions []table.Action) ([]types.TransactWriteItem, error) {
	items := make([]types.TransactWriteItem, len(actions))
	first := make(map[item.Key]int, len(actions))
	for i, action := range actions {
		it, err := s.writeItem(action)
		if err != nil {
			return nil, fmt.Errorf("action %d: %w", i, err)
		}
		items[i] = it
		key := action.Target()
		if j, ok := first[key]; ok {
			return nil, fmt.Errorf("%w: actions %d and %d on %s", table.ErrInvalid, j, i, key)
		}
		first[key] = i
	}
	return items, nil
}

// target names the row of an action, which may be nil.
func target(action table.Action) string {
	if action == nil {
		return "no action"
	}
	return action.Target().String()
}
