package eventsource

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"nexus/pkg/change"
)

// Condition is the reason why records were given up.
type Condition string

// Lambda's conditions for a stream.
const (
	RetryAttemptsExhausted   Condition = "RetryAttemptsExhausted"
	MaximumRecordAgeExceeded Condition = "MaximumRecordAgeExceeded"
)

// Failure is one batch, or the rest of one, that the mapping gives up.
type Failure struct {
	Mapping     string
	FunctionARN string
	// RequestID is that of the last invocation.
	RequestID string
	Condition Condition
	// Invocations counts how often the handler received these records.
	Invocations int
	// Cause is the last error. FunctionError is set if the handler itself failed, and not if it answered with a list of
	// failures.
	Cause         error
	FunctionError bool
	At            time.Time
	Shard         string
	Records       []change.Record // at least one
}

// Destination stores a failure durably. An error means that it could not: the mapping calls it again until it can, and
// until then delivers nothing after the failure.
type Destination func(ctx context.Context, f Failure) error

type (
	failureObject struct {
		RequestContext  requestContext  `json:"requestContext"`
		ResponseContext responseContext `json:"responseContext"`
		Version         string          `json:"version"`
		Timestamp       string          `json:"timestamp"`
		BatchInfo       batchInfo       `json:"DDBStreamBatchInfo"`
		Payload         string          `json:"payload"`
	}
	requestContext struct {
		RequestID   string    `json:"requestId"`
		FunctionARN string    `json:"functionArn"`
		Condition   Condition `json:"condition"`
		InvokeCount int       `json:"approximateInvokeCount"`
	}
	responseContext struct {
		StatusCode      int     `json:"statusCode"`
		ExecutedVersion string  `json:"executedVersion"`
		FunctionError   *string `json:"functionError"`
	}
	batchInfo struct {
		ShardID     string `json:"shardId"`
		Start       string `json:"startSequenceNumber"`
		End         string `json:"endSequenceNumber"`
		FirstArrive string `json:"approximateArrivalOfFirstRecord"`
		LastArrive  string `json:"approximateArrivalOfLastRecord"`
		BatchSize   int    `json:"batchSize"`
		StreamARN   string `json:"streamArn"`
	}
)

// Object returns the failure as Lambda writes it to an S3 on-failure destination: the description of the batch, and
// the event itself as text in payload.
func (f Failure) Object() ([]byte, error) {
	first, last := f.Records[0], f.Records[len(f.Records)-1]
	object := failureObject{
		RequestContext:  requestContext{f.RequestID, f.FunctionARN, f.Condition, f.Invocations},
		ResponseContext: responseContext{StatusCode: 200, ExecutedVersion: "$LATEST"},
		Version:         "1.0",
		Timestamp:       f.At.UTC().Format("2006-01-02T15:04:05.000Z"),
		BatchInfo: batchInfo{
			ShardID: f.Shard, Start: first.Sequence, End: last.Sequence,
			FirstArrive: arrival(first), LastArrive: arrival(last),
			BatchSize: len(f.Records), StreamARN: first.SourceARN,
		},
		Payload: string(change.AppendEvent(nil, f.Records)),
	}
	if f.FunctionError {
		unhandled := "Unhandled"
		object.ResponseContext.FunctionError = &unhandled
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode failure of shard %s at %s: %w", f.Shard, first.Sequence, err)
	}
	return text, nil
}

// ObjectKey returns the name under which Lambda would store the object:
// aws/lambda/<mapping>/<shard>/<YYYY/MM/DD>/<YYYY-MM-DDTHH.MM.SS>-<unique id>. The unique id is the request's.
func (f Failure) ObjectKey() string {
	at := f.At.UTC()
	return fmt.Sprintf("aws/lambda/%s/%s/%s/%s-%s", f.Mapping, f.Shard, at.Format("2006/01/02"),
		at.Format("2006-01-02T15.04.05"), f.RequestID)
}

func arrival(r change.Record) string { return r.Created.UTC().Format(time.RFC3339) }
