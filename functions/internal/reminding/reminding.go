// Package reminding holds what the two functions for reminders share: the adapters of scheduler and bus, and the
// counts. Effects puts schedules, and a schedule calls notify; both must use the same settings.
package reminding

import (
	"time"

	awsbus "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	awsscheduler "github.com/aws/aws-sdk-go-v2/service/scheduler"

	"nexus/functions/internal/cloud"
	"nexus/pkg/bus/eventbridge"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/reminders"
	scheduler "nexus/pkg/schedule/eventbridge"
)

// EventBridge Scheduler repeats a failed call for as long as a late reminder is still delivered, which is also its
// maximum.
const (
	callAge     = 24 * time.Hour
	callRetries = scheduler.MaxRetries
)

// Config returns the configuration of the consumer or of the notifier: c with the scheduler, the bus and the metrics
// of the function. An error names a setting.
func Config(c reminders.Config, s env.Settings, metrics *metric.Writer) (reminders.Config, error) {
	var err error
	c.Scheduler, err = scheduler.New(awsscheduler.NewFromConfig(cloud.Config(s.AWS, env.Scheduler)), scheduler.Config{
		GroupName: s.ScheduleGroup, TargetARN: s.ScheduleTargetARN, RoleARN: s.ScheduleRoleARN,
		DeadLetterARN: s.ScheduleDeadLetterARN, EventAge: callAge, Retries: callRetries,
	})
	if err != nil {
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
