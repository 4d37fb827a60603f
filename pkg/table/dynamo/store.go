package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"nexus/pkg/port"
	"nexus/pkg/table"
)

// Store is a [table.Store] on one DynamoDB table.
type Store struct{ settings }

var _ table.Store = (*Store)(nil)

// New returns the store that uses the client, which should come from [NewClient].
func New(client *dynamodb.Client, options ...Option) *Store {
	return &Store{newSettings(client, options)}
}

// Option changes a setting of a [Store] or a [Walker].
type Option func(*settings)

// WithTable names the table; the default is the schema's name.
func WithTable(name string) Option { return func(s *settings) { s.schema.Name = name } }

// WithObserver reports every call to the observer, with the units that the service says it consumed. A call that the
// service refused or did not answer is reported with no rows and no units, because the service returns no figure.
func WithObserver(observe table.Observer) Option { return func(s *settings) { s.observe = observe } }

// WithTokens sets the source of the transactions' client tokens: 1 to 36 characters each, never the same twice. The
// default is random UUIDs.
func WithTokens(next func() string) Option { return func(s *settings) { s.token = next } }

// WithPause sets how the store waits before it asks again for what a batch left unprocessed. It returns early, with the
// context's error, if the context ends. The default waits in real time.
func WithPause(pause func(context.Context, time.Duration) error) Option {
	return func(s *settings) { s.pause = pause }
}

type settings struct {
	client  *dynamodb.Client
	schema  table.Schema
	observe table.Observer
	token   func() string
	pause   func(context.Context, time.Duration) error
	backoff retry.BackoffDelayer
}

func newSettings(client *dynamodb.Client, options []Option) settings {
	s := settings{
		client:  client,
		schema:  table.ProductSchema(),
		observe: func(table.Consumption) {},
		token:   uuid.NewString,
		pause:   port.Sleep,
		backoff: newBackoff(),
	}
	for _, option := range options {
		option(&s)
	}
	return s
}
