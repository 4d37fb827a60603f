package stack_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/stretchr/testify/require"

	"nexus/infra/stack"
	"nexus/pkg/api"
	"nexus/pkg/archive"
	"nexus/pkg/limit"
)

func settings() map[string]any {
	return map[string]any{
		"protected": true, "issuer": "https://id.nexus.example", "audience": []any{"web", "phone"},
		"readScopes": []any{"read"}, "writeScopes": []any{"write"}, "allowedOrigins": []any{"https://app.nexus.example"},
		"ratePerSecond": 500.0, "burst": 1000.0, "logDays": 90.0, "syncForm": 3.0, "subjectForm": 2.0,
		"announce":   []any{"TaskArchived", "ItemRestored"},
		"pushHosts":  []any{"push.example.com", "notify.example.net"},
		"tableClass": "infrequent", "reserve": map[string]any{"effects": 80.0, "walk": 12.0},
		"effectsParallel": 6.0, "projectionsParallel": 2.0,
		"limits":              map[string]any{"content": 200000.0, "user": 1200.0},
		"alarmTopic":          "arn:aws:sns:eu-central-1:123456789012:operators",
		"canaryTokenEndpoint": credentials()["canaryTokenEndpoint"], "canaryClient": credentials()["canaryClient"],
		"canarySecret":   credentials()["canarySecret"],
		"restoredStream": "arn:aws:dynamodb:eu-central-1:123456789012:table/Restored/stream/2026-03-02T09:00:00.000",
		"rollout":        "once", "door": "gateway",
		"domain": "nexus.example.net", "certificate": edgeARN, "identity": "cognito",
		"edge": true, "originDomain": originName, "originCertificate": originARN, "edgeSecret": 3.0,
		"callbacks": []any{"https://app.nexus.example/in", "nexus://in"}, "selfSignUp": true,
		"repository":   "example/nexus",
		"maxReadUnits": 6000.0, "maxWriteUnits": 5000.0, "warmWriteUnits": 5000.0, "monthlyBudget": 200.0,
		"region": "eu-central-1", "replicas": []any{"eu-west-1", "eu-north-1"},
		"backupRegion": "eu-south-1", "backupDays": 35.0,
	}
}

func TestRead_returnsTheSettingsAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	numbers, err := limit.Default().With(map[string]int{limit.Content: 200_000, limit.User: 1200})
	require.NoError(t, err)
	want := stack.Settings{
		Stage: "prod", Protected: true, Issuer: "https://id.nexus.example", Audience: []string{"web", "phone"},
		ReadScopes: []string{"read"}, WriteScopes: []string{"write"}, AllowedOrigins: []string{"https://app.nexus.example"},
		RatePerSecond: 500, Burst: 1000, LogDays: 90, SyncForm: 3, SubjectForm: api.DigestedSubjects,
		TableClass: "infrequent", Reserve: map[string]int{"effects": 80, "walk": 12},
		EffectsParallel: 6, ProjectionsParallel: 2,
		Announce:  []string{archive.TaskArchived, archive.ItemRestored},
		PushHosts: []string{"push.example.com", "notify.example.net"},
		Limits:    numbers, Rollout: "once", Door: "gateway",
		Domain: "nexus.example.net", Certificate: edgeARN, Identity: "cognito",
		Edge:      stack.Edge{On: true, OriginDomain: originName, OriginCertificate: originARN, Secret: 3},
		Callbacks: []string{"https://app.nexus.example/in", "nexus://in"}, SelfSignUp: true, Repository: "example/nexus",
		Regions:             stack.Regions{Region: "eu-central-1", Replicas: []string{"eu-west-1", "eu-north-1"}},
		Copies:              stack.Copies{BackupRegion: "eu-south-1", BackupDays: 35},
		Ceilings:            stack.Ceilings{ReadUnits: 6000, WriteUnits: 5000, WarmWriteUnits: 5000, MonthlyBudget: 200},
		AlarmTopic:          "arn:aws:sns:eu-central-1:123456789012:operators",
		CanaryTokenEndpoint: "https://id.nexus.example/oauth2/token", CanaryClient: "canary-of-the-stage",
		CanarySecret:   "arn:aws:secretsmanager:eu-central-1:123456789012:secret:nexus-canary-a1B2c3",
		RestoredStream: "arn:aws:dynamodb:eu-central-1:123456789012:table/Restored/stream/2026-03-02T09:00:00.000",
	}
	got, err := stack.ReadStage("prod", settings())
	require.NoError(t, err)
	require.Equal(t, want, got)

	// As they come from a command line.
	texts := settings()
	maps.Copy(texts, map[string]any{
		"protected": "true", "audience": "web,phone", "readScopes": "read", "allowedOrigins": "https://app.nexus.example",
		"ratePerSecond": "500", "burst": "1000", "logDays": "90", "syncForm": "3",
		"maxReadUnits": "6000", "maxWriteUnits": "5000", "warmWriteUnits": "5000", "monthlyBudget": "200",
		"replicas":   "eu-west-1,eu-north-1",
		"backupDays": "35",
		"edge":       "true", "edgeSecret": "3",
		"subjectForm": "2", "announce": "TaskArchived,ItemRestored",
		"pushHosts": "push.example.com,notify.example.net",
		"reserve":   "effects=80,walk=12", "effectsParallel": "6", "projectionsParallel": "2",
		"limits":    "user=1200,content=200000",
		"callbacks": "https://app.nexus.example/in,nexus://in", "selfSignUp": "true",
	})
	got, err = stack.ReadStage("prod", texts)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestRead_namesEveryWrongSettingAtOnce(t *testing.T) {
	t.Parallel()
	_, err := stack.ReadStage("Prod-1", nil)
	for _, name := range []string{"name", "issuer", "audience", "readScopes", "writeScopes", "ratePerSecond", "logDays"} {
		require.ErrorContains(t, err, "stage Prod-1: "+name+":")
	}
	for name, values := range map[string][]any{
		"protected": {"perhaps", 1.0}, "issuer": {"", "http://id.nexus.example", "id.nexus.example", 7.0},
		"audience":   {"", []any{}, []any{""}, []any{1.0}, []any{"a b"}, true},
		"readScopes": {" , "}, "writeScopes": {[]any{}},
		"allowedOrigins": {"*", "app.nexus.example", []any{"https://app.nexus.example/"}, []any{"https://*.nexus.example"},
			true}, "ratePerSecond": {0.0, -1.0, 1.5, "many", []any{}}, "burst": {499.0, "x"}, "logDays": {0.0, 8.0, 100000.0},
		"alarmTopic":          {"operators", "arn:aws:sqs:eu-central-1:123456789012:operators"},
		"alarmEmail":          {"operators", []any{"ann@nexus"}, []any{""}, true, "ann@nexus.example"},
		"canaryClient":        {"", 7.0},
		"canaryTokenEndpoint": {"http://id.nexus.example/token", "id.nexus.example"},
		"canarySecret":        {"nexus-canary", "hush"},
		"restoredStream":      {"ProductivityData", "arn:aws:dynamodb:eu-central-1:123456789012:table/ProductivityData"},
		"subjectForm":         {0.0, 3.0, "0", "first", true},
		"tableClass":          {"cold", 7.0}, "reserve": {"account=5", "effects=0", "many"},
		"effectsParallel": {0.0, 11.0, "x"}, "projectionsParallel": {-1.0, 1.5},
		"announce": {"ReminderDue", []any{"itemExpired"}, true},
		"syncForm": {-1.0, 65536.0, 1.5, "one"},
		"limits": {"many", "user=x", 7.0, map[string]any{"user": 0.0}, map[string]any{"userz": 1.0},
			map[string]any{"user": "12"}},
		"rollout": {"slow", 1.0}, "door": {"back", 1.0, "direct"},
		"domain":      {"https://nexus.example.net", "Nexus.example.net", "nexus", "-a.example.net", "*.example.net", 1.0},
		"certificate": {"", "arn:aws:iam::123456789012:server-certificate/x", 1.0, certificateARN},
		"edge":        {"perhaps", 1.0}, "edgeSecret": {0.0, -1.0, 1.5, "first"},
		"originDomain":      {"", "https://o.nexus.example.net", "O.nexus.example.net", "nexus.example.net", "o", 1.0},
		"originCertificate": {"", "arn:aws:iam::123456789012:server-certificate/x", edgeARN, 1.0},
		"identity":          {"auth0", true}, "selfSignUp": {"perhaps"}, "repository": {"nexus", "a/b/c", "example/*"},
		"callbacks":    {"", "http://app.nexus.example/in", "/in", []any{"https://app.nexus.example/in#x"}, 1.0},
		"maxReadUnits": {-1.0, "many"}, "maxWriteUnits": {-1.0, 1.5}, "warmWriteUnits": {3999.0, 5001.0},
		"monthlyBudget": {-5.0, true},
		"region":        {"europe", 1.0},
		"replicas":      {"europe", "eu-central-1", "eu-west-1,eu-west-1", 1.0},
		"backupRegion":  {"europe", "eu-central-1", 1.0},
		"backupDays":    {0.0, 36.0, "some"},
		"isuser":        {"https://id.nexus.example"},
	} {
		for _, value := range values {
			wrong := settings()
			wrong[name] = value
			_, err := stack.ReadStage("prod", wrong)
			require.ErrorContains(t, err, name+":", "%v", value)
		}
	}
}

func TestCheckEdge_saysWhatAnEdgeNeeds(t *testing.T) {
	t.Parallel()
	bare := settings()
	for _, name := range []string{"domain", "certificate", "originDomain", "originCertificate"} {
		delete(bare, name)
	}
	_, err := stack.ReadStage("prod", bare)
	require.ErrorContains(t, err, "edge: wants domain")
	require.ErrorContains(t, err, "certificate: want one in us-east-1 with edge")
	require.ErrorContains(t, err, "originDomain: want the name by which CloudFront reaches the API")

	// On the way to an edge the API answers under both names, each with its certificate in the stage's region.
	opening := settings()
	opening["edge"], opening["certificate"] = false, certificateARN
	s, err := stack.ReadStage("prod", opening)
	require.NoError(t, err)
	require.Equal(t, stack.Edge{OriginDomain: originName, OriginCertificate: originARN, Secret: 3}, s.Edge)
	delete(opening, "originCertificate")
	_, err = stack.ReadStage("prod", opening)
	require.ErrorContains(t, err, "originCertificate: want both it and originDomain")
}

func TestReadStage_takesAddressesInPlaceOfATopic(t *testing.T) {
	t.Parallel()
	values := settings()
	delete(values, "alarmTopic")
	values["alarmEmail"] = "ann@nexus.example, bob@mail.nexus.example"
	s, err := stack.ReadStage("prod", values)
	require.NoError(t, err)
	require.Equal(t, []string{"ann@nexus.example", "bob@mail.nexus.example"}, s.AlarmEmail)
}

func TestSettingNames_areExplainedInTheDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "deploy.md"))
	require.NoError(t, err)
	for name := range settings() {
		require.Contains(t, string(text), "`"+name+"`")
	}
	require.Contains(t, string(text), "`alarmEmail`")
}

func TestReadStage_prefersTheContextOfTheCommandLine(t *testing.T) {
	t.Parallel()
	made := readFrom(t, adjusted, prod)
	require.Equal(t, map[string]any{"Issuer": "https://id.nexus.example", "Audience": []any{"web", "phone"}},
		made.one("AWS::ApiGatewayV2::Authorizer").at("JwtConfiguration"))
	for construct, scopes := range map[string][]string{"Route-POSTcreateTask": {"b", "c"}, "Route-unrouted": {"a"}} {
		require.Equal(t, scopes, texts(made.named(construct, "AWS::ApiGatewayV2::Route").at("AuthorizationScopes")))
	}
	require.NoFileExists(t, filepath.Join(adjusted, "nexus-dev.template.json"), "only the stage that was asked for")
}

// It is not parallel: what describes a stack to the CDK does so in one process, one thing at a time.
func TestReadStage_namesAMissingStageAndAMissingPackage(t *testing.T) {
	folder := t.TempDir()
	out := filepath.Join(folder, "cdk.out")
	require.ErrorContains(t, synthesize(folder, out, map[string]any{"stage": "test"}), "test is none of dev, prod")
	require.ErrorContains(t, synthesize(folder, out, map[string]any{"stages": map[string]any{}}), "stages")
	s, err := stack.ReadStage(prod, settings())
	require.NoError(t, err)
	_, err = stack.New(awscdk.NewApp(nil), s, out, deployed)
	require.ErrorContains(t, err, "package of function command (make package)")
}
