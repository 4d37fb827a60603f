// Package reminding is what the two functions that remind have in common: the scheduler and the bus behind the ports,
// and what is counted. Effects schedules, notify is what a schedule calls; both must do it under the same settings.
package reminding

import (
	"log/slog"
	"time"

	awsbus "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	awsscheduler "github.com/aws/aws-sdk-go-v2/service/scheduler"

	"nexus/functions/internal/cloud"
	"nexus/pkg/bus/eventbridge"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/entity"
	"nexus/pkg/reminders"
	scheduler "nexus/pkg/schedule/eventbridge"
	"nexus/pkg/table"
)

// A call that EventBridge Scheduler cannot make is repeated for as long as a late reminder is still delivered, which is
// also the longest it allows.
const (
	callAge     = 24 * time.Hour
	callRetries = scheduler.MaxRetries
)

// Config returns the configuration of the consumer and of the notifier, or an error that names a setting.
func Config(
	s env.Settings, store table.Store, registry *entity.Registry, log *slog.Logger, metrics *metric.Writer,
	now func() time.Time,
) (reminders.Config, error) {
	schedules, err := scheduler.New(awsscheduler.NewFromConfig(cloud.Config(s.AWS, env.Scheduler)), scheduler.Config{
		GroupName: s.ScheduleGroup, TargetARN: s.ScheduleTargetARN, RoleARN: s.ScheduleRoleARN,
		DeadLetterARN: s.ScheduleDeadLetterARN, EventAge: callAge, Retries: callRetries,
	})
	if err != nil {
		return reminders.Config{}, err
	}
	events, err := eventbridge.New(awsbus.NewFromConfig(cloud.Config(s.AWS, env.EventBridge)),
		eventbridge.Config{BusName: s.BusName})
	if err != nil {
		return reminders.Config{}, err
	}
	return reminders.Config{
		Store: store, Registry: registry, Scheduler: schedules, Bus: events, Now: now, Log: log,
		Observe: func(o reminders.Observation) {
			if name := metricOf(o.What); name != "" {
				metrics.Count(metric.ByFunction, string(s.Function), map[string]int{name: 1})
			}
		},
	}, nil
}

// metricOf names the metric of what happened. Schedules written and deleted are EventBridge Scheduler's own metrics.
func metricOf(what reminders.Happening) string {
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
