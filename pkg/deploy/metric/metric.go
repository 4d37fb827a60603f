// Package metric is what the functions count, as lines that CloudWatch turns into metrics (CloudWatch User Guide,
// "Embedded metric format"). Alarms are set on the names given here (pkg/deploy/alarm).
//
// It promises one line a call, written whole, and never a user's id or anything else that has many values in a
// dimension: each combination of dimensions is a metric of its own, and paid for. What is finer than that stands in the
// line beside the metrics, where a query of the log finds it.
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

// Metrics by consumer: what became of the records of a batch. Their sum without the last three is what was delivered.
const (
	RecordsDone       = "RecordsDone"
	RecordsParked     = "RecordsParked"
	RecordsUnfinished = "RecordsUnfinished"
	// RecordsAlreadyDone is the part of RecordsDone that had been done before.
	RecordsAlreadyDone = "RecordsAlreadyDone"
	// RecordsRetried counts attempts that failed, each record as often as it did.
	RecordsRetried = "RecordsRetried"
	// RecordAge is how old the oldest record of a batch was when the batch had been dealt with, in seconds.
	RecordAge = "RecordAge"
)

// Metrics by function: requests that were refused, and requests that failed.
const (
	ClientErrors = "ClientErrors"
	ServerErrors = "ServerErrors"
)

// Metrics by function of what became of reminders.
const (
	RemindersDelivered = "RemindersDelivered"
	RemindersLate      = "RemindersLate"
	RemindersMissed    = "RemindersMissed"
	RemindersDropped   = "RemindersDropped"
)

// TableBytes is what the table and its indexes hold, a metric of the function that looks it up.
const TableBytes = "TableBytes"

// Metrics of the table's use, of stream functions by consumer, of the others by function.
const (
	ReadUnits  = "ReadUnits"
	WriteUnits = "WriteUnits"
)

// Names returns the metrics that a dimension has, sorted.
func Names(dimension string) []string {
	names := []string{ReadUnits, WriteUnits}
	switch dimension {
	case ByConsumer:
		names = append(names, RecordsDone, RecordsParked, RecordsUnfinished, RecordsAlreadyDone, RecordsRetried, RecordAge)
	case ByFunction:
		names = append(names, ClientErrors, ServerErrors, RemindersDelivered, RemindersLate, RemindersMissed,
			RemindersDropped, TableBytes)
	}
	slices.Sort(names)
	return names
}

// unit is what CloudWatch shows a metric in.
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

// operations is the member of a line that has the table's use by operation: as a dimension it would be a metric for
// each consumer and operation.
const operations = "operations"

// Write writes metrics under one dimension, those of the table's use among them, with what that was made of besides.
// Values of 0 are left out, and a line without any is none.
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
	// Nobody is left to tell if standard output is gone.
	_, _ = w.out.Write(append(text, '\n'))
}
