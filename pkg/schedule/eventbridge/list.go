package eventbridge

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"nexus/pkg/schedule"
)

var _ schedule.Lister = (*Scheduler)(nil)

// listPage is the number of schedules in a page, the service's maximum (EventBridge Scheduler, ListSchedules).
const listPage = 100

// Find implements [schedule.Lister]. A schedule that calls nothing of this deployment has the zero instant: another
// program wrote it in another form, or its target, role or queue are those of an earlier configuration.
func (s *Scheduler) Find(ctx context.Context, name string) (schedule.Schedule, error) {
	if err := schedule.CheckName(name); err != nil {
		return schedule.Schedule{}, fmt.Errorf("find schedule %q: %w", name, err)
	}
	out, err := s.client.GetSchedule(ctx, &scheduler.GetScheduleInput{
		GroupName: aws.String(s.cfg.GroupName), Name: aws.String(name),
	})
	if isNotFound(err) {
		return schedule.Schedule{}, fmt.Errorf("find schedule %q: %w", name, schedule.ErrNotFound)
	}
	if err != nil {
		return schedule.Schedule{}, fmt.Errorf("find schedule %q: %w: %w", name, sentinel(err), err)
	}
	found := schedule.Schedule{Name: name}
	if out.Target == nil {
		return found, nil
	}
	found.Payload = []byte(aws.ToString(out.Target.Input))
	if at, err := time.Parse(atLayout, aws.ToString(out.ScheduleExpression)); err == nil &&
		aws.ToString(out.ScheduleExpressionTimezone) == zone && s.isOwn(out.Target) {
		found.At = at
	}
	return found, nil
}

// isOwn reports whether the target is the configured one, called with the configured role and queue.
func (s *Scheduler) isOwn(target *types.Target) bool {
	return aws.ToString(target.Arn) == s.cfg.TargetARN && aws.ToString(target.RoleArn) == s.cfg.RoleARN &&
		target.DeadLetterConfig != nil && aws.ToString(target.DeadLetterConfig.Arn) == s.cfg.DeadLetterARN
}

// Each implements [schedule.Lister]. It holds one page of names at a time.
func (s *Scheduler) Each(ctx context.Context, prefix string, visit func(name string) error) error {
	in := &scheduler.ListSchedulesInput{GroupName: aws.String(s.cfg.GroupName), MaxResults: aws.Int32(listPage)}
	if prefix != "" {
		in.NamePrefix = aws.String(prefix)
	}
	for {
		page, err := s.client.ListSchedules(ctx, in)
		if err != nil {
			return fmt.Errorf("list schedules %q: %w: %w", prefix, sentinel(err), err)
		}
		for _, one := range page.Schedules {
			if err := visit(aws.ToString(one.Name)); err != nil {
				return err
			}
		}
		if in.NextToken = page.NextToken; aws.ToString(page.NextToken) == "" {
			return nil
		}
	}
}
