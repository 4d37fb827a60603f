package s3_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"nexus/pkg/blob"
	"nexus/pkg/blob/blobtest"
	"nexus/pkg/blob/s3"
)

// client returns one that tries each call once, unless the options say otherwise.
func client(endpoint string, transport *http.Client, options ...func(*sdk.Options)) *sdk.Client {
	return sdk.New(sdk.Options{
		Region:       "eu-central-1",
		BaseEndpoint: aws.String(endpoint),
		UsePathStyle: true,
		HTTPClient:   transport,
		Retryer:      aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, nil
		}),
	}, options...)
}

func setup(t *testing.T, prefix string) (*s3.Store, *service) {
	t.Helper()
	fake, server := newService(t)
	s, err := s3.New(client(server.URL, server.Client()), s3.Config{Bucket: bucket, Prefix: prefix})
	require.NoError(t, err)
	return s, fake
}

func TestStore_conforms(t *testing.T) {
	t.Parallel()
	for name, prefix := range map[string]string{"whole bucket": "", "below a prefix": "dev/nexus/"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blobtest.Run(t, func(t *testing.T) blob.Store {
				s, _ := setup(t, prefix)
				return s
			})
		})
	}
}

func TestPut_storesBelowThePrefixWithTypeAndChecksum(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, "dev/")
	for name, contentType := range map[string]string{
		"archive/1.json": "application/json", "parked/2.ndjson": "application/x-ndjson", "raw": "application/octet-stream",
	} {
		require.NoError(t, s.Put(t.Context(), name, []byte("123456789")))
		stored, exists := fake.stored("dev/" + name)
		require.True(t, exists)
		require.Equal(t, contentType, stored.contentType)
		require.Equal(t, "4waSgw==", stored.checksum, "the check value of CRC-32C")
	}
}

func TestList_doesNotLeaveThePrefix(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, "dev/")
	fake.objects["deva"] = object{}
	fake.objects["prod/a"] = object{}
	require.NoError(t, s.Put(t.Context(), "a", nil))
	names, err := s.List(t.Context(), "", 10, "")
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, names)
}

func TestGet_refusesABodyDamagedOnItsWay(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, "")
	require.NoError(t, s.Put(t.Context(), "a", []byte("whole")))
	fake.damage = func(body []byte) []byte {
		body[0] ^= 1
		return body
	}
	_, err := s.Get(t.Context(), "a")
	require.ErrorIs(t, err, blob.ErrUnavailable)
	require.ErrorContains(t, err, "checksum")
}

func TestGet_doesNotReadALargerObjectThanOurs(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, "")
	fake.objects["a"] = object{body: make([]byte, blob.MaxBody+1)}
	_, err := s.Get(t.Context(), "a")
	require.ErrorIs(t, err, blob.ErrInvalid)
}

func TestList_failsIfItDoesNotMoveOn(t *testing.T) {
	t.Parallel()
	s, fake := setup(t, "")
	fake.emptyPages = true
	_, err := s.List(t.Context(), "", 10, "")
	require.ErrorIs(t, err, blob.ErrUnavailable)
}

func TestNew_namesAWrongSetting(t *testing.T) {
	t.Parallel()
	_, err := s3.New(client("https://127.0.0.1:1", http.DefaultClient), s3.Config{})
	require.ErrorContains(t, err, "Bucket is missing")
	for _, prefix := range []string{"a", "/", "/a/", "a//", "../", strings.Repeat("a", 121) + "/"} {
		_, err := s3.New(client("https://127.0.0.1:1", http.DefaultClient), s3.Config{Bucket: bucket, Prefix: prefix})
		require.ErrorContains(t, err, "Prefix", prefix)
	}
}
