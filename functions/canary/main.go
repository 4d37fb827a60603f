// The canary function looks every five minutes whether the deployment works, as a user of its own does: through the
// HTTP API, with a token of the issuer. It changes the status of one task to and fro and waits for the statistics. It
// moves one reminder of its own, and looks whether the one of the last call rang. After its first call it creates and
// deletes nothing: each deletion would leave a row for ever. An alarm watches whether it is called, and whether it
// fails.
package main

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"nexus/functions/internal/boot"
	"nexus/functions/internal/rule"
	"nexus/pkg/deploy/env"
	"nexus/pkg/probe"
)

func main() { boot.Run(env.Canary, build) }

// requestTimeout bounds one request, including what a cold start of another function takes.
const requestTimeout = 30 * time.Second

func build(s env.Settings, log *slog.Logger) (boot.Handler, error) {
	requests := &http.Client{Transport: &http.Transport{}, Timeout: requestTimeout}
	tokens := &probe.Tokens{
		Endpoint: s.TokenEndpoint, ClientID: s.ClientID, ClientSecret: s.ClientSecret, Scope: s.TokenScope, HTTP: requests,
		Now: time.Now,
	}
	canary := &probe.Canary{Client: probe.Client{Base: s.APIAddress, HTTP: requests}, Tokens: tokens, Log: log}
	handle := func(ctx context.Context, payload []byte) ([]byte, error) {
		at, err := rule.CalledAt(payload)
		if err != nil {
			return nil, err
		}
		if err := canary.Run(ctx, at); err != nil {
			return nil, err
		}
		return []byte("{}"), nil
	}
	return boot.Answering(handle), nil
}
