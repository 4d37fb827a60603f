// Package webpush sends requests to push services: the message is encrypted to the device (RFC 8291), and the
// deployment names itself by its key (RFC 8292). It implements the port [deliver.Sender].
//
// It promises that a request goes through the client that it was given, whatever the endpoint says. It must never
// repeat a request by itself.
package webpush

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/SherClockHolmes/webpush-go"

	"nexus/pkg/deliver"
	"nexus/pkg/outbound"
)

// Client makes the requests: [outbound.Client].
type Client interface {
	Do(*http.Request) (*http.Response, error)
}

// Config holds the dependencies of a [Sender]. All are required.
type Config struct {
	Client Client
	Key    Key
	// Contact is where the operators of a push service reach those of the deployment: https:// or a mail address.
	Contact string
	// Now is the clock by which a Retry-After that names a time is read: the one of the push service.
	Now func() time.Time
}

// Sender is the adapter. It is safe for concurrent use.
type Sender struct{ cfg Config }

var _ deliver.Sender = (*Sender)(nil)

// New returns a sender. It panics if a part of the Config is missing, a mistake in the program.
func New(c Config) *Sender {
	if c.Client == nil || c.Key == (Key{}) || c.Contact == "" || c.Now == nil {
		panic("webpush: a part of the Config is missing")
	}
	return &Sender{c}
}

// Send implements the port.
func (s *Sender) Send(ctx context.Context, p deliver.Push) (deliver.Answer, error) {
	to := webpush.Subscription{Endpoint: p.Endpoint, Keys: webpush.Keys{P256dh: p.Keys.P256dh, Auth: p.Keys.Auth}}
	response, err := webpush.SendNotificationWithContext(ctx, p.Payload, &to, &webpush.Options{
		HTTPClient: s.cfg.Client, Subscriber: s.cfg.Contact, Topic: p.Topic, TTL: int(p.TTL / time.Second),
		Urgency: webpush.UrgencyHigh, VAPIDPublicKey: s.cfg.Key.public, VAPIDPrivateKey: s.cfg.Key.private,
	})
	switch {
	case errors.Is(err, outbound.ErrRefused):
		return deliver.Answer{}, fmt.Errorf("%w: %w", deliver.ErrAddress, err)
	case err != nil:
		return deliver.Answer{}, fmt.Errorf("ask the push service: %w", err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body) // so that the connection serves the next request
	return deliver.Answer{Status: response.StatusCode, RetryAfter: outbound.RetryAfter(response, s.cfg.Now())}, nil
}
