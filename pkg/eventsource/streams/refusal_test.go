package streams_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
	"nexus/pkg/eventsource/streams"
)

// attempts bounds how often the SDK tries a call.
const attempts = 3

// line is a source on a stream behind a network that fails as the test demands.
type line struct {
	*streams.Source
	network *wiretest.Network
	guard   *wiretest.Guard
	stream  *stream
	gaps    []streams.Gap
}

func connect(t *testing.T, behind *stream) *line {
	t.Helper()
	network, guard, server := wiretest.Serve(t, wiretest.Streams(), behind)
	transport := network.Impatient(&http.Transport{DisableKeepAlives: true})
	client := newClient(server.URL, func(o *dynamodbstreams.Options) {
		o.HTTPClient = &http.Client{Transport: transport}
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	})
	l := &line{network: network, guard: guard, stream: behind}
	l.Source = streams.New(client, streamARN, func(g streams.Gap) { l.gaps = append(l.gaps, g) })
	return l
}

// drain reads every shard to its end, or to where there is nothing now, and repeats what fails as a mapping does.
func (l *line) drain(t *testing.T) map[string][]string {
	t.Helper()
	got := map[string][]string{}
	for _, listed := range l.stream.shards {
		after := ""
		for reads := 0; ; reads++ {
			require.Less(t, reads, 200, "shard %s does not come to its end", listed.id)
			slice, err := l.Read(t.Context(), listed.id, after, 5000) // more than the service gives
			if err != nil {
				continue
			}
			got[listed.id] = append(got[listed.id], sequences(slice)...)
			if slice.End || len(slice.Records) == 0 {
				break
			}
			after = got[listed.id][len(got[listed.id])-1]
		}
	}
	return got
}

// all returns the records of the stream.
func (s *stream) all() map[string][]string {
	out := map[string][]string{}
	for _, made := range s.shards {
		out[made.id] = made.records[made.trimmed:]
	}
	return out
}

func TestSource_readsEachRecordOnceAndInOrderWhateverFails(t *testing.T) {
	t.Parallel()
	exception := func(status int, code string) wiretest.Fault {
		return wiretest.Refused(wiretest.Refusal{Status: status, Code: code})
	}
	for name, fault := range map[string]wiretest.Fault{
		"reset": wiretest.Reset(), "lost": wiretest.Lost(), "cut": wiretest.Cut(), "damaged": wiretest.Damaged(),
		"limit": exception(400, "LimitExceededException"), "internal": exception(500, "InternalServerError"),
		"throttled": exception(400, "ThrottlingException"), "expired": exception(400, "ExpiredIteratorException"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := connect(t, split(10))
			shards, err := l.Shards(t.Context())
			require.NoError(t, err)
			require.Len(t, shards, 3)
			l.network.Next(repeat(fault, 12)...)
			require.Equal(t, l.stream.all(), l.drain(t))
			require.Empty(t, l.gaps)
		})
	}
}

func repeat(fault wiretest.Fault, times int) []wiretest.Fault {
	out := make([]wiretest.Fault, times)
	for i := range out {
		out[i] = fault
	}
	return out
}

func TestSource_losesNothingWhenIteratorsExpire(t *testing.T) {
	t.Parallel()
	for life := 1; life <= 4; life++ {
		behind := split(10)
		behind.life = life
		l := connect(t, behind)
		require.Equal(t, behind.all(), l.drain(t))
		require.Empty(t, l.gaps)
	}
}

func TestSource_reportsTrimmedRecordsAsAGapAndReadsTheRest(t *testing.T) {
	t.Parallel()
	behind := split(10)
	l := connect(t, behind)
	id := behind.shards[1].id
	first, err := l.Read(t.Context(), id, "", 2)
	require.NoError(t, err)
	behind.shards[1].trimmed = 7
	rest, err := l.Read(t.Context(), id, first.Records[1].Sequence, 100)
	require.NoError(t, err)
	require.Equal(t, behind.shards[1].records[7:], sequences(rest))
	require.Equal(t, []streams.Gap{{Shard: id, After: first.Records[1].Sequence}}, l.gaps)
}

func TestSource_returnsEachDocumentedErrorAfterBoundedAttempts(t *testing.T) {
	t.Parallel()
	for _, operation := range wiretest.Streams().Operations {
		for _, refusal := range operation.Refusals {
			t.Run(operation.Name+" "+refusal.Code, func(t *testing.T) {
				t.Parallel()
				l := connect(t, split(10))
				id := l.stream.shards[1].id
				_, err := l.Read(t.Context(), id, l.stream.shards[1].records[0], 1)
				require.NoError(t, err)
				l.network.Always(wiretest.Refused(refusal), operation.Name)
				if operation.Name == "DescribeStream" {
					_, err = l.Shards(t.Context())
				} else { // from another place, so that an iterator is needed
					_, err = l.Read(t.Context(), id, l.stream.shards[1].records[4], 1)
				}
				var api smithy.APIError
				require.ErrorAs(t, err, &api)
				require.Equal(t, refusal.Code, api.ErrorCode())
				tries := 1
				switch {
				case refusal.Repeated:
					tries = attempts
				case refusal.Code == "ExpiredIteratorException", refusal.Code == "TrimmedDataAccessException":
					tries = 2 // with a new iterator, from the oldest record kept
				}
				require.Equal(t, tries, l.network.Requests())
				l.network.Next()
				slice, err := l.Read(t.Context(), id, l.stream.shards[1].records[4], 1)
				require.NoError(t, err, "the next read does not suffer from it")
				want := l.stream.shards[1].records[5:6]
				if operation.Name == "GetRecords" && refusal.Code == "TrimmedDataAccessException" {
					want = l.stream.shards[1].records[:1] // the gap was reported, so it goes on from the oldest record kept
				}
				require.Equal(t, want, sequences(slice))
			})
		}
	}
}

func TestSource_failsAfterBoundedAttemptsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	l := connect(t, split(1))
	l.network.Always(wiretest.Silent())
	_, err := l.Shards(t.Context())
	require.Error(t, err)
	require.Equal(t, attempts, l.network.Requests())
	var api smithy.APIError
	require.False(t, errors.As(err, &api), "the service said nothing")
}

func TestSource_asksForAnIteratorOnceIfNothingFails(t *testing.T) {
	t.Parallel()
	l := connect(t, split(10))
	l.drain(t)
	require.Equal(t, []string{
		"GetShardIterator", "GetRecords", "GetRecords", "GetRecords", "GetRecords",
		"GetShardIterator", "GetRecords", "GetRecords", "GetRecords", "GetRecords",
		"GetShardIterator", "GetRecords", "GetRecords", "GetRecords", "GetRecords", "GetRecords", // the last shard is open
	}, l.guard.Operations())
}
