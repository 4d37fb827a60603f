package api

import (
	"context"
	"net/http"
	"time"
)

const documentID = "getDocument"

// documentOperation returns the OpenAPI document, which describes the other operations.
func documentOperation() *operation {
	return &operation{
		id: documentID, method: http.MethodGet, path: "/openapi.json", tag: "service", open: true,
		summary: "Read this document", detail: "OpenAPI 3.1.",
		answers: []documented{
			{status: http.StatusOK, doc: "The document.", schema: object{{"type", "object"}, {"additionalProperties", true}}},
		},
	}
}

// healthOperation confirms that the process answers; it does not call the store.
func healthOperation() *operation {
	return &operation{
		id: "getHealth", method: http.MethodGet, path: "/healthz", tag: "service", open: true, everywhere: true,
		summary: "Ask whether the service answers", detail: "It says nothing about the store.",
		answers: []documented{{status: http.StatusOK, doc: "It does.", schema: object{
			{"type", "object"}, {"properties", object{{"status", object{{"const", "ok"}}}}}, {"required", []string{"status"}},
		}}},
		run: func(context.Context, *Config, call) (answer, error) {
			return answer{status: http.StatusOK, body: []byte(`{"status":"ok"}`)}, nil
		},
	}
}

// addressesAge is how long a client may use the addresses before it asks again.
const addressesAge = time.Hour

// Addresses are those of the functions themselves, each https:// and a host. Empty for none.
type Addresses struct {
	// Query is for GET and HEAD, Command for all other methods.
	Command string `json:"command,omitempty"`
	Query   string `json:"query,omitempty"`
}

type addressesKey struct{}

// WithAddresses returns a context for a request beside which the gateway told these addresses.
func WithAddresses(ctx context.Context, of Addresses) context.Context {
	return context.WithValue(ctx, addressesKey{}, of)
}

// addressesOperation tells clients which addresses they may use in place of the one at which they ask.
func addressesOperation() *operation {
	text := func(doc string) object { return object{{"type", "string"}, {"format", "uri"}, {"description", doc}} }
	return &operation{
		id: "getAddresses", method: http.MethodGet, path: "/.well-known/nexus", tag: "service", open: true,
		maxAge: addressesAge, summary: "Ask which other addresses serve the same",
		detail: "A client may use them for an hour, with the same paths. If one does not answer, or answers with 401, " +
			"503 or without X-Request-Id, the client repeats the request here, a write under its Idempotency-Key. It uses " +
			"none of them for the next hour, and then asks again.",
		answers: []documented{{status: http.StatusOK, doc: "The addresses; a member is absent if there is none.",
			schema: object{{"type", "object"}, {"properties", object{
				{"command", text("For all methods but GET and HEAD: https:// and a host.")},
				{"query", text("For GET and HEAD: https:// and a host.")},
			}}},
		}},
		run: func(ctx context.Context, _ *Config, _ call) (answer, error) {
			of, _ := ctx.Value(addressesKey{}).(Addresses)
			body, err := encode(of)
			return answer{status: http.StatusOK, body: body}, err
		},
	}
}
