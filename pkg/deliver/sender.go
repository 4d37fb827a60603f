package deliver

import (
	"context"
	"time"
)

// Sender is the port: one request to a push service (RFC 8030).
type Sender interface {
	// Send makes one request and returns the answer's status, and what its Retry-After asks for, 0 for nothing. An error
	// says that there was no answer, or [ErrAddress] that there can be none. It ends with the context.
	Send(ctx context.Context, p Push) (Answer, error)
}

// Push is one request.
type Push struct {
	Endpoint string
	Keys     Keys
	Payload  []byte        // at most [MaxPayload] bytes, which the sender encrypts to the device
	TTL      time.Duration // how long the push service keeps it, in whole seconds
	Topic    string        // replaces what the service still has of the same topic
}

// Keys are those of a device's subscription, in base64url without padding.
type Keys struct{ P256dh, Auth string }

// Answer is that of a push service.
type Answer struct {
	Status     int
	RetryAfter time.Duration
}

// MaxPayload is the size of a payload in bytes. A push service may refuse more than 4,096 with the encryption.
const MaxPayload = 3 << 10
