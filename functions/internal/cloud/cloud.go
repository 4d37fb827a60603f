// Package cloud makes the configuration of the services' clients out of a function's environment.
//
// It promises that nothing but the environment decides: no file, no metadata service, no request at start. The
// credentials are those that Lambda gives an execution environment, which lives shorter than they do.
package cloud

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"nexus/pkg/deploy/env"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
)

// attemptTimeout is what one attempt of a call may take, far above what any answer needs and low enough that another
// attempt fits into an invocation.
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
	if service != env.DynamoDB { // the table's adapter brings its own, with limits that suit it
		cfg.HTTPClient = awshttp.NewBuildableClient().WithTimeout(attemptTimeout)
	}
	if address := in.Endpoints[service]; address != "" {
		cfg.BaseEndpoint = aws.String(address)
	}
	return cfg
}

// Tables are stores on the deployment's table with one client between them, one store for each who uses it: what each
// consumes is counted.
type Tables struct {
	client *dynamodb.Client
	name   string
	meters map[string]*table.Meter
}

// NewTables returns the deployment's table for whoever asks.
func NewTables(s env.Settings) *Tables {
	return &Tables{dynamo.NewClient(Config(s.AWS, env.DynamoDB)), s.TableName, map[string]*table.Meter{}}
}

// Of returns a store for one user of the table: a consumer, or the function itself.
func (t *Tables) Of(user string) table.Store {
	if t.meters[user] == nil {
		t.meters[user] = &table.Meter{}
	}
	return dynamo.New(t.client, dynamo.WithTable(t.name), dynamo.WithObserver(t.meters[user].Observe))
}

// Meter returns what counts the consumption of a user; nil for one who has no store.
func (t *Tables) Meter(user string) *table.Meter { return t.meters[user] }
