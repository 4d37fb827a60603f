package stack

import (
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/changes"
	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/table"
)

// Statistics of the dashboard, in addition to those of alarms.
const average = "Average"

// graphs returns the graphs of the dashboard: requests, readers, records, reminders, functions, table. For the table
// they have every metric that the source document lists.
func (d *deployment) graphs() []graph {
	return []graph{
		{"Requests", d.apiLines(alarm.Sum, "Count", "4xx", "5xx")},
		{"Time of a request, ms", append(d.apiLines(average, "Latency"), d.apiLines(alarm.Slowest, "Latency")...)},
		{"Answers 4xx and 5xx of the functions, and 429 among them",
			append(d.byFunction([]env.Function{env.Command, env.Query}, metric.ClientErrors),
				together(metric.ServerErrors, metric.RequestsLimited)...)},

		{"Age of what is read, ms", d.lambdaLines(alarm.Maximum, "IteratorAge", d.readerFunctions())},
		{"Age of what is done, s", d.byConsumer(alarm.Maximum, metric.RecordAge)},
		{"Records given up", d.mappingLines("OnFailureDestinationDeliveredEventCount")},

		{"Records done", d.byConsumer(alarm.Sum, metric.RecordsDone, metric.RecordsAlreadyDone)},
		{"Records that failed once", d.byConsumer(alarm.Sum, metric.RecordsRetried)},
		{"Records parked or unfinished", together(metric.RecordsParked, metric.RecordsUnfinished)},

		{"Reminders",
			d.byFunction(remindingFunctions(), metric.RemindersDelivered, metric.RemindersDropped)},
		{"Reminders late or missed", together(metric.RemindersLate, metric.RemindersMissed)},
		{"Age of the oldest walk that waits, s", []line{{"walks", alarm.SQS, "ApproximateAgeOfOldestMessage", alarm.Maximum,
			map[string]*string{alarm.QueueName: d.queues[alarm.WalkQueue].QueueName()}}}},
		{"Calls of notify that wait, ms, or were dropped", []line{
			d.lambdaLine(alarm.Slowest, "AsyncEventAge", env.Notify), d.lambdaLine(alarm.Sum, "AsyncEventsDropped", env.Notify),
		}},
		{"Scheduler", d.schedulerLines("InvocationAttemptCount", "TargetErrorCount", "TargetErrorThrottledCount",
			"InvocationThrottleCount", "InvocationDroppedCount")},

		{"Units of the table by users of it", append(d.byConsumer(alarm.Sum, metric.WriteUnits),
			d.byFunction([]env.Function{env.Command, env.Query, env.Notify, env.Walk, env.Account}, metric.ReadUnits,
				metric.WriteUnits)...)},
		{"Units of the table", d.tableLines(alarm.Sum, "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits")},
		{"Requests refused for now", append(d.tableLines(alarm.Sum, "ReadThrottleEvents", "WriteThrottleEvents"),
			d.indexLines("ReadThrottleEvents", "WriteThrottleEvents")...)},
		{"Requests refused for a condition",
			d.tableLines(alarm.Sum, "ConditionalCheckFailedRequests", "TransactionConflict")},

		{"Time of a call to the table, ms", d.byOperation(average, "SuccessfulRequestLatency")},
		{"Errors of DynamoDB", append(d.byOperation(alarm.Sum, "SystemErrors"), together(metric.TableFailures)...)},
		{"Requests that DynamoDB finds wrong", []line{{"UserErrors", alarm.DynamoDB, "UserErrors", alarm.Sum, nil}}},

		{"Invocations", d.lambdaLines(alarm.Sum, "Invocations", d.settings.deployed())},
		{"Invocations that failed or were throttled",
			append(d.lambdaLines(alarm.Sum, "Errors", d.settings.deployed()),
				d.lambdaLines(alarm.Sum, "Throttles", d.settings.deployed())...)},
		{"Time of an invocation, ms", d.lambdaLines(alarm.Slowest, "Duration", d.settings.deployed())},

		{"Entries of change logs, and live hints", linesOf(metric.ByConsumer, changes.Name, alarm.Sum,
			metric.ChangesAppended, metric.HintsSent, metric.HintsDropped)},
		{"Accounts to be erased since a day",
			linesOf(metric.ByFunction, string(env.Account), alarm.Maximum, metric.ErasuresOverdue)},
		{"Bytes stored", linesOf(metric.ByFunction, string(env.Projections), alarm.Maximum, metric.TableBytes)},
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
		out = append(out, d.lambdaLine(statistic, name, f))
	}
	return out
}

func (d *deployment) lambdaLine(statistic, name string, f env.Function) line {
	return line{
		string(f) + " " + name, alarm.Lambda, name, statistic,
		map[string]*string{alarm.FunctionName: d.functions[f].FunctionName()},
	}
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
		group := map[string]*string{alarm.ScheduleGroup: d.group.Ref()}
		out = append(out, line{name, alarm.Scheduler, name, alarm.Sum, group})
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

// indexLines returns metrics of each index, which those of the table do not include.
func (d *deployment) indexLines(names ...string) []line {
	var out []line
	for _, name := range names {
		for _, index := range table.ProductSchema().Indexes {
			of := map[string]*string{
				alarm.TableName: d.table.TableName(), alarm.Index: jsii.String(string(index.Name)),
			}
			out = append(out, line{string(index.Name) + " " + name, alarm.DynamoDB, name, alarm.Sum, of})
		}
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

// together returns metrics of all functions or consumers.
func together(names ...string) []line {
	var out []line
	for _, name := range names {
		out = append(out, line{name, metric.Namespace, name, alarm.Sum, nil})
	}
	return out
}

// linesOf returns metrics of one consumer or function.
func linesOf(dimension, value, statistic string, names ...string) []line {
	var out []line
	for _, name := range names {
		out = append(out, ours(dimension, value, name, statistic))
	}
	return out
}

// ours is a metric that the functions emit.
func ours(dimension, value, name, statistic string) line {
	return line{value + " " + name, metric.Namespace, name, statistic, map[string]*string{dimension: jsii.String(value)}}
}
