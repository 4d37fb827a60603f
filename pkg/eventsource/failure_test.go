package eventsource_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/change"
	"nexus/pkg/eventsource"
)

func TestFailure_isWrittenAsLambdaWritesIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the bubble's clock begins at 2000-01-01T00:00:00Z
		s := setup(t, eventsource.Config{Name: "projections", RetryAttempts: 1})
		s.source.add("shard-1", "11", "12")
		time.Sleep(1500 * time.Millisecond)
		s.handle = func([]string) ([]byte, error) { return nil, errBroken }
		s.run(t)
		s.waitUntilIdle(t)
		failure := s.givenUp()[0]
		require.ErrorIs(t, failure.Cause, errBroken)
		object, err := failure.Object()
		require.NoError(t, err)
		require.JSONEq(t, `{
			"requestContext": {"requestId": "request-2", `+
			`"functionArn": "arn:aws:lambda:us-east-1:000000000000:function:projections",
				"condition": "RetryAttemptsExhausted", "approximateInvokeCount": 2},
			"responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
			"version": "1.0", "timestamp": "2000-01-01T00:00:01.600Z",
			"DDBStreamBatchInfo": {"shardId": "shard-1", "startSequenceNumber": "11", "endSequenceNumber": "12",
				"approximateArrivalOfFirstRecord": "2000-01-01T00:00:00Z", "approximateArrivalOfLastRecord": "2000-01-01T00:00:00Z",
				"batchSize": 2, "streamArn": "arn:aws:dynamodb:eu-west-1:123456789012:table/T/stream/2026-01-01T00:00:00.000"},
			"payload": `+quote(t, string(change.AppendEvent(nil, failure.Records)))+`}`, string(object))
		require.Equal(t, "aws/lambda/projections/shard-1/2000/01/01/2000-01-01T00.00.01-request-2", failure.ObjectKey())
	})
}

func TestRedeliver_bringsFinishedRecordsAndTouchesNoCheckpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m", BatchSize: 2})
		s.source.add("p", "1", "2", "3")
		s.source.split("p", "a")
		s.source.add("a", "4")
		s.run(t)
		s.waitUntilIdle(t)
		s.stop()
		s.source.add("a", "5") // not delivered yet, so it cannot be delivered again
		before, seen := s.saved(t), len(s.batches())

		n, err := s.mapping.Redeliver(t.Context(), nil, "", 2)
		require.NoError(t, err)
		require.Equal(t, 8, n)
		round := [][]string{{"1", "2"}, {"3"}, {"4"}}
		require.Equal(t, append(round, round...), s.batches()[seen:])
		require.True(t, s.deliveries()[len(s.deliveries())-1].Again)

		var other [][]string
		n, err = s.mapping.Redeliver(t.Context(), collect(&other), "2", 1)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		require.Equal(t, [][]string{{"2"}, {"3"}, {"4"}}, other)
		require.Equal(t, before, s.saved(t))
	})
}

func TestRedeliver_retriesAndThenSaysWhatFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(t, eventsource.Config{Name: "m"})
		s.source.add("a", "1", "2", "3")
		s.run(t)
		s.waitUntilIdle(t)
		tries := 0
		s.handle = func(got []string) ([]byte, error) {
			if tries++; tries == 1 {
				return reportFailed("2"), nil
			}
			return nil, nil
		}
		n, err := s.mapping.Redeliver(t.Context(), nil, "", 1)
		require.NoError(t, err)
		require.Equal(t, 3, n)

		s.handle = func([]string) ([]byte, error) { return reportFailed("2"), nil }
		n, err = s.mapping.Redeliver(t.Context(), nil, "2", 1)
		require.ErrorContains(t, err, "record 2, tried 5 times")
		require.Zero(t, n)

		s.source.failing(errBroken)
		_, err = s.mapping.Redeliver(t.Context(), nil, "", 1)
		require.ErrorIs(t, err, errBroken)
	})
}
