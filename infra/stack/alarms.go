package stack

import (
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
)

// addAlarms makes all alarms.
func (d *deployment) addAlarms() {
	action := d.addAlarmAction()
	ceilings := alarm.Ceilings(d.settings.ReadUnits, d.settings.WriteUnits)
	for _, a := range slices.Concat(d.usualAlarms(), ceilings) {
		if !d.isPossible(a) {
			continue
		}
		made := awscloudwatch.NewAlarm(d.Stack, jsii.String("Alarm-"+strings.TrimPrefix(a.Name, prefix)),
			&awscloudwatch.AlarmProps{
				AlarmName: jsii.String(a.Name), AlarmDescription: jsii.String(a.Says),
				Metric: d.measure(a), Threshold: jsii.Number(a.Above), EvaluationPeriods: jsii.Number(a.Periods),
				DatapointsToAlarm:  jsii.Number(a.BadPeriods()),
				ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_THRESHOLD,
				TreatMissingData:   missing(a.Missing),
			})
		if action != nil {
			made.AddAlarmAction(action)
			made.AddOkAction(action)
		}
		d.alarms = append(d.alarms, made)
	}
}

// usualAlarms returns the alarms of the stage but those on its ceilings.
func (d *deployment) usualAlarms() []alarm.Alarm {
	all := alarm.All(d.readers())
	if d.settings.Door == doorDirect {
		return alarm.Direct(all)
	}
	return all
}

// missing returns how an alarm treats a period without data.
func missing(m alarm.Missing) awscloudwatch.TreatMissingData {
	switch m {
	case alarm.Good:
		return awscloudwatch.TreatMissingData_NOT_BREACHING
	case alarm.Bad:
		return awscloudwatch.TreatMissingData_BREACHING
	case alarm.Ignore:
		return awscloudwatch.TreatMissingData_IGNORE
	}
	panic("stack: an alarm does not say what missing data mean")
}

// measure returns what an alarm watches: a single metric, or metric math over several.
func (d *deployment) measure(a alarm.Alarm) awscloudwatch.IMetric {
	period := awscdk.Duration_Seconds(jsii.Number(a.Period.Seconds()))
	metrics := map[string]awscloudwatch.IMetric{}
	for i, m := range a.Of {
		dimensions := map[string]*string{}
		for _, subject := range m.Of {
			dimensions[subject.Dimension] = d.subject(subject)
		}
		metrics[alarm.ID(i)] = awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace: jsii.String(m.Namespace), MetricName: jsii.String(m.Name), Statistic: jsii.String(m.Statistic),
			DimensionsMap: &dimensions, Period: period,
		})
	}
	if a.Math() == "" {
		return metrics[alarm.ID(0)]
	}
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression: jsii.String(a.Math()), UsingMetrics: &metrics, Period: period, Label: jsii.String(a.Name),
	})
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
	case alarm.ScheduleGroup:
		return d.group.Ref()
	case alarm.QueueName:
		return d.queues[s.Value].QueueName()
	}
	return jsii.String(s.Value)
}
