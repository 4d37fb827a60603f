package stack

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbackup"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/account"
)

const (
	backupRegion = "backupRegion"
	backupDays   = "backupDays"

	copiesPrefix = prefix + "copies-"
	// defaultBackupDays is how long a copy is kept. An erasure reckons with at most maxBackupDays, as with those of the
	// recovery to a point in time.
	defaultBackupDays = 7
	maxBackupDays     = recoveryDays
	// waitingDays is how long a backup stays in the stage's own region, on its way to the other.
	waitingDays = 1
	copyHour    = "3" // UTC
)

// Copies are kept in another region, for the loss of the stage's own.
type Copies struct {
	// BackupRegion has the copies; empty for none.
	BackupRegion string
	// BackupDays is how long a copy is kept.
	BackupDays int
}

func (r *reader) copies() Copies {
	c := Copies{BackupRegion: r.Text(backupRegion), BackupDays: defaultBackupDays}
	if r.Values[backupDays] != nil {
		c.BackupDays = r.Number(backupDays)
	}
	r.Refuse(c.BackupRegion != "" && !regionForm.MatchString(c.BackupRegion), backupRegion, "want a region's name")
	r.Refuse(c.BackupRegion != "" && c.BackupRegion == r.Text(region), backupRegion, "want another than the stage's")
	r.Refuse(c.BackupDays < 1 || c.BackupDays > maxBackupDays, backupDays,
		fmt.Sprintf("want a number from 1 to %d", maxBackupDays))
	return c
}

// addCopiesStack adds the stack of what holds the copies, in their region. It is deployed before the stage.
func addCopiesStack(scope constructs.Construct, s Settings) {
	if s.BackupRegion == "" {
		return
	}
	stack := awscdk.NewStack(scope, jsii.String(copiesPrefix+s.Stage), &awscdk.StackProps{
		Env:                   &awscdk.Environment{Region: jsii.String(s.BackupRegion)},
		StackName:             jsii.String(copiesPrefix + s.Stage),
		Description:           jsii.String("Nexus: copies of stage " + s.Stage + ", for the loss of its region"),
		TerminationProtection: jsii.Bool(s.Protected), AnalyticsReporting: jsii.Bool(false),
	})
	d := &deployment{Stack: stack, settings: s}
	d.tag()
	vault := awsbackup.NewBackupVault(stack, jsii.String("Vault"), &awsbackup.BackupVaultProps{
		BackupVaultName: jsii.String(copiesPrefix + s.Stage), RemovalPolicy: d.removalPolicy(),
	})
	list := d.bucket("Erased", &awss3.BucketProps{
		BucketName: jsii.String(erasedListOf(s, *stack.Account())), LifecycleRules: &[]*awss3.LifecycleRule{erasedRule()},
	})
	d.output("CopiesVault", "The vault of the copies", vault.BackupVaultName())
	d.output("ErasedBucket", "The list of accounts that were erased", list.BucketName())
}

// erasedListOf returns the name of the bucket to which the list of erased accounts is replicated. The stage's stack
// cannot refer to a resource of another region.
func erasedListOf(s Settings, account string) string {
	return prefix + "erased-" + s.Stage + "-" + account + "-" + s.BackupRegion
}

// addCopies has AWS Backup copy the table and the archive bucket to the other region once a day. The list of erased
// accounts follows within minutes: who was erased since the copy is erased again after a restore.
func (d *deployment) addCopies() {
	s := d.settings
	if s.BackupRegion == "" {
		return
	}
	role := awsiam.NewRole(d.Stack, jsii.String("Copier"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("backup.amazonaws.com"), nil),
		ManagedPolicies: &[]awsiam.IManagedPolicy{
			awsiam.ManagedPolicy_FromAwsManagedPolicyName(jsii.String("service-role/AWSBackupServiceRolePolicyForBackup")),
			awsiam.ManagedPolicy_FromAwsManagedPolicyName(jsii.String("AWSBackupServiceRolePolicyForS3Backup")),
		},
	})
	suppress(role, "AwsSolutions-IAM4",
		"These are the policies that AWS Backup documents for its role; what they may do follows what the service does.")
	vault := d.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("backup"), Region: jsii.String(s.BackupRegion), Resource: jsii.String("backup-vault"),
		ResourceName: jsii.String(copiesPrefix + s.Stage), ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
	there := awsbackup.BackupVault_FromBackupVaultArn(d.Stack, jsii.String("CopiesVault"), vault)
	hour := &awsevents.CronOptions{Hour: jsii.String(copyHour), Minute: jsii.String("0")}
	plan := awsbackup.NewBackupPlan(d.Stack, jsii.String("Copies"), &awsbackup.BackupPlanProps{
		BackupVault: awsbackup.NewBackupVault(d.Stack, jsii.String("Vault"), &awsbackup.BackupVaultProps{
			BackupVaultName: jsii.String(prefix + s.Stage), RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
		}),
	})
	plan.AddRule(awsbackup.NewBackupPlanRule(&awsbackup.BackupPlanRuleProps{
		RuleName: jsii.String("daily"), ScheduleExpression: awsevents.Schedule_Cron(hour), DeleteAfter: days(waitingDays),
		CopyActions: &[]*awsbackup.BackupPlanCopyActionProps{
			{DestinationBackupVault: there, DeleteAfter: days(s.BackupDays)},
		},
	}))
	plan.AddSelection(jsii.String("Data"), &awsbackup.BackupSelectionOptions{
		Role: role,
		Resources: &[]awsbackup.BackupResource{
			awsbackup.BackupResource_FromArn(d.table.TableArn()), awsbackup.BackupResource_FromArn(d.archive.BucketArn()),
		},
	})
}

// replication describes the replication of the list of erased accounts, and returns its role; nil for none. The list
// only grows until its entries expire, so no deletion has to follow.
func (d *deployment) replication() (awsiam.Role, *[]*awss3.ReplicationRule) {
	s := d.settings
	if s.BackupRegion == "" {
		return nil, nil
	}
	role := awsiam.NewRole(d.Stack, jsii.String("Replicator"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("s3.amazonaws.com"), nil),
	})
	list := awss3.Bucket_FromBucketName(d.Stack, jsii.String("ErasedList"), jsii.String(erasedListOf(s, *d.Account())))
	return role, &[]*awss3.ReplicationRule{{
		Destination: list, Filter: &awss3.Filter{Prefix: jsii.String(account.ErasedPrefix)}, Priority: jsii.Number(1),
	}}
}

// allowReplication gives the role what S3 documents for it (Amazon S3 User Guide, "Setting up permissions for live
// replication"), of the list alone.
func (d *deployment) allowReplication(role awsiam.Role, bucket awss3.Bucket) {
	if role == nil {
		return
	}
	own, objects := *bucket.BucketArn(), account.ErasedPrefix+"*"
	there := *d.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("s3"), Region: jsii.String(""), Account: jsii.String(""),
		Resource: jsii.String(erasedListOf(d.settings, *d.Account())), ArnFormat: awscdk.ArnFormat_NO_RESOURCE_NAME,
	})
	rights := awsiam.NewPolicy(d.Stack, jsii.String("Replication"), &awsiam.PolicyProps{
		Document: policy(
			allow([]string{"s3:GetReplicationConfiguration", "s3:ListBucket"}, []string{own}, nil),
			allow([]string{
				"s3:GetObjectVersionForReplication", "s3:GetObjectVersionAcl", "s3:GetObjectVersionTagging",
			}, []string{own + "/" + objects}, nil),
			allow([]string{"s3:ReplicateObject", "s3:ReplicateTags"}, []string{there + "/" + objects}, nil),
		),
	})
	role.AttachInlinePolicy(rights)
	suppress(rights, "AwsSolutions-IAM5",
		"The names of the objects in the list are made at run time; no other object is meant.")
}
