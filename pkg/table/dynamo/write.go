package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Put implements [table.Writer].
func (s *Store) Put(ctx context.Context, p table.Put) error {
	if err := s.put(ctx, "Put", p); err != nil {
		return fmt.Errorf("put %s: %w", p.Target(), err)
	}
	return nil
}

// Update implements [table.Writer].
func (s *Store) Update(ctx context.Context, u table.Update) (item.Item, error) {
	it, err := s.update(ctx, "Update", u, types.ReturnValueAllNew)
	if err != nil {
		return nil, fmt.Errorf("update %s: %w", u.Key, err)
	}
	return it, nil
}

// Delete implements [table.Writer].
func (s *Store) Delete(ctx context.Context, d table.Delete) error {
	if err := s.delete(ctx, "Delete", d); err != nil {
		return fmt.Errorf("delete %s: %w", d.Key, err)
	}
	return nil
}

func (s *Store) put(ctx context.Context, op string, p table.Put) error {
	w, err := s.writePut(p)
	if err != nil {
		return err
	}
	var seen attempts
	out, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                           w.TableName,
		Item:                                w.Item,
		ConditionExpression:                 w.ConditionExpression,
		ExpressionAttributeNames:            w.ExpressionAttributeNames,
		ExpressionAttributeValues:           w.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: w.ReturnValuesOnConditionCheckFailure,
		ReturnConsumedCapacity:              reportCapacity,
	}, seen.watch)
	if err != nil {
		s.reportWrite(ctx, op, 0)
		_, err = repeated(ctx, err, &seen, func(old item.Item) bool { return sameRow(old, p.Item) })
		return err
	}
	s.reportWrite(ctx, op, 1, given(out.ConsumedCapacity)...)
	return nil
}

// update writes the row and returns the new one if returns requests it.
func (s *Store) update(
	ctx context.Context, op string, u table.Update, returns types.ReturnValue,
) (item.Item, error) {
	w, err := s.writeUpdate(u)
	if err != nil {
		return nil, err
	}
	var seen attempts
	out, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                           w.TableName,
		Key:                                 w.Key,
		UpdateExpression:                    w.UpdateExpression,
		ConditionExpression:                 w.ConditionExpression,
		ExpressionAttributeNames:            w.ExpressionAttributeNames,
		ExpressionAttributeValues:           w.ExpressionAttributeValues,
		ReturnValues:                        returns,
		ReturnValuesOnConditionCheckFailure: w.ReturnValuesOnConditionCheckFailure,
		ReturnConsumedCapacity:              reportCapacity,
	}, seen.watch)
	if err != nil {
		s.reportWrite(ctx, op, 0)
		return repeated(ctx, err, &seen, func(old item.Item) bool { return isUpdated(old, u) })
	}
	s.reportWrite(ctx, op, 1, given(out.ConsumedCapacity)...)
	return fromAttributes(out.Attributes)
}

func (s *Store) delete(ctx context.Context, op string, d table.Delete) error {
	w, err := s.writeDelete(d)
	if err != nil {
		return err
	}
	var seen attempts
	out, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                           w.TableName,
		Key:                                 w.Key,
		ConditionExpression:                 w.ConditionExpression,
		ExpressionAttributeNames:            w.ExpressionAttributeNames,
		ExpressionAttributeValues:           w.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: w.ReturnValuesOnConditionCheckFailure,
		ReturnConsumedCapacity:              reportCapacity,
	}, seen.watch)
	if err != nil {
		s.reportWrite(ctx, op, 0)
		_, err = repeated(ctx, err, &seen, func(old item.Item) bool { return old == nil })
		return err
	}
	s.reportWrite(ctx, op, 1, given(out.ConsumedCapacity)...)
	return nil
}

// repeated maps the error of a single write. If its condition failed on the intended row, and an earlier attempt may
// have written that row, the write is done: repeated then returns that row and no error.
func repeated(
	ctx context.Context, err error, seen *attempts, isDone func(old item.Item) bool,
) (item.Item, error) {
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		return nil, translate(ctx, err, seen)
	}
	old, err := fromAttributes(failed.Item)
	if err != nil {
		return nil, fmt.Errorf("row in the way: %w", err)
	}
	if seen.inDoubt && isDone(old) {
		return old, nil
	}
	return nil, &table.ConditionError{Failures: []table.Failure{{Index: 0, Old: old}}}
}
