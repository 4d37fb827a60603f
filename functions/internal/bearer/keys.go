package bearer

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"nexus/pkg/deploy/issuer"
	"nexus/pkg/port"
)

const (
	// keysLife is how long keys are used without asking again.
	keysLife = 24 * time.Hour
	// pause is the least time between two readings while there are keys, firstPause while there are none.
	pause      = time.Minute
	firstPause = 5 * time.Second
	// patience bounds one reading: both requests.
	patience = 3 * time.Second
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
	return &keys{issuer: c.Issuer, now: c.Now, client: issuer.NewClient(c.Transport)}
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

// read asks the issuer for its keys.
func (k *keys) read(ctx context.Context) (map[string]*rsa.PublicKey, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return issuer.ReadKeys(ctx, k.client, k.issuer)
}
