package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDifferences_standInTheDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "deploy.md"))
	require.NoError(t, err)
	for _, d := range differences() {
		require.Contains(t, string(text), d.markdown())
	}
}

// fake is an engine whose answers a test gives.
type fake struct {
	answer func(operation string, in map[string]any) (status int, body string)
	asked  []map[string]any
}

func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var in map[string]any
	if err := decode(body, &in); err != nil {
		return nil, err
	}
	f.asked = append(f.asked, in)
	_, operation, _ := strings.Cut(r.Header.Get(target), ".")
	status, answer := f.answer(operation, in)
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

func ask(b *bridge, operation, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set(target, "DynamoDB_20120810."+operation)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Date", "20260101T000000Z")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/eu-central-1/dynamodb/aws4_request, "+
		"SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature="+strings.Repeat("a", 64))
	out := httptest.NewRecorder()
	b.ServeHTTP(out, r)
	return out
}

func always(status int, body string) *fake {
	return &fake{answer: func(string, map[string]any) (int, string) { return status, body }}
}

func TestBridge_keepsEmptyValuesAndLeavesKeysAlone(t *testing.T) {
	t.Parallel()
	engine := &fake{}
	engine.answer = func(_ string, in map[string]any) (int, string) {
		text, err := json.Marshal(map[string]any{"Item": in["Item"]})
		require.NoError(t, err)
		require.NotContains(t, string(text), `{"B":""}`)
		return http.StatusOK, string(text)
	}
	b := newBridge(engine, service())
	const item = `{"Item":{"B":{"B":""},"L":{"L":[{"S":""},{"M":{"S":{"S":""}}}]},"PK":{"S":""},"SS":{"SS":["","x"]}}}`
	require.JSONEq(t, item, ask(b, "PutItem", item).Body.String())
	require.Equal(t, 1, b.counts[emptyValues])
	require.Equal(t, map[string]any{"S": ""}, engine.asked[0]["Item"].(map[string]any)["PK"])
}

func TestBridge_asksForTheRangeOfAPrefix(t *testing.T) {
	t.Parallel()
	engine := always(http.StatusOK, `{}`)
	b := newBridge(engine, service())
	ask(b, "Query", `{"KeyConditionExpression":"#n0 = :v0 AND begins_with(#n1, :v1)",
		"ExpressionAttributeValues":{":v0":{"S":"p"},":v1":{"S":"a"}}}`)
	require.Equal(t, "#n0 = :v0 AND #n1 BETWEEN :v1 AND :v1_end", engine.asked[0]["KeyConditionExpression"])
	require.Equal(t, map[string]any{"S": "a\U0010FFFF"},
		engine.asked[0]["ExpressionAttributeValues"].(map[string]any)[":v1_end"])
	require.Equal(t, 1, b.counts[prefixCase])
}

func TestBridge_addsTheRowToAFailedWrite(t *testing.T) {
	t.Parallel()
	engine := &fake{answer: func(operation string, _ map[string]any) (int, string) {
		if operation == "GetItem" {
			return http.StatusOK, `{"Item":{"v":{"N":"1"}}}`
		}
		return http.StatusBadRequest, `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"}`
	}}
	b := newBridge(engine, service())
	const write = `{"TableName":"t","Item":{"PK":{"S":"p"},"SK":{"S":"s"}},"ReturnValuesOnConditionCheckFailure":"%s"}`
	require.Contains(t, ask(b, "PutItem", fmt.Sprintf(write, "ALL_OLD")).Body.String(), `"Item":{"v":{"N":"1"}}`)
	require.NotContains(t, ask(b, "PutItem", fmt.Sprintf(write, "NONE")).Body.String(), "Item")
	require.Equal(t, 1, b.counts[noOldRow])
	require.Empty(t, b.unknown)
}

// transaction has n puts; each second has a condition.
func transaction(t *testing.T, n int) string {
	t.Helper()
	var actions []any
	for i := range n {
		put := map[string]any{
			"TableName": "t",
			"Item":      map[string]any{"PK": map[string]any{"S": "p"}, "SK": map[string]any{"S": fmt.Sprint(i)}},
		}
		if i%2 == 0 {
			put["ConditionExpression"] = "attribute_not_exists(#n0)"
			put["ExpressionAttributeNames"] = map[string]any{"#n0": "PK", "#n01": "unused"}
		}
		actions = append(actions, map[string]any{"Put": put})
	}
	text, err := json.Marshal(map[string]any{"ClientRequestToken": "token", "TransactItems": actions})
	require.NoError(t, err)
	return string(text)
}

func isCheck(in map[string]any) bool {
	_, is := in["TransactItems"].([]any)[0].(map[string]any)["ConditionCheck"]
	return is
}

func TestBridge_carriesALargeTransactionOutOnce(t *testing.T) {
	t.Parallel()
	engine := always(http.StatusOK,
		`{"ConsumedCapacity":[{"TableName":"t","CapacityUnits":20.0,"Table":{"CapacityUnits":1}}]}`)
	b := newBridge(engine, service())
	for range 2 { // the answer to the first may have been lost
		got := ask(b, "TransactWriteItems", transaction(t, 25))
		require.JSONEq(t, `{"ConsumedCapacity":[{"TableName":"t","CapacityUnits":60,"Table":{"CapacityUnits":3}}]}`,
			got.Body.String())
	}
	checks, writes := 0, 0
	for _, in := range engine.asked {
		n := len(in["TransactItems"].([]any))
		require.LessOrEqual(t, n, maxActions)
		if isCheck(in) {
			checks += n
			names := in["TransactItems"].([]any)[0].(map[string]any)["ConditionCheck"].(map[string]any)
			require.Equal(t, map[string]any{"#n0": "PK"}, names["ExpressionAttributeNames"])
		} else {
			writes += n
		}
	}
	require.Equal(t, [2]int{13, 25}, [2]int{checks, writes})
}

func TestBridge_appliesNothingOfALargeTransactionThatFails(t *testing.T) {
	t.Parallel()
	engine := &fake{answer: func(_ string, in map[string]any) (int, string) {
		if n := len(in["TransactItems"].([]any)); isCheck(in) && n < maxActions {
			return http.StatusBadRequest, `{"__type":"x#TransactionCanceledException","CancellationReasons":[{"Code":"None"},
				{"Code":"ConditionalCheckFailed","Item":{"v":{"N":"1"}}},{"Code":"None"}]}`
		}
		return http.StatusOK, `{}`
	}}
	b := newBridge(engine, service())
	var refusal struct{ CancellationReasons []struct{ Code string } }
	got := ask(b, "TransactWriteItems", transaction(t, 25))
	require.NoError(t, json.Unmarshal(got.Body.Bytes(), &refusal))
	require.Len(t, refusal.CancellationReasons, 25)
	for i, reason := range refusal.CancellationReasons {
		require.Equal(t, i == 22, reason.Code == "ConditionalCheckFailed", "%d", i)
	}
	for _, in := range engine.asked {
		require.True(t, isCheck(in))
	}
}

func TestBridge_findsTheBeginningOfAShardAgain(t *testing.T) {
	t.Parallel()
	engine := &fake{answer: func(operation string, in map[string]any) (int, string) {
		switch {
		case operation == "GetShardIterator" && in["ShardIteratorType"] == "TRIM_HORIZON":
			return http.StatusOK, `{"ShardIterator":"beginning"}`
		case operation == "GetShardIterator":
			return http.StatusOK, `{"ShardIterator":"first"}`
		case in["ShardIterator"] == "first":
			return http.StatusOK, `{"NextShardIterator":"second","Records":[]}`
		case in["ShardIterator"] == "beginning":
			return http.StatusOK, `{"Records":[{"eventID":"1"}]}`
		}
		return http.StatusBadRequest, `{"__type":"x#TrimmedDataAccessException"}`
	}}
	b := newBridge(engine, service())
	ask(b, "GetShardIterator", `{"StreamArn":"a","ShardId":"s","ShardIteratorType":"LATEST"}`)
	ask(b, "GetRecords", `{"ShardIterator":"first"}`)
	require.Contains(t, ask(b, "GetRecords", `{"ShardIterator":"second"}`).Body.String(), `"eventID":"1"`)
	require.Equal(t, http.StatusBadRequest, ask(b, "GetRecords", `{"ShardIterator":"of nobody"}`).Code)
	require.Equal(t, 1, b.counts[emptyShard])
}

func TestBridge_notesWhatTheServiceDoesNotDocument(t *testing.T) {
	t.Parallel()
	const valid = `{"TableName":"table","Key":{"PK":{"S":"p"},"SK":{"S":"s"}}}`
	for name, c := range map[string]struct {
		status        int
		code, request string
		known         bool
	}{
		"a fault":                       {http.StatusInternalServerError, "InternalFailure", valid, false},
		"a valid request refused":       {http.StatusBadRequest, "ValidationException", valid, false},
		"an invalid one refused":        {http.StatusBadRequest, "ValidationException", `{"TableName":"t"}`, true},
		"a code that no one knows":      {http.StatusBadRequest, "OddException", valid, false},
		"a table that is not there":     {http.StatusBadRequest, "ResourceNotFoundException", valid, true},
		"more than the table may write": {http.StatusBadRequest, "ProvisionedThroughputExceededException", valid, true},
	} {
		b := newBridge(always(c.status, `{"__type":"com.amazonaws#`+c.code+`"}`), service())
		ask(b, "GetItem", c.request)
		require.Equal(t, c.known, len(b.unknown) == 0, "%s: %q", name, b.unknown)
	}
}

func TestConclude_failsForEachDifferenceAndForNoTest(t *testing.T) {
	t.Parallel()
	const good = "packages: 1 ok, 0 failed\ntests: 3 passed, 0 failed, 1 skipped\n"
	for name, c := range map[string]struct {
		printed string
		unknown []string
		failed  error
		want    string
	}{
		"all as it should be": {printed: good},
		"a failed test": {
			printed: "tests: 3 passed, 2 failed, 1 skipped\n", failed: errors.New("exit status 1"), want: "2 differences",
		},
		"an answer":            {printed: good, unknown: []string{"GetItem: odd"}, want: "1 differences"},
		"no test":              {printed: "tests: 0 passed, 0 failed, 0 skipped\n", want: "no test ran"},
		"no report":            {printed: "build failed\n", failed: errors.New("exit status 1"), want: "did not report"},
		"a package that fails": {printed: good, failed: errors.New("exit status 1"), want: "exit status 1"},
	} {
		b := newBridge(always(http.StatusOK, `{}`), service())
		b.unknown, b.counts[noOldRow] = c.unknown, 7
		var out bytes.Buffer
		err := conclude(b, c.printed, c.failed, &out)
		if c.want != "" {
			require.ErrorContains(t, err, c.want, name)
			continue
		}
		require.NoError(t, err, name)
		require.Contains(t, out.String(), "tests run: 3, skipped: 1\ndifferences found: 0\n")
		require.Regexp(t, noOldRow+` +7\n`, out.String())
	}
}

func TestRun_saysWhyAMachineIsNotFit(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, unfit(func(string) (string, error) { return "", os.ErrNotExist }))
}
