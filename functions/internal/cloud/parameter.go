package cloud

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"nexus/pkg/deploy/env"
	"nexus/pkg/port"
)

// Parameter is a secret of the stage: a parameter of type SecureString (AWS Systems Manager API Reference,
// GetParameter). It is read at the first call that needs it and kept as long as the execution environment. It is one
// signed request: the service's client would make the function twice as large. It is safe for concurrent use.
type Parameter struct {
	Name string
	// Wait waits before a repetition: [port.Sleep].
	Wait func(ctx context.Context, d time.Duration) error
	cfg  aws.Config

	mu    sync.Mutex
	value string
}

// NewParameter returns the parameter of that name. It makes no request.
func NewParameter(in env.AWS, name string) *Parameter {
	return &Parameter{Name: name, Wait: port.Sleep, cfg: Config(in, env.SSM)}
}

const (
	// parameterAttempts are made of a request that may be repeated, with a pause that doubles before each further one:
	// all environments that start at a full hour share what the service answers in a second.
	parameterAttempts = 6
	parameterPause    = 200 * time.Millisecond
	// maxParameter bounds an answer, in bytes: a parameter has at most 8 KB.
	maxParameter = 32 << 10
)

// Value returns the parameter's value. No error has it.
func (p *Parameter) Value(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for attempt := 1; p.value == ""; attempt++ {
		value, isFinal, err := p.read(ctx)
		if err == nil {
			p.value = value
			break
		}
		if isFinal || attempt == parameterAttempts {
			return "", fmt.Errorf("read parameter %s: %w", p.Name, err)
		}
		pause := time.Duration((1 + rand.Float64()) / 2 * float64(parameterPause<<(attempt-1)))
		if err := p.Wait(ctx, pause); err != nil {
			return "", fmt.Errorf("read parameter %s: %w", p.Name, err)
		}
	}
	return p.value, nil
}

// read makes one request. isFinal says that a repetition cannot help.
func (p *Parameter) read(ctx context.Context) (value string, isFinal bool, err error) {
	body, err := json.Marshal(map[string]any{"Name": p.Name, "WithDecryption": true})
	if err != nil {
		return "", true, err
	}
	request, err := signed(ctx, p.cfg, "ssm", "/", body, http.Header{
		"Content-Type": {"application/x-amz-json-1.1"}, "X-Amz-Target": {"AmazonSSM.GetParameter"},
	})
	if err != nil {
		return "", true, err
	}
	response, err := p.cfg.HTTPClient.Do(request)
	if err != nil {
		return "", ctx.Err() != nil, err
	}
	defer func() { _ = response.Body.Close() }() // all that is wanted of it was read
	text, err := io.ReadAll(io.LimitReader(response.Body, maxParameter))
	if err != nil {
		return "", false, err
	}
	var answer struct {
		Parameter struct{ Value string }
		Type      string `json:"__type"`
	}
	if err := json.Unmarshal(text, &answer); err != nil && response.StatusCode == http.StatusOK {
		return "", false, fmt.Errorf("its answer is no JSON of %d bytes", len(text)) // which may be the secret
	}
	switch code := answer.Type[strings.LastIndexByte(answer.Type, '#')+1:]; {
	case response.StatusCode == http.StatusOK && answer.Parameter.Value != "":
		return answer.Parameter.Value, false, nil
	case response.StatusCode == http.StatusOK:
		return "", true, fmt.Errorf("it has no value")
	default:
		isThrottled := code == "ThrottlingException" || response.StatusCode == http.StatusTooManyRequests
		isFinal = response.StatusCode < http.StatusInternalServerError && !isThrottled
		return "", isFinal, fmt.Errorf("status %d, %s", response.StatusCode, code)
	}
}
