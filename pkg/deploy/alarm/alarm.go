// Package alarm lists the alarms that wake an operator: which metric, how much of it, for how long. docs/operations.md
// says, under each alarm's name, what it means and what to do.
//
// It promises that every alarm on a Nexus metric is on one that a function emits (pkg/deploy/metric). The
// infrastructure makes the alarms from this list alone and fills in only the names of its resources.
package alarm

import (
	"time"

	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/deploy/readers"
)

// Namespaces of the services' own metrics.
const (
	Lambda   = "AWS/Lambda"
	DynamoDB = "AWS/DynamoDB"
	SQS      = "AWS/SQS"
	Gateway  = "AWS/ApiGateway"
)

// Dimensions of the services' own metrics. Only for these, a subject's value is Nexus's name of the thing instead of
// the dimension's value; the infrastructure knows the resource's name.
const (
	FunctionName = "FunctionName"
	// Mapping identifies a function's event source mapping. Its metrics have to be switched on (MetricsConfig:
	// EventCount).
	Mapping   = "EventSourceMappingUUID"
	TableName = "TableName"
	QueueName = "QueueName"
	APIID     = "ApiId"
	// Operation is a second dimension, of DynamoDB's metrics by operation.
	Operation = "Operation"
)

// TableOperations are the operations of DynamoDB that the functions call: the values of [Operation].
func TableOperations() []string {
	return []string{
		"GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems",
	}
}

// Queues.
const (
	// ScheduleQueue takes the calls that EventBridge Scheduler could not make (env.ScheduleDeadLetterARN).
	ScheduleQueue = "schedule-dead-letter"
	// NotifyQueue is the on-failure destination of the notify function.
	NotifyQueue = "notify-failures"
	// WalkQueue has the walks that wait, and DeadWalkQueue those that failed each time.
	WalkQueue     = "walks"
	DeadWalkQueue = "walks-dead-letter"
)

// Statistics.
const (
	Sum     = "Sum"
	Maximum = "Maximum"
)

// Alarm goes off when the metric has been above the threshold in each of the last Periods periods. A period without
// data is a good one.
type Alarm struct {
	Name      string
	Namespace string
	Metric    string
	// Of lists the subjects of the metric. Of several, the sum counts.
	Of []Subject
	// Operations are values of [Operation]: the metric exists for each, and the sum counts. Empty for a metric without
	// operations. An alarm adds up ten metrics at most (CloudWatch User Guide, "Using metric math").
	Operations []string
	Statistic  string
	Above      float64
	Period     time.Duration
	Periods    int
	// Says is the alarm's description: what has happened, in one line.
	Says string
}

// Metrics returns how many metrics the alarm adds up: CloudWatch charges an alarm for each.
func (a Alarm) Metrics() int { return len(a.Of) * max(1, len(a.Operations)) }

// Subject is one dimension of a metric with its value; the zero Subject is a metric without dimensions.
type Subject struct{ Dimension, Value string }

const (
	// quick is the period of urgent or short conditions, steady of those that have to last.
	quick  = time.Minute
	steady = 5 * time.Minute
	// storage is the period of a figure that DynamoDB updates every six hours.
	storage = 24 * time.Hour
	// behind is the delay of readers at which an operator must look: users notice it.
	behind = 5 * time.Minute
	// walksLate is the age of a walk at which an operator must look. A walk that fails keeps its user's others waiting for
	// five times the queue's visibility timeout, 30 minutes.
	walksLate = 30 * time.Minute
	// losing is the delay at which half a day is left until records are given up.
	losing = 12 * time.Hour
	// unitsPerSecond is the use that the table is expected never to reach, as in the source document, and storedBytes the
	// size that it is expected never to reach.
	unitsPerSecond = 500
	storedBytes    = 80e9
)

// All returns every alarm of a deployment with these readers, in the order of the document. Alarms of losses that
// continue until an operator acts are first.
func All(table []readers.Reader) []Alarm {
	var out []Alarm
	for _, r := range table {
		for _, c := range r.Consumers {
			out = append(out, Alarm{
				Name: "nexus-" + c + "-parked", Namespace: metric.Namespace, Metric: metric.RecordsParked,
				Of: []Subject{{metric.ByConsumer, c}}, Statistic: Sum, Above: 0, Period: quick, Periods: 1,
				Says: "A record can never be processed by " + c + " as it is and is kept; or it waits for a later release.",
			})
		}
	}
	for _, r := range table {
		out = append(out, readerAlarms(r.Name)...)
	}
	for _, r := range table {
		for _, c := range r.Consumers {
			out = append(out, Alarm{
				Name: "nexus-" + c + "-unfinished", Namespace: metric.Namespace, Metric: metric.RecordsUnfinished,
				Of: []Subject{{metric.ByConsumer, c}}, Statistic: Sum, Above: 0, Period: steady, Periods: 3,
				Says: "Records come again and again to " + c + " and it does not get them done.",
			})
		}
	}
	out = append(append(out, reminderAlarms()...), Alarm{
		Name: "nexus-erase-overdue", Namespace: metric.Namespace, Metric: metric.ErasuresOverdue,
		Of: []Subject{{metric.ByFunction, string(env.Account)}}, Statistic: Maximum, Above: 0, Period: steady, Periods: 3,
		Says: "An account should have been erased a day ago, and is not: the law asks for it.",
	})
	for _, f := range env.Functions() {
		out = append(out, functionAlarms(f)...)
	}
	out = append(out, Alarm{
		Name: "nexus-api-server-errors", Namespace: Gateway, Metric: "5xx", Of: []Subject{{APIID, "api"}},
		Statistic: Sum, Above: 5, Period: quick, Periods: 3,
		Says: "The HTTP API answers users with errors, some of which never reach a function.",
	})
	return append(out, tableAlarms()...)
}

// readerAlarms returns the alarms about the delay of a stream function.
func readerAlarms(name string) []Alarm {
	age := func(suffix string, above time.Duration, says string) Alarm {
		return Alarm{
			Name: "nexus-" + name + "-" + suffix, Namespace: Lambda, Metric: "IteratorAge", Of: []Subject{{FunctionName, name}},
			Statistic: Maximum, Above: float64(above.Milliseconds()), Period: quick, Periods: 5, Says: says,
		}
	}
	return []Alarm{
		{
			Name: "nexus-" + name + "-given-up", Namespace: Lambda, Metric: "OnFailureDestinationDeliveredEventCount",
			Of: []Subject{{Mapping, name}}, Statistic: Sum, Above: 0, Period: quick, Periods: 1,
			Says: "Records were too old to be tried again; they are kept as failure objects.",
		},
		{
			Name: "nexus-" + name + "-lost", Namespace: Lambda, Metric: "DestinationDeliveryFailures",
			Of: []Subject{{FunctionName, name}}, Statistic: Sum, Above: 0, Period: quick, Periods: 1,
			Says: "Records that were given up could not be kept: only a repair brings back what they meant.",
		},
		age("losing", losing, "The reader is half a day behind; records are given up after 23 hours."),
		age("behind", behind, "What follows from writes comes more than five minutes late."),
	}
}

func reminderAlarms() []Alarm {
	reminding := func() (out []Subject) {
		for _, f := range []env.Function{env.Effects, env.Notify, env.Walk} {
			out = append(out, Subject{metric.ByFunction, string(f)})
		}
		return out
	}
	waiting := func(name, queue, says string) Alarm {
		return Alarm{
			Name: name, Namespace: SQS, Metric: "ApproximateNumberOfMessagesVisible", Of: []Subject{{QueueName, queue}},
			Statistic: Maximum, Above: 0, Period: quick, Periods: 1, Says: says,
		}
	}
	return []Alarm{
		waiting("nexus-schedule-undelivered", ScheduleQueue,
			"The scheduler could not call notify for a day; its calls are kept."),
		waiting("nexus-notify-failed", NotifyQueue, "Calls of notify failed each time they were made; they are kept."),
		waiting("nexus-walks-failed", DeadWalkQueue,
			"Walks over a user's items failed each time; their reminders may be at the wrong time."),
		{
			Name: "nexus-walks-behind", Namespace: SQS, Metric: "ApproximateAgeOfOldestMessage",
			Of: []Subject{{QueueName, WalkQueue}}, Statistic: Maximum, Above: walksLate.Seconds(), Period: steady, Periods: 3,
			Says: "Changes of time zone or of series reach the reminders more than half an hour late.",
		},
		{
			Name: "nexus-reminders-missed", Namespace: metric.Namespace, Metric: metric.RemindersMissed,
			Of:        reminding(),
			Statistic: Sum, Above: 0, Period: steady, Periods: 1,
			Says: "Reminders that were asked for in time were found more than a day late, and are not published.",
		},
		{
			Name: "nexus-reminders-late", Namespace: metric.Namespace, Metric: metric.RemindersLate,
			Of:        reminding(),
			Statistic: Sum, Above: 10, Period: steady, Periods: 3,
			Says: "Reminders keep coming more than two minutes late.",
		},
	}
}

// functionAlarms returns the alarms that every function has, and those of the two that serve users.
func functionAlarms(f env.Function) []Alarm {
	name := "nexus-" + string(f)
	lambda := func(suffix, metricName string, above float64, says string) Alarm {
		return Alarm{
			Name: name + "-" + suffix, Namespace: Lambda, Metric: metricName, Of: []Subject{{FunctionName, string(f)}},
			Statistic: Sum, Above: above, Period: steady, Periods: 1, Says: says,
		}
	}
	out := []Alarm{
		lambda("errors", "Errors", 5, "Invocations fail as a whole."),
		lambda("throttled", "Throttles", 0, "Lambda did not run the function for want of concurrency."),
	}
	if f == env.Command || f == env.Query {
		out = append(out, Alarm{
			Name: name + "-server-errors", Namespace: metric.Namespace, Metric: metric.ServerErrors,
			Of: []Subject{{metric.ByFunction, string(f)}}, Statistic: Sum, Above: 5, Period: quick, Periods: 3,
			Says: "Users' requests are answered with 500 or 503.",
		})
	}
	return out
}

// tableAlarms returns the alarms of the source document on the table. DynamoDB has no metric of a table's size, so
// Nexus emits that one.
func tableAlarms() []Alarm {
	table := []Subject{{TableName, "table"}}
	used := unitsPerSecond * quick.Seconds()
	return []Alarm{
		{Name: "nexus-table-read-throttled", Namespace: DynamoDB, Metric: "ReadThrottleEvents", Of: table, Statistic: Sum,
			Above: 5, Period: steady, Periods: 1, Says: "DynamoDB refuses reads of the table for now."},
		{Name: "nexus-table-write-throttled", Namespace: DynamoDB, Metric: "WriteThrottleEvents", Of: table, Statistic: Sum,
			Above: 5, Period: steady, Periods: 1, Says: "DynamoDB refuses writes to the table for now."},
		{Name: "nexus-table-read-units", Namespace: DynamoDB, Metric: "ConsumedReadCapacityUnits", Of: table, Statistic: Sum,
			Above: used, Period: quick, Periods: 5, Says: "The table is read far more than it should be."},
		{Name: "nexus-table-write-units", Namespace: DynamoDB, Metric: "ConsumedWriteCapacityUnits", Of: table,
			Statistic: Sum, Above: used, Period: quick, Periods: 5, Says: "The table is written far more than it should be."},
		{Name: "nexus-table-failing", Namespace: DynamoDB, Metric: "SystemErrors", Of: table, Operations: TableOperations(),
			Statistic: Sum, Above: 1, Period: quick, Periods: 1, Says: "DynamoDB itself fails."},
		{
			Name: "nexus-table-large", Namespace: metric.Namespace, Metric: metric.TableBytes,
			Of: []Subject{{metric.ByFunction, string(env.Projections)}}, Statistic: Maximum, Above: storedBytes, Period: storage,
			Periods: 1, Says: "The table and its indexes hold more than 80 GB.",
		},
		{Name: "nexus-table-refused", Namespace: DynamoDB, Metric: "UserErrors", Of: []Subject{{}}, Statistic: Sum, Above: 5,
			Period: quick, Periods: 1, Says: "DynamoDB refuses requests as malformed or not permitted."},
	}
}
