// Package scheduling has the settings by which functions put schedules: those of a stage's group are alike but for the
// function that they call.
package scheduling

import (
	awsscheduler "github.com/aws/aws-sdk-go-v2/service/scheduler"

	"nexus/functions/internal/cloud"
	"nexus/pkg/deploy/env"
	"nexus/pkg/schedule/eventbridge"
)

// New returns the scheduler of the stage for calls of the target, an ARN. EventBridge Scheduler repeats a failed call
// for a day, its maximum: a late reminder is still delivered so long. An error names a setting.
func New(s env.Settings, target string) (*eventbridge.Scheduler, error) {
	return eventbridge.New(awsscheduler.NewFromConfig(cloud.Config(s.AWS, env.Scheduler)), eventbridge.Config{
		GroupName: s.ScheduleGroup, TargetARN: target, RoleARN: s.ScheduleRoleARN,
		DeadLetterARN: s.ScheduleDeadLetterARN, EventAge: eventbridge.MaxEventAge, Retries: eventbridge.MaxRetries,
	})
}
