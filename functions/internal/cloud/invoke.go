package cloud

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"nexus/pkg/deploy/env"
	"nexus/pkg/port"
)

// Invoker has another function work, later (AWS Lambda API Reference, Invoke, with the type Event). Lambda keeps the
// payload until the function has taken it. It is safe for concurrent use.
type Invoker struct {
	arn string
	cfg aws.Config
}

// NewInvoker returns an invoker of the function, or of one of its aliases.
func NewInvoker(in env.AWS, arn string) *Invoker { return &Invoker{arn, Config(in, env.Lambda)} }

// Invoke returns nil once Lambda has taken the payload. It makes one request. After an error the function may work all
// the same.
func (i *Invoker) Invoke(ctx context.Context, payload []byte) error {
	path := "/2015-03-31/functions/" + strings.ReplaceAll(i.arn, ":", "%3A") + "/invocations"
	request, err := signed(ctx, i.cfg, "lambda", path, payload, http.Header{"X-Amz-Invocation-Type": {"Event"}})
	if err != nil {
		return fmt.Errorf("invoke %s: %w", i.arn, err)
	}
	answer, err := i.cfg.HTTPClient.Do(request)
	if err != nil {
		return fmt.Errorf("invoke %s: %w: %w", i.arn, port.ErrUnavailable, err)
	}
	defer func() { _ = answer.Body.Close() }() // an accepted invocation has no answer
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxParameter))
	kind := answer.Header.Get("X-Amzn-Errortype")
	switch answer.StatusCode {
	case http.StatusAccepted:
		return nil
	case http.StatusTooManyRequests:
		return fmt.Errorf("invoke %s: %w: %s", i.arn, port.ErrThrottled, kind)
	default:
		return fmt.Errorf("invoke %s: %w: status %d, %s", i.arn, port.ErrUnavailable, answer.StatusCode, kind)
	}
}
