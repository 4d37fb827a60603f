package stack

import (
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
)

// Statistics of the dashboard, in addition to those of alarms.
const (
	average = "Average"
	slowest = "p99"
)

// graphs returns the graphs of the dashboard: requests, readers, records, reminders, functions, table. For the table
// they have every metric that the source document lists.
func (d *deployment) graphs() []graph {
	return []graph{
		{"Requests", d.apiLines(alarm.Sum, "Count", "4xx", "5xx")},
		{"Time of a request, ms", append(d.apiLines(average, "Latency"), d.apiLines(slowest, "Latency")...)},
		{"Answers 4xx and 5xx of the functions",
			d.byFunction([]env.Function{env.Command, env.Query}, metric.ClientErrors, metric.ServerErrors)},

		{"Age of what is read, ms", d.lambdaLines(alarm.Maximum, "IteratorAge", d.readerFunctions())},
		{"Age of what is done, s", d.byConsumer(alarm.Maximum, metric.RecordAge)},
		{"Records given up", d.mappingLines("OnFailureDestinationDeliveredEventCount")},

		{"Records done", d.byConsumer(alarm.Sum, metric.RecordsDone, metric.RecordsAlreadyDone)},
		{"Records that failed once", d.byConsumer(alarm.Sum, metric.RecordsRetried)},
		{"Records parked or unfinished", d.byConsumer(alarm.Sum, metric.RecordsParked, metric.RecordsUnfinished)},

		{"Reminders",
			d.byFunction(remindingFunctions(), metric.RemindersDelivered, metric.RemindersDropped)},
		{"Reminders late or missed",
			d.byFunction(remindingFunctions(), metric.RemindersLate, metric.RemindersMissed)},
		{"Age of the oldest walk that waits, s", []line{{"walks", alarm.SQS, "ApproximateAgeOfOldestMessage", alarm.Maximum,
			map[string]*string{alarm.QueueName: d.queues[alarm.WalkQueue].QueueName()}}}},
		{"Scheduler", d.schedulerLines("InvocationAttemptCount", "TargetErrorCount", "TargetErrorThrottledCount",
			"InvocationThrottleCount", "InvocationDroppedCount")},

		{"Units of the table by users of it", append(d.byConsumer(alarm.Sum, metric.WriteUnits),
			d.byFunction([]env.Function{env.Command, env.Query, env.Notify, env.Walk, env.Account}, metric.ReadUnits,
				metric.WriteUnits)...)},
		{"Units of the table", d.tableLines(alarm.Sum, "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits")},
		{"Requests refused for now, or for a condition", d.tableLines(alarm.Sum, "ReadThrottleEvents", "WriteThrottleEvents",
			"ConditionalCheckFailedRequests", "TransactionConflict")},

		{"Time of a call to the table, ms", d.byOperation(average, "SuccessfulRequestLatency")},
		{"Errors of DynamoDB", d.byOperation(alarm.Sum, "SystemErrors")},
		{"Requests that DynamoDB finds wrong", []line{{"UserErrors", alarm.DynamoDB, "UserErrors", alarm.Sum, nil}}},

		{"Invocations", d.lambdaLines(alarm.Sum, "Invocations", env.Functions())},
		{"Invocations that failed or were throttled",
			append(d.lambdaLines(alarm.Sum, "Errors", env.Functions()),
				d.lambdaLines(alarm.Sum, "Throttles", env.Functions())...)},
		{"Time of an invocation, ms", d.lambdaLines(slowest, "Duration", env.Functions())},

		{"Accounts to be erased since a day",
			[]line{ours(metric.ByFunction, string(env.Account), metric.ErasuresOverdue, alarm.Maximum)}},
		{"Bytes stored", []line{ours(metric.ByFunction, string(env.Projections), metric.TableBytes, alarm.Maximum)}},
	}
}

func remindingFunctions() []env.Function { return []env.Function{env.Notify, env.Effects, env.Walk} }

func (d *deployment) readerFunctions() []env.Function {
	var out []env.Function
	for _, r := range d.readers() {
		out = append(out, env.Function(r.Name))
	}
	return out
}

func (d *deployment) apiLines(statistic string, names ...string) []line {
	var out []line
	for _, name := range names {
		out = append(out,
			line{name + " " + statistic, alarm.Gateway, name, statistic, map[string]*string{alarm.APIID: jsii.String(d.api)}})
	}
	return out
}

func (d *deployment) lambdaLines(statistic, name string, functions []env.Function) []line {
	var out []line
	for _, f := range functions {
		out = append(out, line{
			string(f) + " " + name, alarm.Lambda, name, statistic,
			map[string]*string{alarm.FunctionName: d.functions[f].FunctionName()},
		})
	}
	return out
}

func (d *deployment) mappingLines(name string) []line {
	var out []line
	for _, f := range d.readerFunctions() {
		out = append(out, line{
			string(f), alarm.Lambda, name, alarm.Sum,
			map[string]*string{alarm.Mapping: d.mappings[string(f)].EventSourceMappingId()},
		})
	}
	return out
}

func (d *deployment) schedulerLines(names ...string) []line {
	var out []line
	for _, name := range names {
		out = append(out, line{name, "AWS/Scheduler", name, alarm.Sum, map[string]*string{"ScheduleGroup": d.group.Ref()}})
	}
	return out
}

func (d *deployment) tableLines(statistic string, names ...string) []line {
	var out []line
	for _, name := range names {
		out = append(out,
			line{name, alarm.DynamoDB, name, statistic, map[string]*string{alarm.TableName: d.table.TableName()}})
	}
	return out
}

func (d *deployment) byOperation(statistic, name string) []line {
	var out []line
	for _, operation := range alarm.TableOperations() {
		out = append(out, line{operation, alarm.DynamoDB, name, statistic, map[string]*string{
			alarm.TableName: d.table.TableName(), alarm.Operation: jsii.String(operation),
		}})
	}
	return out
}

func (d *deployment) byConsumer(statistic string, names ...string) []line {
	var out []line
	for _, name := range names {
		for _, r := range d.readers() {
			for _, consumer := range r.Consumers {
				out = append(out, ours(metric.ByConsumer, consumer, name, statistic))
			}
		}
	}
	return out
}

func (d *deployment) byFunction(functions []env.Function, names ...string) []line {
	var out []line
	for _, name := range names {
		for _, f := range functions {
			out = append(out, ours(metric.ByFunction, string(f), name, alarm.Sum))
		}
	}
	return out
}

// ours is a metric that the functions emit.
func ours(dimension, value, name, statistic string) line {
	return line{value + " " + name, metric.Namespace, name, statistic, map[string]*string{dimension: jsii.String(value)}}
}
