// Package reminding holds what the three functions for reminders share: the adapters of scheduler, bus and queue, and
// the counts. Effects and walk put schedules, and a schedule calls notify; all must use the same settings.
package reminding

import (
	awsbus "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/uuid"

	"nexus/functions/internal/cloud"
	"nexus/functions/internal/scheduling"
	"nexus/pkg/bus/eventbridge"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/queue/sqs"
	"nexus/pkg/reminders"
)

// Putting returns the configuration of the consumer or of the walker: as [Config], with the queue of walks.
func Putting(c reminders.Config, s env.Settings, metrics *metric.Writer) (reminders.Config, error) {
	walks, err := sqs.New(awssqs.NewFromConfig(cloud.Config(s.AWS, env.SQS)), sqs.Config{URL: s.WalkQueueURL})
	if err != nil {
		return reminders.Config{}, err
	}
	c.Queue, c.NewID = walks, uuid.NewString
	return Config(c, s, metrics)
}

// Config returns the configuration of the notifier: c with the scheduler, the bus and the metrics of the function. An
// error names a setting.
func Config(c reminders.Config, s env.Settings, metrics *metric.Writer) (reminders.Config, error) {
	var err error
	if c.Scheduler, err = scheduling.New(s, s.ScheduleTargetARN); err != nil {
		return reminders.Config{}, err
	}
	c.Bus, err = eventbridge.New(awsbus.NewFromConfig(cloud.Config(s.AWS, env.EventBridge)),
		eventbridge.Config{BusName: s.BusName})
	if err != nil {
		return reminders.Config{}, err
	}
	c.Observe = func(o reminders.Observation) {
		if name := metricOf(o.Outcome); name != "" {
			metrics.Count(metric.ByFunction, string(s.Function), map[string]int{name: 1})
		}
	}
	return c, nil
}

// metricOf names the metric of an outcome. EventBridge Scheduler itself has metrics of written and deleted schedules.
func metricOf(what reminders.Outcome) string {
	switch what {
	case reminders.Delivered:
		return metric.RemindersDelivered
	case reminders.Late:
		return metric.RemindersLate
	case reminders.Missed:
		return metric.RemindersMissed
	case reminders.Dropped:
		return metric.RemindersDropped
	}
	return ""
}
