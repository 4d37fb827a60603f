package bearer_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"nexus/functions/internal/httpapi"
	"nexus/pkg/api"
	"nexus/pkg/port"
)

// unsigned makes no signature.
func unsigned([]byte) []byte { return nil }

// withSecret signs as HS256 does.
func withSecret(secret []byte) func([]byte) []byte {
	return func(input []byte) []byte {
		mac := hmac.New(sha256.New, secret)
		mac.Write(input)
		return mac.Sum(nil)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// otherAlgorithms are tokens under algorithms that the issuer does not use, some with its own key.
func otherAlgorithms(i *issuer) map[string]string {
	claims, out := i.claims(nil), map[string]string{}
	for _, name := range []string{"none", "None", "NONE", "nOnE", ""} {
		out["alg "+name] = token(header(object{"alg": name}), claims, unsigned)
		out["alg "+name+", signed"] = token(header(object{"alg": name}), claims, by(ours()))
	}
	public := must(x509.MarshalPKIXPublicKey(&ours().PublicKey))
	for name, secret := range map[string][]byte{
		"PEM": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), "DER": public,
		"PKCS 1": x509.MarshalPKCS1PublicKey(&ours().PublicKey), "modulus": ours().N.Bytes(),
		"text": []byte(encode(ours().N.Bytes())), "JWK": encodeJSON(jwk("k1", ours())), "nothing": nil,
	} {
		out["HS256 with the public key as "+name] = token(header(object{"alg": "HS256"}), claims, withSecret(secret))
		out["RS256 named, signed by HS256 with "+name] = token(header(nil), claims, withSecret(secret))
	}
	out["RS384"] = token(header(object{"alg": "RS384"}), claims, func(input []byte) []byte {
		digest := sha512.Sum384(input)
		return must(rsa.SignPKCS1v15(nil, ours(), crypto.SHA384, digest[:]))
	})
	out["PS256"] = token(header(object{"alg": "PS256"}), claims, func(input []byte) []byte {
		digest := sha256.Sum256(input)
		return must(rsa.SignPSS(rand.Reader, ours(), crypto.SHA256, digest[:], nil))
	})
	curve := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	point := must(curve.PublicKey.Bytes())
	for name, more := range map[string]object{"": {}, ", with its key": {"jwk": object{
		"kty": "EC", "crv": "P-256", "x": encode(point[1:33]), "y": encode(point[33:]), "kid": "k1",
	}}} {
		out["ES256"+name] = token(changed(header(object{"alg": "ES256"}), more), claims, func(input []byte) []byte {
			digest := sha256.Sum256(input)
			r, s, err := ecdsa.Sign(rand.Reader, curve, digest[:])
			return append(must(r, err).FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
		})
	}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	out["EdDSA"] = token(header(object{"alg": "EdDSA"}), claims, func(input []byte) []byte {
		return ed25519.Sign(must(private, err), input)
	})
	out["alg as a list"] = token(header(object{"alg": []string{"RS256"}}), claims, by(ours()))
	out["alg twice"] = token(`{"alg":"none","alg":"RS256","kid":"k1"}`, claims, by(ours()))
	out["no alg"] = token(header(object{"alg": nil}), claims, by(ours()))
	return out
}

// otherKeys are tokens that an attacker has signed, or that point to another key.
func otherKeys(i *issuer) map[string]string {
	claims := i.claims(nil)
	out := map[string]string{"the same kid": token(header(nil), claims, by(others()))}
	for name, more := range map[string]object{
		"jku": {"jku": elsewhere}, "x5u": {"x5u": elsewhere}, "jwk": {"jwk": jwk("k1", others())},
		"jwk without kid": {"jwk": jwk("k2", others()), "kid": nil},
		"x5c":             {"x5c": []string{base64.StdEncoding.EncodeToString([]byte("certificate"))}},
		"kid of ours":     {"kid": "k1", "jwk": jwk("k1", others()), "jku": elsewhere, "x5u": elsewhere},
	} {
		out["header "+name] = token(header(more), claims, by(others()))
	}
	for name, kid := range map[string]any{
		"absent": nil, "empty": "", "unknown": "k9", "a path": "../../../../dev/null", "an address": elsewhere,
		"a query": "k1' OR '1'='1", "a number": 1, "a list": []string{"k1"}, "long": strings.Repeat("k", 3000),
		"null byte": "k1\x00",
	} {
		out["kid "+name] = token(header(object{"kid": kid}), claims, by(ours()))
		out["kid "+name+", of another"] = token(header(object{"kid": kid}), claims, by(others()))
	}
	return out
}

// otherClaims are tokens that the issuer has signed, and that are not good here or now.
func otherClaims(i *issuer) map[string]string {
	at := func(d time.Duration) int64 { return i.now.Add(d).Unix() }
	out := map[string]string{}
	for name, more := range map[string]object{
		"no exp": {"exp": nil}, "exp 0": {"exp": 0}, "exp true": {"exp": true}, "exp as a text": {"exp": "1999999999"},
		"exp as a list": {"exp": []int64{at(time.Hour)}}, "expired": {"exp": at(-time.Minute)},
		"long expired": {"exp": at(-24 * 365 * time.Hour)}, "not valid yet": {"nbf": at(time.Minute)},
		"issued in the future": {"iat": at(time.Minute)}, "nbf as a text": {"nbf": "1"},

		"no iss": {"iss": nil}, "another iss": {"iss": "https://id.elsewhere.example"},
		"iss with a slash": {"iss": issuerName + "/"}, "iss in other letters": {"iss": strings.ToUpper(issuerName)},
		"iss as a list": {"iss": []string{issuerName}}, "iss within": {"iss": issuerName + ".elsewhere.example"},

		"another aud": {"aud": "other"}, "no aud, another client": {"aud": nil}, "aud a number": {"aud": 7},
		"neither aud nor client":  {"aud": nil, "client_id": nil},
		"another aud, our client": {"aud": "other", "client_id": "web"},
		"aud of none":             {"aud": []string{}, "client_id": "web"},
		"aud nested":              {"aud": []any{[]any{"web"}}}, "aud empty": {"aud": ""}, "aud within": {"aud": "web2"},
		"client a list": {"aud": nil, "client_id": []string{"web"}},

		"no sub": {"sub": nil}, "sub empty": {"sub": ""}, "sub a list": {"sub": []string{"ann"}},
		"sub a number": {"sub": 7},
	} {
		out[name] = i.good(more)
	}
	whole := string(encodeJSON(i.claims(nil)))
	for name, text := range map[string]string{
		"exp twice":         strings.Replace(whole, `{`, `{"exp":1,`, 1),
		"sub twice":         strings.Replace(whole, `{`, `{"sub":"bob",`, 1),
		"aud twice":         strings.Replace(whole, `{`, `{"aud":"other",`, 1),
		"aud null":          strings.Replace(whole, `"web"`, `null`, 1),
		"names in capitals": strings.NewReplacer(`"exp"`, `"EXP"`, `"aud"`, `"Aud"`).Replace(whole),
		"a list":            `[` + whole + `]`, "a text": `"ann"`, "null": `null`, "nothing": ``, "cut": whole[:len(whole)-1],
		"two": whole + whole, "deep": strings.Repeat(`[`, 3000), "no JSON": "sub=ann",
		"a token": token(header(nil), i.claims(nil), by(ours())),
	} {
		out["claims: "+name] = token(header(nil), text, by(ours()))
	}
	out["crit exp"] = token(header(object{"crit": []string{"exp"}, "exp": at(time.Hour)}), i.claims(nil), by(ours()))
	out["crit unknown"] = token(header(object{"crit": []string{"nexus"}, "nexus": 1}), i.claims(nil), by(ours()))
	out["crit b64"] = token(header(object{"crit": []string{"b64"}, "b64": false}), i.claims(nil), by(ours()))
	out["nested"] = token(header(object{"cty": "JWT"}), token(header(nil), i.claims(nil), by(ours())), by(ours()))
	out["huge claims"] = i.good(object{"more": strings.Repeat("a", 9000)})
	out["huge header"] = token(header(object{"more": strings.Repeat("a", 20_000)}), i.claims(nil), by(ours()))
	return out
}

// broken are good tokens of which something was changed afterwards.
func broken(i *issuer) map[string]string {
	good := i.good(nil)
	parts := strings.Split(good, ".")
	flipped := []byte(good)
	flipped[len(flipped)-10] ^= 1
	out := map[string]string{
		"no token": "", "a dot": ".", "two dots": "..", "one part": parts[0], "two parts": parts[0] + "." + parts[1],
		"four parts": good + ".", "five parts": good + ".a.b", "no signature": parts[0] + "." + parts[1] + ".",
		"no header": "." + parts[1] + "." + parts[2], "no claims": parts[0] + ".." + parts[2],
		"signature cut": good[:len(good)-4], "signature longer": good + "AAAA", "a bit flipped": string(flipped),
		"padded": good + "==", "a space within": parts[0] + " ." + parts[1] + "." + parts[2],
		"not base64":               strings.Replace(good, ".", ".*", 1),
		"base64 of the other kind": parts[0] + "." + parts[1] + ".+/" + parts[2][2:], "twice": good + "." + good,
		"other claims": parts[0] + "." + encode(encodeJSON(i.claims(object{"sub": "bob"}))) + "." + parts[2],
		"other header": encode(encodeJSON(header(object{"typ": "JWT"}))) + "." + parts[1] + "." + parts[2],
		"JSON form": string(encodeJSON(object{
			"protected": parts[0], "payload": parts[1], "signature": parts[2],
		})),
		"user": "ann", "long": strings.Repeat("a.", 6<<10), "JWE": parts[0] + "." + parts[1] + "." + parts[2] + ".a.b",
	}
	return out
}

func TestClaims_areThoseOfNoForgedToken(t *testing.T) {
	t.Parallel()
	i := newIssuer()
	forged := map[string]string{}
	for _, some := range []map[string]string{otherAlgorithms(i), otherKeys(i), otherClaims(i), broken(i)} {
		maps.Copy(forged, some)
	}
	checker := i.checker()
	_, err := checker.Claims(t.Context(), i.good(nil))
	require.NoError(t, err)
	handle := httpapi.New(surface(api.SideQueries, "nexus/read"), checker.Claims).Handle
	status := func(token string) answered {
		event := urlEvent(http.MethodGet, "/v1/me", map[string]string{"authorization": "Bearer " + token}, nil)
		return send(called(t.Context(), "direct"), t, handle, event)
	}
	require.Equal(t, 200, status(i.good(nil)).StatusCode)
	for name, token := range forged {
		of, err := checker.Claims(t.Context(), token)
		if isGood := strings.HasPrefix(name, "no sub") || name == "sub empty"; isGood {
			require.Empty(t, of.Subject, "it is good, but of no user")
		} else {
			require.Error(t, err, name)
			require.NotErrorIs(t, err, port.ErrUnavailable, name)
			require.Zero(t, of, name)
			require.NotContains(t, err.Error(), "ann", name)
		}
		a := status(token)
		require.Equal(t, http.StatusUnauthorized, a.StatusCode, "%s: %s", name, a.Body)
		require.Contains(t, a.Body, "/problems/unauthenticated")
		if err != nil {
			require.Equal(t, `Bearer error="invalid_token"`, a.Headers["www-authenticate"], name)
		}
	}
	require.Greater(t, len(forged), 110)
	id := status(i.good(object{"scope": nil}))
	require.Equal(t, http.StatusForbidden, id.StatusCode, "an ID token has no scope")
	require.Equal(t, `Bearer error="insufficient_scope"`, id.Headers["www-authenticate"])
	require.Equal(t, []string{discovery, keysAt}, i.taken(), "the issuer alone is asked, and once")
}
