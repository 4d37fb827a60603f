package bearer_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/functions/internal/bearer"
)

const (
	issuerName = "https://id.nexus.example/pool"
	discovery  = issuerName + "/.well-known/openid-configuration"
	keysAt     = "https://id.nexus.example/keys"
	elsewhere  = "https://elsewhere.example/keys"
)

// ours is the issuer's key, and others one that an attacker has.
var ours, others = sync.OnceValue(newKey), sync.OnceValue(newKey)

func newKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}

// object is a JSON object.
type object map[string]any

// issuer is the network as a function sees it: it has the issuer alone.
type issuer struct {
	mu    sync.Mutex
	now   time.Time
	asked []string // the addresses of all requests
	about object   // the issuer's document
	keys  object   // its keys
	// instead answers in place of the issuer, unless it is nil.
	instead func(*http.Request) (*http.Response, error)
}

func newIssuer() *issuer {
	return &issuer{
		now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), about: object{"issuer": issuerName, "jwks_uri": keysAt},
		keys: object{"keys": []any{jwk("k1", ours())}},
	}
}

// jwk is the public part of a key.
func jwk(id string, key *rsa.PrivateKey) object {
	return object{
		"kty": "RSA", "kid": id, "use": "sig", "alg": "RS256", "n": encode(key.N.Bytes()),
		"e": encode(big.NewInt(int64(key.E)).Bytes()),
	}
}

func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	i.mu.Lock()
	i.asked = append(i.asked, r.URL.String())
	instead := i.instead
	i.mu.Unlock()
	if instead != nil {
		return instead(r)
	}
	switch r.URL.String() {
	case discovery:
		return answer(http.StatusOK, i.about), nil
	case keysAt:
		return answer(http.StatusOK, i.keys), nil
	}
	return answer(http.StatusNotFound, object{}), nil
}

// answer is an answer with a text, or with a value as JSON.
func answer(status int, body any) *http.Response {
	text, ok := body.(string)
	if !ok {
		text = string(encodeJSON(body))
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Header: http.Header{},
		Body: io.NopCloser(bytes.NewBufferString(text)),
	}
}

// taken returns the addresses that were asked since the last call.
func (i *issuer) taken() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	out := i.asked
	i.asked = nil
	return out
}

func (i *issuer) checker() *bearer.Checker {
	return bearer.New(bearer.Config{
		Issuer: issuerName, Audience: []string{"web", "phone"}, Transport: i,
		Now: func() time.Time {
			i.mu.Lock()
			defer i.mu.Unlock()
			return i.now
		},
	})
}

func (i *issuer) pass(d time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.now = i.now.Add(d)
}

// claims are those of a good token, with others in their place; a nil one is left out.
func (i *issuer) claims(more object) object {
	out := object{
		"iss": issuerName, "aud": "web", "sub": "ann", "client_id": "client", "scope": "nexus/read nexus/write",
		"exp": i.now.Add(time.Hour).Unix(), "nbf": i.now.Add(-time.Minute).Unix(), "iat": i.now.Add(-time.Minute).Unix(),
	}
	return changed(out, more)
}

func changed(out, more object) object {
	for name, value := range more {
		if out[name] = value; value == nil {
			delete(out, name)
		}
	}
	return out
}

// header is that of a good token, with others in its place.
func header(more object) object {
	return changed(object{"alg": "RS256", "kid": "k1", "typ": "at+jwt"}, more)
}

func encodeJSON(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// token joins a header, claims and a signature. Texts stand as they are.
func token(header, claims any, sign func(input []byte) []byte) string {
	part := func(value any) string {
		if text, ok := value.(string); ok {
			return encode([]byte(text))
		}
		return encode(encodeJSON(value))
	}
	input := part(header) + "." + part(claims)
	return input + "." + encode(sign([]byte(input)))
}

// by signs as RS256 does.
func by(key *rsa.PrivateKey) func([]byte) []byte {
	return func(input []byte) []byte {
		digest := sha256.Sum256(input)
		signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, digest[:])
		if err != nil {
			panic(err)
		}
		return signature
	}
}

// good is a token with these claims.
func (i *issuer) good(more object) string { return token(header(nil), i.claims(more), by(ours())) }

func TestClaims_areThoseOfAGoodToken(t *testing.T) {
	t.Parallel()
	i := newIssuer()
	checker := i.checker()
	require.Empty(t, i.taken(), "nothing is asked before a token comes")
	for name, c := range map[string]struct {
		token             string
		scope, list, time string
	}{
		"as it is":            {i.good(nil), "nexus/read nexus/write", "", ""},
		"audiences":           {i.good(object{"aud": []string{"other", "phone"}}), "nexus/read nexus/write", "", ""},
		"client alone":        {i.good(object{"aud": nil, "client_id": "phone"}), "nexus/read nexus/write", "", ""},
		"scopes as a list":    {i.good(object{"scope": nil, "scp": []string{"a", "b"}}), "", "a b", ""},
		"no scope":            {i.good(object{"scope": nil, "auth_time": 1772440000}), "", "", "1772440000"},
		"neither nbf nor iat": {i.good(object{"nbf": nil, "iat": nil}), "nexus/read nexus/write", "", ""},
		"a clock apart":       {i.good(object{"iat": i.now.Add(3 * time.Second).Unix()}), "nexus/read nexus/write", "", ""},
		"a list as scope":     {i.good(object{"scope": []any{"a", 7}}), "a ", "", ""},
	} {
		of, err := checker.Claims(t.Context(), c.token)
		require.NoError(t, err, name)
		require.Equal(t, issuerName, of.Issuer)
		require.Equal(t, "ann", of.Subject)
		require.Equal(t, []string{c.scope, c.list, c.time}, []string{of.Scope, of.ScopeList, of.AuthTime}, name)
		require.NoError(t, of.Refused)
	}
	require.Equal(t, []string{discovery, keysAt}, i.taken(), "once")
}

func BenchmarkClaims(b *testing.B) {
	i := newIssuer()
	checker, token := i.checker(), i.good(nil)
	for b.Loop() {
		if _, err := checker.Claims(b.Context(), token); err != nil {
			b.Fatal(err)
		}
	}
}
