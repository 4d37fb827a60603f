package dynamo

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

const (
	// maxAttempts covers a connection that the other side has just closed, twice in a row.
	maxAttempts = 4
	// attemptTimeout is far above what the slowest full page takes, and below every caller's own deadline.
	attemptTimeout = 5 * time.Second
	// firstDelay is the upper bound of the wait before a second attempt; each later bound is twice the one before.
	firstDelay = 50 * time.Millisecond
	maxDelay   = time.Second
)

// NewClient returns a DynamoDB client for cfg: region, credentials and, for another endpoint than the region's,
// BaseEndpoint. It retries as the SDK's standard mode does, with waits that suit single-digit-millisecond calls. Each
// attempt has 5 seconds, unless cfg has its own HTTP client.
func NewClient(cfg aws.Config) *dynamodb.Client {
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = retry.NewStandard(func(r *retry.StandardOptions) {
			r.MaxAttempts = maxAttempts
			r.Backoff = newBackoff()
		})
		if cfg.HTTPClient == nil {
			o.HTTPClient = awshttp.NewBuildableClient().WithTimeout(attemptTimeout)
		}
	})
}

// newBackoff returns the SDK's exponential backoff with full jitter, scaled down: the SDK counts attempts from 1 and
// waits up to two seconds before the second.
func newBackoff() retry.BackoffDelayer {
	const scale = 2 * time.Second / firstDelay
	jitter := retry.NewExponentialJitterBackoff(maxDelay * scale)
	return retry.BackoffDelayerFunc(func(attempt int, err error) (time.Duration, error) {
		delay, err := jitter.BackoffDelay(attempt, err)
		return delay / scale, err
	})
}
