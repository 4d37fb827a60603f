// Package boot is what every function does the same way: read the environment, make the logger, build the handler, serve.
//
// It promises that a function which cannot start says why, to the log and to Lambda, and ends with a code other than 0;
// and that every line of the log is one JSON object with the fields that Lambda's log filter reads.
package boot

import (
	"context"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"nexus/functions/env"
)

// Handler answers one invocation. The payload is valid until it returns.
type Handler func(ctx context.Context, payload []byte) ([]byte, error)

// Invoke implements [lambda.Handler]: decoding the payload is the handler's own business.
func (h Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) { return h(ctx, payload) }

var _ lambda.Handler = Handler(nil)

// Run serves invocations of the function for as long as the process lives.
func Run(f env.Function, build func(env.Settings, *slog.Logger) (Handler, error)) {
	log := newLogger(os.Stderr, f)
	settings, err := env.Read(f, os.Getenv)
	if err != nil {
		fail(log, err)
	}
	handler, err := build(settings, log)
	if err != nil {
		fail(log, err)
	}
	lambda.Start(handler)
}

func fail(log *slog.Logger, err error) {
	log.Error("function does not start", slog.Any("error", err))
	if err := reportInit(os.Getenv(runtimeAPI), err); err != nil {
		log.Error("report of the failed start", slog.Any("error", err))
	}
	os.Exit(1)
}
