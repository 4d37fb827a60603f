package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/local/engine"
	"nexus/pkg/local/engine/enginetest"
)

// stream is one table with its stream, seen through the transport.
type stream struct {
	t       *testing.T
	engine  *engine.Engine
	db      *dynamodb.Client
	streams *dynamodbstreams.Client
	table   string
	arn     string
}

func setupStream(t *testing.T, options engine.Options) *stream {
	t.Helper()
	s := &stream{t: t, engine: start(t, ""), table: enginetest.TableName(t)}
	through := &http.Client{Transport: engine.Transport(nil, options)}
	s.db = dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(s.engine.Endpoint()), Region: "us-east-1", Credentials: credentials(), HTTPClient: through,
	})
	s.streams = dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint: aws.String(s.engine.Endpoint()), Region: "us-east-1", Credentials: credentials(), HTTPClient: through,
	})
	createTable(t, s.db, s.table)
	table, err := s.db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &s.table})
	require.NoError(t, err)
	s.arn = *table.Table.LatestStreamArn
	return s
}

func (s *stream) put(sk, n string) { s.t.Helper(); put(s.t, s.db, s.table, row(sk, n)) }

func (s *stream) remove(sk string) {
	s.t.Helper()
	item := row(sk, "")
	delete(item, "n")
	_, err := s.db.DeleteItem(s.t.Context(), &dynamodb.DeleteItemInput{TableName: &s.table, Key: item})
	require.NoError(s.t, err)
}

func (s *stream) shard() streamtypes.Shard {
	s.t.Helper()
	out, err := s.streams.DescribeStream(s.t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &s.arn})
	require.NoError(s.t, err)
	require.Equal(s.t, s.arn, *out.StreamDescription.StreamArn)
	require.Len(s.t, out.StreamDescription.Shards, 1)
	return out.StreamDescription.Shards[0]
}

func (s *stream) read(from dynamodbstreams.GetShardIteratorInput) []streamtypes.Record {
	s.t.Helper()
	from.StreamArn, from.ShardId = &s.arn, s.shard().ShardId
	at, err := s.streams.GetShardIterator(s.t.Context(), &from)
	require.NoError(s.t, err)
	page, err := s.streams.GetRecords(s.t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: at.ShardIterator})
	require.NoError(s.t, err)
	require.NotEmpty(s.t, page.NextShardIterator)
	return page.Records
}

func (s *stream) readAll() []streamtypes.Record {
	s.t.Helper()
	return s.read(dynamodbstreams.GetShardIteratorInput{ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon})
}

func (s *stream) head() string {
	s.t.Helper()
	head, err := s.engine.Head(s.t.Context(), s.arn)
	require.NoError(s.t, err)
	return head
}

func TestTransport_writesRecordsAsTheServiceDoes(t *testing.T) {
	t.Parallel()
	s := setupStream(t, engine.Options{Region: "eu-north-1"})
	require.True(t, strings.HasPrefix(s.arn, "arn:aws:dynamodb:eu-north-1:"), s.arn)
	s.put("A", "1")
	s.put("A", "2")
	s.remove("A")

	records := s.readAll()
	require.Len(t, records, 3)
	ids := map[string]bool{}
	for i, r := range records {
		require.Equal(t, "eu-north-1", *r.AwsRegion)
		require.Len(t, *r.Dynamodb.SequenceNumber, 21)
		require.Len(t, *r.EventID, 32)
		require.Nil(t, r.UserIdentity)
		require.NotNil(t, r.Dynamodb.ApproximateCreationDateTime)
		require.Equal(t, []streamtypes.OperationType{"INSERT", "MODIFY", "REMOVE"}[i], r.EventName)
		ids[*r.EventID] = true
	}
	require.Len(t, ids, 3)
	require.Equal(t, "1", records[1].Dynamodb.OldImage["n"].(*streamtypes.AttributeValueMemberS).Value)
	require.Equal(t, "2", records[1].Dynamodb.NewImage["n"].(*streamtypes.AttributeValueMemberS).Value)
	require.Equal(t, ids, idsOf(s.readAll()), "an event keeps its id when it is read again")

	span := s.shard().SequenceNumberRange
	require.Len(t, *span.StartingSequenceNumber, 21)
	require.Nil(t, span.EndingSequenceNumber, "an open shard has no end")
}

func idsOf(records []streamtypes.Record) map[string]bool {
	ids := map[string]bool{}
	for _, r := range records {
		ids[*r.EventID] = true
	}
	return ids
}

func TestTransport_continuesFromAnySequenceNumber(t *testing.T) {
	t.Parallel()
	s := setupStream(t, engine.Options{})
	for i := range 12 {
		s.put("A", fmt.Sprint(i))
	}
	records := s.readAll()
	require.Len(t, records, 12)
	for i, r := range records {
		at := s.read(dynamodbstreams.GetShardIteratorInput{
			ShardIteratorType: streamtypes.ShardIteratorTypeAtSequenceNumber, SequenceNumber: r.Dynamodb.SequenceNumber,
		})
		after := s.read(dynamodbstreams.GetShardIteratorInput{
			ShardIteratorType: streamtypes.ShardIteratorTypeAfterSequenceNumber, SequenceNumber: r.Dynamodb.SequenceNumber,
		})
		require.Len(t, at, 12-i)
		require.Len(t, after, 11-i)
		if i > 0 {
			require.Positive(t, change.CompareSequence(*r.Dynamodb.SequenceNumber, *records[i-1].Dynamodb.SequenceNumber))
		}
	}
}

func TestChangesNothing_leavesNoRecordOfAWrite(t *testing.T) {
	t.Parallel()
	item := func(tags ...string) map[string]types.AttributeValue {
		item := row("A", "1")
		item["tags"] = &types.AttributeValueMemberSS{Value: tags}
		item["list"] = &types.AttributeValueMemberL{Value: []types.AttributeValue{
			&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
				"numbers": &types.AttributeValueMemberNS{Value: []string{"1", "2", "3"}},
				"null":    &types.AttributeValueMemberNULL{Value: true},
			}},
		}}
		return item
	}
	cases := map[string]struct {
		second map[string]types.AttributeValue
		want   int
	}{
		"the same":                   {item("x", "y", "z"), 1},
		"a set in another order":     {item("z", "x", "y"), 1},
		"another member, same size":  {item("x", "y", "w"), 2},
		"one member less in the set": {item("x", "y"), 2},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setupStream(t, engine.Options{})
			put(t, s.db, s.table, item("x", "y", "z"))
			put(t, s.db, s.table, test.second)
			require.Len(t, s.readAll(), test.want)
		})
	}
}

func TestHead_isTheLastRecordThatAReaderSees(t *testing.T) {
	t.Parallel()
	s := setupStream(t, engine.Options{})
	require.Empty(t, s.head())
	require.Empty(t, s.readAll())

	s.put("A", "1")
	for range 20 { // more than one look back
		s.put("A", "1")
	}
	require.Equal(t, *s.readAll()[0].Dynamodb.SequenceNumber, s.head())
	require.Len(t, s.readAll(), 1)

	for i := range 40 {
		s.put("A", fmt.Sprint(i/3)) // two of three writes change nothing
		records := s.readAll()
		require.Equal(t, *records[len(records)-1].Dynamodb.SequenceNumber, s.head())
	}
}

// removals answers from a list, and fails if an answer is not due yet.
type removals struct {
	swept map[engine.Removal]bool
	open  atomic.Bool
}

func (r *removals) Swept(_ context.Context, removal engine.Removal) (bool, error) {
	if r.open.Load() {
		return false, errors.New("not decided yet")
	}
	return r.swept[removal], nil
}

func TestRemoval_givesSweptRowsTheServicesIdentityAlone(t *testing.T) {
	t.Parallel()
	known := &removals{swept: map[engine.Removal]bool{}}
	s := setupStream(t, engine.Options{Removals: known})
	expiring := func(sk string) {
		item := row(sk, "1")
		item["ttl"] = &types.AttributeValueMemberN{Value: "1900000000"}
		item["version"] = &types.AttributeValueMemberN{Value: "7"}
		put(t, s.db, s.table, item)
		s.remove(sk)
	}
	expiring("swept")
	expiring("deleted")
	s.put("plain", "1")
	s.remove("plain")
	swept := engine.Removal{TTL: "1900000000", Version: "7"}
	swept.Key.PK, swept.Key.SK = "P", "swept"
	known.swept[swept] = true

	found := map[string]*streamtypes.Identity{}
	for _, r := range s.readAll() {
		if r.EventName == streamtypes.OperationTypeRemove {
			found[r.Dynamodb.Keys["SK"].(*streamtypes.AttributeValueMemberS).Value] = r.UserIdentity
		} else {
			require.Nil(t, r.UserIdentity)
		}
	}
	require.Len(t, found, 3)
	require.NotNil(t, found["swept"])
	require.Equal(t, "Service", *found["swept"].Type)
	require.Equal(t, "dynamodb.amazonaws.com", *found["swept"].PrincipalId)
	require.Nil(t, found["deleted"])
	require.Nil(t, found["plain"])

	known.open.Store(true)
	at, err := s.streams.GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
		StreamArn: &s.arn, ShardId: s.shard().ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	})
	require.NoError(t, err)
	_, err = s.streams.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: at.ShardIterator},
		func(o *dynamodbstreams.Options) { o.RetryMaxAttempts = 1 })
	require.ErrorContains(t, err, "not decided yet", "a page with an undecided removal must not be handed out")
}

// breaking answers with a body that ends in an error, so often, then with one that does not.
type breaking struct{ left, calls atomic.Int32 }

func (b *breaking) RoundTrip(request *http.Request) (*http.Response, error) {
	b.calls.Add(1)
	var body io.Reader = strings.NewReader(`{"Item":{"n":{"S":"whole"}}}`)
	if b.left.Add(-1) >= 0 {
		body = io.MultiReader(strings.NewReader(`{"Item":`), brokenReader{})
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body), Request: request},
		nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) {
	return 0, errors.New("use of closed network connection")
}

func TestTransport_repeatsAnInterruptedReadAndNoWrite(t *testing.T) {
	t.Parallel()
	send := func(operation string, failures int32) (*breaking, string, error) {
		base := &breaking{}
		base.left.Store(failures)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", strings.NewReader("{}"))
		require.NoError(t, err)
		request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
		response, err := engine.Transport(base, engine.Options{}).RoundTrip(request)
		if err != nil {
			return base, "", err
		}
		defer func() { require.NoError(t, response.Body.Close()) }()
		answer, err := io.ReadAll(response.Body)
		return base, string(answer), err
	}
	base, answer, err := send("GetItem", 2)
	require.NoError(t, err)
	require.Contains(t, answer, "whole")
	require.EqualValues(t, 3, base.calls.Load())

	base, _, err = send("GetItem", 3)
	require.ErrorContains(t, err, "closed network connection")
	require.EqualValues(t, 3, base.calls.Load())

	base, _, err = send("PutItem", 1)
	require.ErrorContains(t, err, "closed network connection")
	require.EqualValues(t, 1, base.calls.Load())
}
