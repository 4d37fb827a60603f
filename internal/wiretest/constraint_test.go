package wiretest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
)

func TestScheduler_holdsEveryConstraintOfARequest(t *testing.T) {
	t.Parallel()
	whole := `{"GroupName":"nexus-reminders","ClientToken":"3f2a-1","ScheduleExpression":"at(2026-01-02T03:04:05)",
		"ScheduleExpressionTimezone":"UTC","State":"ENABLED","ActionAfterCompletion":"NONE",` +
		`"FlexibleTimeWindow":{"Mode":"OFF"},
		"Target":{"Arn":"arn:aws:lambda:eu-central-1:123456789012:function:notify",` +
		`"RoleArn":"arn:aws:iam::123456789012:role/nexus/scheduler",
		"Input":"{\"a\":1}","DeadLetterConfig":{"Arn":"arn:aws:sqs:eu-central-1:123456789012:undelivered"},
		"RetryPolicy":{"MaximumEventAgeInSeconds":86400,"MaximumRetryAttempts":185}}}`
	send := func(name string) func(string) *http.Request {
		return func(body string) *http.Request {
			return sent(http.MethodPost, "/schedules/"+name, "scheduler", body, "Content-Type: application/json")
		}
	}
	requireEachFound(t, wiretest.Scheduler(), whole, send("a.b-c_D"), []broken{
		{`nexus-reminders`, `nexus/reminders`, "GroupName"},
		{`"3f2a-1"`, `""`, "ClientToken"},
		{`"3f2a-1"`, `null`, "ClientToken is null"},
		{`at(2026-01-02T03:04:05)`, `at(2026-01-02T03:04:05Z)`, "has not the form"},
		{`at(2026-01-02T03:04:05)`, `at(2026-01-02)`, "has not the form"},
		{`at(2026-01-02T03:04:05)`, `at(2026-13-02T03:04:05)`, "names no instant"},
		{`"ScheduleExpression":"at(2026-01-02T03:04:05)",`, ``, "ScheduleExpression is missing"},
		{`"UTC"`, `"Nowhere"`, "IANA"},
		{`"ENABLED"`, `"ON"`, "State"},
		{`"NONE"`, `"KEEP"`, "ActionAfterCompletion"},
		{`{"Mode":"OFF"}`, `{}`, "Mode is missing"},
		{`{"Mode":"OFF"}`, `{"Mode":"FLEXIBLE","MaximumWindowInMinutes":0}`, "MaximumWindowInMinutes"},
		{`{"Mode":"OFF"}`, `"OFF"`, "must not be a text"},
		{`arn:aws:lambda`, `lambda`, "Target.Arn"},
		{`arn:aws:iam::123456789012:role`, `arn:aws:iam::123456789012:user`, "RoleArn"},
		{`arn:aws:sqs`, `arn:aws:sns`, "DeadLetterConfig.Arn"},
		{`{\"a\":1}`, `{a:1}`, "not JSON"},
		{`{\"a\":1}`, ``, "Input"},
		{`86400`, `86401`, "MaximumEventAgeInSeconds"},
		{`86400`, `59`, "MaximumEventAgeInSeconds"},
		{`185`, `186`, "MaximumRetryAttempts"},
		{`185`, `1.5`, "MaximumRetryAttempts"},
		{`185`, `"185"`, "MaximumRetryAttempts"},
		{`"State"`, `"Status"`, "Status is unknown"},
		{`}}}`, `}}`, "no JSON object"},
	})
	for _, name := range []string{"a%20b", "a%2Fb", strings.Repeat("a", 65)} {
		require.Contains(t, faults(wiretest.Scheduler(), send(name)(whole), whole), "CreateSchedule.Name")
	}
	list := func(query string) string {
		return faults(wiretest.Scheduler(), sent(http.MethodGet, "/schedules?"+query, "scheduler", ""), "")
	}
	require.Empty(t, list("ScheduleGroup=g&NamePrefix=a&MaxResults=100"))
	require.Contains(t, list("MaxResults=101"), "MaxResults")
	require.Contains(t, list("groupName=g"), "unknown")
	require.Contains(t, faults(wiretest.Scheduler(), sent(http.MethodPatch, "/schedules/a", "scheduler", ""), ""),
		"no operation")
}

func TestEventBridge_holdsEveryConstraintOfARequest(t *testing.T) {
	t.Parallel()
	whole := `{"Entries":[{"EventBusName":"nexus-events","Source":"nexus","DetailType":"ReminderDue",` +
		`"Detail":"{\"a\":1}","Time":1800000000.5}]}`
	send := func(body string) *http.Request {
		return sent(http.MethodPost, "/", "events", body, "Content-Type: application/x-amz-json-1.1",
			"X-Amz-Target: AWSEvents.PutEvents")
	}
	requireEachFound(t, wiretest.EventBridge(), whole, send, []broken{
		{`nexus-events`, `nexus events`, "EventBusName"},
		{`"Source":"nexus",`, ``, "Source is missing"},
		{`ReminderDue`, strings.Repeat("x", 129), "DetailType"},
		{`{\"a\":1}`, `[1]`, "Detail is no JSON object"},
		{`{\"a\":1}`, `{`, "Detail is no JSON object"},
		{`{\"a\":1}`, `{\"a\":\"` + strings.Repeat("x", 256<<10) + `\"}`, "want less than 262144"},
		{`1800000000.5`, `"now"`, "Time"},
		{`"Time"`, `"time"`, "time is unknown"},
		{whole, `{"Entries":[]}`, "0 elements"},
		{whole, `{"Entries":[` + strings.Repeat("{},", 10) + `{}]}`, "11 elements"},
	})
	r := send(whole)
	r.Header.Set("X-Amz-Target", "AWSEvents.PutRule")
	require.Contains(t, faults(wiretest.EventBridge(), r, whole), "no operation")
	r = send(whole)
	r.Header.Set("Content-Type", "application/json")
	require.Contains(t, faults(wiretest.EventBridge(), r, whole), "content type")
}

func TestAppSync_holdsEveryConstraintOfARequest(t *testing.T) {
	t.Parallel()
	whole := `{"channel":"/user/ann-1","events":["{\"next\":\"t\"}","1"]}`
	send := func(body string) *http.Request {
		return sent(http.MethodPost, "/event", "appsync", body, "Content-Type: application/json")
	}
	requireEachFound(t, wiretest.AppSync(), whole, send, []broken{
		{`/user/ann-1`, `/user/ann_1`, "channel"},
		{`/user/ann-1`, `/user/*`, "channel"},
		{`/user/ann-1`, `/user/-ann`, "channel"},
		{`/user/ann-1`, `/user/` + strings.Repeat("a", 51), "channel"},
		{`/user/ann-1`, `/a/b/c/d/e/f`, "channel"},
		{`"channel"`, `"Channel"`, "channel is missing"},
		{`"1"`, `1`, "events"},
		{`"1"`, `"ann"`, "not the text of a JSON value"},
		{`"1"`, `"1","2","3","4","5"`, "6 elements"},
		{`"1"`, `"` + strings.Repeat("1", 240<<10+1) + `"`, "events"},
	})
	r := send(whole)
	r.Header.Set("Content-Type", "text/plain")
	require.Contains(t, faults(wiretest.AppSync(), r, whole), "content type")
	r = sent(http.MethodPost, "/events", "appsync", whole, "Content-Type: application/json")
	require.Contains(t, faults(wiretest.AppSync(), r, whole), "no operation")
}

func TestS3_holdsEveryConstraintOfARequest(t *testing.T) {
	t.Parallel()
	const body, hash = "123456789", "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"
	put := func(url string, headers ...string) string {
		all := append([]string{"Content-Type: application/json", "X-Amz-Content-Sha256: " + hash,
			"X-Amz-Checksum-Crc32c: 4waSgw=="}, headers...)
		return faults(wiretest.S3(), sent(http.MethodPut, url, "s3", body, all...), body)
	}
	require.Empty(t, put("/nexus-objects/archive/u_1/t=1.json?x-id=PutObject"))
	for url, want := range map[string]string{
		"/ab/a?x-id=PutObject":                                        "Bucket",
		"/nexus_objects/a?x-id=PutObject":                             "Bucket",
		"/a..b/a?x-id=PutObject":                                      "bucket name",
		"/192.168.0.1/a?x-id=PutObject":                               "bucket name",
		"/nexus/a%20b?x-id=PutObject":                                 "not safe",
		"/nexus/a/../b?x-id=PutObject":                                "stands for a folder",
		"/nexus/" + strings.Repeat("a", 1025) + "?x-id=PutObject":     "Key",
		"/nexus/" + strings.Repeat("%C3%A4", 513) + "?x-id=PutObject": "1026 bytes",
		"/nexus/a?x-id=PutObject&acl=":                                "unknown",
		"/nexus/a?x-id=PutObjectAcl":                                  "no operation",
	} {
		require.Contains(t, put(url), want, url)
	}
	for header, want := range map[string]string{
		"Content-Type: text":                "ContentType",
		"X-Amz-Checksum-Crc32c: 4waSgg==":   "checksum",
		"X-Amz-Content-Sha256: " + hash[1:]: "not the hash",
		"X-Amz-Acl: public-read":            "X-Amz-Acl is unknown",
	} {
		require.Contains(t, put("/nexus/a?x-id=PutObject", header), want)
	}
	get := func(url string) string { return faults(wiretest.S3(), sent(http.MethodGet, url, "s3", ""), "") }
	require.Empty(t, get("/nexus/a?x-id=GetObject"))
	require.Empty(t, get("/nexus?list-type=2&prefix=a%2F&max-keys=1000&start-after=a"))
	require.Contains(t, get("/nexus?list-type=2&max-keys=1001"), "MaxKeys")
	require.Contains(t, get("/nexus?list-type=2&marker=a"), "unknown")
}

func TestStreams_holdsEveryConstraintOfARequest(t *testing.T) {
	t.Parallel()
	send := func(operation string) func(string) *http.Request {
		return func(body string) *http.Request {
			return sent(http.MethodPost, "/", "dynamodb", body, "Content-Type: application/x-amz-json-1.0",
				"X-Amz-Target: DynamoDBStreams_20120810."+operation)
		}
	}
	const arn = `"StreamArn":"arn:aws:dynamodb:eu-west-1:123456789012:table/T-1/stream/2026-01-01T00:00:00.000"`
	requireEachFound(t, wiretest.Streams(), `{`+arn+`,"ShardId":"shardId-00000001776254400000-3d9c1b2a",
		"ShardIteratorType":"AFTER_SEQUENCE_NUMBER","SequenceNumber":"111100000000000000001"}`,
		send("GetShardIterator"), []broken{
			{`:table/T-1`, ``, "StreamArn"},
			{`shardId-00000001776254400000-3d9c1b2a`, `s1`, "ShardId"},
			{`AFTER_SEQUENCE_NUMBER`, `BEHIND`, "ShardIteratorType"},
			{`AFTER_SEQUENCE_NUMBER`, `TRIM_HORIZON`, "do not fit each other"},
			{`111100000000000000001`, `7`, "SequenceNumber"},
			{`,"SequenceNumber":"111100000000000000001"`, ``, "do not fit each other"},
		})
	requireEachFound(t, wiretest.Streams(), `{"ShardIterator":"i","Limit":1000}`, send("GetRecords"), []broken{
		{`1000`, `1001`, "Limit"}, {`1000`, `0`, "Limit"}, {`"i"`, `""`, "ShardIterator"},
	})
	requireEachFound(t, wiretest.Streams(), `{`+arn+`,"Limit":100}`, send("DescribeStream"),
		[]broken{{`100}`, `101}`, "Limit"}})
}
