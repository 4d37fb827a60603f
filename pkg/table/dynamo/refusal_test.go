package dynamo_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
	"nexus/pkg/entity"
	"nexus/pkg/item"
	"nexus/pkg/local/engine"
	"nexus/pkg/table"
	"nexus/pkg/table/dynamo"
)

// attempts bounds how often a client of [dynamo.NewClient] tries a call.
const attempts = 4

// line is a store on the engine behind a network that fails as the test demands.
type line struct {
	*dynamo.Store
	*dynamo.Walker
	bench    *fixture
	network  *wiretest.Network
	endpoint string
}

// connect returns a store whose client waits neither between its attempts nor for what does not come.
func connect(t *testing.T) *line {
	t.Helper()
	b := setup(t)
	behind := wiretest.Forward(t, b.endpoint, engine.Transport(nil, engine.Options{}))
	network, guard, server := wiretest.Serve(t, service(), behind)
	guard.Also(complete)
	l := &line{bench: b, network: network, endpoint: server.URL}
	l.renew()
	return l
}

// renew gives the line a new client: one that has failed often does not repeat its calls any more (AWS SDKs and Tools
// Reference Guide, "Retry behavior", "Retry quotas").
func (l *line) renew() {
	impatient, table := hasty(client(l.endpoint, l.network.Impatient(http.DefaultTransport))),
		dynamo.WithTable(l.bench.name)
	l.Store, l.Walker = dynamo.New(impatient, table), dynamo.NewWalker(impatient, table)
}

// hasty is the client without waits between its attempts.
func hasty(patient *dynamodb.Client) *dynamodb.Client {
	return dynamodb.New(patient.Options(), func(o *dynamodb.Options) {
		most := o.Retryer.MaxAttempts()
		o.Retryer = retry.NewStandard(func(r *retry.StandardOptions) {
			r.MaxAttempts = most
			r.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	})
}

// calls are the port's calls by the operation that they are.
func (l *line) calls(ctx context.Context) map[string]func() error {
	return map[string]func() error{
		"GetItem": func() error {
			_, err := l.Get(ctx, rowKey(1))
			return err
		},
		"BatchGetItem": func() error {
			_, err := l.BatchGet(ctx, keys(3))
			return err
		},
		"Query": func() error {
			_, err := l.Query(ctx, table.Query{Partition: rowKey(1).PK})
			return err
		},
		"Scan":    func() error { return l.Walk(ctx, 0, 1, func(item.Item) error { return nil }) },
		"PutItem": func() error { return l.Put(ctx, table.Put{Item: versioned(1, 2), If: table.AtVersion(1)}) },
		"UpdateItem": func() error {
			_, err := l.Update(ctx, table.Update{
				Key: rowKey(1), Set: item.Item{entity.AttrVersion: item.Int(2)}, If: table.AtVersion(1),
			})
			return err
		},
		"DeleteItem":     func() error { return l.Delete(ctx, table.Delete{Key: rowKey(1), If: table.AtVersion(1)}) },
		"BatchWriteItem": func() error { return l.Load(ctx, []item.Item{versioned(1, 2)}) },
		"TransactWriteItems": func() error {
			return l.Transact(ctx, table.Put{Item: versioned(1, 2), If: table.AtVersion(1)},
				table.Check{Key: rowKey(2), If: table.NotExists()})
		},
	}
}

func TestTranslate_hasAMeaningForEachDocumentedError(t *testing.T) {
	t.Parallel()
	want := map[string]error{
		"ProvisionedThroughputExceededException": table.ErrThrottled, "RequestLimitExceeded": table.ErrThrottled,
		"ThrottlingException":          table.ErrThrottled,
		"TransactionConflictException": table.ErrConflict, "ReplicatedWriteConflictException": table.ErrConflict,
		"InternalServerError": table.ErrUnavailable, "ServiceUnavailable": table.ErrUnavailable,
		"TransactionInProgressException": table.ErrUnavailable, // the former attempt may still succeed
		"ResourceNotFoundException":      dynamo.ErrNoTable,
		"ValidationException":            table.ErrInvalid, "SerializationException": table.ErrInvalid,
		"ItemCollectionSizeLimitExceededException": table.ErrInvalid,
		"IdempotentParameterMismatchException":     table.ErrInvalid,
	}
	for _, rights := range []string{
		"AccessDeniedException", "ExpiredTokenException", "UnrecognizedClientException", "IncompleteSignatureException",
		"MissingAuthenticationTokenException",
	} {
		want[rights] = nil // no code decides on it: it is retried, and the operator corrects it
	}
	l := connect(t)
	for _, operation := range service().Operations {
		for _, refusal := range operation.Refusals {
			call, ours := l.calls(t.Context())[operation.Name]
			if !ours {
				continue // an operation on the table itself, which is not for a store
			}
			l.renew()
			l.network.Always(wiretest.Refused(refusal))
			err := call()
			require.Contains(t, want, refusal.Code)
			requireOnly(t, want[refusal.Code], err)
			require.ErrorContains(t, err, refusal.Code)
			tries := 1
			if refusal.Repeated {
				tries = attempts
			}
			require.Equal(t, tries, l.network.Requests(), "%s %s", operation.Name, refusal.Code)
		}
	}
}

// before is the row that the calls find.
func (l *line) before(t *testing.T) {
	t.Helper()
	l.network.Next()
	require.NoError(t, l.Put(t.Context(), table.Put{Item: versioned(1, 1)}))
}

func TestStore_retriesAfterAFaultOnTheWay(t *testing.T) {
	t.Parallel()
	faults := map[string]wiretest.Fault{"reset": wiretest.Reset(), "lost": wiretest.Lost(), "cut": wiretest.Cut()}
	for _, code := range []string{"ProvisionedThroughputExceededException", "ThrottlingException"} {
		faults[code] = wiretest.Refused(wiretest.Refusal{Status: http.StatusBadRequest, Code: code})
	}
	faults["InternalServerError"] = wiretest.Refused(wiretest.Refusal{
		Status: http.StatusInternalServerError, Code: "InternalServerError",
	})
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := connect(t)
			for operation, call := range l.calls(t.Context()) {
				l.before(t)
				l.network.Next(fault, fault)
				require.NoError(t, call(), operation)
				left := versioned(1, 1)
				switch operation {
				case "PutItem", "UpdateItem", "BatchWriteItem", "TransactWriteItems":
					left = versioned(1, 2)
				case "DeleteItem":
					left = nil
				}
				require.Equal(t, left, l.bench.row(t, 1), operation)
			}
		})
	}
}

func TestStore_isUnavailableAfterBoundedAttempts(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]wiretest.Fault{
		"reset": wiretest.Reset(), "lost": wiretest.Lost(), "cut": wiretest.Cut(), "silent": wiretest.Silent(),
		"a proxy's": wiretest.Bare(http.StatusBadGateway),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := connect(t)
			for operation, call := range l.calls(t.Context()) {
				l.network.Next()
				require.NoError(t, l.bench.store.Put(t.Context(), table.Put{Item: versioned(1, 1)}))
				l.network.Always(fault)
				requireOnly(t, table.ErrUnavailable, call())
				require.Equal(t, attempts, l.network.Requests(), operation)
			}
		})
	}
}

func TestStore_leavesOpenWhatAnUnreadableAnswerDid(t *testing.T) {
	t.Parallel()
	l := connect(t)
	for operation, call := range l.calls(t.Context()) {
		require.NoError(t, l.bench.store.Put(t.Context(), table.Put{Item: versioned(1, 1)}))
		l.network.Always(wiretest.Damaged())
		requireOnly(t, table.ErrUnavailable, call())
		require.Equal(t, 1, l.network.Requests(), "%s: it was an answer", operation)
	}
}

func TestNewClient_limitsTheTimeOfAnAttempt(t *testing.T) {
	t.Parallel()
	transport := dynamo.NewClient(aws.Config{Region: "eu-central-1"}).Options().HTTPClient.(*awshttp.BuildableClient)
	require.Equal(t, 5*time.Second, transport.GetTimeout())
}

func TestNewBackoff_repeatsLessAfterManyFailures(t *testing.T) {
	t.Parallel()
	l := connect(t)
	l.network.Always(wiretest.Refused(wiretest.Refusal{Status: http.StatusServiceUnavailable, Code: "ServiceUnavailable"}))
	const calls = 100
	for range calls {
		requireOnly(t, table.ErrUnavailable, l.Put(t.Context(), table.Put{Item: row(1, "x")}))
	}
	require.LessOrEqual(t, l.network.Requests(), 2*calls,
		"a service that is down is not brought down again by those who wait for it")
	l.network.Next()
	require.NoError(t, l.Put(t.Context(), table.Put{Item: row(1, "x")}))
}

func TestWithTokens_repeatsATransactionUnderItsToken(t *testing.T) {
	t.Parallel()
	w := newWire(t, answer{}, refusal(http.StatusBadRequest, "TransactionInProgressException"), ok(`{}`))
	store := dynamo.New(hasty(client(w.endpoint, http.DefaultTransport)))
	for range 2 {
		require.NoError(t, store.Transact(t.Context(), table.Put{Item: row(1, "x")}, table.Check{Key: rowKey(2)}))
	}
	var tokens []any
	for _, r := range w.sent() {
		tokens = append(tokens, r.body["ClientRequestToken"])
	}
	require.Len(t, tokens, 4)
	require.Equal(t, []any{tokens[0], tokens[0], tokens[0]}, tokens[:3])
	require.NotEqual(t, tokens[0], tokens[3], "another transaction")
}
