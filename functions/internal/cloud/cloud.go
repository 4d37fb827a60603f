// Package cloud makes the configuration of the services' clients out of a function's environment.
//
// It promises that the environment alone decides: no file, no metadata service, no request at start. Lambda provides
// the credentials to an execution environment, which ends before they expire.
package cloud

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
)

// attemptTimeout bounds one attempt of a call: far above the time of any answer, and low enough that another attempt
// fits into an invocation.
const attemptTimeout = 8 * time.Second

// Config returns the configuration for clients of the service.
func Config(in env.AWS, service env.Service) aws.Config {
	credentials := aws.Credentials{
		AccessKeyID: in.AccessKeyID, SecretAccessKey: in.SecretAccessKey, SessionToken: in.SessionToken,
		Source: "environment",
	}
	cfg := aws.Config{
		Region: in.Region,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return credentials, nil
		}),
	}
	if service != env.DynamoDB { // the table's adapter has its own, with limits that suit it
		cfg.HTTPClient = awshttp.NewBuildableClient().WithTimeout(attemptTimeout)
	}
	if address := in.Endpoints[service]; address != "" {
		cfg.BaseEndpoint = aws.String(address)
	}
	return cfg
}

// Tables holds stores on the deployment's table that share one client: one store for each user of the table, so that
// the consumption of each is counted.
type Tables struct {
	client *dynamodb.Client
	name   string
	meters map[string]*table.Meter
}

// NewTables returns the deployment's table. It counts what DynamoDB itself fails to do.
func NewTables(s env.Settings, metrics *metric.Writer) *Tables {
	cfg := Config(s.AWS, env.DynamoDB)
	cfg.APIOptions = append(cfg.APIOptions, counting(func() {
		metrics.Add(metric.ByFunction, string(s.Function), metric.Values{metric.TableFailures: 1}, nil)
	}))
	return &Tables{dynamo.NewClient(cfg), s.TableName, map[string]*table.Meter{}}
}

// StoreFor returns a store for one user of the table: a consumer, or the function itself.
func (t *Tables) StoreFor(user string) table.Store {
	if t.meters[user] == nil {
		t.meters[user] = &table.Meter{}
	}
	return dynamo.New(t.client, dynamo.WithTable(t.name), dynamo.WithObserver(t.meters[user].Observe))
}

// Meter returns the counter of a user's consumption; nil for a user without a store.
func (t *Tables) Meter(user string) *table.Meter { return t.meters[user] }
