package stack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"

	"nexus/pkg/account"
	"nexus/pkg/consume"
	"nexus/pkg/transfer"
)

const (
	// overwrittenDays is how long a deleted or overwritten version can be restored. It is also how long a copy outlives
	// its user's wish to delete it, so it is no longer than that.
	overwrittenDays = 30
	// parkedDays is how long a parked record waits for the correction of its mistake.
	parkedDays = 180
	// givenUpDays is how long a batch that a reader gave up waits for its redrive. It has records of several users, so an
	// erasure waits for its end: 35 days and the roundings of the lifecycle are less than the 40 of an account's row.
	givenUpDays = 35
	// erasedDays is how long the list knows that an account was erased: longer than a restore of the table reaches back.
	erasedDays = 40
	// indexDays is how long a snapshot of an index stays whose user searches no more. A search replaces one that is 20
	// days old.
	indexDays = 30
	// purgedDays is the least that S3 keeps a version that is not current.
	purgedDays = 1
	// minTLS is the oldest accepted version of TLS.
	minTLS = 1.2
)

// addStorage makes the buckets of cold copies, of parked records and of snapshots of indexes.
func (d *deployment) addStorage() {
	// Cold copies never expire: they are all that is left of an item. None moves to a cheaper class: those count an
	// object as at least 128 KB, and a copy has two.
	replicator, replication := d.replication()
	d.archive = d.bucket("Archive", &awss3.BucketProps{
		ReplicationRole: replicator, ReplicationRules: replication,
		LifecycleRules: &[]*awss3.LifecycleRule{{
			Id:                                  jsii.String("overwritten"),
			NoncurrentVersionExpiration:         days(overwrittenDays),
			ExpiredObjectDeleteMarker:           jsii.Bool(true),
			AbortIncompleteMultipartUploadAfter: days(1),
		}, {
			Id:                          jsii.String("exports"),
			Prefix:                      jsii.String(transfer.ExportsPrefix),
			Expiration:                  days(int(transfer.FileRetention / (24 * time.Hour))),
			NoncurrentVersionExpiration: days(purgedDays),
		}, erasedRule()},
	})
	d.allowReplication(replicator, d.archive)
	d.parking = d.bucket("Parking", &awss3.BucketProps{LifecycleRules: &[]*awss3.LifecycleRule{{
		Id:                                  jsii.String("parked"),
		Prefix:                              jsii.String(consume.ParkedPrefix),
		Expiration:                          days(parkedDays),
		NoncurrentVersionExpiration:         days(overwrittenDays),
		AbortIncompleteMultipartUploadAfter: days(1),
	}, {
		Id:                                  jsii.String("given-up"),
		Prefix:                              jsii.String(failurePrefix),
		Expiration:                          days(givenUpDays),
		NoncurrentVersionExpiration:         days(purgedDays),
		AbortIncompleteMultipartUploadAfter: days(1),
	}}})
	// What it has can be made again, and must go with its user: no versions.
	d.snapshots = d.bucket("Snapshots", &awss3.BucketProps{
		Versioned: jsii.Bool(false),
		LifecycleRules: &[]*awss3.LifecycleRule{{
			Id:                                  jsii.String("unused"),
			Expiration:                          days(indexDays),
			AbortIncompleteMultipartUploadAfter: days(1),
		}},
	})
}

// erasedRule ends the entries of the list of erased accounts.
func erasedRule() *awss3.LifecycleRule {
	return &awss3.LifecycleRule{
		Id:                          jsii.String("erased"),
		Prefix:                      jsii.String(account.ErasedPrefix),
		Expiration:                  days(erasedDays),
		NoncurrentVersionExpiration: days(purgedDays),
	}
}

// failurePrefix begins the names that Lambda gives to the batches that a reader gave up (AWS Lambda Developer Guide,
// "Retain discarded batches").
const failurePrefix = "aws/lambda/"

// bucket makes a bucket with what all have in common.
func (d *deployment) bucket(id string, props *awss3.BucketProps) awss3.Bucket {
	// S3's own keys: a client that may read the bucket may read its content, and no call to a key service is paid.
	props.Encryption = awss3.BucketEncryption_S3_MANAGED
	props.BlockPublicAccess = awss3.BlockPublicAccess_BLOCK_ALL()
	props.ObjectOwnership = awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED
	props.EnforceSSL = jsii.Bool(true)
	props.MinimumTLSVersion = jsii.Number(minTLS)
	if props.Versioned == nil {
		props.Versioned = jsii.Bool(true)
	}
	props.RemovalPolicy = d.removalPolicy()
	bucket := awss3.NewBucket(d.Stack, jsii.String(id), props)
	suppress(bucket, "AwsSolutions-S1",
		"Only the functions read and write it, and each logs what it does; a log of requests would keep the names of "+
			"users' items a second time.")
	return bucket
}

func days(n int) awscdk.Duration { return awscdk.Duration_Days(jsii.Number(n)) }
