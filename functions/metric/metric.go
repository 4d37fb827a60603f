// Package metric is what the functions count, as lines that CloudWatch turns into metrics (CloudWatch User Guide, "Embedded
// metric format"). Alarms are set on the names given here.
//
// It promises one line a call, written whole, and never a user's id or anything else that has many values in a dimension:
// each combination of dimensions is a metric of its own, and paid for.
package metric

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
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

// Metrics by consumer: what became of the records of a batch.
const (
	RecordsDone       = "RecordsDone"
	RecordsParked     = "RecordsParked"
	RecordsUnfinished = "RecordsUnfinished"
	RecordsRetried    = "RecordsRetried"
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

// Writer writes the lines. It is safe for concurrent use if its output is; a file is.
type Writer struct {
	out io.Writer
	now func() time.Time
}

// NewWriter returns a writer; in a function the output is the standard one.
func NewWriter(out io.Writer, now func() time.Time) *Writer { return &Writer{out, now} }

// Count writes counts under one dimension. Counts of 0 are left out, and a line without counts is none.
func (w *Writer) Count(dimension, value string, counts map[string]int) {
	type metric struct {
		Name string
		Unit string
	}
	line := map[string]any{dimension: value}
	var metrics []metric
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if counts[name] != 0 {
			metrics = append(metrics, metric{name, "Count"})
			line[name] = counts[name]
		}
	}
	if len(metrics) == 0 {
		return
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
