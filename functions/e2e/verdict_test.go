package e2e_test

import (
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	awsbus "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	awsscheduler "github.com/aws/aws-sdk-go-v2/service/scheduler"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"nexus/functions/internal/cloud"
	"nexus/internal/wiretest"
	archiving "nexus/pkg/archive"
	"nexus/pkg/blob/s3"
	"nexus/pkg/bus/eventbridge"
	"nexus/pkg/change"
	"nexus/pkg/deploy/env"
	"nexus/pkg/insights"
	"nexus/pkg/links"
	"nexus/pkg/projection"
	queuememory "nexus/pkg/queue/memory"
	"nexus/pkg/reminders"
	scheduler "nexus/pkg/schedule/eventbridge"
	"nexus/pkg/stats"
	"nexus/pkg/table/dynamo"
)

// refusing holds the consumers of a function on adapters whose services refuse as the test demands. Their clients do
// not repeat: what a consumer makes of an error is the same at the first attempt and at the last.
type refusing struct {
	*fixture
	consumers map[string]change.Consumer
	networks  map[string]*wiretest.Network // by the service's name
}

func newRefusing(t *testing.T, f env.Function) *refusing {
	t.Helper()
	r := &refusing{fixture: setup(t), networks: map[string]*wiretest.Network{}}
	connect := func(service wiretest.Service, behind http.Handler) aws.Config {
		network, _, server := wiretest.Serve(t, service, behind)
		r.networks[service.Name] = network
		cfg := cloud.Config(env.AWS{Region: "eu-central-1", AccessKeyID: string(f), SecretAccessKey: "local"}, env.S3)
		cfg.BaseEndpoint, cfg.HTTPClient = aws.String(server.URL), server.Client()
		cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
		return cfg
	}
	client := dynamo.NewClient(connect(dynamoDB(), wiretest.Forward(t, r.settings["AWS_ENDPOINT_URL_DYNAMODB"], nil)))
	once := dynamodb.New(client.Options(), func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	store := dynamo.New(once, dynamo.WithTable(r.settings[env.TableName]))
	if f == env.Projections {
		r.consumers = map[string]change.Consumer{
			stats.Name:    projection.NewConsumer(stats.Projection(), store, time.Now),
			links.Name:    projection.NewConsumer(links.Projection(), store, time.Now),
			insights.Name: projection.NewConsumer(insights.Projection(), store, time.Now),
		}
		return r
	}
	bus, err := eventbridge.New(awsbus.NewFromConfig(connect(wiretest.EventBridge(), r.services)),
		eventbridge.Config{BusName: busName})
	require.NoError(t, err)
	copies, err := s3.New(awss3.NewFromConfig(connect(wiretest.S3(), r.services)), s3.Config{
		Bucket: r.settings[env.ArchiveBucket],
	})
	require.NoError(t, err)
	schedules, err := scheduler.New(awsscheduler.NewFromConfig(connect(wiretest.Scheduler(), r.services)),
		scheduler.Config{
			GroupName: group, TargetARN: targetARN, RoleARN: roleARN, DeadLetterARN: deadLetter, EventAge: time.Hour, Retries: 1,
		})
	require.NoError(t, err)
	r.consumers = map[string]change.Consumer{
		reminders.Name: reminders.New(reminders.Config{
			Store: store, Registry: r.registry, Scheduler: schedules, Bus: bus, Now: time.Now,
			Log: slog.New(slog.DiscardHandler), Queue: queuememory.New(nil), NewID: uuid.NewString,
		}),
		archiving.Name: archiving.NewConsumer(archiving.Config{
			Store: store, Registry: r.registry, Copies: copies, Bus: bus, Announces: archiving.Events(),
			Now: time.Now,
		}),
	}
	return r
}

func TestFunctions_letNoClientRetryForEver(t *testing.T) {
	t.Parallel()
	cfg := cloud.Config(env.AWS{Region: "eu-central-1"}, env.S3)
	require.Equal(t, 3, awss3.NewFromConfig(cfg).Options().Retryer.MaxAttempts())
	require.Equal(t, 3, awsbus.NewFromConfig(cfg).Options().Retryer.MaxAttempts())
	require.Equal(t, 3, awsscheduler.NewFromConfig(cfg).Options().Retryer.MaxAttempts())
	require.Equal(t, 3, awssqs.NewFromConfig(cfg).Options().Retryer.MaxAttempts())
	require.Equal(t, 4,
		dynamo.NewClient(cloud.Config(env.AWS{Region: "eu-central-1"}, env.DynamoDB)).Options().Retryer.MaxAttempts())
	require.Equal(t, 8*time.Second, cfg.HTTPClient.(interface{ GetTimeout() time.Duration }).GetTimeout())
}

// hopeless are the errors that say that the request itself is at fault, and will be for ever. Everything else passes,
// or the operator who deploys corrects it: rights, a missing table, bucket, bus or group, a quota.
func hopeless() []string {
	return []string{
		"ValidationException", "SerializationException", "ItemCollectionSizeLimitExceededException",
		"IdempotentParameterMismatchException",
		"InvalidArgument", "InvalidRequest", "InvalidURI", "EntityTooLarge", "KeyTooLongError",
	}
}

func TestFunctions_parkARecordOnlyIfNoRepetitionCanHelp(t *testing.T) {
	t.Parallel()
	asked := map[string]struct {
		function   env.Function
		payload    string
		operations map[string][]string // by service: what the consumer asks for, of this payload
	}{
		stats.Name: {env.Projections, "stream-task-created",
			map[string][]string{"dynamodb": {"BatchGetItem", "TransactWriteItems"}}},
		links.Name:    {env.Projections, "stream-task-created", map[string][]string{"dynamodb": {"TransactWriteItems"}}},
		insights.Name: {env.Projections, "stream-task-completed", map[string][]string{"dynamodb": {"PutItem"}}},
		reminders.Name: {env.Effects, "stream-reminder-created",
			map[string][]string{"dynamodb": {"GetItem"}, "scheduler": {"CreateSchedule", "UpdateSchedule"}}},
		archiving.Name: {env.Effects, "stream-task-archived", map[string][]string{
			"dynamodb": {"GetItem", "TransactWriteItems"}, "s3": {"PutObject"}, "events": {"PutEvents"},
		}},
	}
	// In an order in which nothing that succeeds in passing leaves the next without work.
	services := []wiretest.Service{dynamoDB(), wiretest.S3(), wiretest.Scheduler(), wiretest.EventBridge()}
	for consumer, of := range asked {
		t.Run(consumer, func(t *testing.T) {
			t.Parallel()
			r := newRefusing(t, of.function)
			batch, err := change.Decode(r.happen(of.payload), r.registry)
			require.NoError(t, err)
			apply := func() change.Outcome {
				return r.consumers[consumer].Apply(t.Context(), []change.Change{batch[len(batch)-1].Change})[0]
			}
			for _, service := range services {
				for _, name := range of.operations[service.Name] {
					r.requireVerdicts(service, service.Operation(name), apply)
				}
			}
			outcome := apply()
			require.Equal(t, change.Done, outcome.Verdict, "once nothing fails any more: %v", outcome.Err)
		})
	}
}

// requireVerdicts lets the operation fail with each error that it is documented to fail with.
func (r *refusing) requireVerdicts(
	service wiretest.Service, operation wiretest.Operation, apply func() change.Outcome,
) {
	r.Helper()
	network := r.networks[service.Name]
	for _, refusal := range operation.Refusals {
		network.Always(wiretest.Refused(refusal), operation.Name)
		outcome := apply()
		require.NotZero(r, network.Requests(), "%s is not asked for", operation.Name)
		network.Next()
		want := change.Retry
		switch {
		case slices.Contains(hopeless(), refusal.Code) && operation.Name != "BatchGetItem":
			// which is for many records, of which one may be at fault
			want = change.Poison
		case operation.Name == "UpdateSchedule" && refusal.Code == "ResourceNotFoundException":
			want = change.Done // it is created
		}
		require.Equal(r, want, outcome.Verdict, "%s %s: %v", operation.Name, refusal.Code, outcome.Err)
	}
}
