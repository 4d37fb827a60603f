package engine_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"nexus/pkg/local/engine"
	"nexus/pkg/local/engine/enginetest"
)

func TestDataSurviveAStopAndAStart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")

	first := start(t, dir)
	table := createTable(t, client(first.Endpoint()), enginetest.TableName(t))
	put(t, client(first.Endpoint()), table, row("A", "1"))
	require.NoError(t, first.Stop(t.Context()))
	require.NoError(t, first.Err())

	second := start(t, dir)
	require.Equal(t, "1", get(t, client(second.Endpoint()), table, "A")["n"].(*types.AttributeValueMemberS).Value)
}

func TestWritesDoNotSlowDownWithTheStream(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 10,000 rows")
	}
	db := client(start(t, t.TempDir()).Endpoint())
	table := createTable(t, db, enginetest.TableName(t))
	for i := range 10_000 {
		put(t, db, table, row(fmt.Sprintf("%05d", i), strconv.Itoa(i)))
	}
}

func start(t *testing.T, dir string) *engine.Engine {
	t.Helper()
	binary, err := engine.Find()
	require.NoError(t, err)
	e, err := engine.Start(t.Context(), engine.Config{Binary: binary, DataDir: dir})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Stop(context.Background())) })
	return e
}

func client(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       "us-east-1",
		Credentials:  credentials(),
	})
}

func credentials() aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
	})
}

func createTable(t *testing.T, db *dynamodb.Client, name string) string {
	t.Helper()
	_, err := db.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:   aws.String(name),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("SK"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange},
		},
		StreamSpecification: &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages,
		},
	})
	require.NoError(t, err)
	return name
}

func row(sk, n string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: "P"},
		"SK": &types.AttributeValueMemberS{Value: sk},
		"n":  &types.AttributeValueMemberS{Value: n},
	}
}

func put(t *testing.T, db *dynamodb.Client, table string, item map[string]types.AttributeValue) {
	t.Helper()
	_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: item})
	require.NoError(t, err)
}

func get(t *testing.T, db *dynamodb.Client, table, sk string) map[string]types.AttributeValue {
	t.Helper()
	out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(table), Key: map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: "P"},
		"SK": &types.AttributeValueMemberS{Value: sk},
	}})
	require.NoError(t, err)
	return out.Item
}
