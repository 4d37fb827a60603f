package bearer_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/functions/internal/httpapi"
	"nexus/pkg/api"
	"nexus/pkg/port"
)

// both are the requests of one reading.
var both = []string{discovery, keysAt}

// signed is a good token under a key's id.
func (i *issuer) signed(id string, key *rsa.PrivateKey) string {
	return token(header(object{"kid": id}), i.claims(nil), by(key))
}

func TestKeys_areReadOnceADayAndOnceAMinuteForUnknownOnes(t *testing.T) {
	t.Parallel()
	i := newIssuer()
	checker := i.checker()
	check := func(token string) error {
		_, err := checker.Claims(t.Context(), token)
		return err
	}
	require.Error(t, check(token(header(object{"kid": nil}), i.claims(nil), by(ours()))))
	require.Error(t, check(token(header(object{"alg": "none"}), i.claims(nil), unsigned)))
	require.Empty(t, i.taken(), "for what is refused without a key")
	require.NoError(t, check(i.good(nil)))
	require.Equal(t, both, i.taken())
	i.keys = object{"keys": []any{jwk("k1", ours()), jwk("k2", others())}}
	for range 20 {
		require.NoError(t, check(i.good(nil)))
		require.Error(t, check(i.signed("k2", others())), "it is not known yet")
	}
	require.Empty(t, i.taken())
	i.pass(time.Minute)
	require.NoError(t, check(i.signed("k2", others())))
	require.Equal(t, both, i.taken())
	for _, id := range []string{"k3", "k4", "k5"} {
		require.Error(t, check(i.signed(id, others())))
	}
	require.Empty(t, i.taken(), "for all unknown keys together")

	i.keys = object{"keys": []any{jwk("k2", others())}}
	i.pass(23 * time.Hour)
	require.NoError(t, check(i.good(nil)))
	require.Empty(t, i.taken())
	i.pass(time.Hour)
	require.Error(t, check(i.good(nil)), "the issuer has taken it back")
	require.NoError(t, check(i.signed("k2", others())))
	require.Equal(t, both, i.taken())
}

func TestKeys_stayWhileTheIssuerDoesNotAnswer(t *testing.T) {
	t.Parallel()
	i := newIssuer()
	checker := i.checker()
	_, err := checker.Claims(t.Context(), i.good(nil))
	require.NoError(t, err)
	i.taken()
	i.instead = func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") }
	i.pass(48 * time.Hour)
	for range 5 {
		_, err = checker.Claims(t.Context(), i.good(nil))
		require.NoError(t, err)
	}
	require.Equal(t, []string{discovery}, i.taken(), "it is asked once a minute")
	_, err = checker.Claims(t.Context(), i.signed("k2", others()))
	require.ErrorIs(t, err, port.ErrUnavailable, "it may be a new key")
	i.pass(time.Minute)
	i.instead = nil
	_, err = checker.Claims(t.Context(), i.signed("k2", others()))
	require.Error(t, err)
	require.NotErrorIs(t, err, port.ErrUnavailable)
	require.Equal(t, both, i.taken())
}

func TestKeys_areAskedForAgainSoonAfterAStartWithoutThem(t *testing.T) {
	t.Parallel()
	i := newIssuer()
	checker := i.checker()
	i.instead = func(*http.Request) (*http.Response, error) { return answer(http.StatusBadGateway, object{}), nil }
	handle := httpapi.New(surface(api.SideQueries, "nexus/read"), checker.Claims).Handle
	ask := func(path string) answered {
		return send(called(t.Context(), "direct"), t, handle,
			urlEvent(http.MethodGet, path, map[string]string{"authorization": "Bearer " + i.good(nil)}, nil))
	}
	for range 3 {
		a := ask("/v1/me")
		require.Equal(t, http.StatusServiceUnavailable, a.StatusCode, "the token may be good: %s", a.Body)
		require.NotEmpty(t, a.Headers["retry-after"])
	}
	require.Equal(t, []string{discovery}, i.taken())
	i.pass(5 * time.Second)
	i.instead = nil
	require.Equal(t, 200, ask("/v1/me").StatusCode)
	require.Equal(t, both, i.taken())
}

func TestKeys_areReadByOneCallForAll(t *testing.T) {
	t.Parallel()
	i := newIssuer()
	checker, begun, goOn := i.checker(), make(chan struct{}, 9), make(chan struct{})
	i.instead = func(r *http.Request) (*http.Response, error) {
		begun <- struct{}{}
		<-goOn
		if r.URL.String() == discovery {
			return answer(http.StatusOK, i.about), nil
		}
		return answer(http.StatusOK, i.keys), nil
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			_, err := checker.Claims(context.Background(), i.good(nil))
			if err != nil {
				t.Error(err)
			}
		})
	}
	<-begun
	close(goOn)
	all.Wait()
	require.Equal(t, both, i.taken())
}

func TestKeys_areReadFromDocumentsOfTheIssuerAlone(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*issuer){
		"another issuer": func(i *issuer) { i.about["issuer"] = "https://elsewhere.example" },
		"no issuer":      func(i *issuer) { delete(i.about, "issuer") },
		"keys by http":   func(i *issuer) { i.about["jwks_uri"] = "http://id.nexus.example/keys" },
		"keys in a file": func(i *issuer) { i.about["jwks_uri"] = "file:///etc/passwd" },
		"no keys' place": func(i *issuer) { delete(i.about, "jwks_uri") },
		"no keys":        func(i *issuer) { i.keys = object{} },
		"an empty set":   func(i *issuer) { i.keys = object{"keys": []any{}} },
		"keys a text":    func(i *issuer) { i.keys = object{"keys": "k1"} },
		"a page":         func(i *issuer) { i.instead = text(http.StatusOK, "<html>") },
		"an error":       func(i *issuer) { i.instead = text(http.StatusInternalServerError, "{}") },
		"too much":       func(i *issuer) { i.about["more"] = strings.Repeat("a", 300<<10) },
		"too many keys":  func(i *issuer) { i.keys["more"] = strings.Repeat("a", 300<<10) },
		"a redirect": func(i *issuer) {
			i.instead = func(*http.Request) (*http.Response, error) {
				moved := answer(http.StatusFound, object{})
				moved.Header.Set("Location", elsewhere)
				return moved, nil
			}
		},
	} {
		i := newIssuer()
		change(i)
		_, err := i.checker().Claims(t.Context(), i.good(nil))
		require.ErrorIs(t, err, port.ErrUnavailable, name)
		for _, address := range i.taken() {
			require.Contains(t, both, address, name)
		}
	}
}

func text(status int, body string) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) { return answer(status, body), nil }
}

func TestKeys_areWaitedForNoLongerThanThreeSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		i := newIssuer()
		i.instead = func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		began := time.Now()
		_, err := i.checker().Claims(t.Context(), i.good(nil))
		require.ErrorIs(t, err, port.ErrUnavailable)
		require.Equal(t, 3*time.Second, time.Since(began))
	})
}

// A set of keys may have others beside ours, which do not make it unreadable.
func TestKeys_areTakenForThisAlgorithmAlone(t *testing.T) {
	t.Parallel()
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	private := changed(jwk("k1", ours()), object{
		"d": encode(ours().D.Bytes()), "p": encode(ours().Primes[0].Bytes()), "q": encode(ours().Primes[1].Bytes()),
	})
	for name, key := range map[string]any{
		"for encryption": changed(jwk("k1", ours()), object{"use": "enc"}),
		"RS512":          changed(jwk("k1", ours()), object{"alg": "RS512"}),
		"PS256":          changed(jwk("k1", ours()), object{"alg": "PS256"}),
		"no type":        changed(jwk("k1", ours()), object{"kty": nil}),
		"unknown type":   changed(jwk("k1", ours()), object{"kty": "X"}),
		"no modulus":     changed(jwk("k1", ours()), object{"n": nil}),
		"no id":          changed(jwk("k1", ours()), object{"kid": nil}),
		"bad x5c":        changed(jwk("k1", ours()), object{"x5c": []string{"AAAA"}}),
		"a secret":       object{"kty": "oct", "kid": "k1", "k": "AAAA"},
		"short":          jwk("k1", short), "private": private, "no object": "k1",
	} {
		i := newIssuer()
		i.keys = object{"keys": []any{key, jwk("k2", others())}}
		checker, signer := i.checker(), ours()
		if name == "short" {
			signer = short
		}
		_, err := checker.Claims(t.Context(), i.signed("k1", signer))
		require.Error(t, err, name)
		_, err = checker.Claims(t.Context(), i.signed("k2", others()))
		require.NoError(t, err, name)
	}
	i := newIssuer()
	i.keys = object{"keys": []any{changed(jwk("k1", ours()), object{"use": nil, "alg": nil})}}
	_, err = i.checker().Claims(t.Context(), i.good(nil))
	require.NoError(t, err, "use and alg may be absent")
}
