// Package metric writes the counts of the functions as lines that CloudWatch turns into metrics (CloudWatch User
// Guide, "Embedded metric format"). Alarms are set on the names given here (pkg/deploy/alarm).
//
// It promises one line a call, written whole. It must never put a user's id or another value of many into a dimension:
// each combination of dimensions is a separate metric, and paid for. Numbers that no alarm watches are in the line
// beside the metrics, where a query of the log finds them.
package metric

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"nexus/pkg/table"
)

// Namespace holds all metrics of Nexus.
const Namespace = "Nexus"

// Who counted: a member of each line. The metrics that have a dimension have the same.
const (
	ByConsumer = "Consumer" // of the stream
	ByFunction = "Function"
)

// The outcome of a batch's records, by consumer. Their sum without the last three is the number of records delivered.
const (
	RecordsDone       = "RecordsDone"
	RecordsParked     = "RecordsParked"
	RecordsUnfinished = "RecordsUnfinished"
	// RecordsAlreadyDone is the part of RecordsDone that had been done before.
	RecordsAlreadyDone = "RecordsAlreadyDone"
	// RecordsRetried counts failed attempts, each record once per failure.
	RecordsRetried = "RecordsRetried"
	// RecordAge is the age of a batch's oldest record when the batch had been processed, in seconds.
	RecordAge = "RecordAge"
)

// Numbers of the consumer of changes: the entries that it appends to change logs, and the live hints that it sends and
// that it could not send.
const (
	ChangesAppended = "ChangesAppended"
	HintsSent       = "HintsSent"
	HintsDropped    = "HintsDropped"
)

// SnapshotsFailed is the number of snapshots of indexes that could not be read or kept. The searches went on without.
const SnapshotsFailed = "SnapshotsFailed"

// Requests that were refused, and requests that failed, by function.
const (
	ClientErrors = "ClientErrors"
	ServerErrors = "ServerErrors"
	// RequestsLimited is the part of ClientErrors that was answered with 429.
	RequestsLimited = "RequestsLimited"
)

// TableFailures is the number of answers 5xx of DynamoDB to the functions' requests, repeated ones included. DynamoDB's
// own metric exists for each operation.
const TableFailures = "TableFailures"

// The outcome of reminders, by function.
const (
	RemindersDelivered = "RemindersDelivered"
	RemindersLate      = "RemindersLate"
	RemindersMissed    = "RemindersMissed"
	RemindersDropped   = "RemindersDropped"
)

// The outcome of messages to webhooks, by the function deliver. WebhooksDisabled counts endpoints.
const (
	WebhooksSent     = "WebhooksSent"
	WebhooksAgain    = "WebhooksAgain"
	WebhooksFailed   = "WebhooksFailed"
	WebhooksDropped  = "WebhooksDropped"
	WebhooksDisabled = "WebhooksDisabled"
)

// The outcome of deliveries on devices, by the function deliver. PushRefused counts those that a push service refused
// because of the deployment's key.
const (
	PushTold    = "PushTold"
	PushAgain   = "PushAgain"
	PushLate    = "PushLate"
	PushRemoved = "PushRemoved"
	PushFailed  = "PushFailed"
	PushRefused = "PushRefused"
)

// ErasuresOverdue is the number of accounts that should have been erased a day ago: a metric of the function account.
const ErasuresOverdue = "ErasuresOverdue"

// TableBytes is the size of the table and its indexes, a metric of the function that reads it.
const TableBytes = "TableBytes"

// The table's use: of stream functions by consumer, of the others by function.
const (
	ReadUnits  = "ReadUnits"
	WriteUnits = "WriteUnits"
)

// Metrics without a dimension: one alarm watches all consumers or functions. The line names the one that counted.
var together = []string{
	RecordsParked, RecordsUnfinished, RemindersLate, RemindersMissed, RequestsLimited, ServerErrors, TableFailures,
	PushRefused,
}

// Metrics that one function has.
var byFunction = []string{ErasuresOverdue, TableBytes}

// Names returns the numbers that are metrics: those that an alarm watches. Each metric is paid for by the month; the
// other numbers are in the lines alone, where queries of the log find them.
func Names() []string { return slices.Concat(together, byFunction) }

// isMetric reports whether a number is a metric.
func isMetric(name string) bool {
	return slices.Contains(together, name) || slices.Contains(byFunction, name)
}

// unit returns the CloudWatch unit of a metric.
func unit(name string) string {
	if name == TableBytes {
		return "Bytes"
	}
	return "Count"
}

// Writer writes the lines. It is safe for concurrent use if its output is; a file is.
type Writer struct {
	out io.Writer
	now func() time.Time

	mu   sync.Mutex
	kept map[subject]*gathered
}

// NewWriter returns a writer; in a function the output is the standard one.
func NewWriter(out io.Writer, now func() time.Time) *Writer {
	return &Writer{out: out, now: now, kept: map[subject]*gathered{}}
}

// Count writes counts under one dimension.
func (w *Writer) Count(dimension, value string, counts map[string]int) {
	values := Values{}
	for name, n := range counts {
		values[name] = float64(n)
	}
	w.Write(dimension, value, values, nil)
}

// Values are metrics by their names.
type Values map[string]float64

// operations is the member of a line with the table's use by operation: as a dimension it would make a metric for each
// consumer and operation.
const operations = "operations"

// directive tells CloudWatch which members of a line are metrics.
type directive struct {
	Namespace  string
	Dimensions [][]string
	Metrics    []definition
}

type definition struct{ Name, Unit string }

// Write writes the numbers of one consumer or function, including those of the table's use, by operation, too. It omits
// values of 0, and writes no line without values.
func (w *Writer) Write(dimension, value string, values Values, used table.TotalsByOperation) {
	all := Values{}
	maps.Copy(all, values)
	if sum := used.Sum(); sum.Calls > 0 {
		all[ReadUnits], all[WriteUnits] = sum.ReadUnits, sum.WriteUnits
	}
	line := map[string]any{dimension: value}
	own := directive{Namespace: Namespace, Dimensions: [][]string{{dimension}}}
	shared := directive{Namespace: Namespace, Dimensions: [][]string{{}}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] == 0 {
			continue
		}
		line[name] = all[name]
		switch of := (definition{name, unit(name)}); {
		case slices.Contains(together, name):
			shared.Metrics = append(shared.Metrics, of)
		case slices.Contains(byFunction, name):
			own.Metrics = append(own.Metrics, of)
		}
	}
	if len(line) == 1 {
		return
	}
	if len(used) > 0 {
		line[operations] = used
	}
	directives := slices.DeleteFunc([]directive{own, shared}, func(d directive) bool { return len(d.Metrics) == 0 })
	if len(directives) > 0 {
		line["_aws"] = map[string]any{"Timestamp": w.now().UnixMilli(), "CloudWatchMetrics": directives}
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(fmt.Sprintf("metric: %v", err)) // texts and numbers always have a JSON form
	}
	// If standard output is gone, there is no other place to report it.
	_, _ = w.out.Write(append(text, '\n'))
}
