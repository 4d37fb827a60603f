// Package issuer reads the keys with which the issuer of a stage's tokens signs (OpenID Connect Discovery 1.0 §4, RFC
// 7517).
//
// It promises to ask the issuer and the address that it names for its keys, and no other. It must never take a key that
// may not sign by RS256.
package issuer

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
)

// WellKnown is where an issuer describes itself.
const WellKnown = "/.well-known/openid-configuration"

const (
	// maxDocument bounds each of the issuer's two documents, in bytes.
	maxDocument = 256 << 10
	// minBits is the least length of a key (RFC 7518 §3.3).
	minBits = 2048
)

// NewClient returns a client that follows no redirect.
func NewClient(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ReadKeys asks the issuer where its keys are, and returns those for RS256 by their ids. There is at least one.
func ReadKeys(ctx context.Context, by *http.Client, issuer string) (map[string]*rsa.PublicKey, error) {
	var about struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := fetch(ctx, by, strings.TrimSuffix(issuer, "/")+WellKnown, &about); err != nil {
		return nil, err
	}
	if about.Issuer != issuer {
		return nil, errors.New("the issuer's document names another issuer")
	}
	if !mayAsk(issuer, about.Keys) {
		return nil, errors.New("the issuer's document names no https address of its keys")
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := fetch(ctx, by, about.Keys, &set); err != nil {
		return nil, err
	}
	out := map[string]*rsa.PublicKey{}
	for _, text := range set.Keys {
		if id, key := parseKey(text); key != nil {
			out[id] = key
		}
	}
	if len(out) == 0 {
		return nil, errors.New("the issuer has no key for RS256 with a kid")
	}
	return out, nil
}

// mayAsk accepts an address with https, and one on the host of an issuer without, which only tests have.
func mayAsk(issuer, address string) bool {
	to, err := url.Parse(address)
	if err != nil || to.Host == "" {
		return false
	}
	own, err := url.Parse(issuer)
	return to.Scheme == "https" || err == nil && to.Scheme == own.Scheme && to.Host == own.Host
}

// fetch reads a JSON document.
func fetch(ctx context.Context, by *http.Client, address string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fmt.Errorf("ask the issuer: %w", err)
	}
	answer, err := by.Do(request)
	if err != nil {
		return fmt.Errorf("ask the issuer: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("ask the issuer: %s answers %s", address, answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument)) // what is longer is no JSON, then
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", address, err)
	}
	return nil
}

// parseKey returns a key that may sign by RS256, with its id; nil for any other, which a set may have, too.
func parseKey(text []byte) (string, *rsa.PublicKey) {
	var key jose.JSONWebKey
	if err := key.UnmarshalJSON(text); err != nil {
		return "", nil
	}
	public, ok := key.Key.(*rsa.PublicKey)
	if !ok || key.KeyID == "" || key.Use != "" && key.Use != "sig" ||
		key.Algorithm != "" && key.Algorithm != string(jose.RS256) || public.N.BitLen() < minBits {
		return "", nil
	}
	return key.KeyID, public
}
