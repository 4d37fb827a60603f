package engine_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/stretchr/testify/require"

	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/local/engine"
	"nexus/pkg/local/engine/enginetest"
	"nexus/pkg/product"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
)

// TestEngine_distinguishesExpiryFromDeleteOverARestart goes through everything at once: engine, store, sweeper,
// transport.
func TestEngine_distinguishesExpiryFromDeleteOverARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := enginetest.TableName(t)
	at := time.Date(2030, 5, 1, 0, 0, 0, 0, time.UTC)
	key := func(id string) item.Key {
		return entity.ItemKey("u1", entity.Ref{Type: product.TypeTask, ID: id})
	}

	first := openPlatform(t, dir, name)
	_, err := first.db.CreateTable(t.Context(), dynamo.CreateInput(schemaNamed(name)))
	require.NoError(t, err)
	for _, id := range []string{"task_expired", "task_deleted", "task_living"} {
		it := key(id).Item()
		it[entity.AttrVersion] = item.Int(4)
		it[entity.AttrTTL] = item.Int(at.Unix())
		if id == "task_living" {
			it[entity.AttrTTL] = item.Int(at.Unix() + 1)
		}
		require.NoError(t, first.store.Put(t.Context(), table.Put{Item: it}))
	}
	require.NoError(t, first.store.Transact(t.Context(),
		table.Delete{Key: key("task_deleted"), If: table.AtVersion(4)},
		table.Put{Item: entity.GoneKey("u1", "task_deleted").Item()}))
	count, err := first.sweeper.Sweep(t.Context(), at)
	require.NoError(t, err)
	require.Equal(t, 1, count)
	want := map[string]bool{key("task_expired").SK: true, key("task_deleted").SK: false}
	require.Equal(t, want, first.removals(t))
	first.stop(t)

	second := openPlatform(t, dir, name)
	require.Equal(t, want, second.removals(t), "what was read once is read the same again")
	second.stop(t)
}

func schemaNamed(name string) table.Schema {
	schema := table.ProductSchema()
	schema.Name = name
	return schema
}

type platform struct {
	engine  *engine.Engine
	sweeper *engine.Sweeper
	store   *dynamo.Store
	db      *dynamodb.Client
	streams *dynamodbstreams.Client
	table   string
}

func openPlatform(t *testing.T, dir, name string) *platform {
	t.Helper()
	p := &platform{engine: start(t, dir), table: name}
	plain := enginetest.Client(p.engine.Endpoint())
	walker := dynamo.NewWalker(plain, dynamo.WithTable(name))
	p.store = dynamo.New(plain, dynamo.WithTable(name))
	var err error
	p.sweeper, err = engine.NewSweeper(p.engine.DataDir(), p.store,
		func(ctx context.Context, _ time.Time) ([]item.Item, error) {
			var rows []item.Item
			return rows, walker.Walk(ctx, 0, 1, func(row item.Item) error {
				rows = append(rows, row)
				return nil
			})
		})
	require.NoError(t, err)
	through := &http.Client{Transport: engine.Transport(nil, engine.Options{Removals: p.sweeper})}
	p.db = dynamodb.New(plain.Options(), func(o *dynamodb.Options) { o.HTTPClient = through })
	p.streams = dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint: aws.String(p.engine.Endpoint()), Region: engine.DefaultRegion, Credentials: credentials(),
		HTTPClient: through,
	})
	return p
}

func (p *platform) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.sweeper.Close())
	require.NoError(t, p.engine.Stop(t.Context()))
}

// removals reads the stream from its beginning: which rows were removed, and whether by the service.
func (p *platform) removals(t *testing.T) map[string]bool {
	t.Helper()
	described, err := p.db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &p.table})
	require.NoError(t, err)
	arn := described.Table.LatestStreamArn
	stream, err := p.streams.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: arn})
	require.NoError(t, err)
	iterator, err := p.streams.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: stream.StreamDescription.Shards[0].ShardId,
		ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	})
	require.NoError(t, err)
	page, err := p.streams.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: iterator.ShardIterator})
	require.NoError(t, err)
	removed := map[string]bool{}
	for _, r := range page.Records {
		if r.EventName == streamtypes.OperationTypeRemove {
			removed[r.Dynamodb.Keys["SK"].(*streamtypes.AttributeValueMemberS).Value] = r.UserIdentity != nil
		}
	}
	return removed
}
