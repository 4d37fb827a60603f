package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"nexus/pkg/entity"
	"nexus/pkg/port"
)

// digestPrefix begins the user ids that are digests of subjects, and of no others.
const digestPrefix = "sub-"

// UserOfSubject returns the user id of a token's sub claim, which the caller has verified. It is the claim itself if
// that is a user id which does not begin as digests do; otherwise "sub-" and the base64url of the claim's SHA-256. So
// a claim cannot inject anything into a key, and no two claims are the same user: a claim that equals the digest of
// another gets a different digest. False for an empty claim.
func UserOfSubject(sub string) (userID string, ok bool) {
	if sub == "" {
		return "", false
	}
	if entity.CheckUserID(sub) == nil && !strings.HasPrefix(sub, digestPrefix) {
		return sub, true
	}
	sum := sha256.Sum256([]byte(sub))
	return digestPrefix + base64.RawURLEncoding.EncodeToString(sum[:]), true
}

// UserOfIssuer returns the user id of a token's iss and sub claims, which the caller has verified: "sub-" and the
// base64url of the SHA-256 of the issuer, a zero byte, and the subject. So subjects of two issuers are different users,
// no claim can spell the id of another, and the id shows neither claim. False if a claim is empty, or if the issuer has
// a zero byte, which no URL has (RFC 9068 §2.2: iss is the issuer's identifier).
//
//	printf '%s\0%s' ISSUER SUBJECT | openssl dgst -sha256 -binary | basenc --base64url | tr -d =
func UserOfIssuer(iss, sub string) (userID string, ok bool) {
	if iss == "" || sub == "" || strings.IndexByte(iss, 0) >= 0 {
		return "", false
	}
	sum := sha256.Sum256([]byte(iss + "\x00" + sub))
	return digestPrefix + base64.RawURLEncoding.EncodeToString(sum[:]), true
}

// SubjectForm says how a stage makes user ids of tokens. It must not change once the stage has users: each would find
// an empty account.
type SubjectForm int

const (
	// LiteralSubjects takes a subject as it is where it can be an id: [UserOfSubject].
	LiteralSubjects SubjectForm = 1
	// DigestedSubjects takes the digest of issuer and subject: [UserOfIssuer].
	DigestedSubjects SubjectForm = 2
)

// Claims are those of a token that the API looks at. The caller has verified the token.
type Claims struct {
	Issuer, Subject string
	// AuthTime is auth_time, in seconds since 1970, as a number in any form of JSON: when the user signed in (RFC 9470
	// §6.1); "" for none.
	AuthTime string
	// Scope and ScopeList are the claims scope (RFC 9068 §2.2.3) and scp, as which some issuers send the same.
	Scope, ScopeList string
	// Refused is why the token has no claims; nil for a token that is good. A request that has it is answered by no
	// operation, an open one neither. Of a [port.ErrUnavailable] the reason is passing, and the token may be good.
	Refused error
}

// ErrNoToken is the reason to refuse a request without a token where each needs one.
var ErrNoToken = errors.New("there is no bearer token")

type claimsKey struct{}

// WithClaims returns a context for a request whose token has these claims.
func WithClaims(ctx context.Context, of Claims) context.Context {
	return context.WithValue(ctx, claimsKey{}, of)
}

func claimsOf(r *http.Request) Claims {
	of, _ := r.Context().Value(claimsKey{}).(Claims)
	return of
}

// SignedInAt returns when the user signed in, by the claims of the request's context ([WithClaims]); zero if they do
// not say.
func SignedInAt(r *http.Request) time.Time {
	seconds, err := strconv.ParseFloat(claimsOf(r).AuthTime, 64)
	if err != nil || !(0 < seconds && seconds < 1e12) { // NaN is neither
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0)
}

// Authenticate authenticates by the claims of the request's context ([WithClaims]). It authenticates no user for a form
// that is neither of the two.
func (f SubjectForm) Authenticate(r *http.Request) (userID string, ok bool) {
	of := claimsOf(r)
	switch f {
	case LiteralSubjects:
		return UserOfSubject(of.Subject)
	case DigestedSubjects:
		return UserOfIssuer(of.Issuer, of.Subject)
	}
	return "", false
}

// BearerIsUser authenticates as the local platform does: the bearer token is the user id, without verification. It
// must never be reachable for anyone but the machine's own user.
func BearerIsUser(r *http.Request) (userID string, ok bool) {
	user, ok := Bearer(r)
	if !ok || entity.CheckUserID(user) != nil {
		return "", false
	}
	return user, true
}

// Bearer returns the request's bearer token, if it has exactly one.
func Bearer(r *http.Request) (token string, ok bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, found := strings.Cut(values[0], " ")
	return token, found && strings.EqualFold(scheme, "Bearer")
}

// authenticate returns the user with a well-formed id, whose token has a scope of the side.
func (a *API) authenticate(r *http.Request) (string, *Problem) {
	reason := claimsOf(r).Refused
	if reason != nil && !errors.Is(reason, ErrNoToken) {
		return "", problemOfToken(reason)
	}
	user, ok := a.cfg.Authenticate(r)
	if reason != nil || !ok || entity.CheckUserID(user) != nil {
		return "", refuse(unauthenticated, "Send the bearer token of a user.")
	}
	if !a.permits(r) {
		return "", refuse(insufficientScope, "The token has none of the scopes that this request needs.").
			with("WWW-Authenticate", `Bearer error="insufficient_scope"`)
	}
	return user, nil
}

// isUnjudged reports whether a token was refused for want of its issuer's keys.
func isUnjudged(refused error) bool { return errors.Is(refused, port.ErrUnavailable) }

// problemOfToken returns the answer to a request whose token is refused (RFC 6750 §3.1), or cannot be judged now.
func problemOfToken(reason error) *Problem {
	if isUnjudged(reason) {
		return refuse(unavailable, "The token could not be checked now.").because(reason)
	}
	return refuse(unauthenticated, "The token is not accepted: %v.", reason).
		with("WWW-Authenticate", `Bearer error="invalid_token"`)
}
