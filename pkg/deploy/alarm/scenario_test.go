package alarm_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
)

// periods is how many periods of an alarm a scenario has. What goes wrong begins at the period begun.
const (
	periods = 12
	begun   = 6
)

// lacking is no value.
const lacking = -1

// scenario says which values the metrics of a deployment have. By itself it is an idle night.
type scenario struct {
	name string
	// all and later have values of metrics: in all periods, and from begun on. They are named "<metric>", or "<metric> of
	// <subject>", which goes first.
	all, later map[string]float64
	// rings are the alarms that ring at the end.
	rings []string
}

// idle is a night in which only the canary, account and the readers are called. Metrics that are not named have no
// data.
func idle() map[string]float64 {
	out := map[string]float64{
		"Invocations of canary": 1, "Errors of canary": 0, "Invocations of projections": 1, "Invocations of effects": 1,
		"Invocations of command": 2, "Invocations of query": 8, "Invocations of notify": 1, "Invocations of account": 1,
		"Duration of command": 1800, "Duration of query": 900, "IteratorAge": 400, "Count": 10, "5xx": 0,
		"AsyncEventAge of notify": 60, "ConsumedReadCapacityUnits of table": 40, "ConsumedWriteCapacityUnits of table": 30,
		"TableBytes of projections": 1e9, "ApproximateNumberOfMessagesVisible": 0, "ApproximateAgeOfOldestMessage": 0,
	}
	for _, f := range env.Functions() {
		out["Throttles of "+string(f)] = 0
		if f != env.Canary && f != env.Walk {
			out["Errors of "+string(f)] = 0
		}
	}
	return out
}

// busy is a day with many users.
func busy() map[string]float64 {
	return map[string]float64{
		"Invocations of command": 4000, "Invocations of query": 9000, "Invocations of projections": 3000,
		"Invocations of effects": 900, "Invocations of notify": 400, "Duration of command": 90, "Duration of query": 60,
		"Count": 13000, "5xx": 2, "ServerErrors": 2, "RequestsLimited": 40, "RemindersLate": 3,
		"AsyncEventAge of notify":            9000,
		"ConsumedReadCapacityUnits of table": 20000, "ConsumedWriteCapacityUnits of table": 20000,
		"ReadThrottleEvents of GSI1-YearView": 2, "WriteThrottleEvents of table": 3, "UserErrors": 1, "IteratorAge": 20000,
		"TableBytes of projections": 40e9, "Errors of command": 1,
	}
}

func scenarios() []scenario {
	return []scenario{
		{name: "idle night"},
		{name: "busy day", all: busy()},
		{name: "late data", later: map[string]float64{}},
		{name: "a dead reader by day", all: busy(), later: map[string]float64{"Invocations of effects": lacking},
			rings: []string{"nexus-effects-silent"}},
		{name: "a dead reader by night", later: map[string]float64{"Invocations of projections": lacking},
			rings: []string{"nexus-projections-silent"}},
		{name: "a reader that was never called", all: map[string]float64{"Invocations of effects": lacking},
			rings: []string{"nexus-effects-silent"}},
		{name: "an outage of the API", later: map[string]float64{
			"Errors of canary": 1, "Invocations of effects": lacking, "Invocations of projections": lacking, "Count": 0,
			"Invocations of command": lacking, "Invocations of query": lacking, "Duration of command": lacking,
			"Duration of query": lacking,
		}, rings: []string{"nexus-canary-failed", "nexus-effects-silent", "nexus-projections-silent"}},
		{name: "a canary that is not called", later: map[string]float64{
			"Invocations of canary": lacking, "Errors of canary": lacking,
		}, rings: []string{"nexus-canary-failed", "nexus-canary-silent"}},
		{name: "slow requests by day", all: busy(), later: map[string]float64{
			"Duration of command": 700, "Duration of query": 501,
		}, rings: []string{"nexus-command-slow", "nexus-query-slow"}},
		{name: "functions that do not start", later: map[string]float64{
			"Errors of command": 6, "Errors of query": 6, "Errors of projections": 6, "Errors of effects": 6,
			"Errors of notify": 6, "Errors of walk": 6, "Errors of account": 6, "Errors of deliver": 6,
		}, rings: []string{
			"nexus-account-errors", "nexus-command-errors", "nexus-deliver-errors", "nexus-effects-errors",
			"nexus-notify-errors",
			"nexus-projections-errors", "nexus-query-errors", "nexus-walk-errors",
		}},
		{name: "an index that refuses", all: busy(), later: map[string]float64{
			"WriteThrottleEvents of GSI3-TaskStatus": 4, "WriteThrottleEvents of GSI4-CrossLinks": 3,
			"ReadThrottleEvents of GSI1-YearView": 6,
		}, rings: []string{"nexus-table-read-throttled", "nexus-table-write-throttled"}},
		{name: "one of fifty requests refused", all: busy(), later: map[string]float64{"RequestsLimited": 260},
			rings: []string{"nexus-limited"}},
		{name: "one of three requests refused by night", later: map[string]float64{"RequestsLimited": 10, "Count": 30}},
		{name: "a function without concurrency", all: busy(), later: map[string]float64{
			"Throttles of notify": 1, "AsyncEventAge of notify": 200000, "AsyncEventsDropped of notify": 1,
		}, rings: []string{"nexus-functions-throttled", "nexus-notify-dropped", "nexus-notify-waiting"}},
		{name: "a push service that refuses the key", all: busy(), later: map[string]float64{"PushRefused": 1},
			rings: []string{"nexus-push-refused"}},
		{name: "a scheduler that gives up", later: map[string]float64{"InvocationDroppedCount of schedules": 1},
			rings: []string{"nexus-scheduler-throttled"}},
		{name: "a scheduler that holds back", later: map[string]float64{"InvocationThrottleCount of schedules": 1},
			rings: []string{"nexus-scheduler-throttled"}},
		{name: "DynamoDB down", later: map[string]float64{"TableFailures": 9, "ServerErrors": 9, "UserErrors": 9, "5xx": 9},
			rings: []string{"nexus-table-failing", "nexus-server-errors", "nexus-table-refused", "nexus-api-server-errors"}},
		{name: "readers behind", later: map[string]float64{
			"IteratorAge": 13 * 3600e3, "RecordsUnfinished": 3, "RecordsParked": 1, "DestinationDeliveryFailures": 1,
			"OnFailureDestinationDeliveredEventCount": 1,
		}, rings: []string{
			"nexus-effects-behind", "nexus-effects-losing", "nexus-effects-lost", "nexus-effects-given-up",
			"nexus-projections-behind", "nexus-projections-losing", "nexus-projections-lost", "nexus-projections-given-up",
			"nexus-parked", "nexus-unfinished",
		}},
		{name: "reminders late", later: map[string]float64{
			"RemindersLate": 11, "RemindersMissed": 1, "ApproximateNumberOfMessagesVisible": 1,
			"ApproximateAgeOfOldestMessage": 2000,
		}, rings: []string{
			"nexus-deliver-failed", "nexus-notify-failed", "nexus-reminders-late", "nexus-reminders-missed",
			"nexus-schedule-undelivered", "nexus-walks-behind", "nexus-walks-failed",
		}},
		{name: "a large table, much used, and an account to erase", later: map[string]float64{
			"TableBytes of projections": 81e9, "ConsumedReadCapacityUnits of table": 30001,
			"ConsumedWriteCapacityUnits of table": 30001, "ErasuresOverdue": 1,
		}, rings: []string{"nexus-erase-overdue", "nexus-table-large", "nexus-table-read-units", "nexus-table-write-units"}},
		{name: "a function URL under attack", all: busy(), later: map[string]float64{
			"Url4xxCount of command": 4000, "UrlRequestCount of command": 4100, "Url4xxCount of query": 20,
			"UrlRequestCount of query": 900,
		}, rings: []string{"nexus-direct-refused"}},
		{name: "half of the ceilings", all: busy(), later: map[string]float64{
			"ConsumedReadCapacityUnits of GSI1-YearView": 120001, "ConsumedWriteCapacityUnits of table": 120001,
		}, rings: []string{"nexus-table-read-ceiling", "nexus-table-write-ceiling", "nexus-table-write-units"}},
	}
}

// value returns the value of a metric in a period, nil for none.
func (s scenario) value(m alarm.Metric, period int) *float64 {
	names := []string{m.Name}
	for _, subject := range m.Of { // an index goes before its table
		names = append([]string{m.Name + " of " + subject.Value}, names...)
	}
	if len(m.Of) > 1 {
		names = names[:1]
	}
	sources := []map[string]float64{s.all, idle()}
	if period >= begun {
		sources = append([]map[string]float64{s.later}, sources...)
	}
	for _, values := range sources {
		for _, name := range names {
			if value, there := values[name]; there && value != lacking {
				return &value
			} else if there {
				return nil
			}
		}
	}
	return nil
}

// state plays an alarm through a scenario, and returns its state at the end; late leaves out the last data point.
func (s scenario) state(t *testing.T, a alarm.Alarm, late, fillsNone bool) string {
	t.Helper()
	state := ok
	for end := 1; end <= periods; end++ {
		metrics := map[string]series{}
		first := max(0, end-a.Periods-evaluationRange)
		for i, m := range a.Of {
			var values series
			for period := first; period < end; period++ {
				values = append(values, s.value(m, period))
			}
			if late {
				values[len(values)-1] = nil
			}
			metrics[alarm.ID(i)] = values
		}
		values := metrics[alarm.ID(0)]
		if a.Math() != "" {
			values = evaluated(t, a.Math(), metrics, fillsNone)
		}
		if end > a.Periods+evaluationRange { // before, the range is not there yet
			state = judged(a, values, state)
		}
	}
	return state
}

func TestAlarm_ringsExactlyWhereTheDocumentSaysSo(t *testing.T) {
	t.Parallel()
	rung := map[string]bool{}
	for _, s := range scenarios() {
		for _, fillsNone := range []bool{true, false} {
			var rings []string
			for _, a := range all() {
				if s.state(t, a, s.name == "late data", fillsNone) == alarmed {
					rings, rung[a.Name] = append(rings, a.Name), true
				}
			}
			require.ElementsMatch(t, s.rings, rings, "%s, FILL of nothing: %v", s.name, fillsNone)
		}
	}
	for _, a := range all() {
		require.True(t, rung[a.Name], "no scenario makes %s ring", a.Name)
	}
}

// The alarms that decide at night ring within the time that the document gives: three of four periods, or three.
func TestSilentAlarm_ringsAfterThreePeriodsAndEndsWithTheFirstCalls(t *testing.T) {
	t.Parallel()
	a := all()[slices.IndexFunc(all(), func(a alarm.Alarm) bool { return a.Name == "nexus-effects-silent" })]
	for _, fillsNone := range []bool{true, false} {
		play := func(writes, calls string) string {
			values := evaluated(t, a.Math(), map[string]series{"m0": written(t, writes), "m1": written(t, calls)}, fillsNone)
			return judged(a, values, ok)
		}
		require.Equal(t, ok, play("1,1,1,1,1,1", "1,1,1,1,-,-"))
		require.Equal(t, alarmed, play("1,1,1,1,1,1", "1,1,1,-,-,-"))
		require.Equal(t, alarmed, play("1,1,1,2,-,1", "1,-,-,-,-,-"), "the rule skipped a period")
		require.Equal(t, ok, play("1,1,1,1,1,-", "-,-,-,1,1,-"), "the latest data are late")
		require.Equal(t, ok, play("1,1,1,1,1,1", "-,-,-,-,1,1"))
	}
}
