// Package httpapi serves the requests of an API Gateway HTTP API, in payload format 2.0, with a net/http handler.
//
// It promises that the handler receives the request as from a net/http server, and that no input of a client is
// interpreted twice: the path is never parsed again, a header never split. It must never take the user from anything
// but the claims that the API's authorizer verified.
package httpapi

import (
	"context"
	"fmt"
	"net/http"
)

// MaxAnswer is the size of an answer in bytes, in its JSON form (AWS Lambda Developer Guide, "Lambda quotas":
// invocation payload, 6 MB).
const MaxAnswer = 6 << 20

// Handler answers events.
type Handler struct{ next http.Handler }

// New returns a handler of events in front of the http one.
func New(next http.Handler) *Handler { return &Handler{next} }

// Handle answers one request. An error means that the payload is no request in format 2.0, or that the answer is
// longer than Lambda accepts; the API then answers 500. [ErrNoEvent] says that the payload is from another invoker.
func (h *Handler) Handle(ctx context.Context, payload []byte) ([]byte, error) {
	e, err := decode(payload)
	if err != nil {
		return nil, err
	}
	r, err := e.request(ctx)
	if err != nil {
		return nil, err
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
