package streams

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"nexus/pkg/change"
	"nexus/pkg/item"
)

// The identity under which the TTL service removes a row (DynamoDB developer guide, "DynamoDB Streams and Time to
// Live").
const (
	identityService   = "Service"
	identityPrincipal = "dynamodb.amazonaws.com"
)

func fromRecord(r types.Record, streamARN string) (change.Record, error) {
	if r.Dynamodb == nil {
		return change.Record{}, fmt.Errorf("record %s has no content", aws.ToString(r.EventID))
	}
	out := change.Record{
		EventID:   aws.ToString(r.EventID),
		Name:      change.EventName(r.EventName),
		Sequence:  aws.ToString(r.Dynamodb.SequenceNumber),
		Created:   aws.ToTime(r.Dynamodb.ApproximateCreationDateTime).UTC(),
		Expired:   isService(r.UserIdentity),
		SourceARN: streamARN,
	}
	if out.Sequence == "" {
		return change.Record{}, fmt.Errorf("record %s has no sequence number", out.EventID)
	}
	keys, err := fromImage(r.Dynamodb.Keys)
	if err != nil {
		return change.Record{}, fmt.Errorf("record %s: key %w", out.Sequence, err)
	}
	if out.Key = keys.Key(); out.Key.PK == "" || out.Key.SK == "" {
		return change.Record{},
			fmt.Errorf("record %s: its key is not the two strings %s and %s", out.Sequence, item.AttrPK, item.AttrSK)
	}
	if out.New, err = fromImage(r.Dynamodb.NewImage); err != nil {
		return change.Record{}, fmt.Errorf("record %s: new image: %w", out.Sequence, err)
	}
	if out.Old, err = fromImage(r.Dynamodb.OldImage); err != nil {
		return change.Record{}, fmt.Errorf("record %s: old image: %w", out.Sequence, err)
	}
	return out, nil
}

func isService(identity *types.Identity) bool {
	return identity != nil && aws.ToString(identity.Type) == identityService &&
		aws.ToString(identity.PrincipalId) == identityPrincipal
}

// fromImage returns nil for an absent image; any other has at least its key.
func fromImage(attributes map[string]types.AttributeValue) (item.Item, error) {
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
	case *types.AttributeValueMemberB:
		return item.Binary(av.Value), nil
	case *types.AttributeValueMemberSS:
		return item.StringSet(av.Value), nil
	case *types.AttributeValueMemberNS:
		return item.NumberSet(av.Value), nil
	case *types.AttributeValueMemberBS:
		return item.BinarySet(av.Value), nil
	case *types.AttributeValueMemberL:
		out := make(item.List, len(av.Value))
		for i, element := range av.Value {
			v, err := fromAttribute(element)
			if err != nil {
				return nil, fmt.Errorf("element %d: %w", i, err)
			}
			out[i] = v
		}
		return out, nil
	case *types.AttributeValueMemberM:
		out := make(item.Map, len(av.Value))
		for name, member := range av.Value {
			v, err := fromAttribute(member)
			if err != nil {
				return nil, fmt.Errorf("member %s: %w", name, err)
			}
			out[name] = v
		}
		return out, nil
	default:
		return nil, fmt.Errorf("a value of the unknown type %T", av)
	}
}
