package cloud

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Bytes returns what the table and its indexes hold, as DynamoDB last counted it, which it does about every six hours.
func (t *Tables) Bytes(ctx context.Context) (int64, error) {
	out, err := t.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(t.name)})
	if err != nil {
		return 0, fmt.Errorf("describe table %s: %w", t.name, err)
	}
	bytes := aws.ToInt64(out.Table.TableSizeBytes)
	for _, index := range out.Table.GlobalSecondaryIndexes {
		bytes += aws.ToInt64(index.IndexSizeBytes)
	}
	return bytes, nil
}
