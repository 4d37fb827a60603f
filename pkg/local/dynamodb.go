package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"nexus/pkg/eventsource"
	"nexus/pkg/eventsource/streams"
	"nexus/pkg/item"
	"nexus/pkg/local/engine"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
)

const (
	// callTimeout bounds one attempt of a call to the service.
	callTimeout = 5 * time.Second
	// createdPoll is the interval at which a new table is checked until it can be used.
	createdPoll = 200 * time.Millisecond
	// idleConnections is the number of connections that a busy local system uses.
	idleConnections = 64
)

// newTransport carries requests to a service on this machine or elsewhere. Its owner closes its idle connections.
func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConnections, idleConnections
	return t
}

// serviceConfig returns the SDK's configuration for the endpoint: credentials and region of the environment, or
// made-up ones, which every local service accepts.
func serviceConfig(endpoint string, transport http.RoundTripper) aws.Config {
	credentials := aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local", Source: "local platform"}
	if id := os.Getenv("AWS_ACCESS_KEY_ID"); id != "" {
		credentials = aws.Credentials{
			AccessKeyID: id, SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
			Source: "environment",
		}
	}
	return aws.Config{
		BaseEndpoint: aws.String(endpoint),
		Region:       cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), engine.DefaultRegion),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return credentials, nil
		}),
		HTTPClient: &http.Client{Transport: transport, Timeout: callTimeout},
	}
}

// NewClient returns a client of the service at the endpoint, with the region and credentials of the environment, and a
// function that closes its connections.
func NewClient(endpoint string) (*dynamodb.Client, func(), error) {
	if _, err := (Options{Endpoint: endpoint}).normal(); err != nil {
		return nil, nil, err
	}
	base := newTransport()
	return dynamo.NewClient(serviceConfig(endpoint, base)), base.CloseIdleConnections, nil
}

// startEngine starts the local engine on the directory and creates the table. Rows are swept by the platform's clock,
// because the engine never removes one.
func startEngine(ctx context.Context, dir string, rows *expiries, log *slog.Logger) (_ *backend, err error) {
	binary, err := engine.Find()
	if err != nil {
		return nil, fmt.Errorf("%w; --store memory does without an engine", err)
	}
	running, err := engine.Start(ctx, engine.Config{Binary: binary, DataDir: dir, Log: log.With("part", "engine")})
	if err != nil {
		return nil, err
	}
	if !engine.Secluded {
		log.Warn(
			"the engine listens on 127.0.0.1: each program of this machine, and a page in its browser that tries every port, " +
				"can read and write the data")
	}
	base := running.Transport()
	var sweeper *engine.Sweeper
	stop := func(ctx context.Context) error {
		var errs []error
		if sweeper != nil {
			errs = append(errs, sweeper.Close())
		}
		base.CloseIdleConnections()
		return errors.Join(append(errs, running.Stop(ctx))...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, stop(context.WithoutCancel(ctx)))
		}
	}()
	// The sweeper reports its removals to the transport, so it must not use that transport itself.
	plain := dynamo.New(dynamo.NewClient(serviceConfig(engine.Internal, base)))
	var taken []item.Item
	find := func(ctx context.Context, at time.Time) ([]item.Item, error) {
		taken = rows.take(at)
		return rows.toSweep(ctx, taken)
	}
	sweeper, err = engine.NewSweeper(running.DataDir(), plain, find, rows.types...)
	if err != nil {
		return nil, err
	}
	carried := engine.Transport(base, engine.Options{Removals: sweeper})
	b, err := openTable(ctx, engine.Internal, carried, few{carried, make(chan struct{}, requestCalls)}, log)
	if err != nil {
		return nil, err
	}
	if b.heads, err = engineHeads(ctx, running, b); err != nil {
		return nil, err
	}
	b.sweep = func(ctx context.Context, at time.Time) (int, error) {
		taken = nil
		count, err := sweeper.Sweep(ctx, at)
		if err != nil {
			rows.restore(taken)
		}
		return count, err
	}
	b.forget = func(are func(item.Key) bool, counts bool) (int, error) {
		if counts {
			return sweeper.Count(are), nil
		}
		return sweeper.Forget(are)
	}
	b.mask = func(ctx context.Context, insteadOf func(string) (item.Key, bool)) (int, error) {
		return running.Mask(ctx, b.tableName, insteadOf)
	}
	b.endpoint = running.Endpoint()
	b.done, b.err, b.stop = running.Done(), running.Err, stop
	return b, nil
}

// engineHeads asks the engine for its last record, which is in its one shard.
func engineHeads(
	ctx context.Context, running *engine.Engine, b *backend,
) (func(context.Context) (map[string]string, error), error) {
	shards, err := b.newSource().Shards(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (map[string]string, error) {
		head, err := running.Head(ctx, b.stream)
		if err != nil {
			return nil, err
		}
		heads := map[string]string{}
		for _, shard := range shards {
			heads[shard.ID] = head
		}
		return heads, nil
	}, nil
}

// startEndpoint uses a service outside the platform. Such a service does not report the end of its stream, and removes
// rows itself.
func startEndpoint(ctx context.Context, endpoint string, log *slog.Logger) (*backend, error) {
	base := newTransport()
	b, err := openTable(ctx, endpoint, base, base, log)
	if err != nil {
		base.CloseIdleConnections()
		return nil, err
	}
	b.endpoint = endpoint
	b.stop = func(context.Context) error {
		base.CloseIdleConnections()
		return nil
	}
	return b, nil
}

// openTable returns the table at the endpoint and creates it if it is missing. Calls that serve requests go through a
// transport of their own.
func openTable(
	ctx context.Context, endpoint string, transport, ofRequests http.RoundTripper, log *slog.Logger,
) (*backend, error) {
	cfg := serviceConfig(endpoint, transport)
	client := dynamo.NewClient(cfg)
	clientOfRequests := dynamo.NewClient(serviceConfig(endpoint, ofRequests))
	schema := table.ProductSchema()
	stream, err := ensureTable(ctx, client, schema)
	if err != nil {
		return nil, fmt.Errorf("table %s at %s: %w", schema.Name, endpoint, err)
	}
	onStream := dynamodbstreams.NewFromConfig(cfg)
	return &backend{
		newStore: func(o table.Observer, servesRequests bool) table.Store {
			if servesRequests {
				return dynamo.New(clientOfRequests, dynamo.WithObserver(o))
			}
			return dynamo.New(client, dynamo.WithObserver(o))
		},
		walker: dynamo.NewWalker(client),
		stream: stream, tableName: schema.Name,
		newSource: func() eventsource.Source {
			return streams.New(onStream, stream, func(gap streams.Gap) {
				log.Error("records of the stream were trimmed before they were read", "shard", gap.Shard, "after", gap.After)
			})
		},
	}, nil
}

// ensureTable returns the ARN of the table's stream.
func ensureTable(ctx context.Context, client *dynamodb.Client, schema table.Schema) (stream string, err error) {
	described, err := describe(ctx, client, schema.Name)
	if err == nil && described == nil {
		if described, err = create(ctx, client, schema); err != nil {
			return "", err
		}
	}
	if err != nil {
		return "", err
	}
	enabled := described.StreamSpecification != nil && aws.ToBool(described.StreamSpecification.StreamEnabled)
	if stream = aws.ToString(described.LatestStreamArn); !enabled || stream == "" {
		return "", errors.New("it exists and has no stream; consumers need one with new and old images")
	}
	return stream, nil
}

// describe returns nil for a missing table.
func describe(ctx context.Context, client *dynamodb.Client, name string) (*types.TableDescription, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if missing := new(types.ResourceNotFoundException); errors.As(err, &missing) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("describe: %w", err)
	}
	return out.Table, nil
}

func create(ctx context.Context, client *dynamodb.Client, schema table.Schema) (*types.TableDescription, error) {
	_, err := client.CreateTable(ctx, dynamo.CreateInput(schema))
	// A client repeats a call whose answer was lost. Then the table is there.
	if made := new(types.ResourceInUseException); err != nil && !errors.As(err, &made) {
		return nil, fmt.Errorf("create: %w", err)
	}
	tick := time.NewTicker(createdPoll)
	defer tick.Stop()
	for {
		described, err := describe(ctx, client, schema.Name)
		if err != nil {
			return nil, err
		}
		if described != nil && described.TableStatus == types.TableStatusActive {
			if _, err := client.UpdateTimeToLive(ctx, dynamo.TTLInput(schema)); err != nil {
				return nil, fmt.Errorf("switch on TTL: %w", err)
			}
			return described, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait until it is active: %w", ctx.Err())
		}
	}
}
