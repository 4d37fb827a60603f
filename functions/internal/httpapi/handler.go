// Package httpapi serves the requests of an API Gateway HTTP API and of a function URL, in payload format 2.0, with a
// net/http handler.
//
// It promises that the handler receives the request as from a net/http server, and that no input of a client is
// interpreted twice: the path is never parsed again, a header never split. It must never take the user from anything
// but the claims that the API's authorizer verified, or, of a request by a function URL, a token that it had checked.
package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"nexus/pkg/api"
	"nexus/pkg/deploy/env"
)

// MaxAnswer is the size of an answer in bytes, in its JSON form (AWS Lambda Developer Guide, "Lambda quotas":
// invocation payload, 6 MB).
const MaxAnswer = 6 << 20

// Check returns the claims of a token that no gateway has checked, or why it has none: see [api.Claims].
type Check func(ctx context.Context, token string) (api.Claims, error)

// Handler answers events.
type Handler struct {
	next  http.Handler
	check Check
}

// New returns a handler of events in front of the http one.
func New(next http.Handler, check Check) *Handler { return &Handler{next, check} }

// IsDirect reports whether the request came by a function URL: only that calls the alias [env.DirectAlias]. Lambda says
// which alias was called, and the request has no part in it.
func IsDirect(ctx context.Context) bool {
	lc, ok := lambdacontext.FromContext(ctx)
	return ok && strings.HasSuffix(lc.InvokedFunctionArn, ":"+env.DirectAlias)
}

// Handle answers one request. An error means that the payload is no request in format 2.0, or that the answer is
// longer than Lambda accepts; the API then answers 500. [ErrNoEvent] says that the payload is from another invoker.
func (h *Handler) Handle(ctx context.Context, payload []byte) ([]byte, error) {
	e, err := decode(payload)
	if err != nil {
		return nil, err
	}
	isDirect := IsDirect(ctx)
	if isDirect { // whatever the event has of a gateway, none was asked
		e.claims, e.addresses = api.Claims{}, api.Addresses{}
		e.path = unescaped(e.path)
	}
	r, err := e.request(ctx)
	if err != nil {
		return nil, err
	}
	if isDirect {
		r = h.identify(r)
	}
	w := &recorder{header: http.Header{}}
	h.next.ServeHTTP(w, r)
	answer, err := w.event()
	if err == nil && len(answer) > MaxAnswer {
		err = fmt.Errorf("%d bytes, at most %d are allowed", len(answer), MaxAnswer)
	}
	if err != nil {
		return nil, fmt.Errorf("answer to %s %s: %w", r.Method, r.Pattern, err)
	}
	return answer, nil
}

// identify returns the request with the claims of its token. Without one it is refused, for an open operation, too: no
// throttle stands before a function URL.
func (h *Handler) identify(r *http.Request) *http.Request {
	claims, err := api.Claims{}, api.ErrNoToken
	if token, ok := api.Bearer(r); ok {
		claims, err = h.check(r.Context(), token)
	}
	if err != nil {
		claims = api.Claims{Refused: err}
	}
	return r.WithContext(api.WithClaims(r.Context(), claims))
}
