package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"nexus/pkg/table"
)

// CreateInput returns the request that creates the table as the schema describes it: on-demand billing, every key
// attribute a string, the stream on. [TTLInput] switches TTL on once the table exists. The infrastructure sets what
// only a deployment needs (point in time recovery, deletion protection).
func CreateInput(schema table.Schema) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName:   aws.String(schema.Name),
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   keySchema(schema.PK, schema.SK),
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled:  aws.Bool(true),
			StreamViewType: types.StreamViewType(schema.StreamView),
		},
		AttributeDefinitions: stringAttributes(schema.PK, schema.SK),
	}
	for _, index := range schema.Indexes {
		projection := types.ProjectionTypeAll
		if index.KeysOnly {
			projection = types.ProjectionTypeKeysOnly
		}
		in.AttributeDefinitions = append(in.AttributeDefinitions, stringAttributes(index.PK, index.SK)...)
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName:  aws.String(string(index.Name)),
			KeySchema:  keySchema(index.PK, index.SK),
			Projection: &types.Projection{ProjectionType: projection},
		})
	}
	return in
}

// TTLInput returns the request that lets the service remove rows past the schema's TTL attribute.
func TTLInput(schema table.Schema) *dynamodb.UpdateTimeToLiveInput {
	return &dynamodb.UpdateTimeToLiveInput{
		TableName: aws.String(schema.Name),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String(schema.TTL),
			Enabled:       aws.Bool(true),
		},
	}
}

func keySchema(pk, sk string) []types.KeySchemaElement {
	return []types.KeySchemaElement{
		{AttributeName: aws.String(pk), KeyType: types.KeyTypeHash},
		{AttributeName: aws.String(sk), KeyType: types.KeyTypeRange},
	}
}

func stringAttributes(names ...string) []types.AttributeDefinition {
	out := make([]types.AttributeDefinition, len(names))
	for i, name := range names {
		out[i] = types.AttributeDefinition{
			AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS,
		}
	}
	return out
}
