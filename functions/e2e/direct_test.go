package e2e_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"nexus/pkg/deploy/env"
	"nexus/pkg/product"
)

// tokenIssuer gives the tokens of a test, and says with which keys.
type tokenIssuer struct {
	*testing.T
	address string
	key     *rsa.PrivateKey
	asked   atomic.Int32
}

// issuer starts the issuer of the functions that are started after it.
func (w *fixture) issuer() *tokenIssuer {
	w.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(w, err)
	i := &tokenIssuer{T: w.T, key: key}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		i.asked.Add(1)
		body := map[string]any{"issuer": i.address, "jwks_uri": i.address + "/keys"}
		if r.URL.Path == "/keys" {
			body = map[string]any{"keys": []any{jose.JSONWebKey{Key: &key.PublicKey, KeyID: "k1", Use: "sig"}}}
		}
		_ = json.NewEncoder(out).Encode(body) // the program may have gone
	}))
	w.Cleanup(server.Close)
	i.address = server.URL
	w.settings[env.Issuer], w.settings[env.Audience] = server.URL, "web phone"
	return i
}

// bearer returns a header with a token of the user, signed by the key, with these claims beside the usual ones.
func (i *tokenIssuer) bearer(key *rsa.PrivateKey, more map[string]any) string {
	i.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "k1"}}, nil)
	require.NoError(i, err)
	token, err := jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: i.address, Subject: user, Audience: jwt.Audience{"web"},
		Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour)),
	}).Claims(map[string]any{"scope": "nexus/user"}).Claims(more).Serialize()
	require.NoError(i, err)
	return "Bearer " + token
}

// by lets a program be called by the alias from now on.
func (f *function) by(alias string) *function {
	f.alias = alias
	return f
}

func TestFunctions_checkTheTokensOfRequestsByAFunctionURL(t *testing.T) {
	t.Parallel()
	w := setup(t)
	i := w.issuer()
	another, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	commands, queries := w.start(env.Command), w.start(env.Query)
	with := func(name, authorization string) []byte {
		return changed(t, w.payload(name), map[string]any{"headers/authorization": authorization})
	}
	require.Equal(t, http.StatusCreated, commands.request(w.payload("command-create-task")).StatusCode)
	require.Zero(t, i.asked.Load(), "behind the gateway no token is checked")

	good, forged := i.bearer(i.key, nil), i.bearer(another, nil)
	for f, name := range map[*function]string{commands: "command-url-create-task", queries: "query-url-agenda"} {
		f.by(env.DirectAlias)
		for _, authorization := range []string{
			"", "Bearer x", forged, i.bearer(i.key, map[string]any{"exp": 1}), i.bearer(i.key, map[string]any{"aud": "other"}),
		} {
			a := f.request(with(name, authorization))
			require.Equal(t, http.StatusUnauthorized, a.StatusCode, "%s %s", name, a.Body)
			require.Contains(t, a.Headers["www-authenticate"], "Bearer")
		}
		a := f.request(with(name, i.bearer(i.key, map[string]any{"scope": "openid"})))
		require.Equal(t, http.StatusForbidden, a.StatusCode, "%s", a.Body)
		require.Less(t, f.request(with(name, good)).StatusCode, 300)
	}
	require.EqualValues(t, 4, i.asked.Load(), "two documents for each function")
	require.NotNil(t, w.item(product.TypeTask, createdID), "the user is the one of the gateway")

	// What only the gateway, or one with the right to invoke, may say.
	require.Equal(t, http.StatusUnauthorized, commands.request(with("command-create-task", forged)).StatusCode)
	require.NotNil(t, commands.invoke(w.payload("command-direct")).failure)
	require.Nil(t, commands.by("live").invoke(w.payload("command-direct")).failure)
}

func TestQuery_tellsTheAddressesThatTheGatewayTellsIt(t *testing.T) {
	t.Parallel()
	w := setup(t)
	f := w.start(env.Query)
	ask := changed(t, w.payload("query-health"), map[string]any{"rawPath": "/.well-known/nexus"})
	a := f.request(ask)
	require.Equal(t, http.StatusOK, a.StatusCode)
	require.JSONEq(t, `{}`, a.Body)
	require.Equal(t, "public, max-age=3600", a.Headers["cache-control"])
	const command, query = "https://c7.lambda-url.eu-central-1.on.aws", "https://q7.lambda-url.eu-central-1.on.aws"
	ask = changed(t, ask, map[string]any{"stageVariables": map[string]any{
		env.CommandURL: command + "/", env.QueryURL: query + "/",
	}})
	require.JSONEq(t, `{"command":"`+command+`","query":"`+query+`"}`, f.request(ask).Body)
	none := map[string]any{env.CommandURL: env.NoURL, env.QueryURL: env.NoURL}
	require.JSONEq(t, `{}`, f.request(changed(t, ask, map[string]any{"stageVariables": none})).Body)
	require.Equal(t, http.StatusUnauthorized, f.by(env.DirectAlias).request(ask).StatusCode, "only the gateway tells them")
}
