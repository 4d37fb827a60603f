// Package pepper holds the deployment's pepper: 32 random bytes that are made once, and the names of users that are
// made with it.
//
// It promises that a name does not lead back to the user id without the pepper (HMAC-SHA-256, RFC 2104), and that names
// for different purposes have nothing in common. The pepper hides nothing from operators who can read it. It must never
// appear in a log or in an error, and never change: after another pepper nothing matches the names made before.
package pepper

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

const (
	// bytes is the length of a pepper: that of SHA-256's result, from which a longer key gains nothing (RFC 2104 §3).
	bytes = 32
	// TextLength is the length of a pepper as text: two hexadecimal digits for each byte.
	TextLength = 2 * bytes
	// PseudonymLength is the length of a name in logs: 64 bits, which two of a million users share with the chance 3e-8.
	PseudonymLength = 16
)

// Purposes of names. Each begins what is hashed and ends with a byte that no user id has.
const (
	forErasure = "erasure\x00"
	forLog     = "log\x00"
	forChosen  = "chosen\x00"
	forCheck   = "check\x00"
)

// forDelivery is the purpose of ids of events, deliveryLength their length.
const (
	forDelivery    = "delivery\x00"
	deliveryLength = 32
)

// ErrText is returned by [Parse].
var ErrText = fmt.Errorf("a pepper is %d hexadecimal digits in lower case", TextLength)

// errShort says that a source of random bytes ended.
var errShort = errors.New("make a pepper")

// Pepper is a deployment's pepper. The zero Pepper is none: it must not name anybody.
type Pepper struct{ key [bytes]byte }

// New makes a pepper. The source must be fit for cryptography.
func New(random io.Reader) (Pepper, error) {
	var p Pepper
	if _, err := io.ReadFull(random, p.key[:]); err != nil {
		return Pepper{}, fmt.Errorf("%w: %w", errShort, err)
	}
	return p, nil
}

// Parse reads a pepper in the form of [Pepper.Text]. The error does not have the text.
func Parse(text string) (Pepper, error) {
	var p Pepper
	if len(text) != TextLength {
		return Pepper{}, ErrText
	}
	for i := range len(text) {
		if !isDigit(text[i]) {
			return Pepper{}, ErrText
		}
	}
	if _, err := hex.Decode(p.key[:], []byte(text)); err != nil {
		return Pepper{}, ErrText
	}
	return p, nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// Text returns the pepper for storage alone: [TextLength] hexadecimal digits.
func (p Pepper) Text() string { return hex.EncodeToString(p.key[:]) }

// IsZero reports whether there is no pepper.
func (p Pepper) IsZero() bool { return p == Pepper{} }

// Erasure returns the name under which an erasure of the user is recorded, as 64 hexadecimal digits: the whole HMAC, so
// that no two users share a record.
func (p Pepper) Erasure(user string) string { return hex.EncodeToString(p.sum(forErasure, user)) }

// Delivery returns the id of the event about something that the pepper names: 32 hexadecimal digits, which lead to no
// such name.
func (p Pepper) Delivery(name string) string {
	return hex.EncodeToString(p.sum(forDelivery, name))[:deliveryLength]
}

// Check returns a name of the pepper itself, by which a deployment recognises it: 64 hexadecimal digits.
func (p Pepper) Check() string { return hex.EncodeToString(p.sum(forCheck, "")) }

// Pseudonym returns the user's name in logs, [PseudonymLength] hexadecimal digits; empty for no user.
func (p Pepper) Pseudonym(user string) string {
	if user == "" {
		return ""
	}
	return hex.EncodeToString(p.sum(forLog, user))[:PseudonymLength]
}

// Chosen returns what stands in logs for a text that a client chose, such as the id of a request: [PseudonymLength]
// hexadecimal digits.
func (p Pepper) Chosen(text string) string {
	return hex.EncodeToString(p.sum(forChosen, text))[:PseudonymLength]
}

func (p Pepper) sum(purpose, text string) []byte {
	mac := hmac.New(sha256.New, p.key[:])
	mac.Write([]byte(purpose + text))
	return mac.Sum(nil)
}

// hidden stands for every pepper that is printed.
const hidden = "(pepper)"

// Format hides the pepper from every verb of package fmt.
func (p Pepper) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// LogValue hides the pepper from logs.
func (p Pepper) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the pepper from JSON.
func (p Pepper) MarshalText() ([]byte, error) { return []byte(hidden), nil }
