package api

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"nexus/pkg/mask"
)

// exchange is one request and its outcome, for the one line in the log.
type exchange struct {
	http.ResponseWriter
	api       *API
	begun     time.Time
	requestID string
	chosenID  bool // the client chose the request's id
	bare      bool // omit the body, for HEAD
	route     string
	operation string
	user      string
	spending  spending
	status    int
	bytes     int
	traces    []string
	err       error
}

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (x *exchange) Write(b []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(b)
	x.bytes += n
	return n, err
}

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// serves notes the user whose request it is, and hides the id from all lines about the request.
func (x *exchange) serves(r *http.Request, user string) {
	x.user = user
	mask.With(r.Context(), user)
}

// finish is deferred around everything: it turns a panic into an answer, and writes the log.
func (x *exchange) finish(r *http.Request) {
	if v := recover(); v != nil {
		if v == http.ErrAbortHandler {
			panic(v)
		}
		err := &panicError{v, debug.Stack()}
		if x.status == 0 {
			x.refuse(problemOf(err))
		} else {
			x.err = err
		}
	}
	took := x.api.cfg.Now().Sub(x.begun)
	x.api.cfg.Observe(Observation{
		Operation: x.operation, Status: x.status, Duration: took, Unjudged: isUnjudged(claimsOf(r).Refused),
	})
	if !x.isLogged(r) {
		return
	}
	route := x.route
	if route == "" {
		route = "none"
	}
	attrs := []slog.Attr{
		slog.String("method", shorten(r.Method)), slog.String("route", route), slog.String("operation", x.operation),
		slog.Int("status", x.status), slog.Int("bytes", x.bytes), millisecondsAttr(took),
		x.requestAttr(), mask.User(x.user),
	}
	attrs = append(attrs, traceAttrs(x.traces)...)
	if x.err != nil {
		attrs = append(attrs, errorAttr(x.err))
	}
	x.api.cfg.Log.LogAttrs(context.WithoutCancel(r.Context()), severity(x.status, x.err), "request", attrs...)
}

// isLogged reports whether the request has a line in the log: each that may have changed something or did not succeed,
// each to which its client gave an X-Request-Id, and one of so many others, by a hash of the request's id. A trace's id
// does not count: the HTTP API gives one to every request.
func (x *exchange) isLogged(r *http.Request) bool {
	if x.api.cfg.LogOneReadIn <= 1 || x.err != nil || x.status >= http.StatusBadRequest ||
		r.Method != http.MethodGet && r.Method != http.MethodHead || isRequestID(r.Header.Get(headerRequestID)) {
		return true
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(x.requestID))
	return hash.Sum32()%uint32(x.api.cfg.LogOneReadIn) == 0
}

// severity returns the level at which an answer is logged: an error is the service's fault, a warning is temporary.
func severity(status int, err error) slog.Level {
	switch {
	case status == http.StatusServiceUnavailable:
		return slog.LevelWarn
	case status >= http.StatusInternalServerError, err != nil:
		return slog.LevelError
	}
	return slog.LevelInfo
}

// requestAttr returns the request's id. One that the client chose may be any text, so the log has a hash of it.
func (x *exchange) requestAttr() slog.Attr {
	const name = "requestId"
	if x.chosenID {
		return mask.Chosen(name, x.requestID)
	}
	return slog.String(name, x.requestID)
}

// millisecondsAttr returns the duration, to the microsecond.
func millisecondsAttr(took time.Duration) slog.Attr {
	return slog.Float64("milliseconds", float64(took.Microseconds())/1000)
}

// traceAttrs names the writes of a request in the log; nothing if it wrote nothing.
func traceAttrs(traces []string) []slog.Attr {
	if len(traces) == 0 {
		return nil
	}
	return []slog.Attr{slog.Any("traceIds", traces)}
}

func errorAttr(err error) slog.Attr { return slog.String("error", fmt.Sprint(err)) }
