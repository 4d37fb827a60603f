package stack_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
	"nexus/pkg/table"
)

const tableType = "AWS::DynamoDB::GlobalTable"

// keys is a key schema as CloudFormation has it.
func keys(pk, sk string) []any {
	return []any{
		map[string]any{"AttributeName": pk, "KeyType": "HASH"},
		map[string]any{"AttributeName": sk, "KeyType": "RANGE"},
	}
}

func TestNewTable_followsTheSchema(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		table, schema := t.one(tableType), table.ProductSchema()
		attributes := []any{}
		attribute := func(names ...string) {
			for _, name := range names {
				attributes = append(attributes, map[string]any{"AttributeName": name, "AttributeType": "S"})
			}
		}
		attribute(schema.PK, schema.SK)
		var indexes []any
		for _, index := range schema.Indexes {
			attribute(index.PK, index.SK)
			projection := "ALL"
			if index.KeysOnly {
				projection = "KEYS_ONLY"
			}
			indexes = append(indexes, map[string]any{
				"IndexName": string(index.Name), "KeySchema": keys(index.PK, index.SK),
				"Projection": map[string]any{"ProjectionType": projection},
			})
		}
		require.Len(t, indexes, 4)
		require.Equal(t, schema.Name, table.text("TableName"))
		require.Equal(t, keys(schema.PK, schema.SK), table.at("KeySchema"))
		require.ElementsMatch(t, attributes, table.at("AttributeDefinitions"))
		made, _ := table.at("GlobalSecondaryIndexes").([]any)
		for _, index := range made {
			delete(index.(map[string]any), "WriteOnDemandThroughputSettings") // the stage's, not the schema's
		}
		require.ElementsMatch(t, indexes, made)
		require.Equal(t, "PAY_PER_REQUEST", table.text("BillingMode"))
		require.Equal(t, map[string]any{"StreamViewType": schema.StreamView}, table.at("StreamSpecification"))
		require.Equal(t, map[string]any{"AttributeName": schema.TTL, "Enabled": true}, table.at("TimeToLiveSpecification"))
	})
}

// here returns the settings of the table in the stack's region, the only one.
func here(t *template) map[string]any {
	t.Helper()
	replicas, _ := t.one(tableType).at("Replicas").([]any)
	require.Len(t, replicas, 1)
	replica := replicas[0].(map[string]any)
	require.Equal(t, "${AWS::Region}", text(replica["Region"]))
	return replica
}

func TestNewTable_canRecoverEveryState(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		require.Equal(t, map[string]any{"PointInTimeRecoveryEnabled": true, "RecoveryPeriodInDays": 35.0},
			here(t)["PointInTimeRecoverySpecification"])
	})
}

func TestAddTable_keepsTheDataOfAProtectedStageAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		require.Equal(t, t.stage == prod, t.settings.Protected)
		require.Equal(t, t.settings.Protected, here(t)["DeletionProtectionEnabled"])
		policy := map[bool]string{false: "Delete", true: "RetainExceptOnCreate"}[t.settings.Protected]
		for _, typeName := range []string{
			tableType, "AWS::S3::Bucket", "AWS::SQS::Queue", "AWS::Logs::LogGroup", "AWS::Scheduler::ScheduleGroup",
		} {
			for _, r := range t.all(typeName) {
				require.Equal(t, policy, r.DeletionPolicy, r.path())
			}
		}
	})
}

func TestAddTable_usesARestoredTableInPlaceOfItsOwn(t *testing.T) {
	t.Parallel()
	made := readFrom(t, adjusted, prod)
	for id, r := range made.resources {
		require.NotEqual(t, tableType, r.Type, id)
	}
	table, _, _ := strings.Cut(restoredStream, "/stream/")
	for _, m := range made.streamMappings() {
		require.Equal(t, restoredStream, m.text("EventSourceArn"))
	}
	for _, f := range env.Functions() {
		if f == env.Canary {
			continue
		}
		require.Equal(t, "Restored", made.function(f).text("Environment", "Variables", env.TableName), "%s", f)
		require.True(t,
			slices.ContainsFunc(rightsOf(made, made.named(title(f)+"Role", "AWS::IAM::Role")), func(r right) bool {
				return slices.Contains(r.resources, table)
			}), "%s", f)
	}
}

func TestAddTable_keepsItsOwnTableBesideARestoredOneInEveryStage(t *testing.T) {
	t.Parallel()
	own := read(t, dev).named("Table", tableType)
	made := readFrom(t, restored, dev)
	stays := made.named("Table", tableType) // what leaves a stack goes by the policy of the deployment before
	require.Equal(t, "Delete", own.DeletionPolicy)
	require.Equal(t, "RetainExceptOnCreate", stays.DeletionPolicy)
	require.Equal(t, own.Properties, stays.Properties, "nothing else of the table changes")
	for _, f := range env.Functions() {
		if f == env.Canary {
			continue
		}
		require.Equal(t, "Restored", made.function(f).text("Environment", "Variables", env.TableName), "%s", f)
	}
	require.Equal(t, "RetainExceptOnCreate", read(t, prod).named("Table", tableType).DeletionPolicy,
		"a protected stage may let its own leave")
}

func TestTag_marksEverythingThatTakesTags(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		environment := map[bool]string{false: "Development", true: "Production"}[t.settings.Protected]
		want := []any{
			map[string]any{"Key": "Application", "Value": "Nexus"},
			map[string]any{"Key": "Environment", "Value": environment},
			map[string]any{"Key": "Stage", "Value": t.stage},
		}
		require.Equal(t, want, here(t)["Tags"])
		for _, typeName := range []string{
			"AWS::Lambda::Function", "AWS::S3::Bucket", "AWS::SQS::Queue", "AWS::IAM::Role", "AWS::Events::EventBus",
		} {
			for _, r := range t.all(typeName) {
				require.Equal(t, want, r.at("Tags"), r.path())
			}
		}
	})
}
