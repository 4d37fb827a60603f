package stack

import (
	"fmt"
	"maps"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
)

// addAlarms makes all alarms.
func (d *deployment) addAlarms() {
	var action awscloudwatch.IAlarmAction
	if d.settings.AlarmTopic != "" {
		topic := awssns.Topic_FromTopicArn(d.Stack, jsii.String("AlarmTopic"), jsii.String(d.settings.AlarmTopic))
		action = awscloudwatchactions.NewSnsAction(topic)
	}
	for _, a := range alarm.All(d.readers()) {
		made := awscloudwatch.NewAlarm(d.Stack, jsii.String("Alarm-"+strings.TrimPrefix(a.Name, prefix)),
			&awscloudwatch.AlarmProps{
				AlarmName: jsii.String(a.Name), AlarmDescription: jsii.String(a.Says),
				Metric: d.measure(a), Threshold: jsii.Number(a.Above), EvaluationPeriods: jsii.Number(a.Periods),
				ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD,
				TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
			})
		if action != nil {
			made.AddAlarmAction(action)
			made.AddOkAction(action)
		}
		d.alarms = append(d.alarms, made)
	}
}

// measure returns the metric that an alarm watches: a single one, or the sum of several, each of which counts as 0
// without data.
func (d *deployment) measure(a alarm.Alarm) awscloudwatch.IMetric {
	period := awscdk.Duration_Seconds(jsii.Number(a.Period.Seconds()))
	metrics := map[string]awscloudwatch.IMetric{}
	var terms []string
	var last awscloudwatch.IMetric
	for _, dimensions := range d.dimensions(a) {
		id := fmt.Sprintf("m%d", len(terms))
		last = awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace: jsii.String(a.Namespace), MetricName: jsii.String(a.Metric), Statistic: jsii.String(a.Statistic),
			DimensionsMap: &dimensions, Period: period,
		})
		metrics[id], terms = last, append(terms, "FILL("+id+", 0)")
	}
	if len(metrics) == 1 {
		return last
	}
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression: jsii.String(strings.Join(terms, " + ")), UsingMetrics: &metrics, Period: period,
		Label: jsii.String(a.Metric),
	})
}

// dimensions returns the dimensions of each metric that the alarm adds up.
func (d *deployment) dimensions(a alarm.Alarm) []map[string]*string {
	var out []map[string]*string
	for _, subject := range a.Of {
		of := map[string]*string{}
		if subject.Dimension != "" {
			of[subject.Dimension] = d.subject(subject)
		}
		if len(a.Operations) == 0 {
			out = append(out, of)
		}
		for _, operation := range a.Operations {
			one := maps.Clone(of)
			one[alarm.Operation] = jsii.String(operation)
			out = append(out, one)
		}
	}
	return out
}

// subject returns the resource's name in this stack, or its name in Nexus metrics.
func (d *deployment) subject(s alarm.Subject) *string {
	switch s.Dimension {
	case alarm.FunctionName:
		return d.functions[env.Function(s.Value)].FunctionName()
	case alarm.Mapping:
		return d.mappings[s.Value].EventSourceMappingId()
	case alarm.TableName:
		return d.table.TableName()
	case alarm.APIID:
		return jsii.String(d.api)
	case alarm.QueueName:
		return d.queues[s.Value].QueueName()
	}
	return jsii.String(s.Value)
}
