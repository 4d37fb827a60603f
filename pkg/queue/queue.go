// Package queue is the port through which work is put off: a message names the work, and a worker takes the messages of
// one group one after another.
//
// It promises that a message put is delivered at least once, also if the caller or the worker crashes. Messages of one
// group come in the order in which they were put, and the next one only when the one before has been done or given up.
// Groups do not wait for each other. A message whose worker fails comes again, [MaxReceives] times in all; then it is a
// dead letter, which stays until an operator puts it back. A worker must tolerate a message that is repeated, late, or
// about work that has been done. The port has no way to read or to remove a message: no part of the system decides by
// the queue's content.
package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"nexus/pkg/port"
)

// Bounds of one message.
const (
	// MaxName is the length of a group and of an id in bytes (Amazon SQS, SendMessage, MessageGroupId and
	// MessageDeduplicationId).
	MaxName = 128
	// MaxBody is the size of a body in bytes. A body names work and does not copy it; this is well inside the 256 KB that
	// every queue takes.
	MaxBody = 64 << 10
)

// MaxReceives is how often a message comes to a worker that fails, before it is a dead letter.
const MaxReceives = 5

// Message is a piece of work.
type Message struct {
	// Group identifies the messages that are worked on in their order: 1 to [MaxName] of 0-9, a-z, A-Z, hyphen and
	// underscore.
	Group string
	// ID is the message's own, of the same form. A message with the id of one put before may be taken for its repetition
	// and dropped: SQS does so for five minutes, also if the one before was done.
	ID string
	// Body is passed to the worker unchanged: JSON text in UTF-8, at most [MaxBody] bytes.
	Body []byte
}

// Queue is the port. It is safe for concurrent use.
type Queue interface {
	// Put adds the message after all others of its group. An error leaves the outcome unknown, except [ErrInvalid], which
	// changes nothing: repeat the call.
	Put(ctx context.Context, m Message) error
}

// Errors on which callers decide. They are matched with errors.Is.
var (
	// ErrThrottled says that the queue refused for load; try again later.
	ErrThrottled = port.Error("queue throttled", port.ErrThrottled)
	// ErrUnavailable says that the queue failed, did not answer, or does not serve this caller now; try again later.
	ErrUnavailable = port.Error("queue unavailable", port.ErrUnavailable)
	// ErrInvalid says that the message itself is refused; repeating it cannot help.
	ErrInvalid = port.Error("message refused", port.ErrInvalid)
)

// InvalidError names the field that broke its rule. It matches [ErrInvalid].
type InvalidError struct {
	Field  string // Group, ID or Body
	Reason string
}

func (e *InvalidError) Error() string { return fmt.Sprintf("message %s %s", e.Field, e.Reason) }

// Unwrap makes the error match ErrInvalid and its kind.
func (e *InvalidError) Unwrap() error { return ErrInvalid }

// Check returns an [*InvalidError] for the first field that breaks its rule. Every adapter calls it before anything
// else.
func (m Message) Check() error {
	for _, one := range []struct{ field, name string }{{"Group", m.Group}, {"ID", m.ID}} {
		if reason := nameFault(one.name); reason != "" {
			return &InvalidError{one.field, reason}
		}
	}
	switch {
	case len(m.Body) > MaxBody:
		return &InvalidError{"Body", fmt.Sprintf("has %d bytes, at most %d are allowed", len(m.Body), MaxBody)}
	case !utf8.Valid(m.Body):
		return &InvalidError{"Body", "is not UTF-8"}
	case !json.Valid(m.Body):
		return &InvalidError{"Body", "is not JSON"}
	case strings.ContainsAny(string(m.Body), "\uFFFE\uFFFF"): // SQS refuses them (SendMessage, MessageBody)
		return &InvalidError{"Body", "has a character that is none"}
	}
	return nil
}

func nameFault(name string) string {
	if name == "" || len(name) > MaxName {
		return fmt.Sprintf("has %d bytes, want 1 to %d", len(name), MaxName)
	}
	for i := range len(name) {
		if !nameByte(name[i]) {
			return fmt.Sprintf("%q has a character outside 0-9a-zA-Z-_", name)
		}
	}
	return ""
}

func nameByte(c byte) bool {
	switch {
	case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return true
	}
	return c == '-' || c == '_'
}
