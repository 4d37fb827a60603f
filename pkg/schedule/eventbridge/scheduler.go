// Package eventbridge stores schedules in Amazon EventBridge Scheduler, all in one schedule group with one target.
//
// It promises what the port does. EventBridge calls the target within 60 seconds after the instant, at least once. It
// repeats a failed call within the configured bounds and then sends it to the dead-letter queue. It must never ask for
// automatic deletion after completion: that could remove the next occurrence's schedule, put under the same name. The
// caller's rights are those of the client. EventBridge calls the target with the role named in the configuration, and
// the client needs iam:PassRole for it.
package eventbridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"

	"nexus/pkg/schedule"
)

// Bounds of the retry policy (EventBridge Scheduler, RetryPolicy).
const (
	MinEventAge = time.Minute
	MaxEventAge = 24 * time.Hour
	MaxRetries  = 185
)

// maxRounds bounds the attempts to write one schedule while others create and delete it. Each lost round is another
// writer's success, so more than a few mean that something is wrong.
const maxRounds = 4

// Config names the group of the schedules and their target. Every field is required.
type Config struct {
	GroupName     string // the schedule group; it must exist
	TargetARN     string // the target of the call
	RoleARN       string // the role EventBridge assumes for the call
	DeadLetterARN string // the queue that gets calls which failed for good

	// EventAge bounds how long a failed call is repeated, in whole seconds from [MinEventAge] to [MaxEventAge].
	EventAge time.Duration
	// Retries bounds how often a failed call is repeated, 0 to [MaxRetries].
	Retries int
}

func (c Config) check() error {
	for _, setting := range []struct{ name, value string }{
		{"GroupName", c.GroupName}, {"TargetARN", c.TargetARN}, {"RoleARN", c.RoleARN}, {"DeadLetterARN", c.DeadLetterARN},
	} {
		if setting.value == "" {
			return fmt.Errorf("scheduler configuration: %s is missing", setting.name)
		}
	}
	if c.EventAge < MinEventAge || c.EventAge > MaxEventAge || c.EventAge%time.Second != 0 {
		return fmt.Errorf("scheduler configuration: EventAge %s, want whole seconds from %s to %s", c.EventAge, MinEventAge,
			MaxEventAge)
	}
	if c.Retries < 0 || c.Retries > MaxRetries {
		return fmt.Errorf("scheduler configuration: Retries %d, want 0 to %d", c.Retries, MaxRetries)
	}
	return nil
}

// Scheduler is the adapter.
type Scheduler struct {
	client *scheduler.Client
	cfg    Config
}

var _ schedule.Scheduler = (*Scheduler)(nil)

// New returns a scheduler that works through the client, or an error that names the setting that is missing or wrong.
func New(client *scheduler.Client, cfg Config) (*Scheduler, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &Scheduler{client: client, cfg: cfg}, nil
}

// Put updates first and creates a missing schedule. Every edit of an item and every occurrence of a series puts a
// schedule again, but it is created once. UpdateSchedule replaces every field. Between the two calls another writer
// may create or delete the same name; then Put starts again, a bounded number of times.
func (s *Scheduler) Put(ctx context.Context, in schedule.Schedule) error {
	if err := in.Check(); err != nil {
		return fmt.Errorf("put schedule %q: %w", in.Name, err)
	}
	var err error
	for range maxRounds {
		err = s.update(ctx, in)
		if isNotFound(err) {
			err = s.create(ctx, in)
		}
		if !isConflict(err) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("put schedule %q: %w: %w", in.Name, sentinel(err), err)
	}
	return nil
}

// Delete removes the schedule. A missing one, and one in a group that does not exist, is done.
func (s *Scheduler) Delete(ctx context.Context, name string) error {
	if err := schedule.CheckName(name); err != nil {
		return fmt.Errorf("delete schedule %q: %w", name, err)
	}
	var err error
	for range maxRounds {
		_, err = s.client.DeleteSchedule(ctx, &scheduler.DeleteScheduleInput{
			GroupName: aws.String(s.cfg.GroupName),
			Name:      aws.String(name),
		})
		if !isConflict(err) {
			break
		}
	}
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("delete schedule %q: %w: %w", name, sentinel(err), err)
	}
	return nil
}

func (s *Scheduler) update(ctx context.Context, in schedule.Schedule) error {
	_, err := s.client.UpdateSchedule(ctx, &scheduler.UpdateScheduleInput{
		GroupName:                  aws.String(s.cfg.GroupName),
		Name:                       aws.String(in.Name),
		ScheduleExpression:         aws.String(expression(in.At)),
		ScheduleExpressionTimezone: aws.String(zone),
		FlexibleTimeWindow:         exact(),
		ActionAfterCompletion:      types.ActionAfterCompletionNone,
		State:                      types.ScheduleStateEnabled,
		Target:                     s.target(in.Payload),
	})
	return err
}

func (s *Scheduler) create(ctx context.Context, in schedule.Schedule) error {
	_, err := s.client.CreateSchedule(ctx, &scheduler.CreateScheduleInput{
		GroupName:                  aws.String(s.cfg.GroupName),
		Name:                       aws.String(in.Name),
		ScheduleExpression:         aws.String(expression(in.At)),
		ScheduleExpressionTimezone: aws.String(zone),
		FlexibleTimeWindow:         exact(),
		ActionAfterCompletion:      types.ActionAfterCompletionNone,
		State:                      types.ScheduleStateEnabled,
		Target:                     s.target(in.Payload),
	})
	return err
}

func (s *Scheduler) target(payload []byte) *types.Target {
	return &types.Target{
		Arn:              aws.String(s.cfg.TargetARN),
		RoleArn:          aws.String(s.cfg.RoleARN),
		Input:            aws.String(string(payload)),
		DeadLetterConfig: &types.DeadLetterConfig{Arn: aws.String(s.cfg.DeadLetterARN)},
		RetryPolicy: &types.RetryPolicy{
			MaximumEventAgeInSeconds: aws.Int32(int32(s.cfg.EventAge / time.Second)),
			MaximumRetryAttempts:     aws.Int32(int32(s.cfg.Retries)),
		},
	}
}

// zone is the zone of every expression.
const zone = "UTC"

// atLayout is the service's form of an instant: no zone letter, no fraction.
const atLayout = "at(2006-01-02T15:04:05)"

func expression(at time.Time) string { return at.UTC().Format(atLayout) }

func exact() *types.FlexibleTimeWindow {
	return &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeOff}
}

func isNotFound(err error) bool {
	var missing *types.ResourceNotFoundException
	return errors.As(err, &missing)
}

func isConflict(err error) bool {
	var conflict *types.ConflictException
	return errors.As(err, &conflict)
}
