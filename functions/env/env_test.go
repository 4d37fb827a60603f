package env_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/functions/env"
)

func values() map[string]string {
	return map[string]string{
		"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token",
		env.TableName: "ProductivityData", env.ArchiveBucket: "nexus-archive-123456789012", env.ParkingBucket: "nexus-parking",
		env.BusName: "nexus", env.ScheduleGroup: "nexus",
		env.ScheduleTargetARN:     "arn:aws:lambda:eu-central-1:123456789012:function:nexus-notify:live",
		env.ScheduleRoleARN:       "arn:aws:iam::123456789012:role/service/nexus-scheduler",
		env.ScheduleDeadLetterARN: "arn:aws-cn:sqs:cn-north-1:123456789012:undelivered",
	}
}

func read(f env.Function, values map[string]string) (env.Settings, error) {
	return env.Read(f, func(name string) string { return values[name] })
}

func TestAFunctionReadsItsVariablesAndNoOthers(t *testing.T) {
	t.Parallel()
	for _, f := range env.Functions() {
		s, err := read(f, values())
		require.NoError(t, err, "%s", f)
		require.Equal(t, f, s.Function)
		for name, value := range map[string]string{
			env.TableName: s.TableName, env.ArchiveBucket: s.ArchiveBucket, env.ParkingBucket: s.ParkingBucket, env.BusName: s.BusName,
			env.ScheduleGroup: s.ScheduleGroup, env.ScheduleTargetARN: s.ScheduleTargetARN, env.ScheduleRoleARN: s.ScheduleRoleARN,
			env.ScheduleDeadLetterARN: s.ScheduleDeadLetterARN,
		} {
			want := ""
			if slices.Contains(f.Variables(), name) {
				want = values()[name]
			}
			require.Equal(t, want, value, "%s of %s", name, f)
		}
		require.Equal(t, env.AWS{
			Region: "eu-central-1", AccessKeyID: "id", SecretAccessKey: "secret", SessionToken: "token", Endpoints: map[env.Service]string{},
		}, s.AWS)
	}
}

func TestEverythingWrongIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	for _, f := range env.Functions() {
		_, err := read(f, nil)
		var wrong *env.Error
		require.ErrorAs(t, err, &wrong)
		require.Len(t, wrong.Problems, len(f.Variables())+3, "%s", err)
	}
	bad := values()
	bad["AWS_REGION"], bad[env.TableName], bad[env.BusName] = "somewhere", "", "a bus"
	bad["AWS_ENDPOINT_URL"], bad["AWS_ENDPOINT_URL_S3"] = "localhost:8000", "http://user:word@127.0.0.1"
	_, err := read(env.Notify, bad)
	var wrong *env.Error
	require.ErrorAs(t, err, &wrong)
	require.ElementsMatch(t, []env.Problem{
		{Variable: env.TableName, Reason: "is missing"},
		{Variable: env.BusName, Reason: "is not an event bus's name or ARN"},
		{Variable: "AWS_REGION", Reason: "is not a region's name"},
		{Variable: "AWS_ENDPOINT_URL", Reason: "is not an http or https address"},
		{Variable: "AWS_ENDPOINT_URL_S3", Reason: "is not an http or https address"},
	}, wrong.Problems)
	require.NotContains(t, err.Error(), "word")
}

func TestFormsAreThoseOfTheServices(t *testing.T) {
	t.Parallel()
	for name, texts := range map[string][]string{
		env.TableName:             {"ab", "a b", "tabelle#1"},
		env.ArchiveBucket:         {"Upper", "-a-b", "ab", "a_b"},
		env.BusName:               {"arn:aws:sns:eu-central-1:123456789012:x", "a#b"},
		env.ScheduleGroup:         {"a/b", "a b"},
		env.ScheduleTargetARN:     {"nexus-notify", "arn:aws:lambda:eu-central-1:1234:function:x"},
		env.ScheduleRoleARN:       {"nexus", "arn:aws:iam::123456789012:user/x"},
		env.ScheduleDeadLetterARN: {"https://sqs.eu-central-1.amazonaws.com/123456789012/x"},
	} {
		for _, text := range texts {
			bad := values()
			bad[name] = text
			_, err := read(env.Effects, bad)
			require.ErrorContains(t, err, name, "%s", text)
		}
	}
}

func TestAServicesOwnEndpointGoesBeforeTheGeneralOne(t *testing.T) {
	t.Parallel()
	v := values()
	v["AWS_ENDPOINT_URL"], v["AWS_ENDPOINT_URL_DYNAMODB"] = "http://127.0.0.1:1", "http://127.0.0.1:2"
	delete(v, "AWS_SESSION_TOKEN")
	s, err := read(env.Query, v)
	require.NoError(t, err)
	require.Equal(t, map[env.Service]string{
		env.DynamoDB: "http://127.0.0.1:2", env.S3: "http://127.0.0.1:1", env.EventBridge: "http://127.0.0.1:1", env.Scheduler: "http://127.0.0.1:1",
	}, s.AWS.Endpoints)
}
