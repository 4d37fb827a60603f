package eventbridge_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	sdk "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
	"nexus/pkg/bus"
	"nexus/pkg/bus/eventbridge"
)

// attempts bounds how often the SDK tries a call, with the settings of the functions.
const attempts = 3

// line is an adapter behind a network that fails as the test demands.
type line struct {
	*eventbridge.Bus
	network *wiretest.Network
	service *service
}

func connect(t *testing.T) *line {
	t.Helper()
	fake := &service{}
	network, guard, server := wiretest.Serve(t, wiretest.EventBridge(), fake)
	guard.Also(complete)
	b, err := eventbridge.New(client(server.URL, func(o *sdk.Options) {
		o.HTTPClient = &http.Client{Transport: network.Impatient(http.DefaultTransport)}
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}), eventbridge.Config{
		BusName: busName, Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	require.NoError(t, err)
	return &line{b, network, fake}
}

func TestSentinel_hasAMeaningForEachErrorOfARequest(t *testing.T) {
	t.Parallel()
	want := map[string]error{
		"ThrottlingException":         bus.ErrThrottled,
		"ValidationException":         bus.ErrInvalid,
		"InternalException":           bus.ErrUnavailable,
		"InternalFailure":             bus.ErrUnavailable,
		"ServiceUnavailable":          bus.ErrUnavailable,
		"AccessDeniedException":       bus.ErrUnavailable,
		"ExpiredTokenException":       bus.ErrUnavailable,
		"UnrecognizedClientException": bus.ErrUnavailable,
	}
	for _, refusal := range wiretest.EventBridge().Operation("PutEvents").Refusals {
		t.Run(refusal.Code, func(t *testing.T) {
			t.Parallel()
			l := connect(t)
			l.network.Always(wiretest.Refused(refusal))
			err := l.Publish(t.Context(), events(2)...)
			require.Contains(t, want, refusal.Code)
			require.ErrorIs(t, err, want[refusal.Code])
			require.ErrorContains(t, err, refusal.Code)
			tries := 1
			if refusal.Repeated {
				tries = attempts
			}
			require.Equal(t, tries, l.network.Requests())
			require.Empty(t, l.service.heard())
		})
	}
}

func TestSentinel_recognisesEveryNameOfThrottling(t *testing.T) {
	t.Parallel()
	l := connect(t)
	l.network.Always(wiretest.Refused(wiretest.Refusal{Status: 429, Code: "Unknown"}))
	require.ErrorIs(t, l.Publish(t.Context(), events(1)...), bus.ErrThrottled)
}

func TestEntryFailure_hasAMeaningForEachErrorOfAnEntry(t *testing.T) {
	t.Parallel()
	want := map[string]error{
		"ThrottlingException": bus.ErrThrottled, "InternalFailure": bus.ErrUnavailable,
		"MalformedDetail": bus.ErrInvalid, "InvalidArgument": bus.ErrInvalid,
		"AccessDeniedException": bus.ErrUnavailable, "InvalidAccountIdException": bus.ErrUnavailable,
		"RedactionFailure": bus.ErrUnavailable, "NotAuthorizedForSourceException": bus.ErrUnavailable,
		"NotAuthorizedForDetailTypeException": bus.ErrUnavailable,
	}
	for _, refusal := range wiretest.EntryRefusals() {
		t.Run(refusal.Code, func(t *testing.T) {
			t.Parallel()
			l := connect(t)
			l.service.fail = func(_, entry int) string { return map[int]string{0: refusal.Code}[entry] }
			err := l.Publish(t.Context(), events(2)...)
			require.Contains(t, want, refusal.Code)
			require.ErrorIs(t, err, want[refusal.Code])
			require.ErrorContains(t, err, "entry E0: "+refusal.Code)
			require.NotContains(t, err.Error(), "entry E1")
			sizes := []int{2}
			if refusal.Repeatable {
				sizes = []int{2, 1, 1, 1}
			}
			require.Equal(t, sizes, l.service.sizes())
			require.Equal(t, events(2)[1:2], l.service.heard()[:1])
		})
	}
}

func TestBus_retriesAfterAFaultOnTheWay(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]wiretest.Fault{
		"reset": wiretest.Reset(), "lost": wiretest.Lost(), "cut": wiretest.Cut(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := connect(t)
			l.network.Next(fault, fault)
			require.NoError(t, l.Publish(t.Context(), events(12)...))
			require.Subset(t, l.service.heard(), events(12))
			if name == "reset" {
				require.Len(t, l.service.heard(), 12, "none twice")
			}
		})
	}
}

func TestBus_isUnavailableAfterBoundedAttempts(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]wiretest.Fault{
		"reset": wiretest.Reset(), "lost": wiretest.Lost(), "cut": wiretest.Cut(), "damaged": wiretest.Damaged(),
		"empty": wiretest.Empty(), "silent": wiretest.Silent(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := connect(t)
			l.network.Always(fault)
			require.ErrorIs(t, l.Publish(t.Context(), events(1)...), bus.ErrUnavailable)
			tries := attempts
			if name == "damaged" || name == "empty" { // it was an answer
				tries = 1
			}
			require.Equal(t, tries, l.network.Requests())
		})
	}
}
