// Package alarm lists the alarms that wake an operator: which metrics, how much of them, for how long.
// docs/operations.md says, under each alarm's name, what it means and what to do.
//
// It promises that every alarm on a Nexus metric is on one that a function emits (pkg/deploy/metric). The
// infrastructure makes the alarms from this list alone and fills in only the names of its resources.
package alarm

import (
	"fmt"
	"strings"
	"time"

	"nexus/pkg/deploy/metric"
)

// Namespaces of the services' own metrics.
const (
	Lambda    = "AWS/Lambda"
	DynamoDB  = "AWS/DynamoDB"
	SQS       = "AWS/SQS"
	Gateway   = "AWS/ApiGateway"
	Scheduler = "AWS/Scheduler"
)

// Dimensions of the services' own metrics. Only for these, a subject's value is Nexus's name of the thing instead of
// the dimension's value; the infrastructure knows the resource's name.
const (
	FunctionName = "FunctionName"
	// Mapping identifies a function's event source mapping. Its metrics have to be switched on (MetricsConfig:
	// EventCount).
	Mapping       = "EventSourceMappingUUID"
	TableName     = "TableName"
	QueueName     = "QueueName"
	APIID         = "ApiId"
	ScheduleGroup = "ScheduleGroup"
	// Index is a second dimension, of DynamoDB's metrics of an index: its value is the index's name. A metric of the table
	// does not include its indexes.
	Index = "GlobalSecondaryIndexName"
	// Operation is a second dimension, of DynamoDB's metrics by operation.
	Operation = "Operation"
)

// Queues.
const (
	// ScheduleQueue takes the calls that EventBridge Scheduler could not make (env.ScheduleDeadLetterARN).
	ScheduleQueue = "schedule-dead-letter"
	// NotifyQueue is the on-failure destination of the notify function.
	NotifyQueue = "notify-failures"
	// DeliverQueue has the events and calls that deliver could not answer.
	DeliverQueue = "deliver-failures"
	// WalkQueue has the walks that wait, and DeadWalkQueue those that failed each time.
	WalkQueue     = "walks"
	DeadWalkQueue = "walks-dead-letter"
)

// Statistics. Slowest is a percentile: one call of a hundred takes longer.
const (
	Sum     = "Sum"
	Maximum = "Maximum"
	Slowest = "p99"
)

// Missing says how a period without data counts (CloudWatch User Guide, "Configuring how CloudWatch alarms treat
// missing data").
type Missing string

const (
	// Good is for metrics that exist only while something is wrong.
	Good Missing = "notBreaching"
	// Bad is for metrics that have to be there.
	Bad Missing = "breaching"
	// Ignore leaves the alarm as it is.
	Ignore Missing = "ignore"
)

// Alarm goes off when the value has been above the threshold in Enough of the last Periods periods.
type Alarm struct {
	Name string
	// Of lists what it watches: ten metrics at most (CloudWatch User Guide, "Using metric math").
	Of []Metric
	// Expression is metric math over them; m0 is the first. Empty for a single metric, and for the sum of several.
	Expression string
	Above      float64
	Period     time.Duration
	Periods    int
	// Enough is the number of bad periods; 0 for all.
	Enough  int
	Missing Missing
	// Says is the alarm's description: what has happened, in one line.
	Says string
}

// Metric is one metric: CloudWatch charges an alarm for each that it watches.
type Metric struct {
	Namespace, Name, Statistic string
	// Of are its dimensions; none for a metric without.
	Of []Subject
}

// Subject is a dimension of a metric with its value.
type Subject struct{ Dimension, Value string }

// Math returns the alarm's metric math; empty if the first metric alone decides. In a sum each metric counts as 0
// without data. A metric of DynamoDB is a sum of one: an alarm on such a metric itself would stay as it is while there
// is no data, whatever it says of missing data (CloudWatch API Reference, PutMetricAlarm, TreatMissingData).
func (a Alarm) Math() string {
	if a.Expression != "" || len(a.Of) == 1 && a.Of[0].Namespace != DynamoDB {
		return a.Expression
	}
	terms := make([]string, len(a.Of))
	for i := range a.Of {
		terms[i] = fmt.Sprintf("FILL(%s, 0)", ID(i))
	}
	return strings.Join(terms, " + ")
}

// ID returns the name of a metric in an expression, by its place.
func ID(i int) string { return fmt.Sprintf("m%d", i) }

// BadPeriods returns how many of the last periods have to be bad.
func (a Alarm) BadPeriods() int {
	if a.Enough == 0 {
		return a.Periods
	}
	return a.Enough
}

// measured returns a metric of a service, or one of Nexus.
func measured(namespace, name, statistic string, subjects ...Subject) Metric {
	return Metric{namespace, name, statistic, subjects}
}

// counted returns a metric of Nexus that has no dimension.
func counted(name string) []Metric { return []Metric{measured(metric.Namespace, name, Sum)} }
