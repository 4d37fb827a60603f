package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"nexus/pkg/entity"
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

type subjectKey struct{}

// WithSubject returns a context for a request whose token has this sub claim. The caller has verified the token.
func WithSubject(ctx context.Context, sub string) context.Context {
	return context.WithValue(ctx, subjectKey{}, sub)
}

// SubjectIsUser authenticates by the subject of the request's context ([WithSubject]), as [UserOfSubject] says.
func SubjectIsUser(r *http.Request) (userID string, ok bool) {
	sub, _ := r.Context().Value(subjectKey{}).(string)
	return UserOfSubject(sub)
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

// authenticate returns the user with a well-formed id.
func (a *API) authenticate(r *http.Request) (string, *Problem) {
	user, ok := a.cfg.Authenticate(r)
	if !ok || entity.CheckUserID(user) != nil {
		return "", refuse(unauthenticated, "Send the bearer token of a user.")
	}
	return user, nil
}
