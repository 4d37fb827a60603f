package stack_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/deploy/readers"
	"nexus/pkg/product"
)

const alarmType = "AWS::CloudWatch::Alarm"

// watched is one metric that an alarm watches.
type watched struct {
	namespace, metric, statistic string
	seconds                      float64
	dimensions                   map[string]string
}

// watches returns the metrics of an alarm and the expression over them, empty for a single metric.
func watches(t *template, a resource) (metrics []watched, expression string) {
	t.Helper()
	if a.at("Metrics") == nil {
		statistic := a.text("Statistic") + a.text("ExtendedStatistic")
		return []watched{
			{a.text("Namespace"), a.text("MetricName"), statistic, a.at("Period").(float64), dimensions(a.at("Dimensions"))},
		}, ""
	}
	byID := map[string]watched{}
	for _, entry := range a.at("Metrics").([]any) {
		query := entry.(map[string]any)
		if text, ok := query["Expression"].(string); ok {
			require.Equal(t, true, query["ReturnData"])
			expression = text
			continue
		}
		require.Equal(t, false, query["ReturnData"])
		stat := query["MetricStat"].(map[string]any)
		metric := stat["Metric"].(map[string]any)
		byID[text(query["Id"])] = watched{
			text(metric["Namespace"]), text(metric["MetricName"]), text(stat["Stat"]), stat["Period"].(float64),
			dimensions(metric["Dimensions"]),
		}
	}
	for i := range len(byID) {
		metrics = append(metrics, byID[alarm.ID(i)])
	}
	return metrics, expression
}

func dimensions(list any) map[string]string {
	out := map[string]string{}
	entries, _ := list.([]any)
	for _, entry := range entries {
		out[text(entry.(map[string]any)["Name"])] = text(entry.(map[string]any)["Value"])
	}
	return out
}

// alarmsOn returns the names of the alarms on metrics with a dimension.
func alarmsOn(t *template, dimension, value string) []string {
	t.Helper()
	var out []string
	for _, a := range t.all(alarmType) {
		metrics, _ := watches(t, a)
		if slices.ContainsFunc(metrics, func(w watched) bool { return w.dimensions[dimension] == value }) {
			out = append(out, a.text("AlarmName"))
		}
	}
	return out
}

// place returns the name of an alarm's subject in the template.
func place(t *template, s alarm.Subject) string {
	t.Helper()
	switch s.Dimension {
	case alarm.FunctionName:
		return t.function(env.Function(s.Value)).ref()
	case alarm.Mapping:
		return t.named(title(env.Function(s.Value))+"Reader", mappingType).ref()
	case alarm.TableName:
		return t.one(tableType).ref()
	case alarm.APIID:
		return t.one("AWS::ApiGatewayV2::Api").ref()
	case alarm.ScheduleGroup:
		return t.one("AWS::Scheduler::ScheduleGroup").ref()
	case alarm.QueueName:
		construct := map[string]string{
			alarm.ScheduleQueue: "Undelivered", alarm.NotifyQueue: "Failed", alarm.WalkQueue: "Walks",
			alarm.DeadWalkQueue: "DeadWalks", alarm.DeliverQueue: "Untold",
		}[s.Value]
		return t.named(construct, "AWS::SQS::Queue").attribute("QueueName")
	}
	return s.Value
}

// everyAlarm are the alarms of the product.
func everyAlarm() []alarm.Alarm { return alarm.All(readers.Table(product.Registry())) }

// alarmsOf are those and the ones on the stage's ceilings.
func alarmsOf(t *template) []alarm.Alarm {
	return slices.Concat(everyAlarm(), alarm.Ceilings(t.settings.ReadUnits, t.settings.WriteUnits))
}

func TestAddAlarms_addsEveryAlarmOnTheMetricThatItStates(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		made := map[string]resource{}
		for _, a := range t.all(alarmType) {
			made[a.text("AlarmName")] = a
		}
		require.Len(t, made, len(alarmsOf(t)))
		for _, want := range alarmsOf(t) {
			a, ok := made[want.Name]
			require.True(t, ok, want.Name)
			require.Equal(t, want.Says, a.text("AlarmDescription"))
			require.Equal(t, want.Above, a.at("Threshold"), want.Name)
			require.Equal(t, "GreaterThanThreshold", a.text("ComparisonOperator"), want.Name)
			require.Equal(t, float64(want.Periods), a.at("EvaluationPeriods"), want.Name)
			require.Equal(t, float64(want.BadPeriods()), a.at("DatapointsToAlarm"), want.Name)
			require.Equal(t, string(want.Missing), a.text("TreatMissingData"), want.Name)
			var metrics []watched
			for _, m := range want.Of {
				of := map[string]string{}
				for _, s := range m.Of {
					of[s.Dimension] = place(t, s)
				}
				metrics = append(metrics, watched{m.Namespace, m.Name, m.Statistic, want.Period.Seconds(), of})
			}
			made, expression := watches(t, a)
			require.Equal(t, metrics, made, want.Name)
			require.Equal(t, want.Math(), expression, want.Name)
		}
	})
}

func TestAddAlarms_coversEveryFunctionReaderAndTable(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		for _, f := range t.all("AWS::Lambda::Function") {
			require.GreaterOrEqual(t, len(alarmsOn(t, alarm.FunctionName, f.ref())), 2, "%s: errors and throttles", f.path())
		}
		for _, m := range t.streamMappings() {
			require.NotEmpty(t, alarmsOn(t, alarm.Mapping, m.ref()), m.path())
		}
		require.NotEmpty(t, alarmsOn(t, alarm.TableName, t.one(tableType).ref()))
		require.NotEmpty(t, alarmsOn(t, alarm.APIID, t.one("AWS::ApiGatewayV2::Api").ref()))
	})
}

func TestAddDashboard_showsEveryAlarmAndMonitoredMetric(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		body := text(t.one("AWS::CloudWatch::Dashboard").at("DashboardBody"))
		var board struct {
			Widgets []struct {
				Type       string
				Properties struct {
					Alarms  []string
					Metrics [][]any
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(body), &board))
		shown, metrics := map[string]bool{}, map[string]bool{}
		for _, w := range board.Widgets {
			if w.Type == "alarm" {
				require.Len(t, w.Properties.Alarms, len(alarmsOf(t)))
			}
			for _, m := range w.Properties.Metrics {
				shown[fmt.Sprint(m[0], " ", m[1])] = true
				metrics[fmt.Sprint(m[:len(m)-1]...)] = true // without how it is drawn
			}
		}
		for _, name := range []string{
			"ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits", "UserErrors", "SystemErrors", "SuccessfulRequestLatency",
			"ConditionalCheckFailedRequests",
		} {
			require.True(t, shown["AWS/DynamoDB "+name], name)
		}
		for _, name := range metric.Names() {
			require.True(t, shown[metric.Namespace+" "+name], "nothing shows %s, which is paid for", name)
		}
		require.LessOrEqual(t, len(metrics), 50, "three dashboards of at most 50 metrics each are free")
		for _, a := range alarmsOf(t) {
			for _, m := range a.Of {
				if m.Namespace != alarm.SQS && m.Name != "DestinationDeliveryFailures" {
					require.True(t, shown[m.Namespace+" "+m.Name], "%s of %s", m.Name, a.Name)
				}
			}
		}
	})
}
