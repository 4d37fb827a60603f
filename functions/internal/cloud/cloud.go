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

	"nexus/functions/env"
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

// Table returns a function that makes stores on the deployment's table, all with one client: each tells its own meter what
// it used.
func Table(s env.Settings) func(*table.Meter) table.Store {
	client := dynamo.NewClient(Config(s.AWS, env.DynamoDB))
	return func(meter *table.Meter) table.Store {
		return dynamo.New(client, dynamo.WithTable(s.TableName), dynamo.WithObserver(meter.Observe))
	}
}
