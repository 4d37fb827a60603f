package sqs_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
	"nexus/pkg/queue"
	"nexus/pkg/queue/queuetest"
	"nexus/pkg/queue/sqs"
)

// attempts bounds how often the SDK tries a call, with the settings of the functions.
const attempts = 3

// line is an adapter behind a network that fails as the test demands.
type line struct {
	*sqs.Queue
	network *wiretest.Network
	service *service
}

func connect(t *testing.T) *line {
	t.Helper()
	fake := newService()
	network, _, server := wiretest.Serve(t, wiretest.SQS(), fake)
	client := sdk.New(sdk.Options{
		Region: "eu-central-1", BaseEndpoint: aws.String(server.URL),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		}),
		HTTPClient: &http.Client{Transport: network.Impatient(http.DefaultTransport)},
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		}),
	})
	q, err := sqs.New(client, sqs.Config{URL: queueURL})
	require.NoError(t, err)
	return &line{q, network, fake}
}

func one(id string) queue.Message { return queue.Message{Group: "g", ID: id, Body: []byte(`{"a":1}`)} }

func TestQueue_conforms(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, func(t *testing.T) queuetest.Subject {
		l := connect(t)
		return queuetest.Subject{Queue: l, Work: func(_ *testing.T, worker func(queue.Message) error) []queue.Message {
			return l.service.work(worker)
		}}
	})
}

func TestNew_namesTheMissingSetting(t *testing.T) {
	t.Parallel()
	_, err := sqs.New(nil, sqs.Config{})
	require.ErrorContains(t, err, "URL")
}

func TestSentinel_hasAMeaningForEachErrorOfARequest(t *testing.T) {
	t.Parallel()
	want := map[string]error{
		"ThrottlingException": queue.ErrThrottled, "RequestThrottled": queue.ErrThrottled, "KmsThrottled": queue.ErrThrottled,
		"InvalidMessageContents": queue.ErrInvalid,
	}
	for _, refusal := range wiretest.SQS().Operation("SendMessage").Refusals {
		t.Run(refusal.Code, func(t *testing.T) {
			t.Parallel()
			l := connect(t)
			l.network.Always(wiretest.Refused(refusal))
			err := l.Put(t.Context(), one("a"))
			kind := want[refusal.Code]
			if kind == nil {
				kind = queue.ErrUnavailable // the deployment's fault, or the service's: never the message's
			}
			require.ErrorIs(t, err, kind)
			require.ErrorContains(t, err, refusal.Code)
			tries := 1
			if refusal.Repeated {
				tries = attempts
			}
			require.Equal(t, tries, l.network.Requests())
			require.Empty(t, l.service.Waiting())
		})
	}
}

// A request whose answer was lost is sent again under the same deduplication id, and adds one message.
func TestQueue_addsOneMessageAfterAFaultOnTheWay(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]wiretest.Fault{
		"reset": wiretest.Reset(), "lost": wiretest.Lost(), "cut": wiretest.Cut(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := connect(t)
			l.network.Next(fault, fault)
			require.NoError(t, l.Put(t.Context(), one("a")))
			require.Equal(t, []queue.Message{one("a")}, l.service.Waiting())
			if name == "lost" {
				require.Equal(t, attempts, l.service.requests())
			}
		})
	}
}

func TestQueue_isUnavailableAfterBoundedAttempts(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]wiretest.Fault{
		"reset": wiretest.Reset(), "lost": wiretest.Lost(), "cut": wiretest.Cut(), "damaged": wiretest.Damaged(),
		"silent": wiretest.Silent(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := connect(t)
			l.network.Always(fault)
			require.ErrorIs(t, l.Put(t.Context(), one("a")), queue.ErrUnavailable)
			require.LessOrEqual(t, l.network.Requests(), attempts)
		})
	}
}
