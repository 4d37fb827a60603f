package stack_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/alarm"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/size"
	"nexus/pkg/limit"
)

func TestAddFunction_setsTheVariablesThatAFunctionReadsAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		require.Len(t, t.all("AWS::Lambda::Function"), len(env.Functions()))
		notify := arn("lambda", "function:"+t.function(env.Notify).text("FunctionName")+":live")
		want := map[string]string{
			env.TableName:             t.one(tableType).ref(),
			env.ArchiveBucket:         t.named("Archive", "AWS::S3::Bucket").ref(),
			env.ParkingBucket:         t.named("Parking", "AWS::S3::Bucket").ref(),
			env.SnapshotBucket:        t.named("Snapshots", "AWS::S3::Bucket").ref(),
			env.BusName:               t.one("AWS::Events::EventBus").ref(),
			env.HintsHost:             t.one(eventAPI).attribute("Dns.Http"),
			env.HintsRealtimeHost:     t.one(eventAPI).attribute("Dns.Realtime"),
			env.ScheduleGroup:         t.one("AWS::Scheduler::ScheduleGroup").ref(),
			env.ScheduleRoleARN:       t.named("Caller", "AWS::IAM::Role").attribute("Arn"),
			env.ScheduleDeadLetterARN: t.named("Undelivered", "AWS::SQS::Queue").attribute("Arn"),
			env.WalkQueueURL:          t.named("Walks", "AWS::SQS::Queue").ref(),
			env.Announce:              "none",
			env.SyncForm:              strconv.Itoa(t.settings.SyncForm),
			env.SubjectForm:           strconv.Itoa(max(int(t.settings.SubjectForm), 1)),
			env.Pepper:                "{{resolve:ssm:/nexus/pepper:1}}",
			env.Limits:                limit.Format(t.settings.Limits),
			env.PushKey:               "{{resolve:ssm:/nexus/push-public:1}}",
			env.PushKeyParameter:      "/nexus/push",
			env.HookKeyParameter:      "/nexus/webhooks",
			env.PushHosts:             "any",
			env.DeliverARN:            arn("lambda", "function:nexus-deliver:live"),
			env.EdgeSecrets:           env.EdgeNone,
			env.Issuer:                t.settings.Issuer,
			env.Audience:              strings.Join(t.settings.Audience, " "),
			env.FeedOrigin: "https://" + t.one("AWS::ApiGatewayV2::Api").ref() +
				".execute-api.${AWS::Region}.${AWS::URLSuffix}",
			env.APIAddress: "https://" + t.one("AWS::ApiGatewayV2::Api").ref() + ".execute-api.${AWS::Region}." +
				"${AWS::URLSuffix}",
			env.TokenEndpoint: credentials()["canaryTokenEndpoint"].(string),
			env.TokenScope:    t.settings.ReadScopes[0] + " " + t.settings.WriteScopes[0],
			env.ClientID:      credentials()["canaryClient"].(string),
			env.ClientSecret:  "{{resolve:secretsmanager:" + credentials()["canarySecret"].(string) + ":SecretString}}",
		}
		scopes := map[env.Function][]string{env.Command: t.settings.WriteScopes, env.Query: t.settings.ReadScopes}
		for _, f := range env.Functions() {
			variables, _ := t.function(f).at("Environment", "Variables").(map[string]any)
			require.Equal(t, f.Variables(), slices.Sorted(maps.Keys(variables)), "%s", f)
			want[env.Scopes] = strings.Join(scopes[f], " ")
			want[env.ScheduleTargetARN] = notify
			if f == env.Deliver {
				want[env.ScheduleTargetARN] = arn("lambda", "function:"+t.function(f).text("FunctionName")+":live")
			}
			for name, value := range variables {
				require.Equal(t, want[name], text(value), "%s of %s", name, f)
			}
		}
	})
}

func TestAddFunction_sizesAFunctionAsItsProgramNeedsIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		for _, f := range env.Functions() {
			r, s := t.function(f), size.For(f)
			require.Equal(t, "provided.al2023", r.text("Runtime"))
			require.Equal(t, []string{"arm64"}, texts(r.at("Architectures")))
			require.Equal(t, "nexus-"+string(f), r.text("FunctionName"))
			require.Equal(t, float64(s.MemoryMB), r.at("MemorySize"))
			require.Equal(t, s.Timeout.Seconds(), r.at("Timeout"))
			require.Equal(t, "JSON", r.text("LoggingConfig", "LogFormat"))
			if t.settings.Protected && s.Reserved > 0 {
				require.Equal(t, float64(s.Reserved), r.at("ReservedConcurrentExecutions"), "%s", f)
			} else {
				require.Nil(t, r.at("ReservedConcurrentExecutions"), "%s", f)
			}
		}
	})
}

// The stage that is read into adjusted has settings of its own for what it can do at a time.
func TestSettings_boundWhatAStageDoesAtATime(t *testing.T) {
	t.Parallel()
	usual, made := read(t, prod), readFrom(t, adjusted, prod)
	for f, want := range map[env.Function]float64{env.Effects: 80, env.Walk: 12, env.Notify: 100, env.Projections: 50} {
		require.InDelta(t, want, made.function(f).at("ReservedConcurrentExecutions"), 0, "%s", f)
	}
	factor := func(of *template, f env.Function) any {
		return of.named(title(f)+"Reader", mappingType).at("ParallelizationFactor")
	}
	require.Equal(t, []any{6.0, 2.0}, []any{factor(made, env.Effects), factor(made, env.Projections)})
	require.Equal(t, []any{4.0, 1.0}, []any{factor(usual, env.Effects), factor(usual, env.Projections)})
	require.Equal(t, "STANDARD", here(usual)["TableClass"])
	require.Equal(t, "STANDARD_INFREQUENT_ACCESS", here(readFrom(t, whole, prod))["TableClass"])
}

func TestIsTraced_coversOnlyWhatAUserWaitsFor(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		for _, f := range env.Functions() {
			mode := t.function(f).text("TracingConfig", "Mode")
			require.Equal(t, (f == env.Command || f == env.Query) && !t.settings.Protected, mode == "Active", "%s", f)
		}
	})
}

func TestLog_isKeptAsLongAsTheStageSays(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		groups := t.all("AWS::Logs::LogGroup")
		require.Len(t, groups, len(env.Functions()), "one of each function")
		for _, group := range groups {
			require.Equal(t, float64(t.settings.LogDays), group.at("RetentionInDays"), group.path())
		}
		for _, f := range env.Functions() {
			group := t.named(title(f)+"Log", "AWS::Logs::LogGroup")
			require.Equal(t, group.ref(), t.function(f).text("LoggingConfig", "LogGroup"))
			require.Equal(t, "/aws/lambda/nexus-"+string(f), group.text("LogGroupName"))
		}
	})
}

func TestAddReminding_keepsACallThatNotifyCouldNotAnswer(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		config := t.named("NotifyLive/EventInvokeConfig", "AWS::Lambda::EventInvokeConfig")
		require.Equal(t, t.function(env.Notify).ref(), config.text("FunctionName"))
		require.Equal(t, t.liveQualifier(env.Notify), config.text("Qualifier"))
		require.Equal(t, t.named("Failed", "AWS::SQS::Queue").attribute("Arn"),
			config.text("DestinationConfig", "OnFailure", "Destination"))
		require.Positive(t, config.at("MaximumRetryAttempts"))
		require.LessOrEqual(t, config.at("MaximumEventAgeInSeconds"), 24*3600.0, "a late reminder is delivered within a day")
		require.NotEmpty(t, alarmsOn(t, "QueueName", t.named("Failed", "AWS::SQS::Queue").attribute("QueueName")),
			alarm.NotifyQueue)
		require.NotEmpty(t, alarmsOn(t, "QueueName", t.named("Undelivered", "AWS::SQS::Queue").attribute("QueueName")),
			alarm.ScheduleQueue)
	})
}
