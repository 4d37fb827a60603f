package eventbridge_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/stretchr/testify/require"

	"nexus/pkg/schedule"
	"nexus/pkg/schedule/eventbridge"
	"nexus/pkg/schedule/scheduletest"
)

var config = eventbridge.Config{
	GroupName:     group,
	TargetARN:     "arn:aws:lambda:eu-central-1:123456789012:function:notify:live",
	RoleARN:       "arn:aws:iam::123456789012:role/scheduler",
	DeadLetterARN: "arn:aws:sqs:eu-central-1:123456789012:notify-failed",
	EventAge:      time.Hour,
	Retries:       10,
}

// client returns one that tries each call up to attempts times without waiting in between.
func client(endpoint string, attempts int, options ...func(*scheduler.Options)) *scheduler.Client {
	return scheduler.New(scheduler.Options{
		Region:       "eu-central-1",
		BaseEndpoint: aws.String(endpoint),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		}),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = attempts
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		}),
	}, options...)
}

func setup(t *testing.T, attempts int) (*eventbridge.Scheduler, *service) {
	t.Helper()
	fake, server := newService(t)
	s, err := eventbridge.New(client(server.URL, attempts), config)
	require.NoError(t, err)
	return s, fake
}

var due = schedule.Schedule{
	Name: "due", At: time.Date(2130, 1, 2, 3, 4, 5, 0, time.UTC), Payload: []byte(`{"itemId":"x"}`),
}

func TestScheduler_conforms(t *testing.T) {
	t.Parallel()
	scheduletest.Run(t, func(t *testing.T) scheduletest.Subject {
		s, fake := setup(t, 1)
		return scheduletest.Subject{
			Scheduler: s,
			Pending:   func(*testing.T) []schedule.Schedule { return fake.pending() },
			Fire:      func(_ *testing.T, now time.Time) []schedule.Schedule { return fake.fire(now) },
		}
	})
}

func TestPut_sendsEverySettingOnCreateAndUpdate(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, 1)
	for range 2 {
		require.NoError(t, s.Put(t.Context(), due))
		in := fake.schedules["due"].input
		require.Equal(t, "at(2130-01-02T03:04:05)", in.ScheduleExpression)
		require.Equal(t, "UTC", in.ScheduleExpressionTimezone)
		require.Equal(t, config.TargetARN, in.Target.Arn)
		require.Equal(t, config.RoleARN, in.Target.RoleArn)
		require.Equal(t, config.DeadLetterARN, in.Target.DeadLetterConfig.Arn)
		require.Equal(t, 3600, *in.Target.RetryPolicy.MaximumEventAgeInSeconds)
		require.Equal(t, 10, *in.Target.RetryPolicy.MaximumRetryAttempts)
	}
	require.Equal(t, []string{"Update", "Create", "Update"}, fake.seen())
}

func TestPut_winsAgainstAnotherWriter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		before   func(o *eventbridge.Scheduler, calls *int, op string)
		requests []string
	}{
		{"who creates it between update and create", func(o *eventbridge.Scheduler, calls *int, op string) {
			if op == "Create" && *calls == 0 {
				*calls++
				require.NoError(t, o.Put(context.Background(), due))
			}
		}, []string{"Update", "Update", "Create", "Create", "Update"}},
		{"who creates and deletes it", func(o *eventbridge.Scheduler, calls *int, op string) {
			switch {
			case op == "Create" && *calls == 0:
				*calls++
				require.NoError(t, o.Put(context.Background(), due))
				*calls++
			case op == "Update" && *calls == 2:
				*calls++
				require.NoError(t, o.Delete(context.Background(), due.Name))
			}
		}, []string{"Update", "Update", "Create", "Create", "Delete", "Update", "Create"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fake, server := newService(t)
			s, err := eventbridge.New(client(server.URL, 1), config)
			require.NoError(t, err)
			rival, err := eventbridge.New(client(server.URL, 1), config)
			require.NoError(t, err)
			calls := 0
			fake.before = func(op, _ string) { tt.before(rival, &calls, op) }
			mine := due
			mine.Payload = []byte(`"mine"`)
			require.NoError(t, s.Put(t.Context(), mine))
			require.Equal(t, []schedule.Schedule{mine}, fake.pending())
			require.Equal(t, tt.requests, fake.seen())
		})
	}
}

func TestPut_endsAfterEndlessConflicts(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, 1)
	fake.fail = func(string) (failure, bool) { return failure{409, "ConflictException", "in use"}, false }
	require.ErrorIs(t, s.Put(t.Context(), due), schedule.ErrUnavailable)
	require.Len(t, fake.seen(), 4)
	require.ErrorIs(t, s.Delete(t.Context(), due.Name), schedule.ErrUnavailable)
	require.Len(t, fake.seen(), 8)
}

func TestPut_isDoneAfterALostAnswer(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, 3)
	lose := func() {
		lost := map[string]bool{}
		fake.fail = func(op string) (failure, bool) {
			if lost[op] {
				return failure{}, true
			}
			lost[op] = true
			return failure{500, "InternalServerException", "lost"}, true
		}
	}
	lose()
	require.NoError(t, s.Put(t.Context(), due))
	require.Equal(t, []schedule.Schedule{due}, fake.pending())
	lose()
	require.NoError(t, s.Put(t.Context(), due))
	require.NoError(t, s.Delete(t.Context(), due.Name))
	require.Empty(t, fake.pending())
}

func TestDelete_distinguishesAMissingGroupFromASchedule(t *testing.T) {
	t.Parallel()
	_, server := newService(t)
	cfg := config
	cfg.GroupName = "elsewhere"
	s, err := eventbridge.New(client(server.URL, 1), cfg)
	require.NoError(t, err)
	err = s.Put(t.Context(), due)
	require.ErrorIs(t, err, schedule.ErrUnavailable)
	require.ErrorContains(t, err, "group elsewhere does not exist")
}

func TestScheduler_isUnavailableIfTheServiceDoesNotAnswer(t *testing.T) {
	t.Parallel()
	_, server := newService(t)
	s, err := eventbridge.New(client(server.URL, 1), config)
	require.NoError(t, err)
	server.Close()
	require.ErrorIs(t, s.Put(t.Context(), due), schedule.ErrUnavailable)
}

func TestNew_namesAMissingOrWrongSetting(t *testing.T) {
	t.Parallel()
	tests := []struct {
		setting string
		change  func(*eventbridge.Config)
	}{
		{"GroupName", func(c *eventbridge.Config) { c.GroupName = "" }},
		{"TargetARN", func(c *eventbridge.Config) { c.TargetARN = "" }},
		{"RoleARN", func(c *eventbridge.Config) { c.RoleARN = "" }},
		{"DeadLetterARN", func(c *eventbridge.Config) { c.DeadLetterARN = "" }},
		{"EventAge", func(c *eventbridge.Config) { c.EventAge = time.Second }},
		{"EventAge", func(c *eventbridge.Config) { c.EventAge = 25 * time.Hour }},
		{"EventAge", func(c *eventbridge.Config) { c.EventAge = time.Minute + time.Millisecond }},
		{"Retries", func(c *eventbridge.Config) { c.Retries = -1 }},
		{"Retries", func(c *eventbridge.Config) { c.Retries = 186 }},
	}
	for _, tt := range tests {
		cfg := config
		tt.change(&cfg)
		_, err := eventbridge.New(client("http://127.0.0.1:1", 1), cfg)
		require.ErrorContains(t, err, tt.setting)
	}
}

func TestFind_givesNoInstantToAScheduleOfAnEarlierConfiguration(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, 1)
	for _, change := range []func(*scheduleInput){
		func(in *scheduleInput) { in.Target.Arn = strings.TrimSuffix(in.Target.Arn, ":live") },
		func(in *scheduleInput) { in.Target.RoleArn = "arn:aws:iam::123456789012:role/former" },
		func(in *scheduleInput) {
			in.Target.DeadLetterConfig.Arn = "arn:aws:sqs:eu-central-1:123456789012:former"
		},
		func(in *scheduleInput) { in.Target.DeadLetterConfig = nil },
	} {
		require.NoError(t, s.Put(t.Context(), due))
		found, err := s.Find(t.Context(), due.Name)
		require.NoError(t, err)
		require.Equal(t, due, found)
		change(&fake.schedules[due.Name].input)
		found, err = s.Find(t.Context(), due.Name)
		require.NoError(t, err)
		require.Equal(t, schedule.Schedule{Name: due.Name, Payload: due.Payload}, found)
	}
}

func TestFind_saysWhyItFailed(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, 1)
	require.NoError(t, s.Put(t.Context(), due))
	fake.schedules[due.Name].input.ScheduleExpression = "rate(1 hour)"
	found, err := s.Find(t.Context(), due.Name)
	require.NoError(t, err)
	require.True(t, found.At.IsZero(), "another program's")
	require.Equal(t, due.Payload, found.Payload)
	for code, want := range map[string]error{
		"ThrottlingException": schedule.ErrThrottled, "InternalServerException": schedule.ErrUnavailable,
	} {
		fake.fail = func(string) (failure, bool) { return failure{500, code, ""}, false }
		_, err = s.Find(t.Context(), due.Name)
		require.ErrorIs(t, err, want)
		require.ErrorIs(t, s.Each(t.Context(), "", func(string) error { return nil }), want)
	}
	_, err = s.Find(t.Context(), "a b")
	require.ErrorIs(t, err, schedule.ErrInvalid)
}
