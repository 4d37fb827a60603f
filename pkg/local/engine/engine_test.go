package engine_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"nexus/pkg/local/engine"
	"nexus/pkg/local/engine/enginetest"
)

func TestEngine_keepsDataOverAStop(t *testing.T) {
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

func TestEngine_reportsACrash(t *testing.T) {
	t.Parallel()
	e := start(t, "")
	require.NoError(t, e.Err())
	require.NoError(t, e.Kill())
	<-e.Done()
	require.ErrorContains(t, e.Err(), "engine ended")
	require.NoError(t, e.Stop(t.Context()))
	require.ErrorContains(t, e.Err(), "engine ended", "stopping afterwards does not make it good")
}

func TestStop_removesTemporaryData(t *testing.T) {
	t.Parallel()
	e := start(t, "")
	require.DirExists(t, e.DataDir())
	require.NoError(t, e.Stop(t.Context()))
	require.NoError(t, e.Err())
	require.NoDirExists(t, e.DataDir())
}

func TestStart_refusesABinaryThatIsNoEngine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "engine")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho no such option >&2\nexit 3\n"), 0o700))
	for path, want := range map[string]string{script: "no such option", filepath.Join(dir, "missing"): "no such file"} {
		_, err := engine.Start(t.Context(), engine.Config{Binary: path})
		require.ErrorContains(t, err, want)
	}
}

func TestFind_saysWhatToDo(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(engine.BinaryVariable, "")
	_, err := engine.Find()
	require.ErrorIs(t, err, engine.ErrNotInstalled)
	require.ErrorContains(t, err, `run "make engine"`)

	t.Setenv(engine.BinaryVariable, "nowhere/dynoxide")
	_, err = engine.Find()
	require.ErrorContains(t, err, engine.BinaryVariable)

	require.NoError(t, os.MkdirAll("module/bin", 0o700))
	require.NoError(t, os.MkdirAll("module/a/b", 0o700))
	require.NoError(t, os.WriteFile("module/go.mod", nil, 0o600))
	require.NoError(t, os.WriteFile("module/bin/dynoxide", nil, 0o700))
	t.Setenv(engine.BinaryVariable, "")
	t.Chdir("module/a/b")
	path, err := engine.Find()
	require.NoError(t, err)
	require.Equal(t, filepath.Join("module", "bin", "dynoxide"), path[len(path)-len("module/bin/dynoxide"):])
}

func TestAddStreamIndexes_serveTheStreamsLookups(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(start(t, t.TempDir()).DataDir(), "dynamodb.sqlite")+"?mode=ro")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, where := range []string{"table_name = 't'", "table_name = 't' AND shard_id = 's'"} {
		var id, parent, unused int
		var plan string
		require.NoError(t, db.QueryRowContext(t.Context(), `EXPLAIN QUERY PLAN SELECT max(CAST(sequence_number AS INTEGER))
			FROM _stream_records WHERE `+where).Scan(&id, &parent, &unused, &plan))
		require.Contains(t, plan, "USING COVERING INDEX nexus_stream_by_")
	}
}

// BenchmarkPutWithStream is flat in the number of writes; without the indexes it grows with it: compare -benchtime
// 1000x and 20000x.
func BenchmarkPutWithStream(b *testing.B) {
	endpoint, name := enginetest.Table(b)
	db := enginetest.Client(endpoint)
	i := 0
	for b.Loop() {
		i++
		put(b, db, name, row(fmt.Sprintf("%09d", i), "1"))
	}
}

func start(t *testing.T, dir string) *engine.Engine {
	t.Helper()
	e, err := engine.Start(t.Context(), engine.Config{Binary: binary(t), DataDir: dir})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Stop(context.Background())) })
	return e
}

func binary(t *testing.T) string {
	t.Helper()
	path, err := engine.Find()
	require.NoError(t, err)
	return path
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

func put(t testing.TB, db *dynamodb.Client, table string, item map[string]types.AttributeValue) {
	t.Helper()
	_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: item})
	require.NoError(t, err)
}

func get(t *testing.T, db *dynamodb.Client, table, sk string) map[string]types.AttributeValue {
	t.Helper()
	out, err := db.GetItem(t.Context(),
		&dynamodb.GetItemInput{TableName: aws.String(table), Key: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "P"},
			"SK": &types.AttributeValueMemberS{Value: sk},
		}})
	require.NoError(t, err)
	return out.Item
}
