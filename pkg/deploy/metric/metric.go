// Package metric writes the counts of the functions as lines that CloudWatch turns into metrics (CloudWatch User
// Guide, "Embedded metric format"). Alarms are set on the names given here (pkg/deploy/alarm).
//
// It promises one line a call, written whole. It must never put a user's id or another value of many into a dimension:
// each combination of dimensions is a separate metric, and paid for. Finer detail is in the line beside the metrics,
// where a query of the log finds it.
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

// Dimensions.
const (
	// ByConsumer names the consumer of the stream.
	ByConsumer = "Consumer"
	// ByFunction names the function.
	ByFunction = "Function"
	// Together is the dimension of metrics that have none: one alarm watches all consumers or functions. The line names
	// the one that counted.
	Together = ""
)

// The outcome of a batch's records, by consumer; [Together] are those that an alarm watches. Their sum without the last
// three is the number of records delivered.
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

// Metrics of the consumer of changes: the entries that it appends to change logs, and the live hints that it sends and
// that it could not send.
const (
	ChangesAppended = "ChangesAppended"
	HintsSent       = "HintsSent"
	HintsDropped    = "HintsDropped"
)

// Requests that were refused, by function, and requests that failed, [Together].
const (
	ClientErrors = "ClientErrors"
	ServerErrors = "ServerErrors"
	// RequestsLimited is the part of ClientErrors that was answered with 429, [Together].
	RequestsLimited = "RequestsLimited"
)

// TableFailures is the number of answers 5xx of DynamoDB to the functions' requests, repeated ones included,
// [Together]. DynamoDB's own metric exists for each operation.
const TableFailures = "TableFailures"

// The outcome of reminders, by function; [Together] are those that an alarm watches.
const (
	RemindersDelivered = "RemindersDelivered"
	RemindersLate      = "RemindersLate"
	RemindersMissed    = "RemindersMissed"
	RemindersDropped   = "RemindersDropped"
)

// ErasuresOverdue is the number of accounts that should have been erased a day ago: a metric of the function account.
const ErasuresOverdue = "ErasuresOverdue"

// TableBytes is the size of the table and its indexes, a metric of the function that reads it.
const TableBytes = "TableBytes"

// Metrics of the table's use: of stream functions by consumer, of the others by function.
const (
	ReadUnits  = "ReadUnits"
	WriteUnits = "WriteUnits"
)

// Dimensions returns all dimensions.
func Dimensions() []string { return []string{ByConsumer, ByFunction, Together} }

// Names returns the metrics that a dimension has, sorted.
func Names(dimension string) []string {
	var names []string
	switch dimension {
	case ByConsumer:
		names = []string{ReadUnits, WriteUnits, RecordsDone, RecordsAlreadyDone, RecordsRetried, RecordAge,
			ChangesAppended, HintsSent, HintsDropped}
	case ByFunction:
		names = []string{ReadUnits, WriteUnits, ClientErrors, RemindersDelivered, RemindersDropped, TableBytes,
			ErasuresOverdue}
	case Together:
		names = together()
	}
	slices.Sort(names)
	return names
}

func together() []string {
	return []string{
		RecordsParked, RecordsUnfinished, RemindersMissed, RemindersLate, ServerErrors, RequestsLimited, TableFailures,
	}
}

// Published returns the dimension under which a metric that was counted under one is published.
func Published(name, dimension string) string {
	if slices.Contains(together(), name) {
		return Together
	}
	return dimension
}

// unit returns the CloudWatch unit of a metric.
func unit(name string) string {
	switch name {
	case RecordAge:
		return "Seconds"
	case TableBytes:
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

// Write writes metrics under one dimension, including those of the table's use; those that have none are published
// without. The line also holds the use by operation. It omits values of 0, and writes no line without values.
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
		of := &own
		if Published(name, dimension) == Together {
			of = &shared
		}
		of.Metrics = append(of.Metrics, definition{name, unit(name)})
	}
	var directives []directive
	for _, d := range []directive{own, shared} {
		if len(d.Metrics) > 0 {
			directives = append(directives, d)
		}
	}
	if len(directives) == 0 {
		return
	}
	if len(used) > 0 {
		line[operations] = used
	}
	line["_aws"] = map[string]any{"Timestamp": w.now().UnixMilli(), "CloudWatchMetrics": directives}
	text, err := json.Marshal(line)
	if err != nil {
		panic(fmt.Sprintf("metric: %v", err)) // texts and numbers always have a JSON form
	}
	// If standard output is gone, there is no other place to report it.
	_, _ = w.out.Write(append(text, '\n'))
}
