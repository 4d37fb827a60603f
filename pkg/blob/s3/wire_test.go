package s3_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
	"nexus/pkg/blob"
	"nexus/pkg/blob/s3"
)

// attempts bounds how often the SDK tries a call, with the settings of the functions.
const attempts = 3

// line is an adapter behind a network that fails as the test demands.
type line struct {
	*s3.Store
	network *wiretest.Network
	service *service
}

func connect(t *testing.T) *line {
	t.Helper()
	fake := &service{objects: map[string]object{}, pageSize: 4}
	network, guard, server := wiretest.Serve(t, wiretest.S3(), fake)
	guard.Also(complete)
	transport := &http.Client{Transport: network.Impatient(server.Client().Transport)}
	s, err := s3.New(client(server.URL, transport, func(o *sdk.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}), s3.Config{Bucket: bucket, Prefix: "dev/"})
	require.NoError(t, err)
	return &line{s, network, fake}
}

// calls are the port's calls by the operation that they are.
func (l *line) calls(ctx context.Context) map[string]func() error {
	return map[string]func() error{
		"PutObject": func() error { return l.Put(ctx, "a.json", []byte(`{"version":2}`)) },
		"GetObject": func() error {
			_, err := l.Get(ctx, "a.json")
			return err
		},
		"DeleteObject": func() error { return l.Delete(ctx, "a.json") },
		"ListObjectsV2": func() error {
			_, err := l.List(ctx, "a", 10, "")
			return err
		},
		"ListObjectVersions": func() error {
			_, err := l.Purge(ctx, "never")
			return err
		},
		"DeleteObjects":           func() error { return l.DeleteVersion(ctx, "a.json", "v000000") },
		"CreateMultipartUpload":   func() error { return l.BeginUpload(ctx, "a.zip") },
		"UploadPart":              func() error { return l.UploadPiece(ctx, "a.zip", "u0") },
		"CompleteMultipartUpload": func() error { return l.CompleteUpload(ctx, "a.zip", "u0") },
		"AbortMultipartUpload":    func() error { return l.AbortUpload(ctx, "a.zip", "u0") },
		"ListMultipartUploads": func() error {
			_, err := l.Purge(ctx, "a/")
			return err
		},
	}
}

func TestSentinel_hasAMeaningForEachDocumentedError(t *testing.T) {
	t.Parallel()
	want := map[string]error{
		"NoSuchKey":      blob.ErrNotFound,
		"SlowDown":       blob.ErrThrottled,
		"EntityTooLarge": blob.ErrInvalid, "KeyTooLongError": blob.ErrInvalid, "InvalidArgument": blob.ErrInvalid,
		"InvalidRequest": blob.ErrInvalid, "InvalidURI": blob.ErrInvalid,
	}
	for _, passing := range []string{
		"AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "NoSuchBucket", "PermanentRedirect",
		"RequestTimeout", "InternalError", "ServiceUnavailable", "InvalidObjectState", "BadDigest", "IncompleteBody",
		"PreconditionFailed", "ConditionalRequestConflict", "OperationAborted", "MalformedXML",
		"NoSuchUpload", "InvalidPart", "InvalidPartOrder", "EntityTooSmall",
	} {
		want[passing] = blob.ErrUnavailable
	}
	for _, operation := range wiretest.S3().Operations {
		for _, refusal := range operation.Refusals {
			t.Run(operation.Name+" "+refusal.Code, func(t *testing.T) {
				t.Parallel()
				l := connect(t)
				l.network.Always(wiretest.Refused(refusal))
				err := l.calls(t.Context())[operation.Name]()
				require.Contains(t, want, refusal.Code)
				require.ErrorIs(t, err, want[refusal.Code])
				require.ErrorContains(t, err, refusal.Code)
				tries := 1
				if refusal.Repeated {
					tries = attempts
				}
				require.Equal(t, tries, l.network.Requests())
			})
		}
	}
}

func TestSentinel_recognisesEveryNameOfThrottling(t *testing.T) {
	t.Parallel()
	l := connect(t)
	l.network.Always(wiretest.Refused(wiretest.Refusal{Status: 429, Code: "Unknown"}))
	for name, call := range l.calls(t.Context()) {
		require.ErrorIs(t, call(), blob.ErrThrottled, name)
	}
}

func TestStore_retriesAfterAFaultOnTheWay(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]wiretest.Fault{
		"reset": wiretest.Reset(), "lost": wiretest.Lost(),
		"slow down": wiretest.Refused(wiretest.Refusal{Status: 503, Code: "SlowDown"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := connect(t)
			l.network.Next(fault, fault)
			body := strings.Repeat("a cold copy ", 10_000)
			require.NoError(t, l.Put(t.Context(), "a.json", []byte(body)))
			l.network.Next(fault, fault)
			got, err := l.Get(t.Context(), "a.json")
			require.NoError(t, err)
			require.Equal(t, body, string(got))
			l.network.Next(fault, fault)
			names, err := l.List(t.Context(), "", 10, "")
			require.NoError(t, err)
			require.Equal(t, []string{"a.json"}, names)
			l.network.Next(fault, fault)
			require.NoError(t, l.Delete(t.Context(), "a.json"), "also if a lost attempt has deleted it")
			require.Empty(t, l.service.objects)
		})
	}
}

func TestStore_isUnavailableAfterBoundedAttempts(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]wiretest.Fault{
		"reset": wiretest.Reset(), "lost": wiretest.Lost(), "silent": wiretest.Silent(),
	} {
		for _, operation := range wiretest.S3().Operations {
			t.Run(operation.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				l := connect(t)
				l.network.Always(fault)
				require.ErrorIs(t, l.calls(t.Context())[operation.Name](), blob.ErrUnavailable)
				require.Equal(t, attempts, l.network.Requests())
			})
		}
	}
}

func TestStore_takesAnIncompleteAnswerForNoObjectAndNoList(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]wiretest.Fault{"cut": wiretest.Cut(), "damaged": wiretest.Damaged()} {
		for _, operation := range []string{"GetObject", "ListObjectsV2"} {
			t.Run(operation+" "+name, func(t *testing.T) {
				t.Parallel()
				l := connect(t)
				require.NoError(t, l.Put(t.Context(), "a.json", []byte(`{"version":1}`)))
				l.network.Always(fault)
				err := l.calls(t.Context())[operation]()
				require.ErrorIs(t, err, blob.ErrUnavailable)
				require.NotErrorIs(t, err, blob.ErrNotFound)
				require.LessOrEqual(t, l.network.Requests(), attempts)
			})
		}
	}
}

func TestStore_readsAnObjectAgainWhoseBodyBreaksOff(t *testing.T) {
	t.Parallel()
	l := connect(t)
	require.NoError(t, l.Put(t.Context(), "a.json", []byte(`{"version":1}`)))
	l.network.Next(wiretest.Cut(), wiretest.Damaged())
	body, err := l.Get(t.Context(), "a.json")
	require.NoError(t, err)
	require.JSONEq(t, `{"version":1}`, string(body))
}

func TestStore_learnsNothingFromAStatusWithoutABody(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound, http.StatusServiceUnavailable} {
		l := connect(t)
		l.network.Always(wiretest.Bare(status))
		_, err := l.Get(t.Context(), "a.json")
		require.ErrorIs(t, err, blob.ErrUnavailable, status)
		require.NotErrorIs(t, err, blob.ErrNotFound, status)
	}
}
