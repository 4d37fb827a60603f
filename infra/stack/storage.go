package stack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"
)

const (
	// overwrittenDays is how long a version that was deleted or overwritten can be brought back. It also is how long a
	// copy outlives its user's wish to be rid of it, so it is no longer than that.
	overwrittenDays = 30
	// parkedDays is how long what a consumer could not process waits for its mistake to be mended.
	parkedDays = 180
	// minTLS is the oldest version of TLS that is spoken with.
	minTLS = 1.2
)

// addStorage makes the bucket of cold copies and the bucket of what could not be processed.
func (d *deployment) addStorage() {
	// Cold copies never expire: they are all that is left of an item. None moves to a cheaper class: those count an object
	// as 128 KB at least, and a copy has two.
	d.archive = d.bucket("Archive", &awss3.LifecycleRule{
		Id:                                  jsii.String("overwritten"),
		NoncurrentVersionExpiration:         days(overwrittenDays),
		ExpiredObjectDeleteMarker:           jsii.Bool(true),
		AbortIncompleteMultipartUploadAfter: days(1),
	})
	d.parking = d.bucket("Parking", &awss3.LifecycleRule{
		Id:                                  jsii.String("parked"),
		Expiration:                          days(parkedDays),
		NoncurrentVersionExpiration:         days(overwrittenDays),
		AbortIncompleteMultipartUploadAfter: days(1),
	})
}

func (d *deployment) bucket(id string, rule *awss3.LifecycleRule) awss3.Bucket {
	bucket := awss3.NewBucket(d.Stack, jsii.String(id), &awss3.BucketProps{
		// S3's own keys: whoever may read the bucket may read what is in it, and no call to a key service is paid.
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		EnforceSSL:        jsii.Bool(true),
		MinimumTLSVersion: jsii.Number(minTLS),
		Versioned:         jsii.Bool(true),
		LifecycleRules:    &[]*awss3.LifecycleRule{rule},
		RemovalPolicy:     d.ofData(),
	})
	suppress(bucket, "AwsSolutions-S1",
		"Only the functions read and write it, and each logs what it does; a log of requests would keep the names of "+
			"users' items a second time.")
	return bucket
}

func days(n int) awscdk.Duration { return awscdk.Duration_Days(jsii.Number(n)) }
