package bearer

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"

	"nexus/pkg/port"
)

const (
	// wellKnown is where an issuer describes itself (OpenID Connect Discovery 1.0 §4).
	wellKnown = "/.well-known/openid-configuration"
	// keysLife is how long keys are used without asking again.
	keysLife = 24 * time.Hour
	// pause is the least time between two readings while there are keys, firstPause while there are none.
	pause      = time.Minute
	firstPause = 5 * time.Second
	// patience bounds one reading: both requests.
	patience = 3 * time.Second
	// maxDocument bounds each of the issuer's two documents, in bytes.
	maxDocument = 256 << 10
	// minBits is the least length of a key (RFC 7518 §3.3).
	minBits = 2048
)

// errUnknownKey says that the issuer has no such key.
var errUnknownKey = errors.New("its key is none of the issuer's")

// ring holds the issuer's keys, by their ids, as they were read at an instant.
type ring struct {
	keys map[string]*rsa.PublicKey
	at   time.Time
}

// keys remembers the issuer's keys. Those of the last reading that succeeded stay until another one does.
type keys struct {
	issuer string
	now    func() time.Time
	client *http.Client
	last   atomic.Pointer[ring]

	reading sync.Mutex // one reads at a time, and the others wait for what it finds
	asked   time.Time  // when the last reading began, successful or not
	failed  error      // of the last reading
}

func newKeys(c Config) *keys {
	return &keys{issuer: c.Issuer, now: c.Now, client: &http.Client{
		Transport:     c.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// find returns the issuer's key with the id.
func (k *keys) find(ctx context.Context, id string) (*rsa.PublicKey, error) {
	if id == "" {
		return nil, errUnknownKey
	}
	if key := k.fresh(id); key != nil {
		return key, nil
	}
	k.reading.Lock()
	defer k.reading.Unlock()
	if key := k.fresh(id); key != nil { // the call before has just read it
		return key, nil
	}
	now, wait := k.now().Round(0), firstPause // without the monotonic reading, which may stand still in a frozen process
	if k.last.Load() != nil {
		wait = pause
	}
	if now.Sub(k.asked) >= wait {
		k.asked = now
		var read map[string]*rsa.PublicKey
		if read, k.failed = k.read(ctx); k.failed == nil {
			k.last.Store(&ring{read, now})
		}
	}
	if last := k.last.Load(); last != nil && last.keys[id] != nil {
		return last.keys[id], nil
	}
	if k.failed != nil {
		return nil, fmt.Errorf("keys of the issuer: %w: %w", port.ErrUnavailable, k.failed)
	}
	return nil, errUnknownKey
}

// fresh returns a key that was read within [keysLife]; nil without one.
func (k *keys) fresh(id string) *rsa.PublicKey {
	if last := k.last.Load(); last != nil && k.now().Round(0).Sub(last.at) < keysLife {
		return last.keys[id]
	}
	return nil
}

// read asks the issuer where its keys are, and for them.
func (k *keys) read(ctx context.Context) (map[string]*rsa.PublicKey, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var about struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := k.fetch(ctx, strings.TrimSuffix(k.issuer, "/")+wellKnown, &about); err != nil {
		return nil, err
	}
	if about.Issuer != k.issuer {
		return nil, errors.New("the issuer's document names another issuer")
	}
	if !k.mayAsk(about.Keys) {
		return nil, errors.New("the issuer's document names no https address of its keys")
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := k.fetch(ctx, about.Keys, &set); err != nil {
		return nil, err
	}
	out := map[string]*rsa.PublicKey{}
	for _, text := range set.Keys {
		if id, key := parseKey(text); key != nil {
			out[id] = key
		}
	}
	if len(out) == 0 {
		return nil, errors.New("the issuer has no key for RS256")
	}
	return out, nil
}

// mayAsk accepts an address with https, and one on the host of an issuer without, which only tests have.
func (k *keys) mayAsk(address string) bool {
	to, err := url.Parse(address)
	if err != nil || to.Host == "" {
		return false
	}
	issuer, err := url.Parse(k.issuer)
	return to.Scheme == "https" || err == nil && to.Scheme == issuer.Scheme && to.Host == issuer.Host
}

// fetch reads a JSON document. It follows no redirect.
func (k *keys) fetch(ctx context.Context, address string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fmt.Errorf("ask the issuer: %w", err)
	}
	answer, err := k.client.Do(request)
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
