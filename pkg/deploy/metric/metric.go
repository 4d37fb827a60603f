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
)

// Metrics by consumer: the outcome of a batch's records. Their sum without the last three is the number of records
// delivered.
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

// Metrics by function: requests that were refused, and requests that failed.
const (
	ClientErrors = "ClientErrors"
	ServerErrors = "ServerErrors"
)

// Metrics by function: the outcome of reminders.
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

// Names returns the metrics that a dimension has, sorted.
func Names(dimension string) []string {
	names := []string{ReadUnits, WriteUnits}
	switch dimension {
	case ByConsumer:
		names = append(names, RecordsDone, RecordsParked, RecordsUnfinished, RecordsAlreadyDone, RecordsRetried, RecordAge,
			ChangesAppended, HintsSent, HintsDropped)
	case ByFunction:
		names = append(names, ClientErrors, ServerErrors, RemindersDelivered, RemindersLate, RemindersMissed,
			RemindersDropped, TableBytes, ErasuresOverdue)
	}
	slices.Sort(names)
	return names
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

// Write writes metrics under one dimension, including those of the table's use. The line also holds the use by
// operation. It omits values of 0, and writes no line without values.
func (w *Writer) Write(dimension, value string, values Values, used table.TotalsByOperation) {
	type metric struct {
		Name string
		Unit string
	}
	all := Values{}
	maps.Copy(all, values)
	if sum := used.Sum(); sum.Calls > 0 {
		all[ReadUnits], all[WriteUnits] = sum.ReadUnits, sum.WriteUnits
	}
	line := map[string]any{dimension: value}
	var metrics []metric
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] != 0 {
			metrics = append(metrics, metric{name, unit(name)})
			line[name] = all[name]
		}
	}
	if len(metrics) == 0 {
		return
	}
	if len(used) > 0 {
		line[operations] = used
	}
	line["_aws"] = map[string]any{
		"Timestamp": w.now().UnixMilli(),
		"CloudWatchMetrics": []any{map[string]any{
			"Namespace": Namespace, "Dimensions": [][]string{{dimension}}, "Metrics": metrics,
		}},
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(fmt.Sprintf("metric: %v", err)) // texts and numbers always have a JSON form
	}
	// If standard output is gone, there is no other place to report it.
	_, _ = w.out.Write(append(text, '\n'))
}
