package webpush

import (
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"nexus/pkg/durable"
)

// ErrKey says that a text is no key.
var ErrKey = errors.New("the key is not 32 bytes of P-256 in base64url without padding")

// Key is the deployment's key by which push services know it (RFC 8292). It shows itself nowhere but by [Key.Text].
type Key struct{ private, public string }

// NewKey draws a key.
func NewKey(random io.Reader) (Key, error) {
	drawn, err := ecdh.P256().GenerateKey(random)
	if err != nil {
		return Key{}, fmt.Errorf("draw a key: %w", err)
	}
	return ParseKey(base64.RawURLEncoding.EncodeToString(drawn.Bytes()))
}

// ParseKey is the inverse of [Key.Text].
func ParseKey(text string) (Key, error) {
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return Key{}, ErrKey
	}
	private, err := ecdh.P256().NewPrivateKey(bytes)
	if err != nil {
		return Key{}, ErrKey
	}
	return Key{text, base64.RawURLEncoding.EncodeToString(private.PublicKey().Bytes())}, nil
}

// OpenFile reads the key of a file, or makes one and writes it, durably and for the file's owner alone. It never
// replaces a file that it cannot read.
func OpenFile(path string, random io.Reader) (Key, error) {
	text, err := durable.ReadOrWrite(path, func() ([]byte, error) {
		made, err := NewKey(random)
		return []byte(made.Text() + "\n"), err
	})
	if err != nil {
		return Key{}, err
	}
	k, err := ParseKey(strings.TrimSuffix(string(text), "\n"))
	if err != nil {
		return Key{}, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
}

// Text returns the key's secret.
func (k Key) Text() string { return k.private }

// Public returns the public key as browsers take it: an uncompressed point in base64url.
func (k Key) Public() string { return k.public }

// Format keeps the secret out of texts.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "key "+k.public) }

// LogValue keeps the secret out of logs.
func (k Key) LogValue() slog.Value { return slog.StringValue("key " + k.public) }
