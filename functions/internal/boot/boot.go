// Package boot does what every function does the same way: read the environment, make the logger, build the handler,
// serve.
//
// It promises that a function which cannot start reports the reason to the log and to Lambda, and exits with a code
// other than 0. Every line of the log is one JSON object with the fields that Lambda's log filter reads, and names
// users by pseudonyms (package mask). A failed invocation is logged once.
package boot

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/mask"
	"nexus/pkg/table"
)

// Handler answers one invocation. The payload is valid until it returns.
type Handler func(ctx context.Context, payload []byte) ([]byte, error)

// Invoke implements [lambda.Handler]: the handler itself decodes the payload.
func (h Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) { return h(ctx, payload) }

var _ lambda.Handler = Handler(nil)

// Run serves invocations of the function until the process ends.
func Run(f env.Function, build func(env.Settings, *slog.Logger) (Handler, error)) {
	settings, err := env.Read(f, os.Getenv)
	log := NewLogger(os.Stderr, f, settings.Pepper())
	slog.SetDefault(slog.New(Others(log)))
	if err != nil {
		fail(log, err)
	}
	handler, err := build(settings, log)
	if err != nil {
		fail(log, err)
	}
	lambda.Start(Logged(handler, log))
}

// Logged logs the error of a failed invocation, or its panic, which it then raises again: no caller writes it as a
// line of the function's own log. A refusal is the invoker's mistake.
func Logged(next Handler, log *slog.Logger) Handler {
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		ctx = mask.With(ctx) // the users that this invocation serves are hidden from the lines below, too
		defer func() {
			if value := recover(); value != nil {
				log.LogAttrs(ctx, slog.LevelError, "invocation failed", slog.Any("panic", value),
					slog.String("stack", string(debug.Stack())))
				panic(value)
			}
		}()
		out, err := next(ctx, payload)
		if err == nil {
			return out, nil
		}
		level := slog.LevelError
		if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
			level = slog.LevelInfo
		}
		log.LogAttrs(ctx, level, "invocation failed", slog.String("error", err.Error()))
		return out, err
	}
}

// Refusal is an error of the invoker: the function does not accept the payload.
type Refusal struct{ Message string }

func (e *Refusal) Error() string { return e.Message }

// answerMargin is the part of an invocation's time that is left for the answer.
const answerMargin = time.Second

// Answering ends the context of each invocation [answerMargin] before Lambda ends the invocation itself. So a caller
// gets an answer beside a service that hangs, and the program lives on. Stream functions have a margin of their own
// (package consume).
func Answering(next Handler) Handler {
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		if end, ok := ctx.Deadline(); ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, end.Add(-answerMargin))
			defer cancel()
		}
		return next(ctx, payload)
	}
}

// Metered counts after each invocation the function's use of the table.
func Metered(next Handler, f env.Function, meter *table.Meter, metrics *metric.Writer) Handler {
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		defer func() { metrics.Add(metric.ByFunction, string(f), nil, meter.Drain()) }()
		return next(ctx, payload)
	}
}

func fail(log *slog.Logger, err error) {
	log.Error("function does not start", slog.Any("error", err))
	if err := reportInit(os.Getenv(runtimeAPI), err); err != nil {
		log.Error("report of the failed start", slog.Any("error", err))
	}
	os.Exit(1)
}
