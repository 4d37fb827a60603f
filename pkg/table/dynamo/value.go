package dynamo

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// maxDepth is DynamoDB's bound on nested lists and maps.
const maxDepth = 32

// toAttributes translates a row. What the service would refuse or silently change (no value, an empty set, text that is
// not UTF-8, too deep nesting) is [table.ErrInvalid] with the attribute's name.
func toAttributes(it item.Item) (map[string]types.AttributeValue, error) {
	out := make(map[string]types.AttributeValue, len(it))
	for name, v := range it {
		av, err := toAttribute(v, 0)
		if err != nil {
			return nil, fmt.Errorf("%w: attribute %s: %w", table.ErrInvalid, name, err)
		}
		out[name] = av
	}
	return out, nil
}

func toAttribute(v item.Value, depth int) (types.AttributeValue, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case item.String:
		if err := checkText(string(v)); err != nil {
			return nil, err
		}
		return &types.AttributeValueMemberS{Value: string(v)}, nil
	case item.Number:
		return &types.AttributeValueMemberN{Value: string(v)}, nil
	case item.Bool:
		return &types.AttributeValueMemberBOOL{Value: bool(v)}, nil
	case item.Null:
		return &types.AttributeValueMemberNULL{Value: true}, nil
	case item.StringSet:
		if len(v) == 0 {
			return nil, errEmptySet
		}
		if err := checkText(v...); err != nil {
			return nil, err
		}
		return &types.AttributeValueMemberSS{Value: v}, nil
	case item.NumberSet:
		if len(v) == 0 {
			return nil, errEmptySet
		}
		return &types.AttributeValueMemberNS{Value: v}, nil
	case item.List:
		return toList(v, depth)
	case item.Map:
		return toMap(v, depth)
	case item.Binary:
		return &types.AttributeValueMemberB{Value: append([]byte{}, v...)}, nil
	case item.BinarySet:
		if len(v) == 0 {
			return nil, errEmptySet
		}
		return &types.AttributeValueMemberBS{Value: v}, nil
	case nil:
		return nil, errNoValue
	default:
		return nil, fmt.Errorf("no attribute value: %T", v)
	}
}

var (
	errEmptySet = errors.New("empty set")
	errNoValue  = errors.New("no value")
	errNoText   = errors.New("text is not valid UTF-8")
)

func checkText(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return errNoText
		}
	}
	return nil
}

func toList(list item.List, depth int) (types.AttributeValue, error) {
	out := make([]types.AttributeValue, len(list))
	for i, v := range list {
		av, err := toAttribute(v, depth+1)
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		out[i] = av
	}
	return &types.AttributeValueMemberL{Value: out}, nil
}

func toMap(m item.Map, depth int) (types.AttributeValue, error) {
	out := make(map[string]types.AttributeValue, len(m))
	for name, v := range m {
		av, err := toAttribute(v, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := checkText(name); err != nil {
			return nil, err
		}
		out[name] = av
	}
	return &types.AttributeValueMemberM{Value: out}, nil
}

// fromAttributes translates a row of the service. No attributes at all are no row: nil.
func fromAttributes(attributes map[string]types.AttributeValue) (item.Item, error) {
	if len(attributes) == 0 {
		return nil, nil
	}
	out := make(item.Item, len(attributes))
	for name, av := range attributes {
		v, err := fromAttribute(av)
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

func fromRows(rows []map[string]types.AttributeValue) ([]item.Item, error) {
	out := make([]item.Item, len(rows))
	for i, row := range rows {
		it, err := fromAttributes(row)
		if err != nil {
			return nil, err
		}
		out[i] = it
	}
	return out, nil
}

func fromAttribute(av types.AttributeValue) (item.Value, error) {
	switch av := av.(type) {
	case *types.AttributeValueMemberS:
		return item.String(av.Value), nil
	case *types.AttributeValueMemberN:
		return item.Number(av.Value), nil
	case *types.AttributeValueMemberBOOL:
		return item.Bool(av.Value), nil
	case *types.AttributeValueMemberNULL:
		return item.Null{}, nil
	case *types.AttributeValueMemberSS:
		return item.StringSet(av.Value), nil
	case *types.AttributeValueMemberNS:
		return item.NumberSet(av.Value), nil
	case *types.AttributeValueMemberL:
		out := make(item.List, len(av.Value))
		for i, e := range av.Value {
			v, err := fromAttribute(e)
			if err != nil {
				return nil, fmt.Errorf("element %d: %w", i, err)
			}
			out[i] = v
		}
		return out, nil
	case *types.AttributeValueMemberM:
		out := make(item.Map, len(av.Value))
		for name, e := range av.Value {
			v, err := fromAttribute(e)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out[name] = v
		}
		return out, nil
	case *types.AttributeValueMemberB:
		return item.Binary(av.Value), nil
	case *types.AttributeValueMemberBS:
		return item.BinarySet(av.Value), nil
	default:
		return nil, fmt.Errorf("attribute value of an unknown type: %T", av)
	}
}

func keyAttributes(key item.Key) (map[string]types.AttributeValue, error) {
	return toAttributes(key.Item())
}
