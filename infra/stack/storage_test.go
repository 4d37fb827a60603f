package stack_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// refusesPlain says that a policy refuses every request over an unencrypted connection.
func refusesPlain(policy any, resources ...string) bool {
	statements, _ := policy.(map[string]any)["Statement"].([]any)
	return slices.ContainsFunc(statements, func(s any) bool {
		statement := s.(map[string]any)
		condition, _ := statement["Condition"].(map[string]any)
		plain, _ := condition["Bool"].(map[string]any)
		covered := texts(statement["Resource"])
		return statement["Effect"] == "Deny" && plain["aws:SecureTransport"] == "false" &&
			!slices.ContainsFunc(resources, func(r string) bool { return !slices.Contains(covered, r) })
	})
}

func TestBucket_isEncryptedVersionedPrivateAndSpeaksTLSOnly(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		for _, b := range t.all("AWS::S3::Bucket") {
			require.Equal(t, map[string]any{
				"BlockPublicAcls": true, "BlockPublicPolicy": true, "IgnorePublicAcls": true, "RestrictPublicBuckets": true,
			}, b.at("PublicAccessBlockConfiguration"), b.path())
			if b.path() != t.named("Snapshots", "AWS::S3::Bucket").path() { // nothing of a user is to stay there
				require.Equal(t, "Enabled", b.text("VersioningConfiguration", "Status"), b.path())
			}
			require.NotEmpty(t, b.at("BucketEncryption", "ServerSideEncryptionConfiguration"), b.path())
			require.Equal(t, map[string]any{"Rules": []any{map[string]any{"ObjectOwnership": "BucketOwnerEnforced"}}},
				b.at("OwnershipControls"), b.path())
			require.Nil(t, b.at("BucketName"), "%s: names of buckets are everybody's", b.path())
			policy := t.named(b.path()[:len(b.path())-len("/Resource")]+"/Policy", "AWS::S3::BucketPolicy")
			require.Equal(t, b.ref(), policy.text("Bucket"))
			require.True(t, refusesPlain(policy.at("PolicyDocument"), b.attribute("Arn"), b.attribute("Arn")+"/*"), b.path())
		}
	})
}

func TestBucket_keepsColdCopiesAndExpiresDeletedOrParkedObjects(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		for construct, expires := range map[string]bool{"Archive": false, "Parking": true} {
			rules, _ := t.named(construct, "AWS::S3::Bucket").at("LifecycleConfiguration", "Rules").([]any)
			require.NotEmpty(t, rules)
			rule := rules[0].(map[string]any)
			require.Equal(t, "Enabled", rule["Status"])
			require.Equal(t, expires, rule["ExpirationInDays"] != nil, construct)
			require.Equal(t, map[string]any{"NoncurrentDays": 30.0}, rule["NoncurrentVersionExpiration"])
			require.Nil(t, rule["Transitions"])
		}
	})
}

func TestBucket_keepsNoVersionOfAnIndexAndEndsWhatIsNotUsed(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		b := t.named("Snapshots", "AWS::S3::Bucket")
		require.Nil(t, b.at("VersioningConfiguration"))
		rules, _ := b.at("LifecycleConfiguration", "Rules").([]any)
		require.Len(t, rules, 1)
		rule := rules[0].(map[string]any)
		require.Equal(t, "Enabled", rule["Status"])
		require.Equal(t, 30.0, rule["ExpirationInDays"])
		require.Nil(t, rule["Prefix"], "of all objects")
	})
}

func TestQueue_isEncryptedKeepsLongAndSpeaksTLSOnly(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		for _, q := range t.all("AWS::SQS::Queue") {
			require.Equal(t, true, q.at("SqsManagedSseEnabled"), q.path())
			if q.at("RedrivePolicy") == nil { // nothing takes its messages but people
				require.Equal(t, 14*24*3600.0, q.at("MessageRetentionPeriod"), q.path())
			}
			require.True(t, slices.ContainsFunc(t.all("AWS::SQS::QueuePolicy"), func(p resource) bool {
				return slices.Contains(texts(p.at("Queues")), q.ref()) && refusesPlain(p.at("PolicyDocument"), q.attribute("Arn"))
			}), q.path())
		}
	})
}

// A finished export is there for 7 days, and for a day more as a version that is not current.
func TestBucket_endsExportsAfterAWeek(t *testing.T) {
	t.Parallel()
	each(t, func(t *template) {
		rules, _ := t.named("Archive", "AWS::S3::Bucket").at("LifecycleConfiguration", "Rules").([]any)
		found := 0
		for _, r := range rules {
			rule := r.(map[string]any)
			if rule["Prefix"] != "exports/" {
				continue
			}
			found++
			require.Equal(t, "Enabled", rule["Status"])
			require.Equal(t, 7.0, rule["ExpirationInDays"])
			require.Equal(t, map[string]any{"NoncurrentDays": 1.0}, rule["NoncurrentVersionExpiration"])
		}
		require.Equal(t, 1, found)
	})
}
