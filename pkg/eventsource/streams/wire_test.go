package streams_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"nexus/pkg/change"
	"nexus/pkg/eventsource"
	"nexus/pkg/eventsource/streams"
	"nexus/pkg/item"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ eventsource.Source = (*streams.Source)(nil)

const streamARN = "arn:aws:dynamodb:eu-west-1:123456789012:table/T/stream/2026-01-01T00:00:00.000"

// service answers requests in the order of a script and fails the test on any other request.
type service struct {
	t    *testing.T
	mu   sync.Mutex
	plan []exchange
}

// exchange is one request, named by its operation and a part of its body, and the answer to it.
type exchange struct {
	operation, body string
	status          int
	answer          string
}

func ok(operation, body, answer string) exchange { return exchange{operation, body, 200, answer} }

func refused(operation, body, exception string) exchange {
	return exchange{operation, body, 400, `{"__type":"com.amazonaws.dynamodb.v20120810#` + exception + `","message":"no"}`}
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if len(s.plan) == 0 || s.plan[0].operation != operation || !strings.Contains(string(body), s.plan[0].body) {
		s.t.Errorf("request %s %s is not the next of %+v", operation, body, s.plan)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(s.plan[0].status)
	_, _ = io.WriteString(w, s.plan[0].answer)
	s.plan = s.plan[1:]
}

// setup returns a source over a service that follows the plan, and the gaps it reports.
func setup(t *testing.T, plan ...exchange) (source *streams.Source, gaps *[]streams.Gap) {
	t.Helper()
	script := &service{t: t, plan: plan}
	server := httptest.NewServer(script)
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
		require.Empty(t, script.plan, "requests that were not made")
	})
	client := newClient(server.URL, func(o *dynamodbstreams.Options) {
		o.Retryer = aws.NopRetryer{}
		o.HTTPClient = &http.Client{Transport: transport}
	})
	gaps = &[]streams.Gap{}
	return streams.New(client, streamARN, func(g streams.Gap) { *gaps = append(*gaps, g) }), gaps
}

func newClient(endpoint string, options ...func(*dynamodbstreams.Options)) *dynamodbstreams.Client {
	return dynamodbstreams.NewFromConfig(aws.Config{
		Region: "eu-west-1", BaseEndpoint: &endpoint,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}, nil
		}),
	}, options...)
}

// answer returns the answer of GetRecords: inserts with the sequence numbers, and the next iterator if it is not empty.
func answer(next string, sequences ...string) string {
	var records []string
	for _, sequence := range sequences {
		records = append(records, fmt.Sprintf(`{"eventID":"e%[1]s","eventName":"INSERT","dynamodb":{"SequenceNumber":%[1]q,
			"ApproximateCreationDateTime":1767225600,"Keys":{"PK":{"S":"p"},"SK":{"S":"s"}},"NewImage":{"PK":{"S":"p"},`+
			`"SK":{"S":"s"}}}}`, sequence))
	}
	out := `{"Records":[` + strings.Join(records, ",") + `]`
	if next != "" {
		out += `,"NextShardIterator":"` + next + `"`
	}
	return out + `}`
}

func sequences(slice change.Slice) []string {
	var out []string
	for _, r := range slice.Records {
		out = append(out, r.Sequence)
	}
	return out
}

const (
	atHorizon = `"ShardIteratorType":"TRIM_HORIZON"`
	iterator1 = `{"ShardIterator":"i1"}`
	iterator2 = `{"ShardIterator":"i2"}`
)

func behind(sequence string) string {
	return `"SequenceNumber":"` + sequence + `","ShardId":"s1","ShardIteratorType":"AFTER_SEQUENCE_NUMBER"`
}

// read reads shard s1 after the sequence number.
func read(t *testing.T, source *streams.Source, after string) change.Slice {
	t.Helper()
	slice, err := source.Read(t.Context(), "s1", after, 10)
	require.NoError(t, err)
	return slice
}

func TestSource_usesAnIteratorAsLongAsItFits(t *testing.T) {
	t.Parallel()
	source, gaps := setup(t,
		ok("GetShardIterator", atHorizon, iterator1),
		ok("GetRecords", `"i1"`, answer("i1b", "1", "2")),
		ok("GetRecords", `"i1b"`, answer("i1c")),
		ok("GetRecords", `"i1c"`, answer("i1d", "3")),
		ok("GetShardIterator", behind("2"), iterator2), // a reader goes back
		ok("GetRecords", `"i2"`, answer("", "3")),
	)
	require.Equal(t, []string{"1", "2"}, sequences(read(t, source, "")))
	require.Equal(t, change.Slice{Records: []change.Record{}}, read(t, source, "2"))
	require.Equal(t, []string{"3"}, sequences(read(t, source, "2")))
	last := read(t, source, "2")
	require.Equal(t, []string{"3"}, sequences(last))
	require.True(t, last.End)
	require.Empty(t, *gaps)
}

func TestSource_replacesAnExpiredIteratorAfterTheLastRecord(t *testing.T) {
	t.Parallel()
	source, gaps := setup(t,
		ok("GetShardIterator", atHorizon, iterator1),
		ok("GetRecords", `"i1"`, answer("i1b", "1", "2")),
		refused("GetRecords", `"i1b"`, "ExpiredIteratorException"),
		ok("GetShardIterator", behind("2"), iterator2),
		ok("GetRecords", `"i2"`, answer("i2b", "3")),
	)
	read(t, source, "")
	require.Equal(t, []string{"3"}, sequences(read(t, source, "2")))
	require.Empty(t, *gaps)
}

func TestGap_reportsTrimmedRecords(t *testing.T) {
	t.Parallel()
	for name, plan := range map[string][]exchange{
		"found when the iterator is made": {
			refused("GetShardIterator", behind("2"), "TrimmedDataAccessException"),
		},
		"found when the iterator is used": {
			ok("GetShardIterator", behind("2"), iterator1),
			refused("GetRecords", `"i1"`, "TrimmedDataAccessException"),
		},
		"found when an expired iterator is replaced": {
			ok("GetShardIterator", behind("2"), iterator1),
			refused("GetRecords", `"i1"`, "ExpiredIteratorException"),
			refused("GetShardIterator", behind("2"), "TrimmedDataAccessException"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, gaps := setup(t, append(plan,
				ok("GetShardIterator", atHorizon, iterator2),
				ok("GetRecords", `"i2"`, answer("i2b", "7")),
				ok("GetRecords", `"i2b"`, answer("i2c", "8")),
			)...)
			require.Equal(t, []string{"7"}, sequences(read(t, source, "2")))
			require.Equal(t, []streams.Gap{{Shard: "s1", After: "2"}}, *gaps)
			require.Equal(t, []string{"8"}, sequences(read(t, source, "7")))
			require.Len(t, *gaps, 1)
		})
	}
}

func TestGap_isReportedOnceWhenTheHorizonIsReadLate(t *testing.T) {
	t.Parallel()
	source, gaps := setup(t,
		refused("GetShardIterator", behind("2"), "TrimmedDataAccessException"),
		ok("GetShardIterator", atHorizon, iterator2),
		ok("GetRecords", `"i2"`, answer("i2b")), // nothing yet, as a sparse shard answers
		ok("GetRecords", `"i2b"`, answer("i2c", "7")),
	)
	require.Empty(t, sequences(read(t, source, "2")))
	require.Equal(t, []string{"7"}, sequences(read(t, source, "2")))
	require.Len(t, *gaps, 1)
}

func TestSource_repeatsARefusedReadWithTheSameIterator(t *testing.T) {
	t.Parallel()
	for _, exception := range []string{"LimitExceededException", "InternalServerError", "ThrottlingException"} {
		source, gaps := setup(t,
			ok("GetShardIterator", behind("2"), iterator1),
			refused("GetRecords", `"i1"`, exception),
			refused("GetRecords", `"i1"`, exception),
			ok("GetRecords", `"i1"`, answer("i1b", "3")),
			refused("DescribeStream", streamARN, exception),
		)
		for range 2 {
			_, err := source.Read(t.Context(), "s1", "2", 10)
			require.ErrorContains(t, err, exception)
		}
		require.Equal(t, []string{"3"}, sequences(read(t, source, "2")))
		_, err := source.Shards(t.Context())
		require.ErrorContains(t, err, exception)
		require.Empty(t, *gaps)
	}
}

func TestSource_endsAShardThatIsGone(t *testing.T) {
	t.Parallel()
	source, gaps := setup(t,
		refused("GetShardIterator", behind("2"), "ResourceNotFoundException"),
		ok("DescribeStream", streamARN, `{"StreamDescription":{"Shards":[{"ShardId":"s2","ParentShardId":"s1"}]}}`),
	)
	require.Equal(t, change.Slice{End: true}, read(t, source, "2"))
	require.Equal(t, []streams.Gap{{Shard: "s1", After: "2"}}, *gaps)
}

func TestSource_failsOnAStreamThatIsGone(t *testing.T) {
	t.Parallel()
	missing := new(types.ResourceNotFoundException)
	source, gaps := setup(t,
		refused("GetShardIterator", behind("2"), "ResourceNotFoundException"),
		refused("DescribeStream", streamARN, "ResourceNotFoundException"),
		refused("GetShardIterator", behind("2"), "ResourceNotFoundException"),
		ok("DescribeStream", streamARN, `{"StreamDescription":{"Shards":[{"ShardId":"s1"}]}}`),
	)
	for range 2 {
		_, err := source.Read(t.Context(), "s1", "2", 10)
		require.ErrorAs(t, err, &missing)
	}
	require.Empty(t, *gaps)
}

func TestShards_areReadPageByPage(t *testing.T) {
	t.Parallel()
	source, _ := setup(t,
		ok("DescribeStream", streamARN, `{"StreamDescription":{"LastEvaluatedShardId":"s2","Shards":[
			{"ShardId":"s1","SequenceNumberRange":{"StartingSequenceNumber":"1","EndingSequenceNumber":"9"}},
			{"ShardId":"s2","ParentShardId":"s1","SequenceNumberRange":{"StartingSequenceNumber":"10"}}]}}`),
		ok("DescribeStream", `"ExclusiveStartShardId":"s2"`,
			`{"StreamDescription":{"Shards":[{"ShardId":"s3","ParentShardId":"s1"}]}}`),
	)
	shards, err := source.Shards(t.Context())
	require.NoError(t, err)
	require.Equal(t, []change.Shard{{ID: "s1"}, {ID: "s2", Parent: "s1"}, {ID: "s3", Parent: "s1"}}, shards)
}

func TestShards_failIfPagesGoInACircle(t *testing.T) {
	t.Parallel()
	page := `{"StreamDescription":{"LastEvaluatedShardId":"s1","Shards":[{"ShardId":"s1"}]}}`
	source, _ := setup(t, ok("DescribeStream", streamARN, page),
		ok("DescribeStream", `"ExclusiveStartShardId":"s1"`, page))
	_, err := source.Shards(t.Context())
	require.ErrorContains(t, err, "leads to itself")
}

func TestFromAttribute_carriesEveryTypeOfValue(t *testing.T) {
	t.Parallel()
	source, _ := setup(t,
		ok("GetShardIterator", atHorizon, iterator1),
		ok("GetRecords", `"Limit":10`, `{"NextShardIterator":"n","Records":[{"eventID":"e1","eventName":"REMOVE",
			"userIdentity":{"Type":"Service","PrincipalId":"dynamodb.amazonaws.com"},
			"dynamodb":{"SequenceNumber":"111100000000000000001","ApproximateCreationDateTime":1767225600,
				"Keys":{"PK":{"S":"p"},"SK":{"S":"s"}},
				"OldImage":{"PK":{"S":"p"},"SK":{"S":"s"},"n":{"N":"1.50"},"t":{"BOOL":true},"z":{"NULL":true},"b":{"B":"AP8="},
					"ss":{"SS":["a","b"]},"ns":{"NS":["1","2"]},"bs":{"BS":["AA==","/w=="]},
					"l":{"L":[{"S":"x"},{"L":[]},{"M":{}}]},"m":{"M":{"k":{"N":"1"}}},"e":{"S":""}}}}]}`),
	)
	record := read(t, source, "").Records[0]
	require.Equal(t, change.Record{
		EventID: "e1", Name: change.Remove, Sequence: "111100000000000000001", Created: record.Created,
		Key: item.Key{PK: "p", SK: "s"}, Expired: true, SourceARN: streamARN,
		Old: item.Item{
			"PK": item.String("p"), "SK": item.String("s"), "n": item.Number("1.50"), "t": item.Bool(true), "z": item.Null{},
			"b": item.Binary{0, 255}, "ss": item.StringSet{"a", "b"}, "ns": item.NumberSet{"1", "2"},
			"bs": item.BinarySet{{0}, {255}}, "l": item.List{item.String("x"), item.List{}, item.Map{}},
			"m": item.Map{"k": item.Int(1)}, "e": item.String(""),
		},
	}, record)
	require.Equal(t, "2026-01-01T00:00:00Z", item.FormatInstant(record.Created))
}

func TestFromRecord_failsOnARecordOfAnotherKindOfTable(t *testing.T) {
	t.Parallel()
	foreign := `{"NextShardIterator":"n","Records":[{"eventID":"e1","eventName":"INSERT",` +
		`"dynamodb":{"SequenceNumber":"1","Keys":{"id":{"N":"1"}}}}]}`
	source, _ := setup(t,
		ok("GetShardIterator", atHorizon, iterator1),
		ok("GetRecords", `"i1"`, foreign),
		ok("GetShardIterator", atHorizon, iterator2),
		ok("GetRecords", `"i2"`, foreign),
	)
	for range 2 {
		_, err := source.Read(t.Context(), "s1", "", 10)
		require.ErrorContains(t, err, "its key is not the two strings PK and SK")
	}
}
