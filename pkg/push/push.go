// Package push is the port through which the open apps of a user hear that something has changed: live hints.
//
// A hint has no data, only the token that the change log has reached. It promises nothing: a hint may be lost, late,
// repeated or out of order, and nothing may depend on one. An app asks for changes anyway, at its start and hourly. So
// a publisher never sends a hint again and never waits for one beyond its bound. The one promise is whom a hint
// reaches: the channel of a user has hints about that user alone.
package push

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"nexus/pkg/port"
)

// Pusher is the port. It is safe for concurrent use.
type Pusher interface {
	// Hint tells the open apps of the user that the change log has reached the token. It ends when the context does, at
	// the latest. A user without a channel is [ErrInvalid]. After any other error the hint may have been sent or not.
	Hint(ctx context.Context, user, token string) error
}

// Errors for the log; no caller decides on them. They are matched with errors.Is.
var (
	// ErrThrottled says that the service refused for load.
	ErrThrottled = port.Error("hint throttled", port.ErrThrottled)
	// ErrUnavailable says that the service failed, did not answer, or does not serve this caller now.
	ErrUnavailable = port.Error("hint service unavailable", port.ErrUnavailable)
	// ErrInvalid says that the hint itself is refused.
	ErrInvalid = port.Error("hint refused", port.ErrInvalid)
)

// Place is where apps subscribe.
type Place struct {
	// URL is the address of the WebSocket, wss://…/event/realtime. Locally it is the path alone, which a client resolves
	// against the address of the API.
	URL string
	// Host has to be named in the authorization of a connection and of a subscription.
	Host string
}

// PlaceOf returns where apps subscribe to an event API of AWS AppSync, by its real-time and HTTP domains (AWS AppSync
// Events guide, "Understanding the Event API WebSocket protocol").
func PlaceOf(realtimeHost, host string) Place {
	return Place{URL: "wss://" + realtimeHost + "/event/realtime", Host: host}
}

// Namespace is the first segment of every channel.
const Namespace = "user"

// MaxSegment is the length of a segment of a channel in bytes.
const MaxSegment = 50

// hashed begins the ids of users whose sub claim is no user id. Their id is a digest of the claim, so it is not the
// claim that a subscriber proves; and another user may have this very text as claim.
const hashed = "sub-"

// Channel returns the channel of a user, and false for a user without one. A subscriber proves its sub claim and no
// more, so only a user whose id is the claim itself has a channel. The id must be a segment: letters, digits and
// hyphens, no hyphen at either end, at most [MaxSegment] (AWS AppSync API Reference, ChannelNamespace, name: the first
// segment of a channel; the other segments have the same form).
func Channel(user string) (channel string, ok bool) {
	if strings.HasPrefix(user, hashed) || !isSegment(user) {
		return "", false
	}
	return "/" + Namespace + "/" + user, true
}

func isSegment(s string) bool {
	if s == "" || len(s) > MaxSegment || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// Event returns the channel of a user and the event that a hint is there: the JSON object {"next": token}. A user
// without a channel is [ErrInvalid].
func Event(user, token string) (channel string, event []byte, err error) {
	channel, ok := Channel(user)
	if !ok {
		return "", nil, fmt.Errorf("%w: the user has no channel", ErrInvalid)
	}
	event, err = json.Marshal(struct {
		Next string `json:"next"`
	}{token})
	if err != nil {
		return "", nil, fmt.Errorf("event of a hint: %w", err)
	}
	return channel, event, nil
}
