// Package appsync sends hints through an event API of AWS AppSync Events: one signed HTTP POST each.
//
// It promises what the port does. It makes one request for a hint and never another, whatever the answer: the next
// change brings the next hint. It must never publish on a channel other than the user's.
package appsync

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"nexus/pkg/push"
)

const (
	// path is that of the only action of the API's HTTP endpoint (AWS AppSync Events Developer Guide, "Publish events
	// via HTTP").
	path = "/event"
	// signedFor is the service in a signature's scope (same guide, "Configuring authorization and authentication to
	// secure Event APIs", IAM).
	signedFor = "appsync"
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 16 << 10
)

// Config configures a [Pusher]. Both fields are required.
type Config struct {
	// Host is the API's HTTP domain: <id>.appsync-api.<region>.amazonaws.com.
	Host string
	// Now dates signatures.
	Now func() time.Time
}

// Pusher is the adapter.
type Pusher struct {
	cfg      aws.Config
	endpoint string
	now      func() time.Time
	signer   *v4.Signer
}

var _ push.Pusher = (*Pusher)(nil)

// New returns a pusher with the credentials, the region and the HTTP client of the AWS configuration. Its BaseEndpoint,
// if set, replaces https:// and the host. An error names the setting that is missing.
func New(in aws.Config, c Config) (*Pusher, error) {
	if c.Host == "" || c.Now == nil || in.Region == "" || in.Credentials == nil || in.HTTPClient == nil {
		return nil, errors.New("hint configuration: Host, Now, Region, Credentials or HTTPClient is missing")
	}
	endpoint := "https://" + c.Host
	if in.BaseEndpoint != nil {
		endpoint = *in.BaseEndpoint
	}
	return &Pusher{in, endpoint + path, c.Now, v4.NewSigner()}, nil
}

// publication is the body of a request: at most five events, each the text of a JSON value (same guide, "Publish
// events via HTTP").
type publication struct {
	Channel string   `json:"channel"`
	Events  []string `json:"events"`
}

// Hint implements the port.
func (p *Pusher) Hint(ctx context.Context, user, token string) error {
	channel, event, err := push.Event(user, token)
	if err != nil {
		return err
	}
	body, err := json.Marshal(publication{channel, []string{string(event)}})
	if err != nil {
		return fmt.Errorf("body of a hint: %w", err)
	}
	request, err := p.sign(ctx, body)
	if err != nil {
		return fmt.Errorf("%w: sign a hint: %w", push.ErrUnavailable, err)
	}
	answer, err := p.cfg.HTTPClient.Do(request)
	if err != nil {
		return fmt.Errorf("%w: publish a hint: %w", push.ErrUnavailable, err)
	}
	defer func() { _ = answer.Body.Close() }() // all that is wanted of it was read
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%w: answer to a hint: %w", push.ErrUnavailable, err)
	}
	return verdict(answer.StatusCode, text)
}

func (p *Pusher) sign(ctx context.Context, body []byte) (*http.Request, error) {
	credentials, err := p.cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	sum := sha256.Sum256(body)
	err = p.signer.SignHTTP(ctx, credentials, request, hex.EncodeToString(sum[:]), signedFor, p.cfg.Region, p.now())
	return request, err
}

// verdict returns the error of an answer, nil if the event was accepted. A success names each event: the index of an
// accepted one is in successful, that of a refused one in failed.
func verdict(status int, text []byte) error {
	var answer struct {
		Successful []struct{ Index int } `json:"successful"`
		Failed     []struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"failed"`
		Errors []struct {
			ErrorType string `json:"errorType"`
			Message   string `json:"message"`
		} `json:"errors"`
	}
	invalid := json.Unmarshal(text, &answer)
	kind := push.ErrUnavailable
	switch {
	case status == http.StatusOK && invalid == nil && len(answer.Successful) == 1 && len(answer.Failed) == 0:
		return nil
	case status == http.StatusTooManyRequests:
		kind = push.ErrThrottled
	case status == http.StatusBadRequest:
		kind = push.ErrInvalid
	}
	reason := "an answer without a reason"
	switch {
	case len(answer.Errors) > 0:
		reason = answer.Errors[0].ErrorType + ": " + answer.Errors[0].Message
	case len(answer.Failed) > 0:
		reason = fmt.Sprintf("event refused with code %d: %s", answer.Failed[0].Code, answer.Failed[0].Message)
	case invalid != nil:
		reason = "the answer is no JSON: " + invalid.Error()
	}
	return fmt.Errorf("%w: publish a hint: status %d: %.300s", kind, status, reason)
}
