package consume_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/pkg/consume"
)

// failureObject returns the object that Lambda writes to S3 for a batch it has given up (AWS Lambda Developer Guide,
// "Retain discarded batches of DynamoDB events").
func failureObject(t *testing.T, event []byte) []byte {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"requestContext": map[string]any{
			"requestId": "316aa6d0-8154-xmpl-9af7-85d5f4a6bc81", "condition": "RetryAttemptsExhausted",
			"functionArn":            "arn:aws:lambda:eu-central-1:123456789012:function:effects:$LATEST",
			"approximateInvokeCount": 4,
		},
		"responseContext": map[string]any{"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
		"version":         "1.0", "timestamp": "2026-01-01T00:13:49.717Z",
		"DDBStreamBatchInfo": map[string]any{
			"shardId": "shardId-00000001573689847184-864758bb", "startSequenceNumber": "100", "endSequenceNumber": "102",
			"batchSize": 3, "streamArn": "arn:aws:dynamodb:eu-central-1:123456789012:table/x/stream/2026",
		},
		"payload": string(event),
	})
	require.NoError(t, err)
	return body
}

func TestRecords_areFoundInEveryFormTheyAreKeptIn(t *testing.T) {
	t.Parallel()
	want := records("a1", "?", "b1")
	parked := consume.Parked{Consumer: "stats", Reason: "why", ParkedAt: time.Unix(0, 0), Record: want[0]}.Body()
	lines := append(bytes.Join([][]byte{want[0], want[1], want[2]}, []byte("\n")), '\n')
	for name, c := range map[string]struct {
		body []byte
		want []json.RawMessage
	}{
		"event":             {event("a1", "?", "b1"), want},
		"fixture":           {lines, want},
		"fixture, Windows":  {bytes.ReplaceAll(lines, []byte("\n"), []byte("\r\n\r\n")), want},
		"one record":        {want[1], want[1:2]},
		"parked object":     {parked, want[:1]},
		"failure object":    {failureObject(t, event("a1", "?", "b1")), want},
		"only an id":        {[]byte(`{"eventID":"x"}`), []json.RawMessage{[]byte(`{"eventID":"x"}`)}},
		"only a name":       {[]byte(`{"eventName":"MODIFY"}`), []json.RawMessage{[]byte(`{"eventName":"MODIFY"}`)}},
		"only a change":     {[]byte(`{"dynamodb":{}}`), []json.RawMessage{[]byte(`{"dynamodb":{}}`)}},
		"several, mixed":    {append(append(parked, '\n'), lines...), append(want[:1:1], want...)},
		"record that is no": {[]byte(`{"Records":[ 7 , null]}`), []json.RawMessage{[]byte(`7`), []byte(`null`)}},
	} {
		got, err := consume.Records(c.body)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
}

func TestRecords_failWhereThereAreNone(t *testing.T) {
	t.Parallel()
	metadata := `{"requestContext":{},"DDBStreamBatchInfo":{"batchSize":1}}`
	for _, body := range []string{``, "\n", `{}`, `[]`, `7`, `{"Records":[]}`, `{"Records":{}}`, metadata,
		`{"payload":"{}"}`, `{"payload":"x"}`, `{"payload":7}`} {
		_, err := consume.Records([]byte(body))
		require.ErrorIs(t, err, consume.ErrNoRecords, body)
	}
	_, err := consume.Records([]byte(`{"eventID":"x"}` + "\n" + `{"eventID":`))
	require.ErrorContains(t, err, "JSON value 2")
}

func TestRecords_passThroughTheLoopUnchanged(t *testing.T) {
	t.Parallel()
	// Fixture, event, parking and back: the same bytes.
	body, err := os.ReadFile("../../testdata/streams/undecodable.ndjson")
	require.NoError(t, err)
	lines, err := consume.Records(body)
	require.NoError(t, err)
	require.Equal(t, strings.Count(string(body), "\n"), len(lines))
	b := setup(t, &recordingConsumer{name: "stats"})
	require.Empty(t, b.handle(t, consume.Event(lines)))
	var back []json.RawMessage
	for _, name := range b.shelf.names() {
		again, err := consume.Records(b.shelf.objects[name])
		require.NoError(t, err)
		back = append(back, again...)
	}
	require.ElementsMatch(t, lines, back)
}
