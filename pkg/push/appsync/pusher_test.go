package appsync_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
	"nexus/pkg/push"
	"nexus/pkg/push/appsync"
	"nexus/pkg/push/pushtest"
)

func clock() time.Time { return time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC) }

// configuration is that of a function whose API answers at the endpoint.
func configuration(endpoint string, transport http.RoundTripper) aws.Config {
	return aws.Config{
		Region: "eu-central-1", BaseEndpoint: aws.String(endpoint), HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret", SessionToken: "session"}, nil
		}),
	}
}

// service is the HTTP endpoint of an event API that delivers what it accepts.
type service struct {
	mu     sync.Mutex
	events map[string][]string // by channel
	// answer, if set, replaces the answer to each request.
	answer func(http.ResponseWriter)
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Channel string   `json:"channel"`
		Events  []string `json:"events"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answer != nil {
		s.answer(w)
		return
	}
	if s.events == nil {
		s.events = map[string][]string{}
	}
	s.events[in.Channel] = append(s.events[in.Channel], in.Events...)
	_, _ = io.WriteString(w, `{"failed":[],"successful":[{"identifier":"6d6f","index":0}]}`)
}

func (s *service) heard(channel string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.events[channel]...)
}

// line is an adapter behind a network that fails as the test demands.
type line struct {
	*appsync.Pusher
	network *wiretest.Network
	service *service
}

func connect(t *testing.T) *line {
	t.Helper()
	fake := &service{}
	network, _, server := wiretest.Serve(t, wiretest.AppSync(), fake)
	p, err := appsync.New(configuration(server.URL, network.Impatient(http.DefaultTransport)),
		appsync.Config{Host: "example.appsync-api.eu-central-1.amazonaws.com", Now: clock})
	require.NoError(t, err)
	return &line{p, network, fake}
}

func TestPusher_conformsToThePort(t *testing.T) {
	t.Parallel()
	pushtest.Run(t, func(t *testing.T) pushtest.Subject {
		l := connect(t)
		return pushtest.Subject{Pusher: l, Heard: func(_ *testing.T, channel string) []string {
			return l.service.heard(channel)
		}}
	})
}

func TestNew_namesWhatIsMissing(t *testing.T) {
	t.Parallel()
	whole := configuration("http://127.0.0.1", nil)
	for _, c := range []appsync.Config{{Host: "h"}, {Now: clock}} {
		_, err := appsync.New(whole, c)
		require.ErrorContains(t, err, "is missing")
	}
	whole.Region = ""
	_, err := appsync.New(whole, appsync.Config{Host: "h", Now: clock})
	require.ErrorContains(t, err, "is missing")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestPusher_sendsTheRequestOfTheDocument pins the request byte by byte: AWS AppSync Events Developer Guide, "Publish
// events via HTTP", signed as the IAM User Guide says ("Create a signed AWS API request").
func TestPusher_sendsTheRequestOfTheDocument(t *testing.T) {
	t.Parallel()
	const host, body = "abc.appsync-api.eu-central-1.amazonaws.com",
		`{"channel":"/user/ann","events":["{\"next\":\"AbC_-09\"}"]}`
	sent := 0
	cfg := configuration("", roundTrip(func(r *http.Request) (*http.Response, error) {
		sent++
		require.Equal(t, http.MethodPost, r.Method)
		require.Equal(t, "https://"+host+"/event", r.URL.String())
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.Equal(t, body, string(text))
		require.Equal(t, "application/json", r.Header.Get("Content-Type"))
		require.Equal(t, "20260302T120000Z", r.Header.Get("X-Amz-Date"))
		require.Equal(t, "session", r.Header.Get("X-Amz-Security-Token"))
		require.Equal(t, "AWS4-HMAC-SHA256 Credential=id/20260302/eu-central-1/appsync/aws4_request, "+
			"SignedHeaders=content-length;content-type;host;x-amz-date;x-amz-security-token, Signature="+
			signature(host, body), r.Header.Get("Authorization"))
		recorder := httptest.NewRecorder()
		(&service{}).ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/event", strings.NewReader(body)))
		return recorder.Result(), nil
	}))
	cfg.BaseEndpoint = nil
	p, err := appsync.New(cfg, appsync.Config{Host: host, Now: clock})
	require.NoError(t, err)
	require.NoError(t, p.Hint(t.Context(), "ann", "AbC_-09"))
	require.Equal(t, 1, sent)
}

// signature is computed by the document's steps.
func signature(host, body string) string {
	sum := func(text string) string {
		digest := sha256.Sum256([]byte(text))
		return hex.EncodeToString(digest[:])
	}
	mac := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	canonical := strings.Join([]string{
		"POST", "/event", "",
		"content-length:" + strconv.Itoa(len(body)), "content-type:application/json", "host:" + host,
		"x-amz-date:20260302T120000Z", "x-amz-security-token:session", "",
		"content-length;content-type;host;x-amz-date;x-amz-security-token", sum(body),
	}, "\n")
	toSign := strings.Join([]string{
		"AWS4-HMAC-SHA256", "20260302T120000Z", "20260302/eu-central-1/appsync/aws4_request", sum(canonical),
	}, "\n")
	key := []byte("AWS4secret")
	for _, part := range []string{"20260302", "eu-central-1", "appsync", "aws4_request"} {
		key = mac(key, part)
	}
	return hex.EncodeToString(mac(key, toSign))
}

func TestPusher_hasAMeaningForEachErrorAndSendsOnce(t *testing.T) {
	t.Parallel()
	want := map[string]error{
		"BadRequestException": push.ErrInvalid, "UnauthorizedException": push.ErrUnavailable,
		"AccessDeniedException": push.ErrUnavailable, "LimitExceededException": push.ErrThrottled,
		"InternalFailureException": push.ErrUnavailable, "ServiceUnavailableException": push.ErrUnavailable,
	}
	for _, refusal := range wiretest.AppSync().Operation("Publish").Refusals {
		t.Run(refusal.Code, func(t *testing.T) {
			t.Parallel()
			l := connect(t)
			l.network.Always(wiretest.Refused(refusal))
			err := l.Hint(t.Context(), "ann", "t")
			require.Contains(t, want, refusal.Code)
			require.ErrorIs(t, err, want[refusal.Code])
			require.ErrorContains(t, err, refusal.Code)
			require.Equal(t, 1, l.network.Requests())
		})
	}
}

func TestPusher_sendsOnceThroughABadNetwork(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]wiretest.Fault{
		"reset": wiretest.Reset(), "lost": wiretest.Lost(), "cut": wiretest.Cut(), "damaged": wiretest.Damaged(),
		"empty": wiretest.Empty(), "silent": wiretest.Silent(), "gateway": wiretest.Bare(http.StatusBadGateway),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := connect(t)
			l.network.Always(fault)
			require.ErrorIs(t, l.Hint(t.Context(), "ann", "t"), push.ErrUnavailable)
			require.Equal(t, 1, l.network.Requests())
		})
	}
}

func TestPusher_reportsAnEventThatWasNotAccepted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"failed":[{"identifier":"a","index":0,"code":500,"message":"no"}],"successful":[]}`: "code 500: no",
		`{"failed":[],"successful":[]}`: "without a reason",
		`{}`:                            "without a reason",
	} {
		l := connect(t)
		l.service.answer = func(w http.ResponseWriter) { _, _ = io.WriteString(w, text) }
		err := l.Hint(t.Context(), "ann", "t")
		require.ErrorIs(t, err, push.ErrUnavailable)
		require.ErrorContains(t, err, want)
	}
}

func TestPusher_reportsMissingCredentials(t *testing.T) {
	t.Parallel()
	cfg := configuration("http://127.0.0.1", http.DefaultTransport)
	cfg.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, errors.New("none")
	})
	p, err := appsync.New(cfg, appsync.Config{Host: "h", Now: clock})
	require.NoError(t, err)
	require.ErrorIs(t, p.Hint(t.Context(), "ann", "t"), push.ErrUnavailable)
}
