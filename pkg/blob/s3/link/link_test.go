package link_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"nexus/pkg/blob"
	"nexus/pkg/blob/s3/link"
)

// The example of Amazon S3 API Reference, "Authenticating Requests: Using Query Parameters".
const (
	exampleSecret    = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	exampleSignature = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
	exampleAddress   = "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256" +
		"&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z" +
		"&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=" + exampleSignature
)

func at() time.Time { return time.Date(2013, time.May, 24, 0, 0, 0, 0, time.UTC) }

// signature computes what the service compares the signature of an address with, by the steps of the reference.
func signature(t *testing.T, address, secret string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	query := u.Query()
	query.Del("X-Amz-Signature")
	var pairs []string
	for name, values := range query {
		escaped := strings.ReplaceAll(url.QueryEscape(values[0]), "+", "%20")
		pairs = append(pairs, url.QueryEscape(name)+"="+escaped)
	}
	slices.Sort(pairs)
	canonical := strings.Join([]string{
		"GET", u.EscapedPath(), strings.Join(pairs, "&"), "host:" + u.Host, "", "host", "UNSIGNED-PAYLOAD",
	}, "\n")
	_, scope, _ := strings.Cut(query.Get("X-Amz-Credential"), "/")
	sum := sha256.Sum256([]byte(canonical))
	text := strings.Join([]string{
		"AWS4-HMAC-SHA256", query.Get("X-Amz-Date"), scope, hex.EncodeToString(sum[:]),
	}, "\n")
	key := []byte("AWS4" + secret)
	for _, part := range append(strings.Split(scope, "/"), text) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return hex.EncodeToString(key)
}

func config(change ...func(*aws.Config)) aws.Config {
	c := aws.Config{
		Region: "us-east-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIAIOSFODNN7EXAMPLE", SecretAccessKey: exampleSecret}, nil
		}),
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func linker(t *testing.T, bucket string, change ...func(*aws.Config)) *link.Linker {
	t.Helper()
	l, err := link.New(config(change...), link.Config{Bucket: bucket, Now: at})
	require.NoError(t, err)
	return l
}

func TestLink_isSignedAsTheReferenceSays(t *testing.T) {
	t.Parallel()
	require.Equal(t, exampleSignature, signature(t, exampleAddress, exampleSecret), "the steps are those of the reference")
	session := func(c *aws.Config) {
		c.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: exampleSecret, SessionToken: "a/session+token=="}, nil
		})
	}
	for _, l := range []*link.Linker{linker(t, "examplebucket"), linker(t, "examplebucket", session)} {
		for _, file := range []string{"", "account of mine.zip"} {
			address, until, err := l.Link(t.Context(), "exports/a=b/000001/account.zip", file, 5*time.Minute)
			require.NoError(t, err)
			require.Equal(t, at().Add(5*time.Minute), until)
			u, err := url.Parse(address)
			require.NoError(t, err)
			require.Equal(t, signature(t, address, exampleSecret), u.Query().Get("X-Amz-Signature"))
			require.Equal(t, "300", u.Query().Get("X-Amz-Expires"))
			if file != "" {
				require.Equal(t, `attachment; filename="account of mine.zip"`, u.Query().Get("response-content-disposition"))
			}
		}
	}
}

func TestLink_leadsToItsBucket(t *testing.T) {
	t.Parallel()
	region := func(name string) func(*aws.Config) { return func(c *aws.Config) { c.Region = name } }
	for want, l := range map[string]*link.Linker{
		"https://nexus.s3.eu-central-1.amazonaws.com/a/b":  linker(t, "nexus", region("eu-central-1")),
		"https://s3.eu-central-1.amazonaws.com/nex.us/a/b": linker(t, "nex.us", region("eu-central-1")),
		"https://nexus.s3.cn-north-1.amazonaws.com.cn/a/b": linker(t, "nexus", region("cn-north-1")),
		"http://127.0.0.1:9/nexus/a/b": linker(t, "nexus", func(c *aws.Config) {
			c.BaseEndpoint = aws.String("http://127.0.0.1:9")
		}),
	} {
		address, _, err := l.Link(t.Context(), "a/b", "", time.Minute)
		require.NoError(t, err)
		got, _, _ := strings.Cut(address, "?")
		require.Equal(t, want, got)
	}
}

func TestLink_refusesWhatItCannotSign(t *testing.T) {
	t.Parallel()
	l := linker(t, "nexus")
	for _, name := range []string{"", "a/", "../a", "a?b"} {
		_, _, err := l.Link(t.Context(), name, "", time.Minute)
		require.ErrorIs(t, err, blob.ErrInvalid, name)
	}
	for _, lifetime := range []time.Duration{0, time.Millisecond, 8 * 24 * time.Hour} {
		_, _, err := l.Link(t.Context(), "a", "", lifetime)
		require.ErrorIs(t, err, blob.ErrInvalid, lifetime)
	}
	broken := errors.New("no credentials")
	l = linker(t, "nexus", func(c *aws.Config) {
		c.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{}, broken
		})
	})
	_, _, err := l.Link(t.Context(), "a", "", time.Minute)
	require.ErrorIs(t, err, broken)
	require.ErrorIs(t, err, blob.ErrUnavailable)
	for n, c := range []aws.Config{{}, config(func(c *aws.Config) { c.Region = "" })} {
		_, err := link.New(c, link.Config{Bucket: "nexus", Now: at})
		require.ErrorContains(t, err, "missing", fmt.Sprint(n))
	}
}
