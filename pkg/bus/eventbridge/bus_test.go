package eventbridge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/stretchr/testify/require"

	"nexus/pkg/bus"
	"nexus/pkg/bus/bustest"
	"nexus/pkg/bus/eventbridge"
)

// client returns one that tries each call once, unless the options say otherwise.
func client(endpoint string, options ...func(*sdk.Options)) *sdk.Client {
	return sdk.New(sdk.Options{
		Region:       "eu-central-1",
		BaseEndpoint: aws.String(endpoint),
		Retryer:      aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		}),
	}, options...)
}

type fixture struct {
	*eventbridge.Bus
	service *service
	pauses  []time.Duration
}

func setup(t *testing.T) *fixture {
	t.Helper()
	fake, server := newService(t)
	b := &fixture{service: fake}
	created, err := eventbridge.New(client(server.URL), eventbridge.Config{
		BusName: busName,
		Pause: func(ctx context.Context, d time.Duration) error {
			b.pauses = append(b.pauses, d)
			return ctx.Err()
		},
	})
	require.NoError(t, err)
	b.Bus = created
	return b
}

func events(n int) []bus.Event {
	out := make([]bus.Event, n)
	for i := range out {
		out[i] = bus.Event{Type: fmt.Sprintf("E%d", i), Detail: []byte("{}"), Time: time.Unix(1_800_000_000, 0).UTC()}
	}
	return out
}

func TestBus_conforms(t *testing.T) {
	t.Parallel()
	bustest.Run(t, func(t *testing.T) bustest.Subject {
		b := setup(t)
		return bustest.Subject{Bus: b, Received: func(*testing.T) []bus.Event { return b.service.heard() }}
	})
}

func TestPublish_sendsAtMostTenEntriesInARequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, b.Publish(t.Context(), events(23)...))
	require.Equal(t, []int{10, 10, 3}, b.service.sizes())
}

func TestPublish_sendsLessThan256KilobytesInARequest(t *testing.T) {
	t.Parallel()
	const most = 256<<10 - 1 // what the entries of one request may have together
	sized := func(size int) bus.Event {
		e := events(1)[0]
		e.Detail = []byte(`{"a":"` + strings.Repeat("x", size-14-len(bus.Source)-len(e.Type)-len(`{"a":""}`)) + `"}`)
		return e
	}
	for second, requests := range map[int][]int{most - 150_000: {2}, most - 150_000 + 1: {1, 1}} {
		b := setup(t)
		require.NoError(t, b.Publish(t.Context(), sized(150_000), sized(second)))
		require.Equal(t, requests, b.service.sizes())
	}
}

func TestPublish_sendsAgainEntriesRefusedInPassingAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.service.fail = func(request, entry int) string {
		switch {
		case request == 0 && entry == 1:
			return "ThrottlingException"
		case request <= 1 && entry == 0:
			return "InternalFailure"
		}
		return ""
	}
	require.NoError(t, b.Publish(t.Context(), events(4)...))
	require.Equal(t, []int{4, 2, 1}, b.service.sizes())
	require.Len(t, b.service.heard(), 4, "none twice")
	require.Equal(t, []time.Duration{100 * time.Millisecond, 200 * time.Millisecond}, b.pauses)
}

func TestPublish_boundsItsAttempts(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]error{
		"ThrottlingException": bus.ErrThrottled, "InternalFailure": bus.ErrUnavailable,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.service.fail = func(_, entry int) string {
				if entry == 0 {
					return code
				}
				return ""
			}
			err := b.Publish(t.Context(), events(12)...)
			require.ErrorIs(t, err, want)
			require.ErrorContains(t, err, "events 1 to 10 of 12")
			require.Equal(t, []int{10, 1, 1, 1}, b.service.sizes())
		})
	}
}

func TestPublish_doesNotRepeatAnEntryRefusedForGood(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]error{
		"MalformedDetail":                 bus.ErrInvalid,
		"InvalidArgument":                 bus.ErrInvalid,
		"NotAuthorizedForSourceException": bus.ErrUnavailable,
		"AccessDeniedException":           bus.ErrUnavailable,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.service.fail = func(request, entry int) string {
				switch {
				case request > 0:
					return ""
				case entry == 0:
					return code
				}
				return "InternalFailure"
			}
			err := b.Publish(t.Context(), events(3)...)
			require.ErrorIs(t, err, want)
			require.ErrorContains(t, err, "entry E0: "+code)
			require.Equal(t, []int{3, 2}, b.service.sizes())
			require.Len(t, b.service.heard(), 2, "the others arrived")
		})
	}
}

func TestPublish_failsIfTheAnswerDoesNotMatchTheEntries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.service.shorten = true
	require.ErrorIs(t, b.Publish(t.Context(), events(2)...), bus.ErrUnavailable)
}

func TestPublish_returnsTheCallersErrorBetweenAttempts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.service.fail = func(int, int) string { cancel(); return "InternalFailure" }
	err := b.Publish(ctx, events(1)...)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, bus.ErrUnavailable)
}

func TestNew_needsABusName(t *testing.T) {
	t.Parallel()
	_, err := eventbridge.New(client("http://127.0.0.1:1"), eventbridge.Config{})
	require.ErrorContains(t, err, "BusName is missing")
}
