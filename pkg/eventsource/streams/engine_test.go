package streams_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/entity"
	"nexus/pkg/eventsource"
	"nexus/pkg/eventsource/streams"
	"nexus/pkg/item"
	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/product"
)

// tableOnEngine is a table with a stream on the real engine.
type tableOnEngine struct {
	client *dynamodb.Client
	reader *dynamodbstreams.Client
	name   string
	arn    string
}

func newTable(t *testing.T) tableOnEngine {
	t.Helper()
	endpoint := enginetest.Start(t)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	config := aws.Config{
		Region: "eu-west-1", BaseEndpoint: &endpoint, HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
		}),
	}
	made := tableOnEngine{
		client: dynamodb.NewFromConfig(config), reader: dynamodbstreams.NewFromConfig(config), name: enginetest.TableName(t),
	}
	key := func(name string, kind ddb.KeyType) ddb.KeySchemaElement {
		return ddb.KeySchemaElement{AttributeName: &name, KeyType: kind}
	}
	out, err := made.client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: &made.name, BillingMode: ddb.BillingModePayPerRequest,
		AttributeDefinitions: []ddb.AttributeDefinition{
			{AttributeName: aws.String(item.AttrPK), AttributeType: ddb.ScalarAttributeTypeS},
			{AttributeName: aws.String(item.AttrSK), AttributeType: ddb.ScalarAttributeTypeS},
		},
		KeySchema: []ddb.KeySchemaElement{key(item.AttrPK, ddb.KeyTypeHash), key(item.AttrSK, ddb.KeyTypeRange)},
		StreamSpecification: &ddb.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: ddb.StreamViewTypeNewAndOldImages,
		},
	})
	require.NoError(t, err)
	made.arn = aws.ToString(out.TableDescription.LatestStreamArn)
	return made
}

func (e tableOnEngine) source(t *testing.T) *streams.Source {
	return streams.New(e.reader, e.arn, func(g streams.Gap) { t.Errorf("gap %+v", g) })
}

func key(i int) item.Key {
	return entity.ItemKey("u1", entity.Ref{Type: product.TypeTask, ID: fmt.Sprintf("task_%d", i)})
}

func (e tableOnEngine) put(t *testing.T, i, version int) {
	t.Helper()
	k := key(i)
	_, err := e.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &e.name, Item: map[string]ddb.AttributeValue{
		item.AttrPK: &ddb.AttributeValueMemberS{Value: k.PK}, item.AttrSK: &ddb.AttributeValueMemberS{Value: k.SK},
		entity.AttrVersion: &ddb.AttributeValueMemberN{Value: fmt.Sprint(version)},
		"raw":              &ddb.AttributeValueMemberB{Value: []byte{0, 255}},
	}})
	require.NoError(t, err)
}

func TestSource_readsTheEnginesStreamAsItWasWritten(t *testing.T) {
	t.Parallel()
	table := newTable(t)
	source := table.source(t)
	shards, err := source.Shards(t.Context())
	require.NoError(t, err)
	require.Len(t, shards, 1)
	shard := shards[0].ID
	empty, err := source.Read(t.Context(), shard, "", 2)
	require.NoError(t, err)
	require.Equal(t, change.Slice{Records: []change.Record{}}, empty)

	table.put(t, 1, 1)
	table.put(t, 1, 2)
	k := key(1)
	_, err = table.client.DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: &table.name, Key: map[string]ddb.AttributeValue{
			item.AttrPK: &ddb.AttributeValueMemberS{Value: k.PK}, item.AttrSK: &ddb.AttributeValueMemberS{Value: k.SK},
		}})
	require.NoError(t, err)

	first, err := source.Read(t.Context(), shard, "", 2)
	require.NoError(t, err)
	require.Len(t, first.Records, 2)
	rest, err := source.Read(t.Context(), shard, first.Records[1].Sequence, 2)
	require.NoError(t, err)
	require.Len(t, rest.Records, 1)
	require.False(t, rest.End)
	row := func(version int64) item.Item {
		it := key(1).Item()
		it[entity.AttrVersion], it["raw"] = item.Int(version), item.Binary{0, 255}
		return it
	}
	want := []change.Record{
		{Name: change.Insert, New: row(1)}, {Name: change.Modify, Old: row(1), New: row(2)},
		{Name: change.Remove, Old: row(2)},
	}
	for i, r := range append(first.Records, rest.Records...) {
		require.WithinDuration(t, time.Now(), r.Created, time.Minute)
		require.NotEmpty(t, r.EventID)
		want[i].EventID, want[i].Sequence, want[i].Created = r.EventID, r.Sequence, r.Created
		want[i].Key, want[i].SourceARN = key(1), table.arn
		require.Equal(t, want[i], r)
	}
}

func TestSource_letsAMappingFollowTheEngineDuringWrites(t *testing.T) {
	t.Parallel()
	table := newTable(t)
	var mu sync.Mutex
	versions := map[item.Key][]int64{}
	source := table.source(t)
	shards, err := source.Shards(t.Context())
	require.NoError(t, err)
	mapping, err := eventsource.New(eventsource.Config{Name: "m", BatchSize: 10}, eventsource.Wiring{
		Source: source, Checkpoints: &eventsource.MemoryCheckpoints{}, Clock: time.Now, After: time.After,
		NewID:   uuid.NewString,
		Handler: func(context.Context, []byte) ([]byte, error) { return nil, nil },
		Poll:    time.Hour, // only waking brings the records in time
		Hooks: eventsource.Hooks{Delivered: func(d eventsource.Delivery) {
			mu.Lock()
			defer mu.Unlock()
			for _, r := range d.Records {
				versions[r.Key] = append(versions[r.Key], r.New.Int(entity.AttrVersion))
			}
		}},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mapping.Run(ctx) }()
	for version := 1; version <= 3; version++ {
		for i := range 10 {
			table.put(t, i, version)
			mapping.Wake()
		}
	}
	all, err := table.source(t).Read(t.Context(), shards[0].ID, "", 1000)
	require.NoError(t, err)
	require.Len(t, all.Records, 30)
	head := map[string]string{shards[0].ID: all.Records[29].Sequence}
	bound, release := context.WithTimeout(t.Context(), 20*time.Second)
	defer release()
	require.NoError(t, mapping.CaughtUp(bound, head))
	n, err := mapping.Redeliver(bound, nil, "", 1)
	require.NoError(t, err)
	require.Equal(t, 30, n)
	cancel()
	require.NoError(t, <-done)
	require.Len(t, versions, 10)
	for k, got := range versions {
		require.Equal(t, []int64{1, 2, 3, 1, 2, 3}, got, "%s", k)
	}
}
