// Package boot is what every function does the same way: read the environment, make the logger, build the handler,
// serve.
//
// It promises that a function which cannot start says why, to the log and to Lambda, and ends with a code other than 0;
// that every line of the log is one JSON object with the fields that Lambda's log filter reads, and that an invocation
// which fails is logged once.
package boot

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/aws/aws-lambda-go/lambda"

	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
	"nexus/pkg/table"
)

// Handler answers one invocation. The payload is valid until it returns.
type Handler func(ctx context.Context, payload []byte) ([]byte, error)

// Invoke implements [lambda.Handler]: decoding the payload is the handler's own business.
func (h Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) { return h(ctx, payload) }

var _ lambda.Handler = Handler(nil)

// Run serves invocations of the function for as long as the process lives.
func Run(f env.Function, build func(env.Settings, *slog.Logger) (Handler, error)) {
	log := NewLogger(os.Stderr, f)
	slog.SetDefault(slog.New(Others(log)))
	settings, err := env.Read(f, os.Getenv)
	if err != nil {
		fail(log, err)
	}
	handler, err := build(settings, log)
	if err != nil {
		fail(log, err)
	}
	lambda.Start(Logged(handler, log))
}

// Logged logs the error of an invocation that failed, or its panic, which then goes on: nobody above does it as a line
// of the function's own log. What is a refusal, it was the invoker's mistake to send.
func Logged(next Handler, log *slog.Logger) Handler {
	return func(ctx context.Context, payload []byte) ([]byte, error) {
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

// Refusal is an error that is the invoker's: the payload is not one that the function takes.
type Refusal struct{ Message string }

func (e *Refusal) Error() string { return e.Message }

// Metered counts after each invocation what the function used the table for.
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
