// Package enginetest gives tests a local DynamoDB engine.
//
// It promises one engine per test binary, started on first use and ended when no running test uses it any more. A
// missing engine fails the test with the command that installs it. It must never skip a test. [EndpointVariable] puts
// another DynamoDB in the engine's place.
package enginetest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"nexus/pkg/local/engine"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
)

// EndpointVariable is the environment variable that names the endpoint of another DynamoDB, which behaves as the
// service does. Then no engine is started, and nothing is corrected on the way to it.
const EndpointVariable = "NEXUS_TEST_ENDPOINT"

// shared is the engine of this test binary: a resource outside of any one test, guarded by its lock.
var shared struct {
	sync.Mutex
	running *engine.Engine
	users   int
}

// Start returns the endpoint of the test binary's engine for as long as the test runs. Any number of tests may call
// it, in parallel. The data end with the last of them; each test uses a separate table, see [TableName].
func Start(t testing.TB) (endpoint string) {
	t.Helper()
	if other := os.Getenv(EndpointVariable); other != "" {
		return other
	}
	running, err := acquire(t.Context())
	if err != nil {
		t.Fatalf("this test needs the local DynamoDB engine: %v", err)
	}
	t.Cleanup(func() {
		if err := releaseShared(); err != nil {
			t.Errorf("local DynamoDB engine: %v", err)
		}
	})
	return running.Endpoint()
}

func acquire(ctx context.Context) (*engine.Engine, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.users == 0 {
		binary, err := engine.Find()
		if err != nil {
			return nil, err
		}
		if shared.running, err = engine.Start(ctx, engine.Config{Binary: binary}); err != nil {
			return nil, err
		}
	}
	shared.users++
	return shared.running, nil
}

func releaseShared() error {
	shared.Lock()
	defer shared.Unlock()
	shared.users--
	crash := shared.running.Err()
	if shared.users > 0 {
		return crash
	}
	stopped := shared.running.Stop(context.Background())
	shared.running = nil
	if crash != nil {
		return fmt.Errorf("ended while a test used it: %w", crash)
	}
	return stopped
}

var notInTableName = regexp.MustCompile(`[^a-zA-Z0-9_.-]+`)

// TableName returns a table name that no other test uses: the engine shows the records of an old table in the stream of
// a new one that has its name.
func TableName(t testing.TB) string {
	name := notInTableName.ReplaceAllString(t.Name(), "-")
	return fmt.Sprintf("%.180s-%s", name, uuid.NewString())
}

// Table makes the product's table under a fresh name on the test binary's engine, with its stream and TTL on, and
// returns where it is.
func Table(t testing.TB) (endpoint, name string) {
	t.Helper()
	endpoint, name = Start(t), TableName(t)
	client := Client(endpoint)
	schema := table.ProductSchema()
	schema.Name = name
	if _, err := client.CreateTable(t.Context(), dynamo.CreateInput(schema)); err != nil {
		t.Fatalf("create table %s: %v", name, err)
	}
	if _, err := client.UpdateTimeToLive(t.Context(), dynamo.TTLInput(schema)); err != nil {
		t.Fatalf("switch on TTL of table %s: %v", name, err)
	}
	return endpoint, name
}

// Client returns an SDK client for the endpoint, through [Transport].
func Client(endpoint string) *dynamodb.Client { return dynamo.NewClient(Config(endpoint)) }

// Config returns what clients of the endpoint are made of, with [Transport].
func Config(endpoint string) aws.Config {
	return aws.Config{
		BaseEndpoint: aws.String(endpoint),
		Region:       engine.DefaultRegion,
		HTTPClient:   &http.Client{Transport: Transport()},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	}
}

// Transport returns a transport that corrects the engine's deviations. To another DynamoDB it is a plain one.
func Transport() http.RoundTripper {
	if os.Getenv(EndpointVariable) != "" {
		return http.DefaultTransport.(*http.Transport).Clone()
	}
	return engine.Transport(nil, engine.Options{})
}
