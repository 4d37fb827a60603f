package dynamo

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"nexus/pkg/table"
)

// The four actions are written once, in the form that a transaction takes; the single writes are made from it.

const returnOld = types.ReturnValuesOnConditionCheckFailureAllOld

func (s *settings) writePut(p table.Put) (*types.Put, error) {
	item, err := toAttributes(p.Item)
	if err != nil {
		return nil, err
	}
	var x expression
	condition, err := x.condition(p.If)
	if err != nil {
		return nil, err
	}
	return &types.Put{
		TableName:                           &s.schema.Name,
		Item:                                item,
		ConditionExpression:                 condition,
		ExpressionAttributeNames:            x.names,
		ExpressionAttributeValues:           x.values,
		ReturnValuesOnConditionCheckFailure: returnOld,
	}, nil
}

func (s *settings) writeUpdate(u table.Update) (*types.Update, error) {
	key, err := keyAttributes(u.Key)
	if err != nil {
		return nil, err
	}
	var x expression
	changes, err := x.update(u)
	if err != nil {
		return nil, err
	}
	condition, err := x.condition(u.If)
	if err != nil {
		return nil, err
	}
	return &types.Update{
		TableName:                           &s.schema.Name,
		Key:                                 key,
		UpdateExpression:                    changes,
		ConditionExpression:                 condition,
		ExpressionAttributeNames:            x.names,
		ExpressionAttributeValues:           x.values,
		ReturnValuesOnConditionCheckFailure: returnOld,
	}, nil
}

func (s *settings) writeDelete(d table.Delete) (*types.Delete, error) {
	key, err := keyAttributes(d.Key)
	if err != nil {
		return nil, err
	}
	var x expression
	condition, err := x.condition(d.If)
	if err != nil {
		return nil, err
	}
	return &types.Delete{
		TableName:                           &s.schema.Name,
		Key:                                 key,
		ConditionExpression:                 condition,
		ExpressionAttributeNames:            x.names,
		ExpressionAttributeValues:           x.values,
		ReturnValuesOnConditionCheckFailure: returnOld,
	}, nil
}

func (s *settings) writeCheck(c table.Check) (*types.ConditionCheck, error) {
	key, err := keyAttributes(c.Key)
	if err != nil {
		return nil, err
	}
	var x expression
	condition, err := x.condition(c.If)
	if err != nil {
		return nil, err
	}
	if condition == nil {
		condition = x.always()
	}
	return &types.ConditionCheck{
		TableName:                           &s.schema.Name,
		Key:                                 key,
		ConditionExpression:                 condition,
		ExpressionAttributeNames:            x.names,
		ExpressionAttributeValues:           x.values,
		ReturnValuesOnConditionCheckFailure: returnOld,
	}, nil
}

func (s *settings) writeItem(action table.Action) (item types.TransactWriteItem, err error) {
	switch action := action.(type) {
	case table.Put:
		item.Put, err = s.writePut(action)
	case table.Update:
		item.Update, err = s.writeUpdate(action)
	case table.Delete:
		item.Delete, err = s.writeDelete(action)
	case table.Check:
		item.ConditionCheck, err = s.writeCheck(action)
	default:
		err = fmt.Errorf("%w: action of type %T", table.ErrInvalid, action)
	}
	return item, err
}
