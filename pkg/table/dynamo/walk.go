package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"nexus/pkg/item"
	"nexus/pkg/table"
)

// Walker is a [table.Walker] on one DynamoDB table. Only this type scans: code that receives a [Store] cannot.
type Walker struct{ settings }

var _ table.Walker = (*Walker)(nil)

// NewWalker returns the walker that uses the client.
func NewWalker(client *dynamodb.Client, options ...Option) *Walker {
	return &Walker{newSettings(client, options)}
}

// maxSegments is the largest number of parts of a walk (DynamoDB, Scan, TotalSegments).
const maxSegments = 1_000_000

// Walk implements [table.Walker]. It returns each row as it was at some moment of the walk.
func (w *Walker) Walk(ctx context.Context, segment, total int, visit func(item.Item) error) error {
	if total < 1 || total > maxSegments || segment < 0 || segment >= total {
		return fmt.Errorf("walk: %w: segment %d of %d", table.ErrInvalid, segment, total)
	}
	if err := w.walk(ctx, int32(segment), int32(total), visit); err != nil {
		return fmt.Errorf("walk segment %d of %d: %w", segment, total, err)
	}
	return nil
}

func (w *Walker) walk(ctx context.Context, segment, total int32, visit func(item.Item) error) error {
	in := &dynamodb.ScanInput{
		TableName:              &w.schema.Name,
		Segment:                aws.Int32(segment),
		TotalSegments:          aws.Int32(total),
		ConsistentRead:         aws.Bool(true),
		ReturnConsumedCapacity: reportCapacity,
	}
	for {
		out, err := w.client.Scan(ctx, in)
		if err != nil {
			w.reportRead(ctx, "Walk", 0)
			return translate(ctx, err, &attempts{})
		}
		w.reportRead(ctx, "Walk", int(out.ScannedCount), given(out.ConsumedCapacity)...)
		for _, row := range out.Items {
			it, err := fromAttributes(row)
			if err != nil {
				return err
			}
			if err := visit(it); err != nil {
				return err
			}
		}
		if len(out.LastEvaluatedKey) == 0 {
			return nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
