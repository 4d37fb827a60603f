package stack_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddCopies_copyTableAndArchiveToTheOtherRegionEachDay(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{dev, prod} {
		made := readFrom(t, whole, stage)
		rules := made.one("AWS::Backup::BackupPlan").at("BackupPlan", "BackupPlanRule").([]any)
		require.Len(t, rules, 1)
		rule := rules[0].(map[string]any)
		require.Equal(t, "cron(0 3 * * ? *)", rule["ScheduleExpression"])
		require.Equal(t, map[string]any{"DeleteAfterDays": 1.0}, rule["Lifecycle"], "on the way alone")
		copies := rule["CopyActions"].([]any)
		require.Len(t, copies, 1)
		copied := copies[0].(map[string]any)
		require.Equal(t, map[string]any{"DeleteAfterDays": 14.0}, copied["Lifecycle"])

		there := readFrom(t, whole, "copies-"+stage)
		vault := there.one("AWS::Backup::BackupVault")
		const vaults = "arn:${AWS::Partition}:backup:eu-south-1:${AWS::AccountId}:backup-vault:"
		require.Equal(t, vaults+vault.text("BackupVaultName"), text(copied["DestinationBackupVaultArn"]))
		require.Equal(t, map[string]string{dev: "Delete", prod: "RetainExceptOnCreate"}[stage], vault.DeletionPolicy)

		selection := made.one("AWS::Backup::BackupSelection").at("BackupSelection").(map[string]any)
		require.Equal(t, []string{
			made.one(tableType).attribute("Arn"), made.named("Archive/Resource", "AWS::S3::Bucket").attribute("Arn"),
		}, texts(selection["Resources"]))
	}
}

// An account that was erased since the last copy is erased again after a restore: the list of the erased is there.
func TestAddCopies_replicateTheListOfErasedAccountsAlone(t *testing.T) {
	t.Parallel()
	made := readFrom(t, whole, prod)
	replication := made.named("Archive/Resource", "AWS::S3::Bucket").at("ReplicationConfiguration").(map[string]any)
	rules := replication["Rules"].([]any)
	require.Len(t, rules, 1)
	rule := rules[0].(map[string]any)
	require.Equal(t, "Enabled", rule["Status"])
	require.Equal(t, "erased/", rule["Filter"].(map[string]any)["Prefix"], "no user's object: it would stay there")

	list := readFrom(t, whole, "copies-prod").one("AWS::S3::Bucket")
	require.Equal(t, "arn:${AWS::Partition}:s3:::"+list.text("BucketName"),
		text(rule["Destination"].(map[string]any)["Bucket"]))
	require.Equal(t, "Enabled", list.text("VersioningConfiguration", "Status"))
	kept := list.at("LifecycleConfiguration", "Rules").([]any)
	own := made.named("Archive/Resource", "AWS::S3::Bucket").at("LifecycleConfiguration", "Rules").([]any)
	require.Equal(t, own[len(own)-1], kept[0], "as long as the list itself")
}

func TestAddCopies_makeNothingWithoutARegion(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		for _, r := range t.resources {
			require.NotContains(t, r.Type, "AWS::Backup::")
			require.NotContains(t, r.Properties, "ReplicationConfiguration")
		}
	})
}
