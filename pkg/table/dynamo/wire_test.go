package dynamo_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"nexus/internal/wiretest"
	"nexus/pkg/table/dynamo"
)

// wire is a service that records what it is sent and answers from a list; the last answer stands for all later calls.
type wire struct {
	endpoint string
	mu       sync.Mutex
	requests []request
	answers  []answer
}

type request struct {
	operation string
	body      map[string]any
}

type answer struct {
	status int // 0 closes the connection without an answer
	body   string
}

func ok(body string) answer { return answer{http.StatusOK, body} }

// refusal is an error of the service; fields go into its body beside the type.
func refusal(status int, code string, fields ...string) answer {
	body := fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"no"%s}`, code,
		strings.Join(fields, ""))
	return answer{status, body}
}

func newWire(t *testing.T, answers ...answer) *wire {
	w := &wire{answers: answers}
	server := httptest.NewServer(wiretest.NewGuard(t, w, service()).Also(complete))
	t.Cleanup(server.Close)
	w.endpoint = server.URL
	return w
}

func (w *wire) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	raw, err := io.ReadAll(in.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_, operation, _ := strings.Cut(in.Header.Get("X-Amz-Target"), ".")
	next := w.record(operation, raw)
	if next.status == 0 {
		panic(http.ErrAbortHandler)
	}
	out.Header().Set("Content-Type", "application/x-amz-json-1.0")
	out.WriteHeader(next.status)
	_, _ = io.WriteString(out, next.body)
}

func (w *wire) record(operation string, raw []byte) answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		return refusal(http.StatusBadRequest, "SerializationException")
	}
	w.requests = append(w.requests, request{operation, body})
	next := w.answers[0]
	if len(w.answers) > 1 {
		w.answers = w.answers[1:]
	}
	return next
}

func (w *wire) sent() []request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.requests
}

// only is the single request that was sent.
func (w *wire) only(t *testing.T) request {
	t.Helper()
	sent := w.sent()
	require.Len(t, sent, 1)
	return sent[0]
}

func (w *wire) store(options ...dynamo.Option) *dynamo.Store {
	return dynamo.New(client(w.endpoint, nil), options...)
}

// client is a client for a local endpoint, on a transport of the test's own if it brings one.
func client(endpoint string, transport http.RoundTripper) *dynamodb.Client {
	cfg := aws.Config{
		Region:       "eu-central-1",
		BaseEndpoint: aws.String(endpoint),
		Credentials:  aws.CredentialsProviderFunc(localCredentials),
	}
	if transport != nil {
		cfg.HTTPClient = &http.Client{Transport: transport}
	}
	return dynamo.NewClient(cfg)
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &out))
	return out
}
