package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

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
		{"Answers 5xx and 429 of the functions", together(metric.ServerErrors, metric.RequestsLimited)},

		{"Age of what is read, ms", d.lambdaLines(alarm.Maximum, "IteratorAge", d.readerFunctions())},
		{"Records given up", d.mappingLines("OnFailureDestinationDeliveredEventCount")},
		{"Records parked or unfinished", together(metric.RecordsParked, metric.RecordsUnfinished)},

		{"Reminders late or missed, or that push services refuse", together(metric.RemindersLate, metric.RemindersMissed,
			metric.PushRefused)},
		{"Age of the oldest walk that waits, s", []line{{"walks", alarm.SQS, "ApproximateAgeOfOldestMessage", alarm.Maximum,
			map[string]*string{alarm.QueueName: d.queues[alarm.WalkQueue].QueueName()}}}},
		{"Calls of notify that wait, ms, or were dropped", []line{
			d.lambdaLine(alarm.Slowest, "AsyncEventAge", env.Notify), d.lambdaLine(alarm.Sum, "AsyncEventsDropped", env.Notify),
		}},
		{"Scheduler", d.schedulerLines("InvocationAttemptCount", "InvocationThrottleCount", "InvocationDroppedCount")},

		{"Units of the table", d.tableLines(alarm.Sum, "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits")},
		{"Requests refused for now", append(d.tableLines(alarm.Sum, "ReadThrottleEvents", "WriteThrottleEvents"),
			d.indexLines("ReadThrottleEvents", "WriteThrottleEvents")...)},
		{"Requests refused for a condition",
			d.tableLines(alarm.Sum, "ConditionalCheckFailedRequests", "TransactionConflict")},

		{"Time of a call to the table, ms", d.byOperation(average, "SuccessfulRequestLatency")},
		{"Errors of DynamoDB", append(d.byOperation(alarm.Sum, "SystemErrors"), together(metric.TableFailures)...)},
		{"Requests that DynamoDB finds wrong", []line{{"UserErrors", alarm.DynamoDB, "UserErrors", alarm.Sum, nil}}},

		{"Invocations, those that failed, and those that were throttled",
			lambdasTogether("Invocations", "Errors", "Throttles")},
		{"Time of an invocation, ms", d.lambdaLines(alarm.Slowest, "Duration", []env.Function{env.Command, env.Query})},
		{"Accounts to be erased since a day",
			functionLine(env.Account, metric.ErasuresOverdue)},
		{"Bytes stored", functionLine(env.Projections, metric.TableBytes)},
	}
}

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

// byOperation returns a metric of the operations that users wait for most: all of them would make the dashboard cost.
func (d *deployment) byOperation(statistic, name string) []line {
	var out []line
	for _, operation := range []string{"GetItem", "Query", "TransactWriteItems"} {
		out = append(out, line{operation, alarm.DynamoDB, name, statistic, map[string]*string{
			alarm.TableName: d.table.TableName(), alarm.Operation: jsii.String(operation),
		}})
	}
	return out
}

// lambdasTogether returns metrics of all functions of the account, which has one stage.
func lambdasTogether(names ...string) []line {
	var out []line
	for _, name := range names {
		out = append(out, line{name, alarm.Lambda, name, alarm.Sum, nil})
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

// functionLine returns a metric that one function emits.
func functionLine(f env.Function, name string) []line {
	return []line{{
		string(f) + " " + name, metric.Namespace, name, alarm.Maximum,
		map[string]*string{metric.ByFunction: jsii.String(string(f))},
	}}
}

// logQuery is a query of the functions' logs.
type logQuery struct {
	title string
	view  awscloudwatch.LogQueryVisualizationType
	lines []string
}

// logQueries returns the queries of the dashboard. Over time CloudWatch groups by the time alone.
func logQueries() []logQuery {
	return []logQuery{
		{"Records and units, by consumer and function", awscloudwatch.LogQueryVisualizationType_TABLE, []string{
			"filter ispresent(RecordsDone) or ispresent(ReadUnits) or ispresent(WriteUnits)",
			"stats sum(RecordsDone) as done, sum(RecordsAlreadyDone) as again, sum(RecordsRetried) as failed, " +
				"max(RecordAge) as seconds, sum(ReadUnits) as read, sum(WriteUnits) as written by Consumer, Function",
			"sort Consumer, Function",
		}},
		{"Reminders", awscloudwatch.LogQueryVisualizationType_LINE, []string{
			"filter ispresent(RemindersDelivered) or ispresent(RemindersDropped)",
			"stats sum(RemindersDelivered) as delivered, sum(RemindersDropped) as dropped by bin(5m)",
		}},
		{"Reminders on devices", awscloudwatch.LogQueryVisualizationType_LINE, []string{
			"filter ispresent(PushTold) or ispresent(PushAgain) or ispresent(PushLate) or ispresent(PushRemoved)",
			"stats sum(PushTold) as told, sum(PushAgain) as again, sum(PushLate) as late, sum(PushRemoved) as removed " +
				"by bin(5m)",
		}},
		{"Entries of change logs, and live hints", awscloudwatch.LogQueryVisualizationType_LINE, []string{
			"filter ispresent(ChangesAppended) or ispresent(HintsSent) or ispresent(HintsDropped)",
			"stats sum(ChangesAppended) as entries, sum(HintsSent) as hints, sum(HintsDropped) as dropped by bin(5m)",
		}},
	}
}
