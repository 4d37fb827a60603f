package env_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
	"nexus/pkg/limit"
)

func values() map[string]string {
	return map[string]string{
		"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_SESSION_TOKEN": "token",
		env.TableName:       "ProductivityData", env.ArchiveBucket: "nexus-archive-123456789012",
		env.ParkingBucket: "nexus-parking", env.SnapshotBucket: "nexus-snapshots",
		env.BusName: "nexus", env.ScheduleGroup: "nexus",
		env.ScheduleTargetARN:     "arn:aws:lambda:eu-central-1:123456789012:function:nexus-notify:live",
		env.ScheduleRoleARN:       "arn:aws:iam::123456789012:role/service/nexus-scheduler",
		env.ScheduleDeadLetterARN: "arn:aws-cn:sqs:cn-north-1:123456789012:undelivered",
		env.WalkQueueURL:          "https://sqs.eu-central-1.amazonaws.com/123456789012/nexus-walks.fifo",
		env.HintsHost:             "x7.appsync-api.eu-central-1.amazonaws.com",
		env.HintsRealtimeHost:     "x7.appsync-realtime-api.eu-central-1.amazonaws.com",
		env.Announce:              "TaskArchived,ItemExpired",
		env.SyncForm:              "7",
		env.SubjectForm:           "2",
		env.Pepper:                strings.Repeat("0123456789abcdef", 4),
		env.Limits:                limit.Format(limit.Default()),
		env.Scopes:                "nexus/read nexus/all",
		env.Issuer:                "https://id.nexus.example/pool",
		env.Audience:              "web https://api.nexus.example",
		env.FeedOrigin:            "https://nexus.example.net",
		env.EdgeSecrets:           strings.Repeat("0f", 32) + "," + strings.Repeat("a1", 32),
		env.APIAddress:            "https://nexus.example",
		env.TokenEndpoint:         "https://id.nexus.example/oauth2/token",
		env.TokenScope:            "nexus/read nexus/write",
		env.ClientID:              "canary",
		env.ClientSecret:          "hush",
		env.PushKey:               "B" + strings.Repeat("Nc-_0", 17) + "M",
		env.PushKeyParameter:      "/nexus/push",
		env.HookKeyParameter:      "/nexus/webhooks",
		env.PushHosts:             "push.example.com,notify.example.net",
		env.DeliverARN:            "arn:aws:lambda:eu-central-1:123456789012:function:nexus-deliver:live",
	}
}

// reader returns a function that reads the variable.
func reader(variable string) env.Function {
	i := slices.IndexFunc(env.Functions(), func(f env.Function) bool { return slices.Contains(f.Variables(), variable) })
	return env.Functions()[max(i, 0)]
}

func read(f env.Function, values map[string]string) (env.Settings, error) {
	return env.Read(f, func(name string) string { return values[name] })
}

func TestRead_readsTheVariablesOfItsFunctionAlone(t *testing.T) {
	t.Parallel()
	for _, f := range env.Functions() {
		s, err := read(f, values())
		require.NoError(t, err, "%s", f)
		require.Equal(t, f, s.Function)
		for name, value := range map[string]string{
			env.TableName: s.TableName, env.ArchiveBucket: s.ArchiveBucket, env.ParkingBucket: s.ParkingBucket,
			env.SnapshotBucket: s.SnapshotBucket,
			env.BusName:        s.BusName, env.HintsHost: s.HintsHost, env.HintsRealtimeHost: s.HintsRealtimeHost,
			env.ScheduleGroup: s.ScheduleGroup, env.ScheduleTargetARN: s.ScheduleTargetARN,
			env.ScheduleRoleARN:       s.ScheduleRoleARN,
			env.ScheduleDeadLetterARN: s.ScheduleDeadLetterARN,
			env.SyncForm:              s.SyncForm,
			env.SubjectForm:           s.SubjectForm,
			env.Pepper:                s.PepperText,
			env.Limits:                s.Limits,
			env.APIAddress:            s.APIAddress,
			env.TokenEndpoint:         s.TokenEndpoint,
			env.TokenScope:            s.TokenScope,
			env.ClientID:              s.ClientID,
			env.ClientSecret:          s.ClientSecret,
			env.WalkQueueURL:          s.WalkQueueURL,
			env.Scopes:                s.Scopes,
			env.Issuer:                s.Issuer,
			env.Audience:              s.Audience,
			env.FeedOrigin:            s.FeedOrigin,
			env.EdgeSecrets:           s.EdgeSecretList,
			env.Announce:              s.Announce,
			env.PushKey:               s.PushKey,
			env.PushKeyParameter:      s.PushKeyParameter,
			env.HookKeyParameter:      s.HookKeyParameter,
			env.PushHosts:             s.PushHostList,
			env.DeliverARN:            s.DeliverARN,
		} {
			want := ""
			if slices.Contains(f.Variables(), name) {
				want = values()[name]
			}
			require.Equal(t, want, value, "%s of %s", name, f)
		}
		require.Equal(t, env.AWS{
			Region: "eu-central-1", AccessKeyID: "id", SecretAccessKey: "secret", SessionToken: "token",
			Endpoints: map[env.Service]string{},
		}, s.AWS)
	}
}

func TestRead_namesEverythingWrongAtOnce(t *testing.T) {
	t.Parallel()
	for _, f := range env.Functions() {
		_, err := read(f, nil)
		var wrong *env.Error
		require.ErrorAs(t, err, &wrong)
		require.Len(t, wrong.Problems, len(f.Variables())+3, "%s", err)
	}
	bad := values()
	bad["AWS_REGION"], bad[env.TableName], bad[env.BusName] = "somewhere", "", "a bus"
	bad[env.Pepper] = "0123"
	bad["AWS_ENDPOINT_URL"], bad["AWS_ENDPOINT_URL_S3"] = "localhost:8000", "http://user:word@127.0.0.1"
	_, err := read(env.Notify, bad)
	var wrong *env.Error
	require.ErrorAs(t, err, &wrong)
	require.ElementsMatch(t, []env.Problem{
		{Variable: env.TableName, Reason: "is missing"},
		{Variable: env.BusName, Reason: "is not an event bus's name or ARN"},
		{Variable: env.Pepper, Reason: "is not a pepper: 64 hexadecimal digits in lower case"},
		{Variable: "AWS_REGION", Reason: "is not a region's name"},
		{Variable: "AWS_ENDPOINT_URL", Reason: "is not an http or https address"},
		{Variable: "AWS_ENDPOINT_URL_S3", Reason: "is not an http or https address"},
	}, wrong.Problems)
	require.NotContains(t, err.Error(), "word")
	require.NotContains(t, err.Error(), "0123")
}

func TestRead_refusesValuesOutsideTheFormsOfTheServices(t *testing.T) {
	t.Parallel()
	for name, texts := range map[string][]string{
		env.TableName:         {"ab", "a b", "tabelle#1"},
		env.ArchiveBucket:     {"Upper", "-a-b", "ab", "a_b"},
		env.BusName:           {"arn:aws:sns:eu-central-1:123456789012:x", "a#b"},
		env.ScheduleGroup:     {"a/b", "a b"},
		env.ScheduleTargetARN: {"nexus-notify", "arn:aws:lambda:eu-central-1:1234:function:x"},
		env.ScheduleRoleARN:   {"nexus", "arn:aws:iam::123456789012:user/x"},
		env.WalkQueueURL: {"arn:aws:sqs:eu-central-1:123456789012:nexus-walks.fifo",
			"https://sqs.eu-central-1.amazonaws.com/123456789012/nexus-walks", "http://x/123456789012/a.fifo"},
		env.Announce:              {"TaskArchived,", "Task Archived", ","},
		env.ScheduleDeadLetterARN: {"https://sqs.eu-central-1.amazonaws.com/123456789012/x"},
		env.HintsHost:             {"https://x7.example", "x7.example/event", "X7.example", "x7.example."},
		env.HintsRealtimeHost:     {"wss://x7.example/event/realtime"},
		env.Scopes:                {"a  b", " a", "a ", `a"b`, `a\b`, "a	b", "ä"},
		env.Issuer: {"id.nexus.example", "http://id.nexus.example", "https://id.nexus.example?a=b", "https://a@b.example",
			"https://id.nexus.example#a"},
		env.Audience:   {"a  b", " a", "a\tb", "ä"},
		env.FeedOrigin: {"https://", "https://x/", "https://X.example", "wss://x.example"},
		env.Limits:     {"user=600", limit.Format(limit.Default()) + ",other=1", "user"},
		env.APIAddress: {"http://nexus.example", "https://nexus.example/v1", "nexus.example",
			"https://a@b.example"},
		env.PushKey:          {"B", strings.Repeat("A", 87), "B" + strings.Repeat("=", 86)},
		env.PushKeyParameter: {"nexus/push", "/", "/nexus/push key"},
		env.HookKeyParameter: {"nexus/webhooks", "/", "/nexus/web hooks"},
		env.PushHosts:        {"push.example.com,", "https://push.example.com", "Push.example.com", ","},
		env.DeliverARN:       {"nexus-deliver", "arn:aws:sqs:eu-central-1:123456789012:x"},
		env.TokenEndpoint: {"id.nexus.example", "http://id.nexus.example/token",
			"https://id.nexus.example/token?a=b"},
	} {
		for _, text := range texts {
			bad := values()
			bad[name] = text
			_, err := read(reader(name), bad)
			require.ErrorContains(t, err, name, "%s", text)
		}
	}
}

func TestSettings_haveTheFormAsANumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]uint16{"0": 0, "7": 7, "65535": 65535} {
		changed := values()
		changed[env.SyncForm] = text
		s, err := read(env.Query, changed)
		require.NoError(t, err)
		require.Equal(t, want, s.Form())
	}
	for _, text := range []string{"-1", "65536", "+1", "07", "1.0", "one", " 1"} {
		changed := values()
		changed[env.SyncForm] = text
		_, err := read(env.Query, changed)
		require.ErrorContains(t, err, env.SyncForm, text)
	}
}

func TestSettings_haveTheHostsOfPushServicesAndOneOfThisMachine(t *testing.T) {
	t.Parallel()
	changed := values()
	for text, want := range map[string][]string{
		env.PushHostsAny: nil, "push.example.com": {"push.example.com"}, "a.example,b.example": {"a.example", "b.example"},
	} {
		changed[env.PushHosts] = text
		s, err := read(env.Command, changed)
		require.NoError(t, err)
		require.Equal(t, want, s.PushHosts())
		require.False(t, s.PushService().IsValid(), "no deployment names one")
	}
	changed["PUSH_SERVICE"] = "127.0.0.1:9"
	s, err := read(env.Deliver, changed)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:9", s.PushService().String())
	for _, bad := range []string{"10.0.0.1:443", "localhost:80", "127.0.0.1", "127.0.0.1:0", "169.254.169.254:80"} {
		changed["PUSH_SERVICE"] = bad
		_, err := read(env.Deliver, changed)
		require.ErrorContains(t, err, "PUSH_SERVICE", bad)
	}
}

func TestSettings_haveThePepperAndTheFormOfSubjects(t *testing.T) {
	t.Parallel()
	s, err := read(env.Query, values())
	require.NoError(t, err)
	require.Equal(t, values()[env.Pepper], s.Pepper().Text())
	require.Equal(t, 2, s.Subjects())
}

func TestSettings_haveTheSecretsOfAnEdgeAlone(t *testing.T) {
	t.Parallel()
	one, two := strings.Repeat("0", 64), strings.Repeat("f", 64)
	for text, want := range map[string][]string{env.EdgeNone: nil, one: {one}, one + "," + two: {one, two}} {
		changed := values()
		changed[env.EdgeSecrets] = text
		s, err := read(env.Query, changed)
		require.NoError(t, err)
		require.Equal(t, want, s.EdgeSecrets())
	}
	bad := values()
	bad[env.EdgeSecrets] = strings.Repeat("F", 64)
	_, err := read(env.Command, bad)
	require.ErrorContains(t, err, env.EdgeSecrets)
	require.NotContains(t, err.Error(), "FFF", "an error shows no secret")
}

// forms are the patterns as the services' API references give them.
var forms = map[string]string{
	"AWS_REGION":              `^[a-z]{2}(-[a-z]+)+-[0-9]+$`,
	env.TableName:             `^[A-Za-z0-9_.-]{3,255}$`,
	env.ArchiveBucket:         `^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`,
	env.BusName:               `^(arn:aws[a-z-]*:events:[a-z0-9-]+:[0-9]{12}:event-bus/)?[A-Za-z0-9_./-]{1,256}$`,
	env.ScheduleGroup:         `^[A-Za-z0-9_.-]{1,64}$`,
	env.ScheduleTargetARN:     `^arn:aws[a-z-]*:lambda:[a-z0-9-]+:[0-9]{12}:function:[A-Za-z0-9_-]+(:[A-Za-z0-9_$-]+)?$`,
	env.ScheduleRoleARN:       `^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$`,
	env.HintsHost:             `^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`,
	env.HintsRealtimeHost:     `^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`,
	env.SubjectForm:           `^[12]$`,
	env.Pepper:                `^[0-9a-f]{64}$`,
	env.Scopes:                `^[!#-\[\]-~]+( [!#-\[\]-~]+)*$`,
	env.FeedOrigin:            `^https://[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`,
	env.EdgeSecrets:           `^none$|^[0-9a-f]{64}(,[0-9a-f]{64})?$`,
	env.WalkQueueURL:          `^https://[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/[0-9]{12}/[A-Za-z0-9_-]{1,75}\.fifo$`,
	env.ScheduleDeadLetterARN: `^arn:aws[a-z-]*:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]+$`,
}

// near returns texts that differ from the valid one at one place or in length: nearly all that its pattern
// distinguishes.
func near(valid string) []string {
	texts := []string{valid, strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 65)}
	for _, n := range []int{255, 256, 257} {
		texts = append(texts, strings.Repeat("a", n), valid[:strings.LastIndexAny(valid, ":/")+1]+strings.Repeat("a", n))
	}
	for i := range len(valid) + 1 {
		texts = append(texts, valid[:i], valid[i:])
		for _, c := range "a9A_-.:/$+ü\n " {
			texts = append(texts, valid[:i]+string(c)+valid[i:])
			if i < len(valid) {
				texts = append(texts, valid[:i]+valid[i+1:], valid[:i]+string(c)+valid[i+1:])
			}
		}
	}
	return texts
}

func TestRead_takesWhatTheServicesPatternTakes(t *testing.T) {
	t.Parallel()
	busARN := "arn:aws:events:eu-central-1:123456789012:event-bus/nexus"
	for name, pattern := range forms {
		form := regexp.MustCompile(pattern)
		texts := near(values()[name])
		if name == env.BusName {
			texts = append(texts, near(busARN)...)
		}
		for _, text := range texts {
			if text == "" {
				continue // missing, not malformed
			}
			changed := values()
			changed[name] = text
			_, err := read(reader(name), changed)
			require.Equal(t, form.MatchString(text), err == nil, "%s %q: %v", name, text, err)
		}
	}
}

func TestEndpoint_prefersTheServicesOwn(t *testing.T) {
	t.Parallel()
	v := values()
	v["AWS_ENDPOINT_URL"], v["AWS_ENDPOINT_URL_DYNAMODB"] = "http://127.0.0.1:1", "http://127.0.0.1:2"
	delete(v, "AWS_SESSION_TOKEN")
	s, err := read(env.Query, v)
	require.NoError(t, err)
	require.Equal(t, map[env.Service]string{
		env.DynamoDB: "http://127.0.0.1:2", env.S3: "http://127.0.0.1:1", env.EventBridge: "http://127.0.0.1:1",
		env.Scheduler: "http://127.0.0.1:1", env.AppSync: "http://127.0.0.1:1",
		env.SQS: "http://127.0.0.1:1", env.SSM: "http://127.0.0.1:1", env.Lambda: "http://127.0.0.1:1",
	}, s.AWS.Endpoints)
}
