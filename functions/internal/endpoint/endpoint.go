// Package endpoint adapts the HTTP surface for the functions: it counts requests, and distinguishes a direct
// invocation from a request.
package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"nexus/functions/internal/boot"
	"nexus/functions/internal/httpapi"
	"nexus/pkg/api"
	"nexus/pkg/deploy/env"
	"nexus/pkg/deploy/metric"
)

// Observe counts refused and failed requests; the API itself counts requests and their time. An answer 503 for want of
// the issuer's keys counts as neither: the metric takes back a new version of the function, which has no part in it.
// Lambda counts it by the function URL (pkg/deploy/alarm).
func Observe(f env.Function, metrics *metric.Writer) func(api.Observation) {
	return func(o api.Observation) {
		switch {
		case o.Unjudged:
		case o.Status >= http.StatusInternalServerError:
			metrics.Add(metric.ByFunction, string(f), metric.Values{metric.ServerErrors: 1}, nil)
		case o.Status == http.StatusTooManyRequests:
			metrics.Add(metric.ByFunction, string(f), metric.Values{metric.ClientErrors: 1, metric.RequestsLimited: 1}, nil)
		case o.Status >= http.StatusBadRequest:
			metrics.Add(metric.ByFunction, string(f), metric.Values{metric.ClientErrors: 1}, nil)
		}
	}
}

// Commands answers requests of the HTTP API and of a function URL by the front. It answers everything else as a direct
// invocation: {"userId": …, "commands": […]}. The alias of the function URL takes requests alone: everybody may
// call it.
func Commands(a *api.API, front http.Handler, check httpapi.Check) boot.Handler {
	requests := httpapi.New(front, check)
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		out, err := requests.Handle(ctx, payload)
		if !errors.Is(err, httpapi.ErrNoEvent) || httpapi.IsDirect(ctx) {
			return out, err
		}
		out, err = a.Run(ctx, payload)
		return out, readable(err)
	}
}

// readable turns a refusal into an error whose message is the whole problem document: an invoker gets only the message
// of an error.
func readable(err error) error {
	var problem *api.Problem
	if !errors.As(err, &problem) {
		return err
	}
	text, failure := json.Marshal(problem)
	if failure != nil {
		return fmt.Errorf("%w (and its document: %w)", err, failure)
	}
	return &boot.Refusal{Message: string(text)}
}
